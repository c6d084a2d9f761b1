"""The Gaussian event model of columns, the base of its models, and the weights of attributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.columns.reading import Columns, NumberColumns
from streamnb.columns.table import AttributeTable, Weighting
from streamnb.errors import InputError
from streamnb.model.base import NaiveBayes
from streamnb.model.composition import BuildContext, Composition, Event, Weights
from streamnb.model.hooks import ComponentStatistic, Hook
from streamnb.text.labels import L


@dataclasses.dataclass(frozen=True)
class Gaussian(Event, name="gaussian"):
    """A message maps attributes to values; numbers have a Gaussian density in each class.

    `GaussianNB` documents the parameter.

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equations 3 and 4.
    """

    counts: ClassVar[bool] = False
    columns: ClassVar[bool] = True
    numbers: ClassVar[bool] = True

    values: Mapping[str, int] | None = dataclasses.field(default=None, compare=False)

    def reader(self) -> Columns | None:
        """Return the reader that turns attributes into words and numbers."""
        return NumberColumns(self.values)

    def open_store(
        self, tokenizer: _core.NativeTokenizer, options: dict[str, Any], snapshot: bytes | None
    ) -> AttributeTable:
        """Return a table that also keeps numbers."""
        return AttributeTable.open(tokenizer, options, snapshot)

    def prepare(self, store: AttributeTable, context: BuildContext) -> None:
        """Declare the numbers of values, and the scoring of attributes that count twice."""
        alpha = context.parameters.alpha
        store.halved = context.make_scoring(alpha=alpha / 2 or alpha)
        store.categories.declare(NumberColumns(self.values).declared)


@dataclasses.dataclass(eq=False, repr=False)
class GaussianNB(NaiveBayes[L]):
    """Naive Bayes on columns with Gaussian densities of numbers.

    A message maps attributes to values. A str, a bool or an int is a category, a float is a number
    (up to 2**400), and None and NaN are missing and ignored. With n_ic messages of class c that
    have the value, and v values of the attribute,

        P(x_j|c) = (n_ic + α) / (n_c + α v)                         of a category (Equation 4)
        P(x_j|c) = exp[−(x_j − μ)² / 2s²] / (s √2π)                 of a number (Equation 3)

    where μ and s are the mean and the sample standard deviation of the attribute's numbers in the
    class, from exact sums, so that unlearning leaves no trace. A deviation of 0 counts as 1. A
    class without a number of the attribute uses the μ and s of all classes.

    A refresh (`refresh_every`) computes the weights of attributes over the last `index_size`
    messages. Counts are always current; weights lag by at most `refresh_every`. An attribute that
    first appears after a refresh has weight 1 until the next one. `weights_` contains the weights.

    `streamnb.model.base.NaiveBayes` documents the other parameters, methods and errors.

    Parameters
    ----------
    values
        Attribute → number of its values, 1 or more, if it is known; otherwise the learned values
        are counted.
    index_size
        Messages kept for the weights, 0 or more. The oldest are evicted. None is 10,000.
    vocabulary_size, tokenizer
        No effect, because there is no text.
    """

    composition: ClassVar[Composition] = Composition(Gaussian())
    paper = (
        "Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes\n"
        "      Classifiers"
    )
    example = """\
>>> model.learn_one({"size": 1.2, "colour": "red"}, "apple")
>>> model.learn_one({"size": 9.5, "colour": "green"}, "melon")
>>> model.predict_one({"size": 7.0, "colour": "green"})
'melon'"""

    values: Mapping[str, int] | None = None


class AttributeStatistic(ComponentStatistic):
    """The weights of attributes, by the `weighting` of the component; snapshots contain them."""

    reads_index = True

    def refresh(self, store: AttributeTable, scoring: _core.ScoringConfig) -> None:
        """Compute the weights."""
        store.refit(self.component.weighting, scoring)

    def weights(self, store: AttributeTable) -> dict[str, float]:
        """Return the weight of each attribute, averaged over pairs of classes."""
        return store.in_use.mean()


class ColumnWeights(Weights):
    """Weights of attributes, computed from recent messages."""

    indexed: ClassVar[int] = 10_000

    @property
    def weighting(self) -> Weighting:
        """The computation of the weights."""
        raise NotImplementedError

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the weights."""
        if not context.composition.event.numbers:
            raise InputError(
                f"weights {self.name!r} are for attribute tables: use the event 'gaussian'"
            )
        return (AttributeStatistic(self, context),)
