"""The classifier of indicator matrices, with any number of labels for each message."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from streamnb.errors import InputError
from streamnb.multilabel import MultiLabelNB
from streamnb.sklearn.classifier import (
    Batch,
    StreamNBClassifier,
    learn,
    messages_of,
    weights_of,
)


class StreamNBMultiLabelClassifier(StreamNBClassifier):
    """`MultiLabelNB` as a scikit-learn classifier of indicator matrices.

    `y` is a matrix with a row for each message and a column for each label, 1 where the message has
    the label: an array, a sparse matrix or a DataFrame, as `MultiLabelBinarizer` returns. `X` is as
    in `StreamNBClassifier`.

    Parameters
    ----------
    model
        A `MultiLabelNB` or its specification as a string; None is `MultiLabelNB()`.
    shuffle, random_state
        As in `StreamNBClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The label of each column: its name in a DataFrame, else its number.
    model_ : MultiLabelNB
        The trained model.

    Raises
    ------
    InputError
        By `fit`, if a parameter or the data is invalid. It is a subclass of ValueError.

    Examples
    --------
    >>> texts = ["wheat and corn", "corn harvest", "bank rates", "rates rise"] * 3
    >>> y = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]] * 3
    >>> classifier = StreamNBMultiLabelClassifier(random_state=1).fit(texts, y)
    >>> classifier.predict(["corn harvest", "rates of the bank"])
    array([[1, 0, 0],
           [0, 0, 1]])
    """

    model_: Any
    classes_: NDArray[Any]

    _default = MultiLabelNB
    _models = MultiLabelNB

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn messages from scratch; `y` is an indicator matrix."""
        model = self._prototype().clone()
        batch = self._read_messages(X, reset=True)
        rows, names = _indicator_of(y, len(batch))
        weights = weights_of(sample_weight, len(batch))
        batch, rows, weights = self._shuffled(batch, rows, weights)
        learn(model, batch, _sets_of(rows, names), weights)
        self.model_, self.classes_ = model, names
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more messages, in order.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; `y` has the same columns in each call.
        classes
            The labels of the columns, given in the first call; None takes them from `y`.

        Raises
        ------
        InputError
            If the data is invalid; the model is unchanged.
        """
        first = not hasattr(self, "model_")
        model = self._prototype().clone() if first else self.model_
        batch = self._read_messages(X, reset=first)
        rows, names = _indicator_of(y, len(batch))
        if classes is not None:
            names = np.asarray(classes)
        known = names if first else self.classes_
        if len(known) != rows.shape[1] or not np.array_equal(names, known):
            raise InputError(
                f"y has the columns {names.tolist()}, and not those of the first call, "
                f"{known.tolist()}"
            )
        learn(model, batch, _sets_of(rows, known), weights_of(sample_weight, len(batch)))
        self.model_, self.classes_ = model, known
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the indicator matrix of the messages."""
        above: NDArray[np.bool_] = self.predict_proba(X) > self.model_.threshold
        return above.astype(int)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each label of each message, in the order of `classes_`."""
        batch = self._read(X)
        found = self.model_.predict_proba_many(batch.messages, batch.words)
        if self.model_.output == "dicts":
            found = [{label: share[True] for label, share in row.items()} for row in found]
        names = self.classes_.tolist()
        return np.array([[row.get(name, 0.0) for name in names] for row in found])

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):  # a label without messages has probability 0
            logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    def _read_messages(self, X: Any, reset: bool) -> Batch:
        """Return validated messages to learn. A fit (`reset`) fixes the format of later calls."""
        batch = messages_of(X)
        self._check_kind(batch, reset)
        if batch is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
            return self._columns(X)
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        return batch


def _indicator_of(y: Any, messages: int) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return an indicator matrix as bools, and the label of each column.

    Parameters
    ----------
    y
        The user's input: an array, a sparse matrix, a list of rows or a DataFrame.
    messages
        Number of messages.

    Raises
    ------
    InputError
        If `y` is not a matrix of 0 and 1 with a row for each message.
    """
    names = None if not hasattr(y, "columns") else np.asarray(list(y.columns))
    if sparse.issparse(y):
        y = y.toarray()
    try:
        rows = np.asarray(y)
    except ValueError:  # lists of labels have different lengths
        rows = np.empty(0)
    if rows.ndim != 2 or not np.isin(rows, (0, 1)).all():
        raise InputError(
            "y must be an indicator matrix of 0 and 1, with a column for each label; "
            "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y) makes one of sets"
        )
    if len(rows) != messages:
        raise InputError(f"X has {messages} messages and y {len(rows)} rows")
    return rows.astype(bool), np.arange(rows.shape[1]) if names is None else names


def _sets_of(rows: NDArray[np.bool_], names: NDArray[Any]) -> list[Any]:
    """Return the labels of each row of an indicator matrix."""
    labels = names.tolist()
    return [[labels[place] for place in row.nonzero()[0]] for row in rows]
