"""Worker processes, the stream that they read, and checks of their output."""

from __future__ import annotations

import contextlib
import json
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from streamnb.datasets import stream
from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from support.broker import Broker
from support.data import require_data
from support.scenes.program import Program
from support.scenes.standing import standing

START_SECONDS = 60.0  # until a worker, one of several on a busy machine, has started
GROUP = 100  # messages that are sent at once, with all their labels
CODECS = (None, "gzip", "snappy", "lz4", "zstd")
STATES = re.compile(r"^\S+ \S+ INFO: (not ready|ready)", re.MULTILINE)
MAIN = "import sys; from streamnb_consumers.daemon.command import run_sms as main; sys.exit(main())"
SPAM_MAIN = MAIN.replace("run_sms", "run_spam")


Given = str | tuple[str, ...]  # a label, or several
Message = tuple[str, str, Given]  # id, text, label
Label = tuple[str, Given]  # id, label


def sms(n: int) -> list[Message]:
    """Return n messages of the collection, repeated with fresh ids: id, text, label."""
    require_data("text/sms_spam.jsonl.xz")
    found = list(stream("sms"))
    return [(f"m{at}", *found[at % len(found)]) for at in range(n)]


def topics(n: int) -> list[Message]:
    """Return n generated messages with two to five labels each, and some words of each label."""
    generator = random.Random(8)
    found: list[Message] = []
    for at in range(n):
        names = sorted(generator.sample(range(9), generator.randrange(2, 6)))
        words = [f"w{name}x{generator.randrange(8)}" for name in names for _ in range(3)]
        generator.shuffle(words)
        found.append((f"m{at}", " ".join(words), tuple(f"topic-{name}" for name in names)))
    return found


def _other(label: Given) -> Given:
    """Return a wrong label: the other one, or one of several less."""
    if isinstance(label, tuple):
        return label[1:]
    return "ham" if label == "spam" else "spam"


def _of_json(label: Any) -> Any:
    return tuple(label) if isinstance(label, list) else label


def labels_of(messages: Sequence[Message], seed: int = 1) -> list[list[Label]]:
    """Return the labels that follow each message of its group: late, repeated and corrected."""
    generator = random.Random(seed)
    sent: list[list[Label]] = [[] for _ in messages]
    for at, (name, _, label) in enumerate(messages):
        given = [label]
        if generator.random() < 0.05:
            given = [_other(label), label]
        elif generator.random() < 0.05:
            given = [label, label]
        for each in given:
            last = min(len(messages), (at // GROUP + 1) * GROUP) - 1
            at = min(last, at + generator.randrange(GROUP))
            sent[at].append((name, each))
    return sent


class Scene:
    """Topics of one test, a stream, and worker processes that end with the scene."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.kill()

    def __init__(
        self, broker: Broker, folder: Path, partitions: int = 1, **settings: object
    ) -> None:
        self.broker, self.folder = broker, folder
        self.workers: list[Worker] = []
        self.sent = 0  # messages, all of whose labels are sent too
        self.sending = threading.Lock()  # while a group is sent
        self._generator = random.Random(1)
        name = broker.unique("kill")
        parts = (
            "",
            "-feedback",
            "-decisions",
            "-training",
            "-join-state",
            "-dead-letters",
            "-asked",
        )
        self.topics = Topics(*(name + part for part in parts))
        self.settings: dict[str, object] = {
            "bootstrap_servers": broker.bootstrap,
            **{f"{part}_topic": getattr(self.topics, part) for part in Topics.__slots__},
            "group": name,
            "batch": 200,
            "poll_seconds": 0.1,
            "commit_seconds": 20,
            "stop_seconds": 10,
            "snapshot_seconds": 0.5,
            "session_seconds": 6,
            "transaction_seconds": 10,
            "log_level": "INFO",
            "log_format": "text",
            **settings,
        }
        driver = open_driver(Cluster(broker.bootstrap, name, None, name))
        driver.create_topics(self.topics.layouts(partitions), 60.0)
        driver.renew()

    # --- what goes in

    def feed(
        self, messages: Sequence[Message], seconds: float = 0.0, pieces: int = 1
    ) -> Iterator[threading.Thread]:
        """Send messages over this number of seconds, each followed by its labels.

        The messages are sent in pieces of whole groups, each after the one before.
        """
        labelled = list(zip(messages, labels_of(messages), strict=True))
        groups, before = -(-len(messages) // GROUP), None
        for at in range(pieces):
            start, end = (piece * groups // pieces * GROUP for piece in (at, at + 1))
            part = labelled[start:end]
            before = threading.Thread(
                target=self._send, args=(part, seconds / pieces, before), daemon=True
            )
            before.start()
            yield before

    def _send(
        self,
        part: list[tuple[Message, list[Label]]],
        seconds: float,
        before: threading.Thread | None,
    ) -> None:
        if before is not None:
            before.join()
        # The stream is the outside world: it is complete, whatever happens to the broker.
        producer = kafka.KafkaProducer(
            bootstrap_servers=self.broker.bootstrap,
            linger_ms=5,
            reconnect_backoff_max_ms=500,
            delivery_timeout_ms=120_000,
            compression_type=self._generator.choice(CODECS),
        )
        started = time.monotonic()
        sent: list[Any] = []

        def send(topic: str, name: str, **fields: Given) -> None:
            value = json.dumps({"id": name, **fields}).encode()
            sent.append(producer.send(topic, value, name.encode(), partition=places[name]))

        for at in range(0, len(part), GROUP):
            with self.sending:
                known = (self.topics.messages, self.topics.feedback)
                numbers = sorted(set.intersection(*map(producer.partitions_for, known)))
                group = part[at : at + GROUP]
                # A label goes to the partition of its message, although partitions may be added.
                places = {name: self._generator.choice(numbers) for (name, _, _), _ in group}
                for (name, text, _), _ in group:
                    send(self.topics.messages, name, text=text)
                producer.flush()  # nobody labels a message that is not there
                for _, labels in group:
                    for name, label in labels:
                        kind = "labels" if isinstance(label, tuple) else "label"
                        send(self.topics.feedback, name, **{kind: label})
                producer.flush()
                self.sent += len(group)
            time.sleep(max(0.0, started + seconds * at / len(part) - time.monotonic()))
        for each in sent:
            each.get(timeout=0)
        producer.close()

    # --- workers

    def worker(self, name: str, **settings: object) -> Worker:
        """Start a worker with its own snapshots."""
        self.workers.append(Worker(self, name, {**self.settings, **settings}))
        return self.workers[-1]

    # --- what comes out

    def decisions(self) -> Counter[str]:
        """Return the number of committed decisions of each message."""
        return Counter(
            json.loads(each.value)["id"] for each in self.broker.read_all(self.topics.decisions)
        )

    def training(self) -> list[dict[str, Any]]:
        """Return the committed training events, in order."""
        events = [json.loads(each.value) for each in self.broker.read_all(self.topics.training)]
        return [
            {**each, "learn": _of_json(each["learn"]), "unlearn": _of_json(each["unlearn"])}
            for each in events
        ]

    def count(self, topic: str) -> int:
        """Return the number of committed records."""
        return len(self.broker.read_all(topic))

    def wait_until_done(self, messages: int, events: int, seconds: float) -> None:
        """Wait until this number of decisions and training events is committed."""
        wanted = {self.topics.decisions: messages, self.topics.training: events}
        found = dict.fromkeys(wanted, 0)
        reader = kafka.KafkaConsumer(
            bootstrap_servers=self.broker.bootstrap,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            reconnect_backoff_max_ms=500,
        )
        places = [
            kafka.TopicPartition(topic, number)
            for topic in wanted
            for number in reader.partitions_for_topic(topic)
        ]
        reader.assign(places)
        deadline = time.monotonic() + seconds
        # Doubled records count too; `faults` finds them.
        while any(found[topic] < wanted[topic] for topic in wanted):
            for place, records in reader.poll(timeout_ms=200, max_records=5_000).items():
                found[place.topic] += len(records)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{found} of {wanted} in {seconds} s\n{standing(self)}")
        reader.close()


class Worker(Program):
    """One process of `streamnb-sms`."""

    def __init__(self, scene: Scene, name: str, settings: dict[str, object]) -> None:
        self.name, self.scene = name, scene
        main = settings.pop("main", MAIN)
        self.snapshots = scene.folder / f"snapshots-{name}"
        log = scene.folder / f"{name}.log"
        self._begin = len(log.read_text(errors="replace")) if log.exists() else 0
        super().__init__(log, [str(main)], {**settings, "snapshots": self.snapshots})

    @property
    def ready(self) -> bool:
        """Whether its last report says that it decides messages."""
        return STATES.findall(self.text()[self._begin :])[-1:] == ["ready"]

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until it decides messages."""
        deadline = time.monotonic() + seconds
        while not self.ready:
            assert self.process.poll() is None, self.text()[-3000:]
            assert time.monotonic() < deadline, self.text()[-3000:]
            time.sleep(0.05)

    def wait_learned(self, events: int, seconds: float = START_SECONDS) -> None:
        """Wait until a snapshot has this number of training events."""
        deadline, found = time.monotonic() + seconds, 0
        while found < events:
            assert self.process.poll() is None, self.text()[-3000:]
            assert time.monotonic() < deadline, f"{found} of {events} training events"
            time.sleep(0.2)
            with contextlib.suppress(ValueError, FileNotFoundError):  # none yet, or just replaced
                found = self.filter().learner.learned

    def filter(self) -> Filter:
        """Return the filter of its newest snapshot."""
        fields = {key: value for key, value in self.scene.settings.items() if key == "model"}
        found = make_filter("sms", Settings(bootstrap_servers="x:1", **fields))  # type: ignore[arg-type]
        newest = max(self.snapshots.glob("snapshot-*.bin"))
        state.restore(found, content(newest.read_bytes(), 2**30))
        return found


Event = tuple[str, Given, Given | None]  # id, label, unlearned label


def expected_training(messages: Sequence[Message]) -> list[Event]:
    """Return the expected training events in label order: id, label, unlearned label."""
    known: dict[str, Given] = {}
    found: list[Event] = []
    for labels in labels_of(messages):
        for name, label in labels:
            if known.get(name) != label:
                found.append((name, label, known.get(name)))
                known[name] = label
    return found


def expected_model(
    scene: Scene, messages: Sequence[Message], events: Iterable[Event] | None = None
) -> bytes:
    """Return the model file of an undisturbed run; `events` are in the order of the labels."""
    texts = {name: text for name, text, _ in messages}
    fields = {key: value for key, value in scene.settings.items() if key == "model"}
    model: Any = make_filter("sms", Settings(**fields)).learner.model  # type: ignore[arg-type]
    for name, label, before in expected_training(messages) if events is None else events:
        if before is None:
            model.learn_one(texts[name], label)
            continue
        try:
            model.unlearn_one(texts[name], before)
        except StreamNBError:  # a model that took over never learned what the one before had
            assert getattr(model, "n_swaps", 0)
        # The threshold is not updated with a message that was learned before.
        getattr(model, "relearn_one", model.learn_one)(texts[name], label)
    return bytes(model.to_bytes())


def faults(scene: Scene, messages: Sequence[Message]) -> dict[str, list[Any]]:
    """Return the faults of the output by kind; empty lists mean no fault.

    Each message has exactly one committed decision. Each label is learned once, those of one
    message in order. There is no dead letter.
    """
    decided, wanted = scene.decisions(), Counter(name for name, _, _ in messages)
    events = [(each["id"], each["learn"], each["unlearn"]) for each in scene.training()]
    expected = expected_training(messages)
    learned, due = _by_message(events), _by_message(expected)
    return {
        "decisions lost": list((wanted - decided).elements()),
        "decisions doubled": list((decided - wanted).elements()),
        "labels lost": list((Counter(expected) - Counter(events)).elements()),
        "labels doubled": list((Counter(events) - Counter(expected)).elements()),
        "labels out of order": [name for name in due if learned.get(name, []) != due[name]],
        "dead letters": [each.value for each in scene.broker.read_all(scene.topics.dead_letters)],
    }


def check_outputs(scene: Scene, messages: Sequence[Message], ordered: bool) -> None:
    """Check that each message has one committed decision, and that each label is learned once."""
    found = faults(scene, messages)
    assert not any(found.values()), {kind: (len(them), them[:5]) for kind, them in found.items()}
    if ordered:
        events = [(each["id"], each["learn"], each["unlearn"]) for each in scene.training()]
        assert events == expected_training(messages)


def _by_message(events: Sequence[Event]) -> dict[str, list[Given]]:
    found: dict[str, list[Given]] = defaultdict(list)
    for name, label, _ in events:
        found[name].append(label)
    return found
