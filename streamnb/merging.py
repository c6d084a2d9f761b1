"""Whole models added to and subtracted from one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamnb.correlation import LearnedFactor
from streamnb.errors import InputError, NotLearnedError
from streamnb.labels import Label
from streamnb.statistics import Counts
from streamnb.threshold import LearnedThreshold

if TYPE_CHECKING:
    from streamnb.naive_bayes import NaiveBayes


def merge(model: NaiveBayes, other: NaiveBayes) -> None:
    """Add what the other model has learned."""
    labels = _matched(model, other)
    class_ids, new = model._labels.ids_of(labels)
    model._store.merge(other._store, _by_their_id(other, labels, class_ids))
    for label in new:
        model._labels.add(label)
    model._store.set_ranks(model._labels.ranks())
    mine, theirs = model._threshold, other._threshold
    if isinstance(mine, LearnedThreshold) and isinstance(theirs, LearnedThreshold):
        mine.merge(theirs)
    factor, other_factor = model._factor, other._factor
    if isinstance(factor, LearnedFactor) and isinstance(other_factor, LearnedFactor):
        factor.merge(other_factor)


def subtract(model: NaiveBayes, other: NaiveBayes) -> None:
    """Take away what the other model has learned."""
    labels = _matched(model, other)
    class_ids, new = model._labels.ids_of(labels)
    if new:
        raise NotLearnedError(f"no message was learned with label {new[0]!r}")
    model._store.subtract(other._store, _by_their_id(other, labels, class_ids))
    documents = Counts.of(model._store).class_documents
    for label in labels:
        if documents[model._labels.ids[label]] == 0:
            model._labels.remove(label)
    model._store.set_ranks(model._labels.ranks())


def _matched(model: NaiveBayes, other: NaiveBayes) -> list[Label]:
    """Return the other model's labels, if the two count alike."""
    if not isinstance(other, type(model)) or (
        other._parts(),
        other._estimate_part(),
    ) != (model._parts(), model._estimate_part()):
        raise InputError(
            f"a {type(model).__name__} takes another {type(model).__name__}, "
            f"not {type(other).__name__}"
        )
    if other.tokenizer != model.tokenizer:
        raise InputError("models with different tokenizers count different words")
    return other.classes_


def _by_their_id(other: NaiveBayes, labels: list[Label], class_ids: list[int]) -> list[int]:
    """Return this model's class id for each class id of the other."""
    by_their_id = [0] * len(other._labels.names)
    for label, class_id in zip(labels, class_ids, strict=True):
        by_their_id[other._labels.ids[label]] = class_id
    return by_their_id
