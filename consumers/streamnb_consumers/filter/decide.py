"""Decide on a message: label, probabilities, score, and the words that spoke loudest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from streamnb.evaluation import log_odds
from streamnb_consumers.filter.options import Model, Options
from streamnb_consumers.records import Decision, Features, Message, Record

__all__ = ["decide"]


def decide(
    record: Record, message: Message, model: Model, options: Options, cut: float, version: int
) -> Decision:
    """Return what the model, as it is now, says of a message.

    Parameters
    ----------
    record, message
        What was read, and the message that it holds.
    model
        The model.
    options
        Which label is the positive one, and how many words to name.
    cut
        The score that a message must exceed to be positive, where the loss of ham is bounded.
    version
        Training events that the model has learned.
    """
    label = model.predict_one(message.features)
    scores = model.joint_log_likelihood_one(message.features)
    probabilities = model.predict_proba_one(message.features)
    score = None
    if options.positive in scores and len(scores) > 1:
        odds = log_odds(scores, options.positive)
        words = _length(message.features)
        score = odds / words if math.isfinite(odds) else math.copysign(1e6, odds)
        if label == options.positive and score <= cut and options.ham_target:
            label = options.negative
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
    )


def _loudest(
    model: Model, features: Features, label: Any, scores: Mapping[Any, float], most: int
) -> tuple[tuple[str, float], ...]:
    """Return the words that differ most between the label and the next likely one."""
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
