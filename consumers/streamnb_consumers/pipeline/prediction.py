"""Decide on a message: label, probabilities, score, and the words that spoke loudest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from streamnb.errors import StreamNBError
from streamnb.evaluation import log_odds
from streamnb.model.threshold import UNSURE
from streamnb_consumers.pipeline.options import Model, Options
from streamnb_consumers.pipeline.threshold import is_calibrated, odds_of
from streamnb_consumers.records import Decision, Features, Message, Record

__all__ = ["Prediction", "decide", "predict", "predict_many"]


def decide(
    record: Record,
    message: Message,
    model: Model,
    options: Options,
    cut: float,
    version: int,
    said: Prediction | None = None,
) -> Decision:
    """Return the decision on a message.

    Parameters
    ----------
    record, message
        What was read, and the message that it holds.
    model
        The model.
    options
        Which label is the positive one, and how many words to name.
    cut
        The score, or where probabilities are calibrated their log odds, that a message must exceed
        to be positive, where the loss of ham is bounded.
    version
        Training events that the model has learned.
    said
        What the model, as it is now, says of the message; None asks it.
    """
    label, scores, probabilities = said or predict(model, message.features)
    calibrated = is_calibrated(model)
    score = None
    if options.pos_label in scores and len(scores) > 1:
        odds = log_odds(scores, options.pos_label)
        words = 1.0 if calibrated else _length(message.features)
        score = odds / words if math.isfinite(odds) else math.copysign(1e6, odds)
    level = odds_of(probabilities, options.pos_label) if calibrated else score
    lost = level is not None and level <= cut and bool(options.ham_target)
    label = _answer(label, probabilities, lost, options)
    verdict = options.senders.verdict(message.senders) if options.senders else None
    if verdict is not None:
        label = options.negative if verdict == "allow" else options.pos_label
    loudest = None
    if options.top_words:
        loudest = _loudest(model, message.features, label, scores, options.top_words)
    return Decision(
        message.id,
        None if label is None else str(label),
        {str(each): share for each, share in probabilities.items()},
        score,
        version,
        record.partition,
        record.offset,
        loudest,
        verdict,
    )


def _answer(label: Any, probabilities: Mapping[Any, float], lost: bool, options: Options) -> Any:
    """Return the decision: the model's, moved by the cuts and by the bound on lost ham."""
    if options.cutoffs is not None and probabilities:
        share = probabilities.get(options.pos_label, 0.0)
        answer = options.cutoffs.answer(share)
        if answer == "positive" and lost:
            answer = "unsure" if options.cutoffs.ham else "negative"
        if answer == "unsure":
            return UNSURE
        if answer == "positive":
            return options.pos_label
        others = {each: part for each, part in probabilities.items() if each != options.pos_label}
        return max(others, key=others.__getitem__, default=options.negative)
    return options.negative if lost and label == options.pos_label else label


def _loudest(
    model: Model, features: Features, label: Any, scores: Mapping[Any, float], most: int
) -> tuple[tuple[str, float], ...]:
    """Return the words that differ most between the label and the next likely one.

    Of a decision that is no label of the model, the likeliest one is meant.
    """
    if label not in scores and scores:
        label = max(scores, key=scores.__getitem__)
    rival = max((each for each in scores if each != label), key=scores.__getitem__, default=None)
    if label not in scores or rival is None:
        return ()
    towards = {
        str(word): terms[label] - terms[rival]
        for word, terms in model.explain_one(features).words.items()
    }
    ranked = sorted(towards.items(), key=lambda item: (-abs(item[1]), item[0]))
    return tuple(ranked[:most])


def _length(features: Features) -> float:
    """Return how many words a message has, about, and at least 1."""
    if isinstance(features, str):
        return float(max(1, len(features.split())))
    return float(max(1, len(features)))


class Prediction(NamedTuple):
    """What a model says of one message: its label, and each label's score and probability."""

    label: Any
    scores: Mapping[Any, float]
    probabilities: Mapping[Any, float]


def predict(model: Model, features: Features) -> Prediction:
    """Return what a model says of one message.

    Raises
    ------
    StreamNBError
        If it can't read the message.
    """
    return Prediction(
        model.predict_one(features),
        model.joint_log_likelihood_one(features),
        model.predict_proba_one(features),
    )


def predict_many(model: Any, messages: Sequence[Features]) -> list[Prediction] | None:
    """Return what a model says of each of many messages, the same as one by one.

    None where it has no calls for many, or can't read one of them: which, tells `say`.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> model.learn_one("win cash", "spam")
    >>> model.learn_one("see you", "ham")
    >>> predict_many(model, ["win", "you"]) == [predict(model, "win"), predict(model, "you")]
    True
    """
    if not hasattr(model, "predictions_many"):
        return None
    try:
        return [Prediction(*each) for each in model.predictions_many(messages)]
    except StreamNBError:
        return None
