"""Data of polars and pyarrow as lists and matrices; neither library is imported here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from streamnb.errors import InputError

__all__ = ["column", "plain", "rows"]


def _frame_names(X: Any) -> list[str] | None:
    """Return the names of the columns of a polars frame or a pyarrow table; None of all else."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.DataFrame):
        return list(X.columns)
    if pyarrow is not None and isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return list(X.schema.names)
    return None


def column(X: Any) -> Any:
    """Return a polars Series or a pyarrow array as a list; all else as it is."""
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None and isinstance(X, polars.Series):
        return X.to_list()
    if pyarrow is not None and isinstance(X, (pyarrow.Array, pyarrow.ChunkedArray)):
        return X.to_pylist()
    return X


def plain(X: Any) -> tuple[Any, Sequence[str] | None]:
    """Return data as what the models read: columns as lists, frames as matrices with their words.

    Parameters
    ----------
    X
        A polars Series or DataFrame, a pyarrow array or table, or anything else, which is returned
        as it is.

    Raises
    ------
    InputError
        If a frame has a column that holds no numbers.

    Examples
    --------
    >>> import polars
    >>> plain(polars.Series(["win", "see you"]))
    (['win', 'see you'], None)
    >>> plain(polars.DataFrame({"win": [1, 0], "cash": [2, 1]}))
    (array([[1., 2.],
           [0., 1.]]), ['win', 'cash'])
    """
    names = _frame_names(X)
    if names is None:
        return column(X), None
    matrix = np.empty((len(X), len(names)))
    for place, name in enumerate(names):
        values = X[name]
        try:
            matrix[:, place] = values.to_numpy()
        except (TypeError, ValueError) as error:
            kind = getattr(values, "dtype", None) or values.type
            raise InputError(
                f"a {type(X).__name__} of messages must have one column of counts for each token, "
                f"and {name!r} is of type {kind}: give a column for texts, as in X[{name!r}]"
            ) from error
    return matrix, names


def rows(X: Any) -> Any:
    """Return a polars frame or a pyarrow table as mappings, one a row; all else as it is."""
    if _frame_names(X) is None:
        return X
    return X.to_dicts() if hasattr(X, "to_dicts") else X.to_pylist()
