"""Event models of columns: how a class gives the values of attributes their probability."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.columns.examples import NumberColumns
from streamnb.columns.reading import Columns
from streamnb.columns.store import AttributeStore, open_store
from streamnb.parts.axes.composition import Event, Setup


@dataclasses.dataclass(frozen=True)
class Attributes(Event, name="attributes"):
    """A message maps attributes to values; numbers fall into bins.

    Attributes
    ----------
    bins
        The most bins of a number, 2 or more.
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.

    References
    ----------
    [^1]: Packaged hidden naive Bayes (Ji, Yu, Zhang), Equations 4 to 7.
    """

    prior: ClassVar[str] = "m-estimate"
    counts: ClassVar[bool] = False
    columns: ClassVar[bool] = True

    bins: int = dataclasses.field(default=10, compare=False)
    values: Mapping[str, int] | None = dataclasses.field(default=None, compare=False)

    def reader(self) -> Columns | None:
        """Return how attributes become words.

        Raises
        ------
        InputError
            If a parameter is out of range.
        """
        return Columns(self.bins, self.values)

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Say how many values attributes have."""
        store.declare(Columns(self.bins, self.values).declared)


@dataclasses.dataclass(frozen=True)
class Gaussian(Event, name="gaussian"):
    """A message maps attributes to values; numbers have a Gaussian in each class.

    Attributes
    ----------
    values
        Attribute → how many values it has, where that is known beforehand; else those learned.

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
        """Return how attributes become words and numbers.

        Raises
        ------
        InputError
            If the parameter is out of range.
        """
        return NumberColumns(self.values)

    def open_store(
        self, tokenizer: _core.NativeTokenizer, options: dict[str, Any], snapshot: bytes | None
    ) -> AttributeStore:
        """Return a store that keeps numbers besides."""
        bounds = {name: options[name] for name in ("max_features", "index_size", "max_pairs")}
        return open_store(tokenizer, bounds, snapshot)

    def prepare(self, store: AttributeStore, setup: Setup) -> None:
        """Say how many values attributes have, and how to score those that count twice."""
        alpha = setup.parameters.alpha
        store.halved = setup.make_scoring(alpha=alpha / 2 or alpha)
        store.declare(NumberColumns(self.values).declared)
