"""Conversion of `X` and `sample_weight` into batches for the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from streamnb.errors import InputError
from streamnb.text import inputs


class Batch(NamedTuple):
    """Messages: texts and mappings, or rows of counts.

    Attributes
    ----------
    messages
        A list of texts or mappings, or a sparse matrix of counts.
    words
        The words of the matrix's columns; None for a list.
    """

    messages: Any
    words: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.messages) if self.words is None else int(self.messages.shape[0])

    def taken(self, places: NDArray[np.intp]) -> Batch:
        """Return the messages at these positions, in this order."""
        if self.words is None:
            return Batch([self.messages[place] for place in places])
        return Batch(self.messages[places], self.words)

    def each(self) -> Iterable[Any]:
        """Yield the messages one by one."""
        return inputs.each(self.messages, self.words)


def messages(X: Any) -> Batch | None:
    """Return a batch of texts or mappings; None for other types, such as a matrix.

    Parameters
    ----------
    X
        The user's input. Lists, Series and one-dimensional arrays are accepted.

    Raises
    ------
    InputError
        If `X` is a single text or empty.

    Examples
    --------
    >>> messages(["win cash"]).messages, messages([[1, 0]])
    (['win cash'], None)
    """
    # One kind of sparse matrix is a dict.
    if isinstance(X, (str, bytes, Mapping)) and not sparse.issparse(X):
        raise InputError(f"X must be a sequence of messages, not one {type(X).__name__}: [X] is")
    if hasattr(X, "to_pylist") and not hasattr(X, "columns"):  # an array of pyarrow
        X = X.to_pylist()
    if not isinstance(X, (list, tuple)):
        if len(getattr(X, "shape", ())) != 1:
            return None
        X = X.tolist() if hasattr(X, "tolist") else list(X)
    if not len(X):
        raise InputError("Found array with 0 sample(s): X is empty, and at least 1 is required")
    return Batch(list(X)) if isinstance(X[0], (str, Mapping)) else None


def columns(X: Any, names: Sequence[str] | None) -> Batch:
    """Return a batch of the rows of a count matrix, without empty columns.

    Parameters
    ----------
    X
        A dense or sparse matrix that scikit-learn has validated.
    names
        Names of the columns; None stands for `x0`, `x1` and so on.
    """
    matrix = sparse.csr_matrix(X)
    matrix.sum_duplicates()
    present = np.unique(matrix.indices)
    # A hashed matrix has a million columns, but a batch uses few of them.
    places = np.searchsorted(present, matrix.indices)
    rows = sparse.csr_matrix(
        (matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(present))
    )
    return Batch(rows, [f"x{j}" if names is None else names[j] for j in present.tolist()])


def weights_of(sample_weight: Any, samples: int) -> NDArray[np.float64] | None:
    """Return the sample weights as an array; None if all are 1.

    Parameters
    ----------
    sample_weight
        The user's input: None, one number for all samples, or one for each.
    samples
        Number of samples.

    Raises
    ------
    InputError
        If the number of weights is wrong, or a weight is not a finite number of at least 0.
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight must be numbers: {error}") from error
    if weights.ndim == 0:
        weights = np.full(samples, float(weights))
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, not {weights.ndim}D")
    if len(weights) != samples:
        raise InputError(f"sample_weight has {len(weights)} values for {samples} samples")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("sample_weight must have numbers from 0 on only: no NaN, none below 0")
    return None if (weights == 1).all() else weights
