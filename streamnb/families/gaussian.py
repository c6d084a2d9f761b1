"""The Gaussian event model of columns, and the weights of their attributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.columns.reading import Columns, NumberColumns
from streamnb.columns.table import AttributeTable, Weighting
from streamnb.model.composition import BuildContext, Event
from streamnb.model.hooks import PeriodicStatistic

__all__ = ["Gaussian"]


@dataclasses.dataclass(frozen=True)
class Gaussian(Event, name="gaussian"):
    """A message maps attributes to values; numbers have a Gaussian density in each class.

    Attributes
    ----------
    values
        Attribute → number of its values, if it is known; otherwise the learned values are counted.

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
        """Return the reader that turns attributes into words and numbers.

        Raises
        ------
        InputError
            If `values` is invalid.
        """
        return NumberColumns(self.values)

    def open_store(
        self, tokenizer: _core.NativeTokenizer, options: dict[str, Any], snapshot: bytes | None
    ) -> AttributeTable:
        """Return a table that also keeps numbers."""
        bounds = {name: options[name] for name in ("max_features", "index_size", "max_pairs")}
        return AttributeTable.open(tokenizer, bounds, snapshot)

    def prepare(self, store: AttributeTable, context: BuildContext) -> None:
        """Declare the numbers of values, and the scoring of attributes that count twice."""
        alpha = context.parameters.alpha
        store.halved = context.make_scoring(alpha=alpha / 2 or alpha)
        store.categories.declare(NumberColumns(self.values).declared)


@dataclasses.dataclass(frozen=True)
class AttributeStatistic(PeriodicStatistic[AttributeTable]):
    """The weights of attributes; the table's snapshot contains them.

    Attributes
    ----------
    weighting
        Computes the weights.
    """

    weighting: Weighting

    def refresh(self, store: AttributeTable, scoring: _core.Scoring) -> None:
        """Compute the weights."""
        store.refit(self.weighting, scoring)

    def weights(self, store: AttributeTable) -> dict[str, float]:
        """Return the weight of each attribute, averaged over pairs of classes."""
        return store.in_use.mean()
