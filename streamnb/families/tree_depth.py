"""Words weighted by their depth in a decision tree: DTWMNB, DTWCNB and DTWOVA."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from streamnb import _core
from streamnb.columns.filters import tree_depth as attribute_depth
from streamnb.columns.fits import measured
from streamnb.columns.table import Weighting
from streamnb.families.gaussian import AttributeStatistic
from streamnb.families.independent import Multinomial
from streamnb.model.composition import BuildContext, Composition, Weights, parameter
from streamnb.model.hooks import Hook
from streamnb.model.texts import TextNaiveBayes
from streamnb.model.weighting import WordWeights
from streamnb.parameters import check_above_zero, whole, within
from streamnb.statistics.counts import rows_of
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.text.labels import L

_check_untested = within("a number from 0 to 2**52", lambda weight: 0 <= weight <= 2**52)


@dataclasses.dataclass(frozen=True)
class TreeDepth(Weights, name="tree-depth"):
    """Words (DTW) or attributes (TreeNB) that a tree tests nearer to its root weigh more.

    `TreeDepthNB` documents the parameters.
    """

    periodic: ClassVar[bool] = True
    indexed: ClassVar[int] = 65_536
    # Of attributes.
    weighting: ClassVar[Weighting] = functools.partial(measured, measure=attribute_depth)

    untested: float = parameter(1.0, _check_untested, compare=False)
    max_depth: int = parameter(64, whole(0), compare=False)
    min_samples_leaf: float = parameter(2.0, check_above_zero, compare=False)

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return that words are weighted; attributes have no words."""
        return {} if composition.event.numbers else {"weights": "multiplied"}

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the weights of words or attributes."""
        if context.composition.event.numbers:
            return (AttributeStatistic(self, context),)
        return super().hooks(context)

    def weigh(self, indexed: Documents, parameters: ScoringParameters) -> WordWeights:
        """Return weight `untested` + 1/√d for words that a tree tests at depth d, else `untested`.

        The tree is binary, on the presence of words, and its root has depth 1. A word that is
        tested several times has its least depth. If the tree tests no word, every word has weight
        1.

        Examples
        --------
        >>> from streamnb import DTWMNB
        >>> model = DTWMNB(min_samples_leaf=1)
        >>> spam, ham = ("win cash", "win a phone"), ("see you", "call us")
        >>> for x, y in [*((text, "spam") for text in spam), *((text, "ham") for text in ham)]:
        ...     model.learn_one(x, y)
        >>> model.refresh()
        >>> model.weights_["win"], model.weights_["cash"]
        (2.0, 1.0)
        """
        depths = np.frombuffer(
            _core.split_depths(
                *rows_of(indexed.words)[:2],
                indexed.classes,
                indexed.weights,
                indexed.words.shape[1],
                len(indexed.counts.class_documents),
                self.max_depth,
                self.min_samples_leaf,
            ),
            np.int64,
        )
        tested = depths > 0
        if not tested.any():
            return WordWeights(np.ones(len(depths)), 1.0)
        weights = np.full(len(depths), self.untested)
        weights[tested] += 1 / np.sqrt(depths[tested])
        return WordWeights(weights, self.untested)


@dataclasses.dataclass(eq=False, repr=False)
class TreeDepthNB(TextNaiveBayes[L]):
    """Naive Bayes with words weighted by the depth at which a tree tests them.

    Deep weighting as in `GRWMNB`: a word of weight W_i counts W_i times as often, in the message
    and in the estimate. W_i falls with the least depth d_i at which a binary tree over the presence
    of words tests word i; the root has depth 1:

        W_i = 1 + 1/√d_i of tested words,  1 of all others

    The tree is the same as in `MNBTree`: a node is split on the word whose presence has the highest
    information gain for the class, down to pure nodes and to `min_samples_leaf`.

    The paper's weight is "inversely proportional to the minimum depth". The attribute weighting
    that it cites gives weight 0 to untested words: `untested=0.0`, W_i = 1/√d_i or 0. But a tree
    tests few of a collection's words. Without the others, mean accuracy on four of the paper's
    collections is 70 %, with them it is 86 % (`MNB`: 85 %). So untested words keep weight 1 by
    default. If the tree tests no word, each has weight 1.

    The tree is grown as `refresh_every` says, natively, over a copy of the last `index_size`
    messages, which costs the sum of their words at each depth. Words first seen after the last
    refresh have weight 1. `weights_` contains the weights by word.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    untested
        Weight of words that the tree does not test, 0 to 2**52. A word tested at depth d weighs
        1/√d more.
    max_depth
        Splits between the root and a leaf, 0 (no word is tested) or more.
    min_samples_leaf
        Minimum weight of messages on either side of a split, above 0.

    References
    ----------
    [^1]: Hidden multinomial naive Bayes (HMNB paper), section 2.1 (DTW).
    [^2]: Hall (2007), A decision tree-based attribute weighting filter for naive Bayes.
    """

    composition: ClassVar[Composition] = Composition(Multinomial(), weights=TreeDepth())
    arguments = "min_samples_leaf=1"

    untested: float = TreeDepth.untested
    max_depth: int = TreeDepth.max_depth
    min_samples_leaf: float = TreeDepth.min_samples_leaf


class DTWMNB(
    TreeDepthNB[L], event="multinomial", equations="section 2.1 (DTW), Equations 1, 4 and 6"
):
    """Multinomial naive Bayes with words weighted by depth in a tree (DTWMNB).

    Words that a decision tree tests at depth d have weight 1 + 1/√d, in the message and in the
    estimate; all others have weight 1.
    """


class DTWCNB(
    TreeDepthNB[L], event="complement", equations="section 2.1 (DTW), Equations 2, 5 and 7"
):
    """Complement naive Bayes with words weighted by depth in a tree (DTWCNB).

    The weights equal `DTWMNB`'s; they also multiply the counts of the complement.
    """


class DTWOVA(TreeDepthNB[L], event="one-versus-all", equations="section 2.1 (DTW), Equation 3"):
    """One-versus-all naive Bayes with words weighted by depth in a tree (DTWOVA).

    The sum of the scores of `DTWMNB` and `DTWCNB`.
    """
