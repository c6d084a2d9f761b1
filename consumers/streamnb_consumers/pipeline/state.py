"""The state of a filter as bytes; filters with equal states give equal bytes."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from streamnb.challenger import Challenger
from streamnb.errors import StreamNBError
from streamnb.model.base import NaiveBayes
from streamnb.model.drift import DriftAlarm
from streamnb_consumers.errors import ForeignError, SnapshotError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline.confusion import Confusion
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.identity import model_text
from streamnb_consumers.pipeline.join import JoinWindow
from streamnb_consumers.pipeline.threshold import FalsePositiveBound, is_calibrated
from streamnb_consumers.pipeline.training import alarm_of
from streamnb_consumers.records import Partition

__all__ = ["dump", "is_shared", "offsets", "restore"]

MAGIC = b"streamFI"
VERSION = 1
_HEAD = len(MAGIC) + 4 + 32

# Exceptions for a header that has the right checksum but was not written by a filter.
_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
)


def dump(worker: Filter) -> bytes:
    """Return the state of a filter: model, join windows, scores, offsets and counters.

    Layout: magic (8 bytes), format version (4, little-endian), SHA-256 of the rest (32), length of
    the header (8, little-endian), header (JSON), model file.

    A filter that shares its state through logs saves only the state that follows from training
    events. Workers that have read the same events thus have the same bytes. Their join windows have
    their own log.
    """
    learner, identity = worker.learner, worker.identity
    header: dict[str, Any] = {
        "identity": None if identity is None else identity.to_json(),
        "reader": worker.reader.name,
        "learned": learner.learned,
        "offsets": [[*place, offset] for place, offset in sorted(worker.offsets.items())],
        "threshold": learner.bound.to_json(),
        "confusion": learner.confusion.to_json(),
    }
    if learner.alarm is not None and not isinstance(learner.model, Challenger):
        header["drift"] = learner.alarm.to_json()  # the alarm of a challenger is in its file
    if not worker.shared:
        header["counters"] = worker.counters
        header["windows"] = [[n, each.to_json()] for n, each in sorted(worker.join.windows.items())]
    text = canonical(header)
    body: bytes = len(text).to_bytes(8, "little") + text + learner.model.to_bytes()
    return MAGIC + VERSION.to_bytes(4, "little") + hashlib.sha256(body).digest() + body


def restore(worker: Filter, data: bytes) -> None:
    """Restore the state that `dump` wrote; the options of the filter do not change.

    Raises
    ------
    SnapshotError
        If the bytes are invalid. The filter is then unchanged.
    ForeignError
        If they are from another kind of messages, other settings or another log.
    """
    learner = worker.learner
    try:
        header, model_bytes = _read(data)
        _check_identity(worker, header["identity"])
        if header["reader"] != worker.reader.name:
            raise ForeignError(
                f"the snapshot contains messages of kind {header['reader']}, and this filter reads "
                f"{worker.reader.name}: use another folder of snapshots. A mail model that learned "
                f"word counts must not have a tokenizer"
            )
        model = _model(learner.model, model_bytes, worker.shared)
        windows = {
            _count(n): JoinWindow.from_json(state, worker.options.bounds)
            for n, state in header.get("windows", [])
        }
        read = _offsets(header)
        counters = {name: _count(n) for name, n in header.get("counters", {}).items()}
        learned = _count(header["learned"])
        bound = FalsePositiveBound(worker.options.max_fpr, is_calibrated(model))
        bound.restore(header["threshold"])
        confusion = Confusion()
        confusion.restore(header["confusion"])
        alarm = _alarm(model, worker.options.drift, header.get("drift"))
    except SnapshotError:
        raise
    except (StreamNBError, *_UNREADABLE) as error:
        raise SnapshotError(f"invalid snapshot: {error!r}"[:500]) from error
    learner.model, learner.bound, learner.confusion = model, bound, confusion
    learner.alarm, learner.learned = alarm, learned
    worker.join.windows, worker.offsets = windows, read
    worker.counters = {name: counters.get(name, 0) for name in worker.counters}


def offsets(data: bytes) -> dict[Partition, int]:
    """Return the offsets of a snapshot without reading its model.

    Raises
    ------
    SnapshotError
        If the snapshot is invalid.
    """
    try:
        return _offsets(_read(data)[0])
    except SnapshotError:
        raise
    except _UNREADABLE as error:
        raise SnapshotError(f"invalid snapshot: {error!r}"[:500]) from error


def is_shared(data: bytes) -> bool:
    """Return whether a snapshot is from a worker that shares its model through a log.

    Raises
    ------
    SnapshotError
        If the snapshot is invalid.
    """
    return _read(data)[0].get("identity") is not None


def _offsets(header: dict[str, Any]) -> dict[Partition, int]:
    return {
        Partition(_text(name), _count(n)): _count(offset) for name, n, offset in header["offsets"]
    }


def _check_identity(worker: Filter, found: Any) -> None:
    """Compare the settings of a snapshot with the settings of the filter, if both exist."""
    if worker.identity is None or found is None:
        return
    differences = worker.identity.differences(found, worker.identity.to_json())
    if differences:
        raise ForeignError(
            f"the snapshot has other settings or another training log ({differences}): use the "
            f"settings of the snapshot, or an empty folder of snapshots to learn the training "
            f"events again. If the topic was created again, its deleted events are then lost"
        )


def _alarm(model: Any, detector: str | None, found: Any) -> DriftAlarm | None:
    """Return the drift alarm of a snapshot, or a new one if the snapshot has another detector."""
    fresh = alarm_of(model, detector)
    if fresh is None or found is None or isinstance(model, Challenger):
        return fresh
    alarm = DriftAlarm.from_json(found)
    return alarm if alarm.detector == detector else fresh


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{str(value)[:50]!r} is not a count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:50]!r} is not a name")
    return value


def _model(expected: Any, data: bytes, shared: bool) -> Any:
    """Return the model of a snapshot, if it has the parameters of the settings.

    A plain model may become a challenged one. With a shared log it may not: other workers would
    have started a challenger earlier.
    """
    kind: Any = Challenger if Challenger.wrote(data) else NaiveBayes
    model = kind.from_bytes(data, n_jobs=getattr(expected, "n_jobs", None))
    if not shared and isinstance(expected, Challenger) and not isinstance(model, Challenger):
        challenger: Any = expected.clone()
        challenger.model, model = model, challenger
    found, wanted = model_text(model), model_text(expected)
    if found != wanted:
        raise ForeignError(
            f"the snapshot holds the model {found}, the settings ask for {wanted}: use the "
            f"settings of the snapshot, or another folder of snapshots"
        )
    return model


def _read(data: bytes) -> tuple[dict[str, Any], bytes]:
    if not data.startswith(MAGIC):
        raise SnapshotError("not a snapshot of a filter: the first bytes are wrong")
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if version != VERSION:
        raise SnapshotError(f"the snapshot has format version {version}; supported: {VERSION}")
    checksum, body = data[len(MAGIC) + 4 : _HEAD], data[_HEAD:]
    if hashlib.sha256(body).digest() != checksum:
        raise SnapshotError("the snapshot is truncated or altered: its checksum is wrong")
    length = int.from_bytes(body[:8], "little")
    header = json.loads(body[8 : 8 + length])
    if not isinstance(header, dict):
        raise SnapshotError("the header of the snapshot is not a JSON object")
    return header, body[8 + length :]
