"""The state of a filter as bytes; filters with equal states give equal bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from streamnb.challenger import Challenger
from streamnb.errors import ModelFileError
from streamnb.model.drift import DriftAlarm
from streamnb.model.persistence import SavedModel, opened, sealed
from streamnb_consumers.errors import ForeignError, SnapshotError
from streamnb_consumers.jsons import canonical, parse
from streamnb_consumers.pipeline.filter import Filter, SharedFilter
from streamnb_consumers.pipeline.identity import model_text
from streamnb_consumers.pipeline.threshold import bound_of
from streamnb_consumers.pipeline.training import alarm_of
from streamnb_consumers.pipeline.window import JoinWindow
from streamnb_consumers.records import Partition

MAGIC = b"streamFI"
VERSION = 1

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Header(msgspec.Struct, omit_defaults=True):
    """The header of a snapshot.

    `identity` is None unless the model comes from a log. `recent` has a 1 for each of the last
    decisions that was right, and a 0 for each other one. `last_event` is the digest of the last
    training event.
    """

    identity: dict[str, Any] | None
    reader: str
    learned: _Count
    offsets: list[tuple[str, _Count, _Count]]
    threshold: list[Any]
    recent: str
    drift: dict[str, Any] | None = None
    windows: list[tuple[_Count, dict[str, Any]]] = []
    last_event: str = ""

    def places(self) -> dict[Partition, int]:
        """Return the offsets of the filter, by partition."""
        return {Partition(name, number): offset for name, number, offset in self.offsets}


def dump(worker: Filter) -> bytes:
    """Return the state of a filter: model, join windows, scores and offsets.

    A filter that shares its state through logs saves only the state that follows from training
    events. Workers that have read the same events thus have the same bytes. Their join windows have
    their own log.
    """
    while (data := begin(worker)()) is None:
        pass
    return data


def begin(worker: Filter) -> Callable[[], bytes | None]:
    """Begin `dump` of this moment; return the function that completes it, in any thread.

    The filter works meanwhile. The function returns None if the copy of the model was abandoned:
    see `begin_bytes` of a model. Begin again then.
    """
    # Copies of the join windows are large: none is kept while the model is written.
    text = canonical(_header(worker))
    complete = worker.learner.model.begin_bytes()

    def completed() -> bytes | None:
        model = complete()
        return None if model is None else sealed(text, model, MAGIC, VERSION)

    return completed


def _header(worker: Filter) -> Header:
    learner, identity = worker.learner, worker.identity
    header = Header(
        None if identity is None else identity.to_json(),
        worker.reader.name,
        learner.learned,
        [(*place, offset) for place, offset in sorted(worker.offsets.items())],
        learner.bound.to_json(),
        "".join(str(int(right)) for right in learner.recent),
    )
    if learner.alarm is not None and not isinstance(learner.model, Challenger):
        header.drift = learner.alarm.to_json()  # the alarm of a challenger is in its file
    if isinstance(worker, SharedFilter) and worker.last_event is not None:
        header.last_event = worker.last_event[1]
    if not worker.shared:
        header.windows = [(n, each.to_json()) for n, each in sorted(worker.join.windows.items())]
    return header


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
        _check_identity(worker, header.identity)
        if header.reader != worker.reader.name:
            raise ForeignError(
                f"the snapshot contains messages of kind {header.reader}, and this filter reads "
                f"{worker.reader.name}: use another folder of snapshots. A mail model that learned "
                f"word counts must not have a tokenizer"
            )
        model = _model(learner.model, model_bytes, worker.shared)
        windows = {
            n: JoinWindow.from_json(window, worker.options.bounds) for n, window in header.windows
        }
        bound = bound_of(worker.options, model)
        bound.restore(header.threshold)
        alarm = _alarm(model, worker.options.drift, header.drift)
    except SnapshotError:
        raise
    except Exception as error:  # the checksum is right, but the header was not written by a filter
        raise SnapshotError(f"invalid snapshot: {error!r}"[:500]) from error
    learner.model, learner.bound = model, bound
    learner.revision += 1
    learner.recent.clear()
    learner.recent.extend(each == "1" for each in header.recent)
    learner.alarm, learner.learned = alarm, header.learned
    worker.join.windows, worker.offsets = windows, header.places()
    if isinstance(worker, SharedFilter):
        places = list(worker.offsets) if header.last_event else []
        worker.last_event = (places[0], header.last_event) if len(places) == 1 else None
    worker.protect()


def header_of(data: bytes) -> Header:
    """Return the header of a snapshot without reading its model.

    Raises
    ------
    SnapshotError
        If the snapshot is invalid.
    """
    return _read(data)[0]


def _check_identity(worker: Filter, found: Any) -> None:
    """Compare the settings of a snapshot with the settings of the filter, if both exist."""
    if worker.identity is None or found is None:
        return
    differences = worker.identity.differences(found, changeable=not worker.options.adopt)
    if differences:
        raise ForeignError(
            f"the snapshot has other settings or another training log ({differences}): use the "
            f"settings of the snapshot, or change them as docs/how-to/change-model.md says. If the "
            f"topic was created again, its deleted events are lost"
        )


def _alarm(model: Any, detector: str | None, found: Any) -> DriftAlarm | None:
    """Return the drift alarm of a snapshot, or a new one if the snapshot has another detector."""
    fresh = alarm_of(model, detector)
    if fresh is None or found is None or isinstance(model, Challenger):
        return fresh
    alarm = DriftAlarm.from_json(found)
    return alarm if alarm.detector == detector else fresh


def _model(expected: Any, data: bytes, shared: bool) -> Any:
    """Return the model of a snapshot, if it has the parameters of the settings.

    A plain model may become a challenged one. With a shared log it may not: other workers would
    have started a challenger earlier.
    """
    kind: Any = Challenger if Challenger.wrote(data) else SavedModel
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


def _read(data: bytes) -> tuple[Header, bytes]:
    try:
        encoded, model = opened(data, MAGIC, VERSION, "snapshot")
        return msgspec.convert(parse(encoded), Header), model
    except ModelFileError as error:
        raise SnapshotError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"invalid snapshot: {error!r}"[:500]) from error
