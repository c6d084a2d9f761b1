"""Predict messages and decide: label, probabilities, score, and top contributing words."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from streamnb.evaluation import log_odds
from streamnb.model.explanation import rival
from streamnb.model.threshold import UNSURE
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.threshold import is_calibrated, odds_of
from streamnb_consumers.pipeline.training import Learner
from streamnb_consumers.records import Decision, Features, Message, Record

# Output of a model for one message: the label, the score and the probability of each label.
Prediction = tuple[Any, Mapping[Any, float], Mapping[Any, float]]


def predict(model: Any, features: Features) -> Prediction:
    """Return the prediction for one message.

    Raises
    ------
    StreamNBError
        If the model refuses the message.
    """
    label = model.predict_one(features)
    if isinstance(label, set):
        label = tuple(sorted(label))
    return label, model.joint_log_likelihood_one(features), model.predict_proba_one(features)


def decide(
    record: Record,
    message: Message,
    learner: Learner,
    options: Options,
    prediction: Prediction | None = None,
) -> Decision:
    """Return the decision on a message.

    Parameters
    ----------
    record, message
        The record and its message.
    learner
        The model, and the decision threshold that bounds the false-positive rate.
    options
        Positive label, cutoffs, sender lists, and the number of words to explain.
    prediction
        Prediction of the current model; None computes it.

    Raises
    ------
    StreamNBError
        If the model refuses the message.
    """
    model = learner.model
    label, scores, probabilities = prediction or predict(model, message.features)
    top, top_k = None, options.explain_top_k or _explained(record)
    if isinstance(label, tuple):
        if top_k:
            top = _top_words_of_labels(model, message.features, label, probabilities, top_k)
        place = learner.learned, record.partition, record.offset
        return Decision(message.id, label, probabilities, None, *place, top)
    calibrated = is_calibrated(model)
    score = None
    if options.pos_label in scores and len(scores) > 1:
        odds = log_odds(scores, options.pos_label)
        words = 1.0 if calibrated else _length(message.features)
        score = odds / words if math.isfinite(odds) else math.copysign(1e6, odds)
    below = False
    if options.max_fpr:
        level = odds_of(probabilities, options.pos_label) if calibrated else score
        below = level is not None and level <= learner.bound.threshold
    label = _label(label, probabilities, below, options)
    if learner.is_unsure(message.features, label == options.pos_label):
        label = UNSURE
    verdict = options.senders.verdict(message.senders) if options.senders else None
    if verdict is not None:
        label = options.negative if verdict == "allow" else options.pos_label
    if top_k:
        top = _top_words(model, message.features, label, scores, top_k)
    return Decision(
        message.id,
        None if label is None else str(label),
        {str(each): share for each, share in probabilities.items()},
        score,
        learner.learned,
        record.partition,
        record.offset,
        top,
        verdict,
    )


def _explained(record: Record) -> int:
    """Return the number of words that the record header `explain` asks for, at most 100."""
    if not record.headers:
        return 0
    values = [value for name, value in record.headers if name == "explain" and value]
    # Python refuses to read thousands of digits.
    return min(int(values[-1][:9]), 100) if values and values[-1].isdigit() else 0


def _label(label: Any, probabilities: Mapping[Any, float], below: bool, options: Options) -> Any:
    """Return the label of the decision, after cutoffs and the decision threshold.

    `below` means that the message is at or below the threshold, so it may not be positive.
    """
    if options.cutoffs is not None and probabilities:
        answer = options.cutoffs.answer(probabilities.get(options.pos_label, 0.0))
        if answer == "positive" and below:
            answer = "unsure" if options.cutoffs.ham else "negative"
        if answer == "unsure":
            return UNSURE
        if answer == "positive":
            return options.pos_label
        others = {each: part for each, part in probabilities.items() if each != options.pos_label}
        return max(others, key=others.__getitem__, default=options.negative)
    return options.negative if below and label == options.pos_label else label


def _top_words(
    model: Any, features: Features, label: Any, scores: Mapping[Any, float], top_k: int
) -> tuple[tuple[str, float], ...]:
    """Return the words whose log odds of the label against the next likely one are largest.

    If the decision is not a label of the model, use the most likely label.
    """
    if label not in scores and scores:
        label = max(scores, key=scores.__getitem__)
    against = rival(scores, label)
    if label not in scores or against is None:
        return ()
    return tuple(model.explain_one(features).in_words().towards(label, against)[:top_k])


def _top_words_of_labels(
    model: Any,
    features: Features,
    labels: Collection[str],
    probabilities: Mapping[str, float],
    top_k: int,
) -> tuple[tuple[str, float], ...]:
    """Return the words whose log odds of the decided labels are largest in sum.

    Without a decided label, use the most likely label.
    """
    labels = labels or [max(probabilities, key=probabilities.__getitem__)] if probabilities else ()
    words = model.explain_one(features).in_words().words
    sums = {word: sum(terms[each] for each in labels) for word, terms in words.items()}
    return tuple(sorted(sums.items(), key=lambda each: (-abs(each[1]), each[0]))[:top_k])


def _length(features: Features) -> float:
    """Return the approximate number of words, at least 1."""
    return float(max(1, len(features.split() if isinstance(features, str) else features)))
