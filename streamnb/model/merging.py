"""Merge and subtract whole models."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from streamnb.columns.reading import Columns
from streamnb.errors import InputError, NotLearnedError


def _alike(mine: Any, other: Any) -> Any:
    """Return the other model if both count alike."""
    kind = type(mine).__name__
    if not isinstance(other, type(mine)) or other._components != mine._components:
        raise InputError(f"a {kind} takes another {kind}, not {type(other).__name__}")
    if other.tokenizer != mine.tokenizer:
        raise InputError("models with different tokenizers count different words")
    if other.term_weighting != mine.term_weighting:
        raise InputError("models with different term_weighting count differently")
    if other._forgetting != mine._forgetting:
        raise InputError("models with another half_life or window_size count differently")
    if mine._columns and other._columns and mine._columns.bins != other._columns.bins:
        raise InputError("models with different bins count different words")
    return other


@contextlib.contextmanager
def changing(mine: Any, other: Any) -> Iterator[Any]:
    """Yield the other model if both count alike, and refresh the statistics at the end.

    The locks of both are taken, always in the same order: they may merge one another.
    """
    theirs = _alike(mine, other)
    with contextlib.ExitStack() as stack:
        for lock in sorted((mine._lock, theirs._lock), key=id):
            stack.enter_context(lock)
        with mine._labels.changing():
            yield theirs
        mine.refresh()


def merge(mine: Any, theirs: Any) -> None:
    """Learn what another model of the same kind has learned."""
    labels = [label for label, _ in theirs._labels.order]
    class_ids, new = mine._labels.ids_of(labels)
    store = theirs._store
    if mine._columns is not None and theirs._columns is not None:
        mine._columns.widen(mine._store, theirs._columns.ranges)
        store = _as_wide(mine._columns, theirs._columns, store)
    mine._labels.announce(new)
    mine._store.merge(store, _by_their_id(theirs, class_ids))
    for label in new:
        mine._labels.add(label)
    mine._labelled.rank_labels([])
    records = {tuning.name: tuning for tuning in theirs._tunings}
    for tuning in mine._tunings:
        if tuning.name in records:
            tuning.merge(records[tuning.name])


def subtract(mine: Any, theirs: Any) -> None:
    """Unlearn what another model of the same kind has learned."""
    labels = [label for label, _ in theirs._labels.order]
    class_ids, new = mine._labels.ids_of(labels)
    if new:
        raise NotLearnedError(f"no message was learned with label {next(iter(new))!r}")
    store = theirs._store
    if mine._columns is not None and theirs._columns is not None:
        if not mine._columns.covers(theirs._columns):
            raise NotLearnedError("it has numbers beyond the range of those learned")
        store = _as_wide(mine._columns, theirs._columns, store)
    mine._store.subtract(store, _by_their_id(theirs, class_ids))
    documents = mine._counts.class_documents
    mine._labelled.rank_labels([class_id for class_id in class_ids if documents[class_id] == 0])


def _as_wide(columns: Columns, others: Columns, store: Any) -> Any:
    """Return another model's store with bins as wide as in these columns."""
    if others.ranges == columns.ranges:
        return store
    widened, copied = others.copy(), copy.deepcopy(store)
    widened.widen(copied, columns.ranges)
    return copied


def _by_their_id(theirs: Any, class_ids: Sequence[int]) -> list[int]:
    """Return the class id in this model for each class id of the other, from those by label."""
    by_their_id = [0] * len(theirs._labels.names)
    for (_, their_id), class_id in zip(theirs._labels.order, class_ids, strict=True):
        by_their_id[their_id] = class_id
    return by_their_id
