"""Hidden parents: each word has one, mixed from the other words of its message."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb import _core
from streamnb.parameters import check_bound, check_most
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Dependence, Setup
from streamnb.statistics.counts import Counts, Floats, qualified_parents
from streamnb.statistics.refreshing import Refresher


@dataclasses.dataclass(frozen=True)
class Hidden(Dependence, name="hidden"):
    """Each word has one hidden parent, mixed from the qualified other words of the message.

    Attributes
    ----------
    max_parents
        How many words of a message may be parents, those of the greatest weight, 1 or more; None
        is any number, as in the paper.
    min_df
        How many learned messages must have a word for it to count as a parent, and in the *m* of
        Equations 13, 14 and 18: 1 or more; 1 is the paper's.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Equations 10–18.
    """

    hidden: ClassVar[str | None] = "probabilities"
    indexed: ClassVar[int] = 65_536

    max_parents: int | None = dataclasses.field(default=None, compare=False)
    min_df: int = dataclasses.field(default=1, compare=False)

    def __post_init__(self) -> None:
        self._check("max_parents", check_most, 1)
        self._check("min_df", check_bound, 1)

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for parents, and no more than allowed."""
        return {**super().scoring_options(parts), "max_parents": self.max_parents}

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Say how many messages a word must have."""
        store.tell_frequent(self.min_df)

    def parents(self, counts: Counts, vocabulary_size: float) -> Floats:
        """Return the weight of each word as a parent: shape `(words,)`.

        It is the word's gain ratio where that is at least the average, else 0.
        """
        return qualified_parents(counts, vocabulary_size, self.min_df)

    def in_use(self, setup: Setup) -> InUse:
        """Keep the weights of parents."""
        return InUse(ParentWeights(self, setup.parameters.vocabulary_size))


@dataclasses.dataclass(frozen=True)
class HiddenRatios(Hidden, name="hidden-ratios"):
    """Each word has one hidden parent for the ratio of the two sides of one-versus-all.

    It reproduces the published table of HOVA to its last digit; the formula as printed, which
    `HOVA` follows, does not, and classifies better. In place of Equation 16's quotient of two
    hidden means, this is the mean of the quotients: the score is

        ln P(c) − ln P(c̄) − Σ_i f_i ln( Σ_t W_t P(w_i|w_t,c̄) / P(w_i|w_t,c) / Σ_t W_t ), t ≠ i,

    where a word without a qualified parent in the message has P(w_i|c̄) alone in the logarithm, not
    a ratio. The published figures are without the priors: `prior="uniform"`.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), Table 4; Equation 16 is the formula printed.
    """

    hidden: ClassVar[str | None] = "ratios"


@dataclasses.dataclass(frozen=True)
class ParentWeights(Refresher[_core.CountStore]):
    """The weights of words as parents: W_t of Equations 12 and 13.

    Attributes
    ----------
    dependence
        Gives each word its weight.
    vocabulary_size
        m where it is known.
    """

    dependence: Hidden
    vocabulary_size: float

    def swap(self, store: _core.CountStore) -> bool:
        """Give each word its weight as a parent."""
        counts = Counts.of(store)
        weights = self.dependence.parents(counts, self.vocabulary_size)
        return store.set_parents(counts.layout, weights)
