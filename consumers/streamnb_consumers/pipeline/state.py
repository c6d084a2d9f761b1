"""A filter's whole state as bytes: the same bytes for filters in the same state."""

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
from streamnb_consumers.pipeline.join_window import JoinWindow
from streamnb_consumers.pipeline.threshold import FalsePositiveBound, is_calibrated
from streamnb_consumers.pipeline.training import alarm_of
from streamnb_consumers.records import Partition

__all__ = ["dump", "is_shared", "offsets", "restore"]

MAGIC = b"streamFI"
VERSION = 1
_HEAD = len(MAGIC) + 4 + 32


def dump(worker: Filter) -> bytes:
    """Return the bytes of a filter's state: model, windows, record of scores, offsets, counters.

    Layout: magic (8 bytes), format version (4, little-endian), SHA-256 of all that follows (32),
    length of the header (8, little-endian), header (JSON), model file.

    Workers that share their state through logs keep what follows from training events only: workers
    that have read the same events have the same bytes. The windows are in a log of their own.
    """
    shared, learner = worker.options.shared, worker.learner
    windows = sorted(worker.join.windows.items())
    identity = worker.identity
    watched = isinstance(learner.model, Challenger)  # its alarm is in its file
    header = canonical(
        ({"settings": identity.to_json()} if identity is not None else {})
        | {
            "reader": worker.reader.name,
            "counters": {"lessons": learner.learned} | ({} if shared else worker.counters),
            "offsets": [[*place, offset] for place, offset in sorted(worker.offsets.items())],
            "windows": [[n, window.to_json()] for n, window in windows if not shared],
            "bound": learner.bound.to_json(),
            "tally": learner.confusion.to_json(),
        }
        | ({} if learner.alarm is None or watched else {"drift": learner.alarm.to_json()})
    )
    body = len(header).to_bytes(8, "little") + header + learner.model.to_bytes()
    return MAGIC + VERSION.to_bytes(4, "little") + hashlib.sha256(body).digest() + body


def restore(worker: Filter, data: bytes) -> None:
    """Give a filter the state that `dump` wrote; its options stay as they are.

    Raises
    ------
    SnapshotError
        If the bytes are no whole state. The filter is then as it was.
    ForeignError
        If they are of another kind of message, of other settings or of another log.
    """
    learner = worker.learner
    try:
        header, model_bytes = _read(data)
        _check_identity(worker, header.get("settings"))
        if header["reader"] != worker.reader.name:
            raise ForeignError(
                f"the snapshot is of messages of the kind {header['reader']}, "
                f"not {worker.reader.name}: give each filter a folder of its own, and let a model "
                "that learned the words of mails name no tokenizer"
            )
        model = _model(learner.model, model_bytes, worker.options.shared)
        windows = {
            _count(n): JoinWindow.from_json(state, worker.options.bounds)
            for n, state in header["windows"]
        }
        read = _offsets(header)
        counted = {name: _count(count) for name, count in header["counters"].items()}
        bound, tally = (
            FalsePositiveBound(worker.options.ham_target, is_calibrated(model)),
            Confusion(),
        )
        bound.restore(header["bound"])
        tally.restore(header["tally"])
        alarm = _alarm(model, worker.options.drift, header.get("drift"))
    except SnapshotError:
        raise
    except (StreamNBError, *_UNREADABLE) as error:
        raise SnapshotError(f"the snapshot can't be read: {error!r}"[:500]) from error
    learner.model, learner.bound, learner.confusion = model, bound, tally
    learner.alarm = alarm
    learner.learned = counted.get("lessons", 0)
    worker.join.windows, worker.offsets = windows, read
    worker.counters = {name: counted.get(name, 0) for name in worker.counters}


# What reading a header raises whose checksum is right though no filter wrote it.
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


def offsets(data: bytes) -> dict[Partition, int]:
    """Return how far a snapshot has read each log; of its model nothing is read.

    Raises
    ------
    SnapshotError
        If its checksum is wrong, or the offsets can't be read.
    """
    try:
        return _offsets(_read(data)[0])
    except SnapshotError:
        raise
    except _UNREADABLE as error:
        raise SnapshotError(f"the snapshot can't be read: {error!r}"[:500]) from error


def is_shared(data: bytes) -> bool:
    """Tell whether a snapshot is of a worker that shares its model with others through a log.

    Raises
    ------
    SnapshotError
        If it is none, or its checksum is wrong.
    """
    return "settings" in _read(data)[0]


def _offsets(header: dict[str, Any]) -> dict[Partition, int]:
    return {
        Partition(_text(name), _count(n)): _count(offset) for name, n, offset in header["offsets"]
    }


def _check_identity(worker: Filter, found: Any) -> None:
    """Compare what a snapshot was made with; one of before, which does not say it, is adopted."""
    if worker.identity is None or found is None:
        return
    differences = worker.identity.differences(found, worker.identity.to_json())
    if differences:
        raise ForeignError(
            f"the snapshot was made with other settings or another log ({differences}): use those "
            f"settings, or an empty folder of snapshots, to learn again the training events that "
            f"are in the log. If the topic was made anew, what is in no log any more is lost then"
        )


def _alarm(model: Any, detector: str | None, found: Any) -> DriftAlarm | None:
    """Return the alarm of a snapshot; a fresh one, where another detector made it or none."""
    asked = alarm_of(model, detector)
    if asked is None or found is None or isinstance(model, Challenger):
        return asked
    alarm = DriftAlarm.from_json(found)
    return alarm if alarm.detector == detector else asked


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{str(value)[:50]!r} is no count")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:50]!r} is no name")
    return value


def _model(expected: Any, data: bytes, shared: bool) -> Any:
    """Return the model of a snapshot, if it is the one that the settings ask for.

    One that did not react to drift may do so from now on; but not where others fold the same log,
    whose models would have done so before.
    """
    kind: Any = Challenger if Challenger.wrote(data) else NaiveBayes
    model = kind.from_bytes(data, n_jobs=getattr(expected, "n_jobs", None))
    if not shared and isinstance(expected, Challenger) and not isinstance(model, Challenger):
        watched: Any = expected.clone()
        watched.model, model = model, watched
    found, asked = _described(model), _described(expected)
    if found != asked:
        raise ForeignError(
            f"the snapshot holds the model {_shown(*found)}, the settings ask for "
            f"{_shown(*asked)}: use those settings, or another folder of snapshots"
        )
    return model


def _described(model: Any) -> tuple[str, dict[str, Any]]:
    """Return what a model is: its class, and its parameters, of which one may be a model."""
    parameters = model.saved_parameters()
    return type(model).__name__, {
        name: _described(value) if hasattr(value, "saved_parameters") else value
        for name, value in parameters.items()
    }


def _shown(name: str, parameters: dict[str, Any]) -> str:
    shown = (
        f"{key}={_shown(*value) if key == 'model' else repr(value)}"
        for key, value in sorted(parameters.items())
    )
    return f"{name}({', '.join(shown)})"


def _read(data: bytes) -> tuple[dict[str, Any], bytes]:
    if not data.startswith(MAGIC):
        raise SnapshotError("this is no snapshot of a filter: the file does not begin as one")
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if version != VERSION:
        raise SnapshotError(f"the snapshot has version {version}; this is version {VERSION}")
    checksum, body = data[len(MAGIC) + 4 : _HEAD], data[_HEAD:]
    if hashlib.sha256(body).digest() != checksum:
        raise SnapshotError("the snapshot is truncated or altered: its checksum does not match")
    length = int.from_bytes(body[:8], "little")
    header = json.loads(body[8 : 8 + length])
    if not isinstance(header, dict):
        raise SnapshotError("the snapshot's header is no JSON object")
    return header, body[8 + length :]
