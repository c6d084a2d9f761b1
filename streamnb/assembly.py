"""How a model begins to work: its parts' scoring, statistics, tuning and store."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from streamnb import _core
from streamnb.online.tuning import Tuning
from streamnb.parameters import check_bound, check_choice, check_number
from streamnb.parts import Composition
from streamnb.parts.axes.choice import Scorer
from streamnb.parts.axes.composition import Setup
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.refreshing import Refresher
from streamnb.statistics.store import AnyStore


@dataclasses.dataclass(frozen=True)
class Assembly:
    """The parts of a model at work.

    Attributes
    ----------
    setup
        The parts, and what they build on.
    scorer
        How messages are scored.
    refreshers
        What is computed now and then, in the order in which it is.
    tunings
        What is tuned along the stream.
    """

    setup: Setup
    scorer: Scorer
    refreshers: tuple[Refresher[Any], ...]
    tunings: tuple[Tuning[Any], ...]

    @classmethod
    def of(
        cls,
        parts: Composition,
        alpha: Any,
        prior: Any,
        oov: Any,
        vocabulary_size: Any,
        threads: int,
    ) -> Assembly:
        """Put the parts of a model to work.

        Parameters
        ----------
        parts
            The parts.
        alpha, prior, oov, vocabulary_size
            As in `NaiveBayes`.
        threads
            On how many statistics may be computed, at least 1.

        Raises
        ------
        InputError
            If one of them is out of range, or parts do not go together.
        """
        m = None if vocabulary_size is None else check_bound("vocabulary_size", vocabulary_size, 1)
        prior = parts.prior if prior is None else check_choice("prior", prior)
        options = {
            "alpha": check_number("alpha", alpha),
            "prior": prior,
            "oov": parts.oov if oov is None else check_choice("oov", oov),
            "vocabulary_size": m,
            **parts.scoring_options(),
        }
        make_scoring = functools.partial(_core.Scoring, **options)
        parameters = ScoringParameters(
            parts.event.name, prior, alpha, float(m or 1), options.get("weights") == "chi-square"
        )
        setup = Setup(parts, parameters, make_scoring, threads)
        in_use = [part.in_use(setup) for part in parts.all]
        scorers = [used.scorer for used in in_use if used.scorer is not None]
        return cls(
            setup,
            scorers[0] if scorers else Scorer(make_scoring()),
            tuple(used.refresher for used in in_use if used.refresher is not None),
            tuple(used.tuning for used in in_use if used.tuning is not None),
        )

    @property
    def periodic(self) -> bool:
        """Whether anything is computed as the schedule says."""
        return any(refresher.periodic for refresher in self.refreshers)

    def open_store(
        self,
        tokenizer: _core.NativeTokenizer,
        bounds: dict[str, int],
        term_weighting: str,
        snapshot: bytes | None,
    ) -> AnyStore:
        """Return a store that has learned nothing, or that of a snapshot.

        Parameters
        ----------
        tokenizer
            For texts.
        bounds
            `max_features`, `index_size` and `max_pairs`.
        term_weighting
            Of documents.
        snapshot
            What another store has learned.

        Raises
        ------
        ModelFileError
            If the snapshot holds no store.
        """
        parts = self.setup.parts
        options = {**bounds, "term_weighting": term_weighting, **parts.store_options()}
        store = parts.event.open_store(tokenizer, options, snapshot)
        for part in parts.all:
            part.prepare(store, self.setup)
        return store
