"""Whole models added to and subtracted from one another."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

from streamnb.columns.reading import Columns
from streamnb.errors import InputError, NotLearnedError
from streamnb.online.tuning import Tuning
from streamnb.statistics.counts import Counts
from streamnb.statistics.store import AnyStore
from streamnb.text.labels import Label, Labels


@dataclasses.dataclass(frozen=True)
class Learned:
    """Everything that a model has learned.

    Attributes
    ----------
    store
        The counts.
    labels
        The labels of their classes.
    columns
        How columns are read, with the ranges of their numbers; None for texts.
    tunings
        The records of what is tuned along the stream.
    """

    store: AnyStore
    labels: Labels
    columns: Columns | None
    tunings: Sequence[Tuning[Any]]


def alike(mine: Any, other: Any) -> Any:
    """Return the other model, if the two count alike.

    Raises
    ------
    InputError
        If they don't.
    """
    kind = type(mine).__name__
    if not isinstance(other, type(mine)) or other._parts != mine._parts:
        raise InputError(f"a {kind} takes another {kind}, not {type(other).__name__}")
    if other.tokenizer != mine.tokenizer:
        raise InputError("models with different tokenizers count different words")
    if other.term_weighting != mine.term_weighting:
        raise InputError("models with different term_weighting count differently")
    if other._forgetting != mine._forgetting:
        raise InputError("models with another half_life or window count differently")
    if mine._columns and other._columns and mine._columns.bins != other._columns.bins:
        raise InputError("models with different bins count different words")
    return other


def merge(mine: Learned, theirs: Learned) -> None:
    """Add what another model of the same kind has learned."""
    labels = [label for label, _ in theirs.labels.order]
    class_ids, new = mine.labels.ids_of(labels)
    store = theirs.store
    if mine.columns is not None and theirs.columns is not None:
        mine.columns.widen(mine.store, theirs.columns.ranges)
        store = _as_wide(mine.columns, theirs.columns, store)
    mine.labels.announce(new)
    mine.store.merge(store, _by_their_id(theirs.labels, labels, class_ids))
    for label in new:
        mine.labels.add(label)
    mine.store.set_ranks(mine.labels.take_ranks())
    records = {tuning.name: tuning for tuning in theirs.tunings}
    for tuning in mine.tunings:
        if tuning.name in records:
            tuning.merge(records[tuning.name])


def subtract(mine: Learned, theirs: Learned) -> None:
    """Take away what another model of the same kind has learned.

    Raises
    ------
    NotLearnedError
        If not all of it was learned; nothing has changed.
    """
    labels = [label for label, _ in theirs.labels.order]
    class_ids, new = mine.labels.ids_of(labels)
    if new:
        raise NotLearnedError(f"no message was learned with label {next(iter(new))!r}")
    store = theirs.store
    if mine.columns is not None and theirs.columns is not None:
        if not mine.columns.covers(theirs.columns):
            raise NotLearnedError("it has numbers beyond the range of those learned")
        store = _as_wide(mine.columns, theirs.columns, store)
    mine.store.subtract(store, _by_their_id(theirs.labels, labels, class_ids))
    documents = Counts.of(mine.store).class_documents
    for label in labels:
        if documents[mine.labels.ids[label]] == 0:
            mine.labels.remove(label)
    mine.store.set_ranks(mine.labels.take_ranks())


def _as_wide(columns: Columns, others: Columns, store: AnyStore) -> AnyStore:
    """Return another model's store with bins as wide as in these columns."""
    if others.ranges == columns.ranges:
        return store
    widened, copied = others.copy(), copy.deepcopy(store)
    widened.widen(copied, columns.ranges)
    return copied


def _by_their_id(theirs: Labels, labels: list[Label], class_ids: Sequence[int]) -> list[int]:
    """Return the class id here for each class id there."""
    by_their_id = [0] * len(theirs.names)
    for label, class_id in zip(labels, class_ids, strict=True):
        by_their_id[theirs.ids[label]] = class_id
    return by_their_id
