"""Attribute tables, prepared as in the papers, and an adapter for models of table rows."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

import streamnb
from benchmarks.papers.experiment import Collection, CollectionRecipe
from benchmarks.papers.readers import read_tabular
from streamnb.columns.examples import description_length_cuts

REST = "remainder"
BINS = 10


@dataclass(frozen=True)
class AttributeTable(CollectionRecipe):
    """An attribute table.

    A number is one column of the matrix; each value of a category is a column of ones and zeros.

    Attributes
    ----------
    label_field
        Name of the class column.
    categories
        Numeric attributes that are categories.
    dropped
        Attributes that the paper leaves out.
    dropped_classes
        Classes that the paper leaves out.
    last
        Number of rows at the end of the table that the paper uses; None for all.
    first
        Classes of which the paper uses the first rows only, with their number.
    """

    label_field: str = "class"
    categories: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    dropped_classes: tuple[str, ...] = ()
    last: int | None = None
    first: tuple[tuple[str, int], ...] = ()

    @property
    def file(self) -> str:
        """Its path in the data folder."""
        return f"tabular/{self.source}"

    def label(self, found: str) -> str:
        """Return the class of a row as used in the paper."""
        return found

    def load(self) -> Collection:
        """Read and prepare the table."""
        words: dict[str, int] = {}
        labels: list[str] = []
        rows, columns, data = [], [], []
        left = dict(self.first)
        for row, label in deque(read_tabular(self.source, self.label_field), self.last):
            if str(label) in self.dropped_classes:
                continue
            if str(label) in left:
                if not left[str(label)]:
                    continue
                left[str(label)] -= 1
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
    """An attribute table with one class, `pos_label`, against all others."""

    pos_label: str = ""

    def label(self, found: str) -> str:
        """Return `pos_label`, or the label of all other classes."""
        return self.pos_label if found == self.pos_label else REST


@dataclass(frozen=True)
class NominalTable(CollectionRecipe):
    """An attribute table, prepared with WEKA's unsupervised filters.

    Missing values become the attribute's mean or most frequent value; numbers become one of ten
    bins of equal width over the whole table. Each value is a column of ones and zeros.

    Attributes
    ----------
    without_constants
        Whether attributes with one value are left out.
    """

    without_constants: bool = False

    @property
    def file(self) -> str:
        """Its path in the data folder."""
        return f"tabular/{self.source}"

    def load(self) -> Collection:
        """Read and prepare the table."""
        rows, labels = zip(*read_tabular(self.source), strict=True)
        columns = {name: nominal([row[name] for row in rows]) for name in rows[0]}
        if self.without_constants:
            columns = {name: column for name, column in columns.items() if len(set(column)) > 1}
        words: dict[tuple[str, str], int] = {}
        for name, column in columns.items():
            for value in sorted(set(column)):
                words[name, value] = len(words)
        places = [[words[name, value] for value in column] for name, column in columns.items()]
        indices = np.array(places, dtype=np.int32).T.ravel()
        starts = np.arange(len(rows) + 1, dtype=np.int32) * len(columns)
        matrix = sparse.csr_array(
            (np.ones(len(indices)), indices, starts), shape=(len(rows), len(words))
        )
        return Collection(matrix, list(labels), [f"{name}={value}" for name, value in words])


def nominal(column: Sequence[Any]) -> list[str]:
    """Return a column with missing values filled and numbers in ten bins.

    Examples
    --------
    >>> nominal([0, 10, 5, None]), nominal(["a", None, "a", "b"])
    (['0', '9', '4', '4'], ['a', 'a', 'a', 'b'])
    """
    known = [value for value in column if value is not None]
    if not known or any(isinstance(value, str) for value in known):
        commonest = Counter(map(str, known)).most_common(1)
        filled = commonest[0][0] if commonest else ""
        return [filled if value is None else str(value) for value in column]
    mean = sum(known) / len(known)
    numbers = np.array([mean if value is None else value for value in column], dtype=float)
    low, width = numbers.min(), (numbers.max() - numbers.min()) / BINS
    boundaries = low + width * np.arange(1, BINS) if width > 0 else []
    # A number at a boundary belongs to the lower bin.
    return [str(place) for place in np.searchsorted(boundaries, numbers, side="left")]


class TableModel:
    """A model of table rows that takes the matrix of an attribute table.

    Parameters
    ----------
    model
        Name of a class of `streamnb`.
    vocabulary_size
        Ignored.
    binned
        Whether to discretise numbers before, by the minimum description length of the classes of
        the learned rows (Fayyad and Irani).
    parameters
        Parameters of the model.
    """

    def __init__(
        self, model: str, vocabulary_size: int, binned: bool = False, **parameters: Any
    ) -> None:
        self.name = model
        self.binned = binned
        self.parameters = parameters
        self.cuts: dict[str, npt.NDArray[np.float64]] = {}

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        """Learn rows. The number of values of an attribute counts the whole table."""
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
        """Compute the periodic statistics."""
        self.model.refresh()

    @property
    def selected(self) -> float | None:
        """Percentage of the attributes with a weight above 0; None without weights."""
        weights = getattr(self.model, "weights_", None)
        return (
            100 * sum(weight > 0 for weight in weights.values()) / len(weights) if weights else None
        )

    def _rows(self, X: Any, vocabulary: Sequence[str]) -> list[dict[str, Any]]:
        rows = rows_of(X, vocabulary)
        for row in rows:
            for name, cuts in self.cuts.items():
                row[name] = int(np.searchsorted(cuts, row.get(name, 0.0)))
        return rows


def rows_of(X: Any, vocabulary: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of an attribute table's matrix as mappings of attributes to values."""
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
    """Return the number of values of each categorical attribute in the whole table."""
    names = [word.partition("=")[0] for word in vocabulary if not word.startswith("#")]
    return {name: names.count(name) for name in names}
