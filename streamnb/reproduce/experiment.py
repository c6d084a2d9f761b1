"""What a paper's experiment is: collections, models with the paper's settings, tables, a metric.

A paper is added to `streamnb reproduce` by a module that makes an `Experiment` and registers it,
and by its published tables in the folder `tables/`.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from streamnb import datasets
from streamnb.errors import InputError
from streamnb.reproduce.folds import CrossValidation, RandomSamples
from streamnb.reproduce.tables import PublishedTable, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from scipy import sparse

__all__ = [
    "Collection",
    "CollectionRecipe",
    "Experiment",
    "ModelRecipe",
    "accuracy",
    "experiments",
    "find_experiment",
    "register",
]


class BatchClassifier(Protocol):
    """What cross-validation asks of a model."""

    def learn_many(self, X: Any, y: Any, *, vocabulary: Sequence[str]) -> Any:
        """Learn the rows of a CSR matrix of counts."""

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> Any:
        """Return a label for each row."""

    def refresh(self) -> Any:
        """Recompute what depends on all counts."""


@dataclass(frozen=True)
class Collection:
    """Documents as word counts, in the collection's own order.

    Attributes
    ----------
    matrix
        CSR, a row a document and a column a word of the whole collection.
    labels
        The class of each document.
    vocabulary
        The word of each column.
    """

    matrix: sparse.csr_array
    labels: list[str]
    vocabulary: list[str]

    def fingerprint(self) -> str:
        """Return a digest of counts and labels, by which stored results know their data."""
        digest = hashlib.sha256(json.dumps([self.matrix.shape, self.labels]).encode())
        for part, kind in (("indptr", "<i8"), ("indices", "<i8"), ("data", "<f8")):
            digest.update(getattr(self.matrix, part).astype(kind).tobytes())
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class CollectionRecipe:
    """How to get one of the paper's collections.

    Attributes
    ----------
    name
        Its name in the paper's tables.
    source
        Its name in the folder `counts/` of the data folder, or where there is a reader, in `text/`.
    min_documents
        Words in fewer documents of the whole collection are left out.
    note
        What a reader of the results should know; empty if nothing.
    reader
        Import path `"module:callable"` of what makes counts of texts, called with this recipe and
        the options. It returns matrix, labels and words, and heeds `min_documents` itself.
    options
        Further arguments of the reader.
    """

    name: str
    source: str
    min_documents: int = 0
    note: str = ""
    reader: str = ""
    options: tuple[Any, ...] = ()

    @property
    def file(self) -> str:
        """Where it lies in the data folder."""
        return f"{'text' if self.reader else 'counts'}/{self.source}"

    def load(self) -> Collection:
        """Read the collection.

        Raises
        ------
        DataError
            The data folder or the collection in it is absent; the message says what to do.
        """
        if self.reader:
            return Collection(*_imported(self.reader)(self, *self.options))
        counts = datasets.read_counts(self.source)
        matrix, words = counts.matrix, counts.vocabulary
        if self.min_documents:
            frequencies = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.shape[1])
            kept = np.flatnonzero(frequencies >= self.min_documents)
            matrix, words = matrix[:, kept], [words[place] for place in kept]
        return Collection(matrix, counts.labels, words)


@dataclass(frozen=True)
class ModelRecipe:
    """A model with the paper's settings.

    Attributes
    ----------
    name
        Its column in the paper's tables.
    factory
        Import path `"module:callable"`. It is called with the parameters and
        `vocabulary_size`, the number of columns of the collection (WEKA's m), and imported only
        when the model is run.
    parameters
        Keyword parameters.
    """

    name: str
    factory: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def build(self, vocabulary_size: int) -> BatchClassifier:
        """Return a new model for a collection of that many words."""
        factory = _imported(self.factory)
        model: BatchClassifier = factory(vocabulary_size=vocabulary_size, **self.parameters)
        return model


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


Recipe = TypeVar("Recipe", CollectionRecipe, ModelRecipe)


def accuracy(labels: Sequence[Any], predicted: Sequence[Any]) -> float:
    """Return the share of correct predictions, in percent."""
    right = sum(bool(y == label) for y, label in zip(predicted, labels, strict=True))
    return 100.0 * right / len(labels)


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Attributes
    ----------
    name
        As in `streamnb reproduce NAME`.
    paper
        Where it was published.
    summary
        One line on what is reproduced.
    tables
        Names of the published tables.
    collections, models
        What can be run; the tables may have more of both, which are shown as published only.
    runs, folds
        The paper's own; folds are trials where documents are not cross-validated. With 0 runs, the
        paper does not say how often it was repeated.
    protocol
        How a run splits the documents.
    metric
        Labels and predictions of one fold → a figure in the unit of the tables.
    notes
        What a reader of the results should know.
    """

    name: str
    paper: str
    summary: str
    tables: tuple[str, ...]
    collections: tuple[CollectionRecipe, ...]
    models: tuple[ModelRecipe, ...]
    runs: int = 10
    folds: int = 10
    protocol: CrossValidation | RandomSamples = field(default_factory=CrossValidation)
    metric: Callable[[Sequence[Any], Sequence[Any]], float] = accuracy
    notes: tuple[str, ...] = ()

    def published(self) -> list[PublishedTable]:
        """Read the published tables."""
        return [read_table(name) for name in self.tables]

    def collection(self, name: str) -> CollectionRecipe:
        """Return a collection by its name.

        Raises
        ------
        InputError
            The experiment has no such collection.
        """
        return self._find("collection", self.collections, name)

    def model(self, name: str) -> ModelRecipe:
        """Return a model by its name.

        Raises
        ------
        InputError
            The experiment has no such model.
        """
        return self._find("model", self.models, name)

    def _find(self, kind: str, recipes: Sequence[Recipe], name: str) -> Recipe:
        for recipe in recipes:
            if recipe.name.casefold() == name.casefold():
                return recipe
        known = ", ".join(recipe.name for recipe in recipes)
        raise InputError(f"{self.name} has no {kind} {name!r}; it has {known}")


_REGISTRY: dict[str, Experiment] = {}


def register(experiment: Experiment) -> Experiment:
    """Make an experiment known to `streamnb reproduce`."""
    _REGISTRY[experiment.name] = experiment
    return experiment


def experiments() -> list[Experiment]:
    """Return the known experiments, by name."""
    return [_REGISTRY[name] for name in sorted(_REGISTRY)]


def find_experiment(name: str) -> Experiment:
    """Return an experiment by its name.

    Raises
    ------
    InputError
        There is no such experiment.
    """
    if name not in _REGISTRY:
        raise InputError(f"no experiment {name!r}; there are {', '.join(sorted(_REGISTRY))}")
    return _REGISTRY[name]
