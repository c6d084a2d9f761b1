"""Whole models added to and subtracted from one another."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from streamnb import _core
from streamnb.columns.reading import Columns
from streamnb.errors import InputError, NotLearnedError
from streamnb.statistics.counts import Counts
from streamnb.text.labels import Label

if TYPE_CHECKING:
    from streamnb.naive_bayes import NaiveBayes


def merge(model: NaiveBayes, other: NaiveBayes) -> None:
    """Add what the other model has learned."""
    labels = _matched(model, other)
    class_ids, new = model._labels.ids_of(labels)
    store = other._store
    if model._columns is not None and other._columns is not None:
        model._columns.widen(model._store, other._columns.ranges)
        store = _as_wide(model._columns, other._columns, store)
    model._store.merge(store, _by_their_id(other, labels, class_ids))
    for label in new:
        model._labels.add(label)
    model._store.set_ranks(model._labels.ranks())
    records = {recorder.name: recorder for recorder in other._recorders}
    for recorder in model._recorders:
        if recorder.name in records:
            recorder.merge(records[recorder.name])


def subtract(model: NaiveBayes, other: NaiveBayes) -> None:
    """Take away what the other model has learned."""
    labels = _matched(model, other)
    class_ids, new = model._labels.ids_of(labels)
    if new:
        raise NotLearnedError(f"no message was learned with label {new[0]!r}")
    store = other._store
    if model._columns is not None and other._columns is not None:
        if not model._columns.covers(other._columns):
            raise NotLearnedError("it has numbers beyond the range of those learned")
        store = _as_wide(model._columns, other._columns, store)
    model._store.subtract(store, _by_their_id(other, labels, class_ids))
    documents = Counts.of(model._store).class_documents
    for label in labels:
        if documents[model._labels.ids[label]] == 0:
            model._labels.remove(label)
    model._store.set_ranks(model._labels.ranks())


def _matched(model: NaiveBayes, other: NaiveBayes) -> list[Label]:
    """Return the other model's labels, if the two count alike."""
    if not isinstance(other, type(model)) or other._parts != model._parts:
        raise InputError(
            f"a {type(model).__name__} takes another {type(model).__name__}, "
            f"not {type(other).__name__}"
        )
    if other.tokenizer != model.tokenizer:
        raise InputError("models with different tokenizers count different words")
    if other.form != model.form:
        raise InputError("models with different forms of documents count differently")
    if model._columns and other._columns and model._columns.bins != other._columns.bins:
        raise InputError("models with different bins count different words")
    return other.classes_


def _as_wide(columns: Columns, others: Columns, store: _core.CountStore) -> _core.CountStore:
    """Return another model's store with bins as wide as in these columns."""
    if others.ranges == columns.ranges:
        return store
    widened, copied = others.copy(), copy.deepcopy(store)
    widened.widen(copied, columns.ranges)
    return copied


def _by_their_id(other: NaiveBayes, labels: list[Label], class_ids: list[int]) -> list[int]:
    """Return this model's class id for each class id of the other."""
    by_their_id = [0] * len(other._labels.names)
    for label, class_id in zip(labels, class_ids, strict=True):
        by_their_id[other._labels.ids[label]] = class_id
    return by_their_id
