"""Tables of attributes as the papers prepare them, and models that learn their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import streamnb
from streamnb import datasets
from streamnb.columns.examples import description_length_cuts
from streamnb.reproduce.experiment import Collection, CollectionRecipe
from streamnb.statistics.counts import Floats

__all__ = ["AttributeTable", "BinaryTable", "OfTable", "rows_of", "values_of"]

REST = "remainder"


@dataclass(frozen=True)
class AttributeTable(CollectionRecipe):
    """A table of attributes.

    A number is one column of the matrix, and each value of a category a column of ones and zeros.

    Attributes
    ----------
    label_field
        The name of the column of classes.
    categories
        Attributes with numbers that name categories.
    dropped
        Attributes that the paper does not have.
    dropped_classes
        Classes that the paper does not have.
    """

    label_field: str = "class"
    categories: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    dropped_classes: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where it is in the data folder."""
        return f"tabular/{self.source}"

    def label(self, found: str) -> str:
        """Return the class of a row, as the paper has it."""
        return found

    def load(self) -> Collection:
        """Read and prepare the table.

        Raises
        ------
        DataError
            The data folder or the table in it is absent; the message says what to do.
        """
        from scipy import sparse

        words: dict[str, int] = {}
        labels: list[str] = []
        rows, columns, data = [], [], []
        for row, label in datasets.read_tabular(self.source, self.label_field):
            if str(label) in self.dropped_classes:
                continue
            for name, value in row.items():
                if name in self.dropped or value is None:
                    continue
                number = not isinstance(value, str) and name not in self.categories
                word = f"#{name}" if number else f"{name}={value}"
                rows.append(len(labels))
                columns.append(words.setdefault(word, len(words)))
                data.append(float(value) if number else 1.0)
            labels.append(self.label(str(label)))
        shape = (len(labels), len(words))
        matrix = sparse.csr_array((data, (rows, columns)), shape=shape)
        return Collection(matrix, labels, list(words))


@dataclass(frozen=True)
class BinaryTable(AttributeTable):
    """A table of attributes with one class against all others.

    Attributes
    ----------
    pos_label
        The class.
    """

    pos_label: str = ""

    def label(self, found: str) -> str:
        """Return the class, or that of all others."""
        return self.pos_label if found == self.pos_label else REST


class OfTable:
    """A model of columns that takes the matrix of an `AttributeTable`.

    Parameters
    ----------
    model
        The class of the model, by its name.
    vocabulary_size
        Not used: a table has attributes.
    binned
        Whether numbers become categories beforehand: the bins of the rows learned that make the
        class certain enough (Fayyad and Irani).
    parameters
        Of the model.
    """

    def __init__(
        self, model: str, vocabulary_size: int, binned: bool = False, **parameters: Any
    ) -> None:
        self.name = model
        self.binned = binned
        self.parameters = parameters
        self.cuts: dict[str, Floats] = {}

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        """Learn rows; values of attributes are those of the whole table, learned or not."""
        values = values_of(vocabulary)
        if self.binned:
            classes = np.unique(np.asarray(y), return_inverse=True)[1]
            weights = np.eye(int(classes.max()) + 1)[classes]
            for place, word in enumerate(vocabulary):
                if word.startswith("#"):
                    numbers = X[:, [place]].toarray().ravel()
                    cuts = self.cuts[word[1:]] = description_length_cuts(numbers, weights)
                    values[word[1:]] = len(cuts) + 1
        self.model = getattr(streamnb, self.name)(values=values, **self.parameters)
        self.model.learn_many(self._rows(X, vocabulary), y)

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> Any:
        """Return a label for each row."""
        return self.model.predict_many(self._rows(X, vocabulary))

    def refresh(self) -> None:
        """Fit the weights."""
        self.model.refresh()

    def _rows(self, X: Any, vocabulary: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = rows_of(X, vocabulary)
        for row in rows:
            for name, cuts in self.cuts.items():
                row[name] = int(np.searchsorted(cuts, row.get(name, 0.0)))
        return rows


def rows_of(X: Any, vocabulary: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an `AttributeTable`'s matrix as mappings of attributes to values."""
    pairs = [word.partition("=") for word in vocabulary]
    rows: list[dict[str, Any]] = []
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        row: dict[str, Any] = {}
        for place in range(start, end):
            name, is_category, value = pairs[X.indices[place]]
            row[name if is_category else name[1:]] = value if is_category else float(X.data[place])
        rows.append(row)
    return rows


def values_of(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return how many values each attribute with categories has in the whole table."""
    names = [word.partition("=")[0] for word in vocabulary if not word.startswith("#")]
    return {name: names.count(name) for name in names}
