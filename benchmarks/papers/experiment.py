"""Description of a paper's experiment: collections, models, splits and published tables."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

import streamnb
from benchmarks.papers.readers import read_counts
from benchmarks.papers.splits import CrossValidation, Protocol
from streamnb.errors import DataError, InputError

TABLES = Path(__file__).with_name("tables")


@dataclass(frozen=True)
class Collection:
    """Documents as word counts, in the collection's own order.

    Attributes
    ----------
    matrix
        CSR matrix of shape (documents, words).
    labels
        The class of each document.
    vocabulary
        The word of each column.
    """

    matrix: sparse.csr_array
    labels: list[str]
    vocabulary: list[str]

    def fingerprint(self) -> str:
        """Return a digest of counts and labels, part of the key of stored results."""
        digest = hashlib.sha256(json.dumps([self.matrix.shape, self.labels]).encode())
        for part, kind in (("indptr", "<i8"), ("indices", "<i8"), ("data", "<f8")):
            digest.update(getattr(self.matrix, part).astype(kind).tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class CollectionRecipe:
    """How to read one of the paper's collections.

    Attributes
    ----------
    name
        Its name in the paper's tables.
    source
        Its name in the folder `counts/` of the data folder, or in `text/` if there is a reader.
    min_documents
        Words in fewer documents of the whole collection are left out.
    note
        A remark for the reader of the results.
    reader
        Function of this recipe and the options. It returns matrix, labels and words, and applies
        `min_documents` itself.
    options
        Further arguments of the reader.
    """

    name: str
    source: str
    min_documents: int = 0
    note: str = ""
    reader: Callable[..., tuple[sparse.csr_array, list[str], list[str]]] | None = None
    options: tuple[Any, ...] = ()

    @property
    def file(self) -> str:
        """Its path in the data folder."""
        return f"{'text' if self.reader else 'counts'}/{self.source}"

    def load(self) -> Collection:
        """Read the collection, or raise a DataError that names the missing file."""
        if self.reader:
            return Collection(*self.reader(self, *self.options))
        counts = read_counts(self.source)
        matrix, words = counts.matrix, counts.vocabulary
        if self.min_documents:
            frequencies = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.shape[1])
            kept = np.flatnonzero(frequencies >= self.min_documents)
            matrix, words = matrix[:, kept], [words[column] for column in kept]
        return Collection(matrix, counts.labels, words)


@dataclass(frozen=True)
class ModelRecipe:
    """A model with the paper's settings.

    Attributes
    ----------
    name
        Its column in the paper's tables.
    model
        Name of a class of `streamnb`.
    parameters
        Keyword parameters.
    for_collection
        Collection → further parameters on it.
    adapter
        Called with `model`, `vocabulary_size` and the parameters, if the model does not take word
        counts with `vocabulary_size` (the number of columns, WEKA's m).
    """

    name: str
    model: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    adapter: Callable[..., Any] | None = None
    for_collection: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def on(self, collection: str) -> ModelRecipe:
        """Return the recipe with the parameters of a collection."""
        given = self.for_collection.get(collection)
        if given is None:
            return self
        return replace(self, parameters={**self.parameters, **given}, for_collection={})

    def build(self, vocabulary_size: int) -> Any:
        """Return a new model with `learn_many`, `refresh` and `predict_many`."""
        sizes = {"vocabulary_size": vocabulary_size, **self.parameters}
        return (
            self.adapter(self.model, **sizes)
            if self.adapter
            else getattr(streamnb, self.model)(**sizes)
        )


@dataclass(frozen=True)
class PublishedTable:
    """One table of a paper, as printed.

    Attributes
    ----------
    name
        Its file and its name in it, such as `"hmnb-table2"`.
    paper, table, measure
        The paper, the number of the table, the unit of its figures.
    columns
        The models; the paper compares the first one with the others.
    rows
        Collection → the figure of each column; NaN if the paper draws it without a number.
    value
        The figure of a run to compare: `"accuracy"` or a name in its `extra` figures.
    pairs
        Instead of rows, tests of each model against each column: model → marks as in
        `significance`.
    significance
        Collection → for each column but the first, whether the first is significantly better
        (`">"`), worse (`"<"`) or neither (`"="`); empty if the paper does not say.
    average, win_tie_loss
        The last rows of the table, as printed; empty if it has none.
    """

    name: str
    paper: str
    table: str
    measure: str
    columns: list[str]
    rows: dict[str, list[float]] = field(default_factory=dict)
    value: str = "accuracy"
    pairs: dict[str, str] = field(default_factory=dict)
    significance: dict[str, list[str]] = field(default_factory=dict)
    average: list[float] = field(default_factory=list)
    win_tie_loss: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        width = len(self.columns)
        ends = [last for last in (self.average, self.win_tie_loss) if last]
        lengths = {len(row) for row in (*self.rows.values(), *ends)}
        lengths |= {len(row) + 1 for row in self.significance.values()}
        if not lengths <= {width} or not self.significance.keys() <= self.rows.keys():
            raise DataError(f"{self.name}: rows of {sorted(lengths)} cells, {width} columns")

    def figure(self, collection: str, model: str) -> float | None:
        """Return a published figure; None if the table does not have it."""
        if collection not in self.rows or model not in self.columns:
            return None
        figure = self.rows[collection][self.columns.index(model)]
        return None if math.isnan(figure) else figure

    def marks(self, model: str) -> dict[str, str]:
        """Return collection → mark of the first model against another one."""
        column = self.columns.index(model) - 1
        return {name: marks[column] for name, marks in self.significance.items() if column >= 0}


def read_table(name: str) -> PublishedTable:
    """Read a published table.

    Examples
    --------
    >>> table = read_table("hmnb-table2")
    >>> table.columns[:2], table.figure("re0", "HMNB")
    (['HMNB', 'MNB'], 83.29)
    """
    paper, _, place = name.partition("-")
    content = tomllib.loads((TABLES / f"{paper}.toml").read_text(encoding="utf-8"))
    return PublishedTable(name, content["paper"], **content[place])


Recipe = TypeVar("Recipe", CollectionRecipe, ModelRecipe)


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Attributes
    ----------
    name
        Its name on the command line.
    paper
        The publication.
    summary
        One line that describes it.
    tables
        Names of the published tables.
    by_class
        Whether a run also records the accuracy of each class.
    collections, models
        The choices; the tables may have more of both, which are shown as published only.
    runs, folds
        The paper's numbers of runs and of folds (or trials); 0 runs if the paper does not say.
    protocol
        How a run splits the documents.
    notes
        Remarks for the reader of the results.
    """

    name: str
    paper: str
    summary: str
    tables: tuple[str, ...]
    collections: tuple[CollectionRecipe, ...]
    models: tuple[ModelRecipe, ...]
    runs: int = 10
    folds: int = 10
    protocol: Protocol = field(default_factory=CrossValidation)
    notes: tuple[str, ...] = ()
    by_class: bool = False

    def published(self) -> list[PublishedTable]:
        """Read the published tables."""
        return [read_table(name) for name in self.tables]

    def collection(self, name: str) -> CollectionRecipe:
        """Return a collection by its name."""
        return self._find("collection", self.collections, name)

    def model(self, name: str) -> ModelRecipe:
        """Return a model by its name."""
        return self._find("model", self.models, name)

    def _find(self, kind: str, recipes: Sequence[Recipe], name: str) -> Recipe:
        for recipe in recipes:
            if recipe.name.casefold() == name.casefold():
                return recipe
        known = ", ".join(recipe.name for recipe in recipes)
        raise InputError(f"{self.name} has no {kind} {name!r}; choose from {known}")


def accuracy(labels: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Return the share of correct predictions, in percent."""
    right = sum(bool(y == label) for y, label in zip(predicted, labels, strict=True))
    return 100.0 * right / len(labels)
