"""Backlogs of messages and labels, and the labels that the same stream teaches from a file."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import time
from collections.abc import Iterator
from typing import Any

from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.records import Partition, Record

Event = tuple[str, str, str | None]  # id, label, unlearned label
_WORDS = ("win", "cash", "noon", "lunch", "home", "prize")


@dataclasses.dataclass(frozen=True)
class Backlog:
    """A stream of messages, and of labels that follow them.

    Attributes
    ----------
    count
        Number of messages.
    delay
        Maximum number of messages between a message and its label.
    late
        Share of the labels that come after up to twice this number.
    share
        Share of the messages that have a label.
    seed
        Of the random choices.
    """

    count: int
    delay: int
    late: float = 0.0
    share: float = 0.2
    seed: int = 1

    def lines(self) -> list[dict[str, Any]]:
        """Return messages and labels in the order of a file.

        Some labels are corrected or repeated, and some have ids that do not exist.
        """
        generator = random.Random(self.seed)
        due: dict[int, list[dict[str, Any]]] = {}
        found: list[dict[str, Any]] = []
        for at in range(self.count):
            text = " ".join(generator.choices(_WORDS, k=3))
            found.append({"id": f"m{at}", "text": f"{text} w{at % 97}"})
            if generator.random() < self.share:
                most = self.delay * 2 if generator.random() < self.late else self.delay
                for _ in range(1 + (generator.random() < 0.1)):
                    after = at + generator.randrange(1, most)
                    label = generator.choice(["ham", "spam"])
                    due.setdefault(after, []).append({"id": f"m{at}", "label": label})
            if generator.random() < 0.01:
                due.setdefault(at, []).append({"id": f"x{at}", "label": "ham"})
            found += due.pop(at, [])
        rest = itertools.chain.from_iterable(due[at] for at in sorted(due))
        return found + list(rest)

    def expected(self, given: list[dict[str, Any]] | None = None, **settings: Any) -> list[Event]:
        """Return the training events of a filter that reads these lines, or all, from a file."""
        worker = make_filter("sms", Settings(model="MNB()", **settings))
        lines = [json.dumps(line).encode() for line in given or self.lines()]
        place = Partition("stdin", 0)
        events = (
            event
            for at, line in enumerate(lines)
            for event in worker.handle(Record(place, at, line, timestamp=at)).training
        )
        return [(event.id, event.learn or "", event.unlearn) for event in events]

    def send(
        self,
        bootstrap: str,
        topics: Topics,
        labels_last: bool = False,
        partition: int = 0,
        lines: list[dict[str, Any]] | None = None,
        together: int | None = None,
    ) -> None:
        """Send the lines to the topics, with the timestamps of a steady stream in the past.

        With `labels_last` the labels are sent after all messages, and have their own timestamps. No
        line is sent before the broker has the lines that precede it by `together`.
        """
        lines = self.lines() if lines is None else lines
        if labels_last:
            lines = sorted(lines, key=lambda line: "label" in line)
        begin = round(time.time() * 1000) - 5 * len(lines)
        producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, linger_ms=5)
        for at, line in enumerate(lines):
            producer.send(
                topics.feedback if "label" in line else topics.messages,
                json.dumps(line).encode(),
                line["id"].encode(),
                partition=partition,
                timestamp_ms=begin + 5 * at,
            )
            if together is not None and at % together == together - 1:
                producer.flush()
        producer.flush()
        producer.close()


def events_of(training: list[dict[str, Any]]) -> Iterator[Event]:
    """Yield the training events of a log in short form."""
    for each in training:
        yield each["id"], each["learn"], each["unlearn"]
