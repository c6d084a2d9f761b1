"""Training events read back from their log."""

from __future__ import annotations

from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.messages.reading import read_object
from streamnb_consumers.records import TrainingEvent, is_finite

__all__ = ["read_training_event"]


def read_training_event(value: bytes | None) -> TrainingEvent:
    """Return the training event that a record of their log holds.

    Raises
    ------
    BadRecordError
        If it holds anything else.

    Examples
    --------
    >>> from streamnb_consumers.jsons import canonical
    >>> event = TrainingEvent("7", {"free": 1.0}, "spam", None, 0.5)
    >>> read_training_event(canonical(event.to_json())) == event
    True
    """
    fields = read_object(value or b"")
    try:
        event = TrainingEvent(**fields)
    except TypeError as error:
        raise BadRecordError(f"not a training event: {error}") from None
    if not (
        isinstance(event.id, str)
        and isinstance(event.features, (str, dict))
        and isinstance(event.learn, str)
        and isinstance(event.unlearn, (str, type(None)))
        and (event.score is None or is_finite(event.score))
        and isinstance(event.decided, (str, type(None)))
        and (event.delay is None or is_finite(event.delay))
    ):
        raise BadRecordError("not a training event: its fields have other types")
    return event
