"""Words, or attributes of columns, weighted by the depth at which a tree tests them."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb.columns.fits import FilterWeighting
from streamnb.columns.tree import tree_depth as attribute_depth
from streamnb.parameters import check_above_zero, check_bound, check_weight_of_words
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Setup, Weights
from streamnb.parts.weights.attribute_weights import WeightedAttributes
from streamnb.statistics import weighting
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters


@dataclasses.dataclass(frozen=True)
class TreeDepth(Weights, name="tree-depth"):
    """What a tree tests nearer to its root weighs more: words (DTW) or attributes (TreeNB).

    Attributes
    ----------
    untested
        The weight of words that the tree does not test, 0 to 2**52; those that it tests at depth d
        weigh 1/√d more.
    max_depth
        Splits between the root and a leaf, 0 (no word is tested) or more.
    min_samples_leaf
        The least weight of messages on either side of a split, above 0.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DTW).
    [^2]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """

    periodic: ClassVar[bool] = True
    ordered: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536

    untested: float = dataclasses.field(default=1.0, compare=False)
    max_depth: int = dataclasses.field(default=64, compare=False)
    min_samples_leaf: float = dataclasses.field(default=weighting.MIN_SAMPLES_LEAF, compare=False)

    def __post_init__(self) -> None:
        self._check("untested", check_weight_of_words)
        self._check("max_depth", check_bound, 0)
        self._check("min_samples_leaf", check_above_zero)

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for weights of words, where there are words."""
        return {} if parts.event.numbers else {"weights": "multiplied"}

    def in_use(self, setup: Setup) -> InUse:
        """Keep the weights of words or attributes."""
        if setup.parts.event.numbers:
            return InUse(WeightedAttributes(FilterWeighting(attribute_depth)))
        return super().in_use(setup)

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> weighting.WordWeights:
        """Return the weights of the words by the depths of their tests."""
        return weighting.tree_depth(indexed, self.max_depth, self.min_samples_leaf, self.untested)
