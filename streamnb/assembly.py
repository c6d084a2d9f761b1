"""How a model is put together from its parts: its scoring, its columns, its records, its store."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from streamnb import _core
from streamnb.columns.examples import NumberColumns
from streamnb.columns.reading import Columns
from streamnb.columns.store import open_store
from streamnb.online.correlation_factor import CorrelationFactor, LearnedFactor, MakeScoring
from streamnb.online.package_threshold import Packaging
from streamnb.online.threshold import DecisionThreshold, LearnedThreshold
from streamnb.online.tuning import Recorder
from streamnb.parameters import check_bound, check_choice, check_number
from streamnb.parts import Composition, Event, Weights
from streamnb.statistics.events import ScoringParameters


def scoring_of(
    parts: Composition,
    words: Weights,
    minimised: bool,
    alpha: Any,
    prior: Any,
    unseen: Any,
    vocabulary_size: Any,
) -> tuple[MakeScoring, ScoringParameters]:
    """Return how to make a scoring, all but its factors settled; and what it depends on.

    Parameters
    ----------
    parts
        The parts.
    words
        What words weigh.
    minimised
        Whether words have weights in the score alone.
    alpha, prior, unseen, vocabulary_size
        As in `NaiveBayes`.

    Raises
    ------
    InputError
        If one of them is out of range. Parts that do not go together are refused by the scoring.
    """
    m = None if vocabulary_size is None else check_bound("vocabulary_size", vocabulary_size, 1)
    prior = parts.prior if prior is None else check_choice("prior", prior)
    make_scoring = functools.partial(
        _core.Scoring,
        event=parts.event.name,
        alpha=check_number("alpha", alpha),
        prior=prior,
        unseen=parts.event.unseen if unseen is None else check_choice("unseen", unseen),
        vocabulary_size=m,
        hidden=parts.dependence.hidden,
        effective=parts.estimate.substitutes,
        weighted=words.periodic,
        weighted_documents=parts.document_weights.periodic or parts.document_weights.online,
        chi_square=words.chi_square,
        minimised=minimised,
        neighbourhood=parts.neighbourhood.native,
        n_neighbors=parts.neighbourhood.n_neighbors,
    )
    return make_scoring, ScoringParameters(parts.event.name, prior, alpha, float(m or 1))


def columns_of(event: Event, bins: Any, values: Mapping[str, int] | None) -> Columns | None:
    """Return how messages of columns are read; None for texts."""
    if not event.columns:
        return None
    columns = Columns(bins, values)
    return NumberColumns(values) if event.numbers else columns


def recorders_of(
    threshold: DecisionThreshold | None,
    packaging: Packaging | None,
    factor: CorrelationFactor | None,
) -> list[Recorder]:
    """Return those of a model's settings that are chosen along the stream."""
    recorders: list[Recorder] = []
    if isinstance(threshold, LearnedThreshold):
        recorders.append(threshold)
    if packaging is not None and packaging.learns:
        recorders.append(packaging)
    if isinstance(factor, LearnedFactor):
        recorders.append(factor)
    return recorders


def open_counts(
    parts: Composition,
    tokenizer: _core.NativeTokenizer,
    bounds: dict[str, int],
    form: str,
    snapshot: bytes | None,
) -> _core.CountStore:
    """Return a store that has learned nothing, or that of a snapshot.

    Parameters
    ----------
    parts
        Whose statistics it should have.
    tokenizer
        For texts.
    bounds
        `max_words`, `max_documents` and `max_pairs`.
    form
        Of documents.
    snapshot
        What another store has learned.

    Raises
    ------
    ModelFileError
        If the snapshot holds no store.
    """
    if not parts.mixes_pairs:
        bounds = {**bounds, "max_pairs": 0}
    if parts.event.numbers:
        return open_store(tokenizer, bounds, snapshot)
    if snapshot is not None:
        return _core.CountStore.restore(tokenizer, snapshot)
    return _core.CountStore(
        tokenizer,
        **bounds,
        frequencies=parts.event.frequencies and not parts.estimate.substitutes,
        columns=parts.event.columns,
        own_pairs=parts.dependence.own_pairs,
        form=form,
        weighed=parts.document_weights.online,
    )
