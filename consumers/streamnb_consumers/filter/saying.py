"""What a model says of messages: one by one, or of all that come before it learns again at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from streamnb.errors import StreamNBError
from streamnb_consumers.filter.options import Model
from streamnb_consumers.records import Features

__all__ = ["Said", "say", "say_many"]


class Said(NamedTuple):
    """What a model says of one message: its label, and each label's score and probability."""

    label: Any
    scores: Mapping[Any, float]
    probabilities: Mapping[Any, float]


def say(model: Model, features: Features) -> Said:
    """Return what a model says of one message.

    Raises
    ------
    StreamNBError
        If it can't read the message.
    """
    return Said(
        model.predict_one(features),
        model.joint_log_likelihood_one(features),
        model.predict_proba_one(features),
    )


def say_many(model: Any, messages: Sequence[Features]) -> list[Said] | None:
    """Return what a model says of each of many messages, the same as one by one.

    None where it has no calls for many, or can't read one of them: which, tells `say`.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> model.learn_one("win cash", "spam")
    >>> model.learn_one("see you", "ham")
    >>> say_many(model, ["win", "you"]) == [say(model, "win"), say(model, "you")]
    True
    """
    if not hasattr(model, "predictions_many"):
        return None
    try:
        return [Said(*each) for each in model.predictions_many(messages)]
    except StreamNBError:
        return None
