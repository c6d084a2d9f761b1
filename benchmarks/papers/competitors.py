"""The papers' competitors that scikit-learn has, with the interface of the models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks.papers.experiment import ModelRecipe

_COSTS = [10.0**power for power in range(-4, 5)]


class SmallestCost:
    """Linear SVM with the smallest C of the HONB paper's grid that fits the learned rows best."""

    def fit(self, X: Any, y: Any) -> SmallestCost:
        """Fit one machine for each C, in ascending order, until one makes no error."""
        best = -1.0
        for cost in _COSTS:
            machine = SVC(kernel="linear", C=cost).fit(X, y)
            right = machine.score(X, y)
            if right > best:
                best, self.machine = right, machine
            if right == 1.0:
                break
        return self

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""
        return self.machine.predict(X)


class LatentNeighbours:
    """LSI kNN of the HONB paper: 25 neighbours by cosine, combined by noisy-or.

    The space keeps the singular values above 1 (Kaiser's criterion). A class has the score
    1 - Π (1 - cosine) over its documents among the neighbours.
    """

    def fit(self, X: Any, y: Any) -> LatentNeighbours:
        """Learn the space and the documents."""
        left, values, self.axes = np.linalg.svd(np.asarray(X.todense()), full_matrices=False)
        kept = values > 1.0
        self.axes = self.axes[kept]
        self.rows = _unit(left[:, kept] * values[kept])
        self.classes, self.ids = np.unique(np.asarray(y), return_inverse=True)
        return self

    def predict(self, X: Any) -> Any:
        """Return the label of each row."""
        cosines = np.clip(_unit(X @ self.axes.T) @ self.rows.T, 0.0, 1.0 - 1e-12)
        far = np.argsort(-cosines, axis=1, kind="stable")[:, 25:]
        np.put_along_axis(cosines, far, 0.0, axis=1)
        members = np.eye(len(self.classes))[self.ids]
        return self.classes[(np.log1p(-cosines) @ members).argmin(axis=1)]


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def _texts(*steps: Any) -> Any:
    return make_pipeline(TfidfTransformer(sublinear_tf=True), *steps)


FACTORIES: dict[str, Callable[[], Any]] = {
    "text SVM": lambda: _texts(LinearSVC()),
    "text kNN": lambda: _texts(KNeighborsClassifier(10, metric="cosine")),
    "text SVD + kNN": lambda: _texts(
        TruncatedSVD(100, random_state=1),
        Normalizer(),
        KNeighborsClassifier(10, metric="cosine"),
    ),
    "table SVM": lambda: make_pipeline(MaxAbsScaler(), LinearSVC()),
    "table kNN": lambda: make_pipeline(MaxAbsScaler(), KNeighborsClassifier(10)),
    "tree": lambda: DecisionTreeClassifier(random_state=1),
    "forest": lambda: RandomForestClassifier(random_state=1),
    "SVM of the HONB paper": SmallestCost,
    "LSI kNN of the HONB paper": LatentNeighbours,
}


class Competitor:
    """An estimator of scikit-learn that takes the matrix of a collection.

    Parameters
    ----------
    model
        A name of `FACTORIES`.
    vocabulary_size
        Ignored.
    """

    def __init__(self, model: str, vocabulary_size: int) -> None:
        self.estimator = FACTORIES[model]()

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        """Learn documents."""
        self.estimator.fit(_matrix(X), np.asarray(y))

    def refresh(self) -> None:
        """Do nothing."""

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> Any:
        """Return a label for each document."""
        return self.estimator.predict(_matrix(X)).tolist()


def _matrix(X: Any) -> Any:
    """Return a matrix with the 32-bit indices that scikit-learn needs."""
    return sparse.csr_matrix(
        (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape
    )


def _recipe(name: str, model: str) -> ModelRecipe:
    return ModelRecipe(name, model, adapter=Competitor)


_TREES = (_recipe("tree", "tree"), _recipe("forest", "forest"))
TEXT_COMPETITORS = (
    *(_recipe(name, f"text {name}") for name in ("SVM", "kNN", "SVD + kNN")),
    *_TREES,
)
TABLE_COMPETITORS = (*(_recipe(name, f"table {name}") for name in ("SVM", "kNN")), *_TREES)
HONB_COMPETITORS = tuple(_recipe(name, f"{name} of the HONB paper") for name in ("SVM", "LSI kNN"))
