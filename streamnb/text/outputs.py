"""Decisions on many messages, in the form that fits their input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamnb.text.labels import Label


def labels(decided: list[Label | None], index: Any) -> Any:
    """Return labels as a Series where the input had a pandas index, else as a list."""
    if index is None:
        return decided
    import pandas as pd

    return pd.Series(decided, index=index, dtype=None if decided else object)


def probabilities(scores: NDArray[np.float64], names: list[Label], index: Any) -> Any:
    """Return the soft maximum of scores, as a DataFrame for pandas input, else as dicts.

    Parameters
    ----------
    scores
        Joint log-likelihoods, shape `(messages, classes)`.
    names
        The label of each column.
    index
        The pandas index of the input; None if it had none.
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
