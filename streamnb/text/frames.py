"""Conversions between data frames and lists or matrices.

Importing this module does not import pandas, polars or pyarrow.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb.errors import InputError
from streamnb.text.labels import Label


def frame_names(X: Any) -> list[str] | None:
    """Return the column names of a polars frame or a pyarrow table; None for other values."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.DataFrame):
        return list(X.columns)
    if pyarrow is not None and isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return list(X.schema.names)
    return None


def column(X: Any) -> Any:
    """Return a polars Series or a pyarrow array as a list, and other values unchanged."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.Series):
        return X.to_list()
    if pyarrow is not None and isinstance(X, (pyarrow.Array, pyarrow.ChunkedArray)):
        return X.to_pylist()
    return X


def plain(X: Any) -> tuple[Any, Sequence[str] | None]:
    """Return columns as lists, frames of counts as matrices with their words, others as records.

    Parameters
    ----------
    X
        A Series or DataFrame of polars, an array or table of pyarrow, or a DataFrame of pandas with
        a column of texts. Other values are returned unchanged.

    Raises
    ------
    InputError
        If a column of a frame contains neither numbers nor texts.

    Examples
    --------
    >>> import polars
    >>> plain(polars.Series(["win", "see you"]))
    (['win', 'see you'], None)
    >>> plain(polars.DataFrame({"id": [1, 2], "body": ["win", "see you"]}))
    ([{'id': 1, 'body': 'win'}, {'id': 2, 'body': 'see you'}], None)
    >>> plain(polars.DataFrame({"win": [1, 0], "cash": [2, 1]}))
    (array([[1., 2.],
           [0., 1.]]), ['win', 'cash'])
    """
    if has_texts(X):
        return rows(X), None
    names = frame_names(X)
    if names is None:
        return column(X), None
    matrix = np.empty((len(X), len(names)))
    for place, name in enumerate(names):
        values = X[name]
        try:
            matrix[:, place] = values.to_numpy()
        except (TypeError, ValueError) as error:
            raise odd_column(X, name) from error
    return matrix, names


def has_texts(X: Any) -> bool:
    """Return whether a value is a frame with a column of texts, so that its rows are records."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return any(
            isinstance(value, str)
            for place, dtype in enumerate(X.dtypes)
            if not (pandas.api.types.is_numeric_dtype(dtype) or hasattr(dtype, "fill_value"))
            for value in X.iloc[:, place]
        )
    names = frame_names(X)
    if names is None:
        return False
    if hasattr(X, "to_dicts"):
        return any(
            isinstance(value, str)
            for values in X.get_columns()
            if not values.dtype.is_numeric()
            for value in values
        )
    pyarrow = sys.modules["pyarrow"]
    return any(
        isinstance(value, str)
        for kind, values in zip(X.schema.types, X.columns, strict=True)
        if not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind))
        for value in values.to_pylist()
    )


def odd_column(frame: Any, name: Any) -> InputError:
    """Return the error for a frame with a column that contains neither numbers nor texts."""
    return InputError(
        f"a {type(frame).__name__} of messages must have a column of texts, or one column of "
        f"counts for each token, and {name!r} contains neither: leave it out"
    )


def rows(X: Any) -> Any:
    """Return the rows of a frame as mappings; other values unchanged."""
    if frame_names(X) is not None:
        return X.to_dicts() if hasattr(X, "to_dicts") else X.to_pylist()
    return X.to_dict(orient="records") if hasattr(X, "columns") else X


def labels(found: list[Label | None], index: Any) -> Any:
    """Return labels as a Series if the input had a pandas index, else as a list."""
    if index is None:
        return found
    import pandas as pd

    return pd.Series(found, index=index, dtype=None if found else object)


def probabilities(scores: NDArray[np.float64], names: list[Any], index: Any) -> Any:
    """Return the soft maximum of scores, as a DataFrame for pandas input, else as dicts.

    Parameters
    ----------
    scores
        Joint log-likelihoods, shape `(messages, classes)`.
    names
        The label of each column.
    index
        The pandas index of the input, or None.
    """
    shares = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    shares /= shares.sum(axis=1, keepdims=True)
    if index is None:
        return [dict(zip(names, row, strict=True)) for row in shares.tolist()]
    import pandas as pd

    return pd.DataFrame(shares, index=index, columns=pd.Index(names, tupleize_cols=False))


def log_shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithm of the soft maximum of scores, shape `(messages, classes)`.

    Examples
    --------
    >>> log_shares(np.array([[-2000.0, -1000.0]]))
    array([[-1000.,     0.]])
    """
    above = scores - scores.max(axis=1, keepdims=True, initial=-np.inf)
    logs: NDArray[np.float64] = above - np.log(np.exp(above).sum(axis=1, keepdims=True))
    return logs
