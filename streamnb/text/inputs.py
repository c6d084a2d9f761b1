"""Check messages in all accepted forms, and convert them to the forms that the core reads."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text import frames
from streamnb.text.records import TEXT_NAMES, read_each, record_text

if TYPE_CHECKING:
    from scipy import sparse

_ONE = "a str, a record with its text ({'text': ...}), or a mapping of tokens to counts"
_MANY = (
    "a list of str or of mappings, a Series of str, a DataFrame with a column of texts or of "
    "counts (of pandas, polars or pyarrow), or a scipy sparse matrix of counts with vocabulary="
)

Tokenize = Callable[[str], Iterable[Any]]


def token_name(token: Any) -> str:
    """Return the word a token stands for: itself, or an n-gram's words joined by a space.

    Raises
    ------
    InputError
        If it is not a str, int or tuple of these, or contains a lone surrogate.

    Examples
    --------
    >>> token_name(("free", "entry")), token_name(7)
    ('free entry', '7')
    """
    if isinstance(token, tuple) and token:
        return " ".join(map(token_name, token))
    if isinstance(token, (int, np.integer)) and not isinstance(token, bool):
        try:
            return str(int(token))
        except ValueError:  # Python writes no int of more than 4,300 digits
            raise InputError(f"a token is {shown(token)}: give a smaller number") from None
    if not isinstance(token, str):
        raise InputError(
            f"a token must be a str, an int or a tuple of these (an n-gram), "
            f"not {type(token).__name__}: {shown(token)}"
        )
    try:
        token.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"token {token!r} contains a lone surrogate, which is invalid text: replace it"
        ) from None
    return token


def bad_count(token: Any, count: Any) -> str:
    """Return the error message for an invalid count."""
    return (
        f"the count of token {shown(token)} is {shown(count)} ({type(count).__name__}): "
        f"give a number from 0 to 2**53"
        + ("; or the text is missing: leave the message out" * (token in TEXT_NAMES))
    )


def as_dict(x: Any) -> dict[Any, Any]:
    """Return a mapping as a dict.

    Raises
    ------
    InputError
        If it is not a mapping.
    """
    if isinstance(x, Mapping):
        return dict(x)
    raise InputError(f"a message must be {_ONE}, not {type(x).__name__}: {shown(x)}")


def count_tokens(x: Any, tokenize: Tokenize) -> Any:
    """Return the token counts of a text or of a record, and other values unchanged.

    Raises
    ------
    InputError
        If the tokenizer does not return tokens.
    """
    text = x if isinstance(x, str) else record_text(x)
    if text is None:
        return x
    tokens = tokenize(text)
    try:
        if not isinstance(tokens, (str, bytes, Mapping)):
            return Counter(iter(tokens))
    except TypeError:  # not iterable, or a token is not hashable
        pass
    raise InputError(
        f"tokenizer must return an iterable of tokens, not {type(tokens).__name__}: {shown(tokens)}"
    )


def read_labels(y: Any, messages: int) -> list[Any]:
    """Return the labels of a batch as a list.

    Raises
    ------
    InputError
        If their number differs from the number of messages, or they are not a sequence.
    """
    y = frames.column(y)
    if advice := _conversion(y, "y"):
        raise InputError(f"labels must be a list or Series, not {type(y).__name__}{advice}")
    if hasattr(y, "columns"):
        name = next(iter(frames.frame_names(y) or y.columns), "label")
        raise InputError(
            f"labels must be a list or Series, not {type(y).__name__}: pass one column, as in "
            f"y[{name!r}]"
        )
    if not is_batch(y):
        raise InputError(f"labels must be a list or Series, not {type(y).__name__}: {shown(y)}")
    labels = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if len(labels) != messages:
        raise InputError(
            f"{messages} messages and {len(labels)} labels: give one label for each message"
        )
    return labels


def is_batch(X: Any) -> bool:
    """Return whether a value is iterable, but not a text or an array without an axis."""
    return (
        isinstance(X, Iterable)
        and not isinstance(X, (str, bytes))
        and getattr(X, "ndim", None) != 0
    )


def each(X: Any, vocabulary: Sequence[Any] | None) -> Iterable[Any]:
    """Return the messages of a batch in a form that `learn_one` accepts."""
    X, words = frames.plain(X)
    vocabulary = vocabulary if words is None else words
    rows = _matrix(X)
    if rows is not None and vocabulary is not None:
        return [
            Counter({vocabulary[j]: n for j, n in zip(row.indices, row.data, strict=True)})
            for row in (rows[i] for i in range(rows.shape[0]))
        ]
    return frames.rows(X)  # type: ignore[no-any-return]


def read_batch(
    X: Any, vocabulary: Sequence[Any] | None, reader: Callable[[Any], Any] | None
) -> tuple[_core.Batch, Any]:
    """Return a batch for the core, and the pandas index of `X` or None.

    The reader, if any, converts each message.

    Raises
    ------
    InputError
        If `X` has another form, or contains an invalid message.
    """
    index = None
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(X, (pandas.DataFrame, pandas.Series)):
        index = X.index
    X, words = frames.plain(X)
    vocabulary = vocabulary if words is None else words
    if pandas is not None and isinstance(X, pandas.DataFrame):
        vocabulary = list(X.columns)
        X = _frame_to_csr(X, pandas)
    elif pandas is not None and isinstance(X, pandas.Series):
        X = X.tolist()
    matrix = _matrix(X)
    if matrix is not None:
        what = "a matrix" if isinstance(X, np.ndarray) else "a sparse matrix"
        return _rows(matrix, vocabulary, what), index
    if isinstance(X, Mapping) or not is_batch(X):
        raise InputError(
            f"messages must be {_MANY}, not {type(X).__name__}: {shown(X)}{_conversion(X, 'X')}"
        )
    messages = list(X) if reader is None else read_each(X, reader)
    try:
        return _core.Batch(messages), index
    except InputError:
        read_each(messages, lambda x: _core.Batch([x]))  # raises the error with its place
        raise


def _conversion(X: Any, name: str) -> str:
    """Return the call that makes a data frame of the result of a query, for an error message."""
    return f"; pass {name}.df()" if callable(getattr(X, "df", None)) else ""


def _matrix(X: Any) -> sparse.csr_matrix | None:
    """Return the rows of a dense or sparse matrix; None for other messages."""
    # A sparse matrix implies that scipy is imported; the import is slow.
    scipy_sparse = sys.modules.get("scipy.sparse")
    is_sparse = scipy_sparse is not None and scipy_sparse.issparse(X)
    if not (is_sparse or (isinstance(X, np.ndarray) and X.ndim == 2)):
        return None
    from scipy import sparse

    if not is_sparse and X.dtype.kind not in "biuf":
        check_numbers(X)
        raise InputError(f"an array of counts must hold numbers, not {X.dtype}")
    return sparse.csr_matrix(X)


def check_numbers(X: Any) -> None:
    """Raise an error for an array of texts with two axes.

    Raises
    ------
    InputError
        It names the call that passes one column.
    """
    if isinstance(X, np.ndarray) and X.ndim == 2 and any(isinstance(x, str) for x in X[:1].flat):
        raise InputError(
            f"an array of counts must hold numbers, not {X.dtype}: pass one column of texts, as in "
            "X[:, 0]"
        )


def _frame_to_csr(frame: Any, pandas: Any) -> sparse.csr_matrix:
    from scipy import sparse

    try:
        if len(frame.columns) and all(
            isinstance(dtype, pandas.SparseDtype) for dtype in frame.dtypes
        ):
            return sparse.csr_matrix(frame.sparse.to_coo())
        return sparse.csr_matrix(frame.to_numpy(dtype=np.float64))
    except (TypeError, ValueError) as error:
        numbers = frame.select_dtypes(["number", "bool"]).columns
        name = next((each for each in frame.columns if each not in numbers), None)
        raise frames.odd_column(frame, name) from error


def _rows(matrix: sparse.csr_matrix, vocabulary: Sequence[Any] | None, what: str) -> _core.Batch:
    if vocabulary is None:
        raise InputError(f"{what} of counts needs vocabulary=, the list of its columns' words")
    if not hasattr(vocabulary, "__len__"):
        raise InputError(f"vocabulary must be the list of words, not {shown(vocabulary)}")
    if len(vocabulary) != matrix.shape[1]:
        raise InputError(
            f"{what} with {matrix.shape[1]} columns and a vocabulary of {len(vocabulary)} words: "
            f"give one word for each column"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{what} of counts must hold numbers, not {matrix.dtype}")
    return _core.Batch.from_rows(
        np.ascontiguousarray(matrix.indptr, dtype=np.int64),
        np.ascontiguousarray(matrix.indices, dtype=np.int64),
        np.ascontiguousarray(matrix.data, dtype=np.float64),
        [token_name(word) for word in vocabulary],
    )
