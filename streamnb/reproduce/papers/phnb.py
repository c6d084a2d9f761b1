"""Table II of the paper that introduces PHNB: tables of attributes, prepared as the paper did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamnb import datasets
from streamnb.reproduce.experiment import (
    Collection,
    CollectionRecipe,
    Experiment,
    ModelRecipe,
    register,
)

__all__ = ["PHNB_PAPER", "TableRecipe"]

BINS = 10


@dataclass(frozen=True)
class TableRecipe(CollectionRecipe):
    """A table of attributes, prepared with WEKA's unsupervised filters.

    Missing values become the attribute's mean or commonest value, and numbers one of ten bins of
    equal width, over the whole table. Each value is a column of ones and zeros.

    Attributes
    ----------
    dropped
        Attributes that the paper removed.
    """

    dropped: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Where it is in the data folder."""
        return f"tabular/{self.source}"

    def load(self) -> Collection:
        """Read and prepare the table.

        Raises
        ------
        DataError
            The data folder or the table in it is absent; the message says what to do.
        """
        from scipy import sparse

        rows, labels = zip(*datasets.read_tabular(self.source), strict=True)
        names = [name for name in rows[0] if name not in self.dropped]
        columns = [nominal([row[name] for row in rows]) for name in names]
        words: dict[tuple[str, str], int] = {}
        for name, column in zip(names, columns, strict=True):
            for value in sorted(set(column)):
                words[name, value] = len(words)
        places = [
            [words[name, value] for value in column]
            for name, column in zip(names, columns, strict=True)
        ]
        indices = np.array(places, dtype=np.int32).T.ravel()
        starts = np.arange(len(rows) + 1, dtype=np.int32) * len(names)
        matrix = sparse.csr_array(
            (np.ones(len(indices)), indices, starts), shape=(len(rows), len(words))
        )
        return Collection(matrix, list(labels), [f"{name}={value}" for name, value in words])


def nominal(column: Sequence[Any]) -> list[str]:
    """Return a column of a table as names of values: none missing, numbers in ten bins.

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
    cuts = low + width * np.arange(1, BINS) if width > 0 else []
    # A number at a cut belongs below it.
    return [str(place) for place in np.searchsorted(cuts, numbers, side="left")]


# Packages are filled once, after a fold is learned, and no row is forgotten.
_SETTINGS = {"columns": True, "refresh_every": 10**9, "index_size": 10**6, "max_pairs": 10**7}
_OF_TABLE = "streamnb.reproduce.papers.attribute_tables:OfTable"

PHNB_PAPER = register(
    Experiment(
        name="phnb",
        paper=('Y. Ji, S. Yu, Y. Zhang, "A novel Naive Bayes model: Packaged Hidden Naive Bayes"'),
        summary="packaged hidden parents, on nominal columns: 10 runs of 10-fold cross-validation",
        tables=("phnb-table2",),
        collections=(
            TableRecipe("nursery", "nursery"),
            TableRecipe("sick", "sick", dropped=("TBG", "TBG measured")),
            *(
                TableRecipe(name, name)
                for name in ("kr_vs_kp", "mfeat_zernike", "optdigits", "mfeat_fourier")
            ),
        ),
        models=(
            ModelRecipe("PHNB", _OF_TABLE, {"model": "PHNB", **_SETTINGS}),
            ModelRecipe("HNB", _OF_TABLE, {"model": "HNB", **_SETTINGS}),
            ModelRecipe(
                "NB",
                _OF_TABLE,
                {"model": "PHNB", "bag_threshold": 1e9, **_SETTINGS},
            ),
        ),
        notes=(
            "missing values and numbers are prepared over the whole table, as in the paper",
            (
                "an attribute with a package is not in the package NB as well, whatever the "
                "pseudo-code says"
            ),
            "PHNB optimal, each table with its own threshold, is published only",
        ),
    )
)
