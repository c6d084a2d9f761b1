"""Messages and filters for the tests of the consumers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from streamnb import MNB
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter, LocalFilter, SharedFilter
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import MessageReader, SmsReader
from streamnb_consumers.records import Outputs, Partition, Record, Role
from support.memory import MemorySink

PLACE = Partition("sms", 0)
LOG = Partition("sms-training", 0)
WORDS = {
    "spam": ["win", "cash", "prize", "free", "claim", "now", "call", "urgent", "offer", "text"],
    "ham": ["see", "you", "at", "noon", "home", "dinner", "love", "thanks", "later", "meeting"],
}


def records(
    values: Iterable[Any], place: Partition = PLACE, role: Role = "message"
) -> list[Record]:
    """Return values (JSON objects or bytes) as the records of one partition."""
    return [
        Record(
            place,
            offset,
            value if isinstance(value, bytes) else json.dumps(value).encode(),
            timestamp=1_000 * offset,
            role=role,
        )
        for offset, value in enumerate(values)
    ]


def text(label: str, generator: random.Random) -> str:
    other = generator.choice(WORDS["ham" if label == "spam" else "spam"])
    return " ".join([*generator.choices(WORDS[label], k=5), other])


def stream(n: int, seed: int = 1) -> list[Any]:
    """Return prompt, late, repeated, corrected and early labels with malformed lines."""
    generator = random.Random(seed)
    values: list[Any] = []
    late: list[dict[str, str]] = []
    for number in range(n):
        label = generator.choice(["ham", "spam"])
        message = {"id": f"m{number}", "text": text(label, generator)}
        kind = number % 7
        if kind == 0:
            values.append(message | {"label": label})
        elif kind == 1:
            values += [{"id": message["id"], "label": label}, message]
        elif kind == 2:
            values += [message, b"\xff not json", {"id": message["id"], "label": label}]
        elif kind == 3:
            wrong = "ham" if label == "spam" else "spam"
            values.append(message | {"label": wrong})
            late.append({"id": message["id"], "label": label})
        else:
            values.append(message)
            late += [{"id": message["id"], "label": label}] * generator.randint(0, 2)
        if len(late) > 5:
            values.append(late.pop(generator.randrange(len(late))))
    return values + late


def extend(outputs: Outputs, others: Outputs) -> None:
    """Append other outputs."""
    for name in ("decisions", "training", "dead_letters", "changes", "questions", "answers"):
        getattr(outputs, name).extend(getattr(others, name))


def new_filter(
    model: Any,
    reader: MessageReader,
    options: Options | None = None,
    shared: bool = False,
) -> Filter:
    return (SharedFilter if shared else LocalFilter)(model, reader, options)


def make_filter(shared: bool = False, **options: Any) -> Filter:
    return new_filter(MNB(), SmsReader(labels=("ham", "spam")), Options(**options), shared)


def handle_all(worker: Filter, values: Iterable[Any]) -> list[Any]:
    return [worker.handle(record) for record in records(values)]


def restored(worker: Filter, make: Callable[[], Filter]) -> Filter:
    """Return a filter that was killed after a snapshot and restarted from it."""
    data = state.dump(worker)
    again = make()
    state.restore(again, data)
    assert state.dump(again) == data
    return again


def folded(alone: Filter, stream: Sequence[Record], make: Callable[..., Filter]) -> Filter:
    """Fold the log that a single filter writes of a stream, in three ways with the same bytes.

    One worker folds each record, one is killed now and then, one starts late.
    """
    log = [
        Record(LOG, offset, canonical(event), timestamp=1_000 * offset, role="training")
        for offset, event in enumerate(e for r in stream for e in alone.handle(r).training)
    ]

    def made() -> Filter:
        worker = make(shared=True)
        assert isinstance(worker, SharedFilter)
        worker.belong("x")
        return worker

    whole, killed, late = made(), made(), made()
    late.handle_many(log)
    for record in log:
        whole.handle(record)
        killed.handle(record)
        if record.offset % 23 == 0:
            killed = restored(killed, made)
            assert state.dump(killed) == state.dump(whole)
    assert state.dump(whole) == state.dump(killed) == state.dump(late)
    return whole


class FlakySink(MemorySink):
    """A sink in memory; every third commit is aborted."""

    tries = 0

    def commit(self, *args: Any, **kwargs: Any) -> None:
        """Commit, or abort."""
        self.tries += 1
        if self.tries % 3 == 0:
            raise AbortedError("again")
        super().commit(*args, **kwargs)
