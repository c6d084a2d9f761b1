"""The classifier of one label for each message, and the reading of scikit-learn's input."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from streamnb import model_specs
from streamnb.errors import InputError, needed_for
from streamnb.families.online_weights import OnlineNB
from streamnb.model.base import NaiveBayes
from streamnb.multilabel import MultiLabelNB
from streamnb.text import frames, inputs
from streamnb.text.tokenizer import Tokenizer

with needed_for("streamnb.sklearn", "sklearn"):
    from scipy import sparse
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

_NESTED = "model__"
_OF_TOKENIZER = "tokenizer__"
_TOKENIZER = _NESTED + _OF_TOKENIZER


class StreamNBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Any model of texts as a scikit-learn classifier.

    `X` may be a sequence of texts (list, Series or array), which the model tokenises, or a sequence
    of mappings: records with their text and fields, or counts of words. A data frame with a column
    of texts is a sequence of records. `X` may also be a dense or sparse matrix of non-negative
    counts or weights, as scikit-learn's vectorizers return. Labels may have any type that
    scikit-learn accepts.

    Parameters
    ----------
    model
        A model such as `MNB(alpha=0.5)`, or its specification as a string, `"MNB(alpha=0.5)"`. None
        is `OnlineNB()`. Fitting trains a copy and does not change this model. Its parameters are
        available as `model__alpha` and so on.
    shuffle
        Whether `fit` learns the messages in random order. Models with online weights or a learned
        threshold need it if the data is sorted by class. False keeps the order of a stream. Counts
        do not depend on the order.
    random_state
        Seed of the random order: None, an int of at least 0, or a numpy `RandomState`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    model_ : NaiveBayes
        The trained model, with the original labels. Use it for `explain_one`, `save`, `unlearn_one`
        and other methods of models.
    n_features_in_ : int
        Number of columns of the training matrix; absent after training on texts.

    Raises
    ------
    InputError
        By `fit`, if a parameter or the data is invalid. It is a subclass of ValueError.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamnb import CNB
    >>> texts = ["win cash now", "free cash", "see you at noon", "lunch at noon?"]
    >>> pipeline = make_pipeline(CountVectorizer(), StreamNBClassifier(CNB()))
    >>> pipeline.fit(texts, [1, 1, 0, 0]).predict(["cash now", "noon"])
    array([1, 0])
    """

    classes_: NDArray[Any]
    model_: Any

    # The default model, and the base of the possible ones.
    _default: ClassVar[type[Any]] = OnlineNB
    _models: ClassVar[type[Any]] = NaiveBayes

    def __init__(
        self,
        model: NaiveBayes[Any] | MultiLabelNB[Any] | str | None = None,
        *,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.shuffle = shuffle
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        # As in scikit-learn's own count models: its checks use random numbers, not counts.
        tags.classifier_tags.poor_score = True
        with contextlib.suppress(InputError):  # `fit` says what is wrong with the model
            tags.classifier_tags.multi_class = self._prototype().threshold is None
        return tags

    # --- parameters ---------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, by name.

        Parameters
        ----------
        deep
            Whether to include the model's parameters, as `model__alpha` and so on, and the options
            of its tokenizer, as `model__tokenizer__words`.
        """
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep:
            with contextlib.suppress(InputError):  # `fit` says what is wrong with the model
                prototype = self._prototype()
                nested = prototype._parameters()
                parameters |= {_NESTED + name: value for name, value in nested.items()}
                if (tokenizer := _tokenizer_of(prototype)) is not None:
                    options = dataclasses.fields(tokenizer)
                    parameters |= {
                        f"{_TOKENIZER}{option.name}": getattr(tokenizer, option.name)
                        for option in options
                    }
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. The model's parameters are `model__alpha` and so on.

        The options of its tokenizer are `model__tokenizer__words` and so on; they change the
        model's default tokenizer if it has no other.

        Raises
        ------
        InputError
            If the model rejects one of its parameters; nothing changes.
        ValueError
            If a parameter does not exist.
        """
        names = [name for name in params if name.startswith(_NESTED)]
        nested = {name.removeprefix(_NESTED): params.pop(name) for name in names}
        if nested:
            before = type(self)(params.get("model", self.model))._prototype()
            options = {
                name.removeprefix(_OF_TOKENIZER): nested.pop(name)
                for name in list(nested)
                if name.startswith(_OF_TOKENIZER)
            }
            if options:
                given = nested.get("tokenizer", before.tokenizer)
                tokenizer = before.default_tokenizer if given is None else given
                changed = _with_options(tokenizer, options)
                nested["tokenizer"] = given if changed == tokenizer else changed
            known = before._parameters()
            if unknown := sorted(set(nested) - set(known)):
                raise InputError(
                    f"{type(before).__name__} has no parameter {unknown[0]!r}; "
                    f"it has {', '.join(known)}"
                )
            params["model"] = type(before)(**(known | nested))
        super().set_params(**params)
        return self

    def _prototype(self) -> Any:
        """Return the model that provides the parameters; its counts are not used."""
        model: Any = self.model
        if model is None:
            return self._default()
        if isinstance(model, str):
            try:
                model = model_specs.build(model_specs.model_spec(model))
            except (argparse.ArgumentTypeError, InputError) as error:
                raise InputError(f"model: {str(error).removeprefix('--model ')}") from error
        if not isinstance(model, self._models):
            name = self._default.__name__
            several = isinstance(model, MultiLabelNB)
            advice = "; StreamNBMultiLabelClassifier takes it" if several else ""
            raise InputError(
                f"model must be None, a model of streamnb or its name, as in "
                f"{name}(alpha=0.5) or '{name}(alpha=0.5)', not {model!r}{advice}"
            )
        if model.reads_columns:
            raise InputError(
                f"{type(model).__name__} reads columns, and a StreamNBClassifier texts or counts: "
                f"use its learn_many on a list of mappings"
            )
        return model

    # --- learning -----------------------------------------------------------------------------

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn messages from scratch.

        Parameters
        ----------
        X
            Texts, records, mappings of words to counts, or a matrix of counts.
        y
            Their labels.
        sample_weight
            Their weights, 0 to 2**53; None is 1 for each.

        Raises
        ------
        InputError
            If a parameter or the data is invalid.
        """
        model = self._prototype().clone()
        batch, labels = self._read_labelled(model, X, y, reset=True)
        weights = weights_of(sample_weight, len(batch))
        if weights is not None and not weights.any():
            raise InputError("sample_weight is zero for every sample: give one a weight above 0")
        self.classes_ = np.unique(labels)
        batch, labels, weights = self._shuffled(batch, labels, weights)
        learn(model, batch, labels.tolist(), weights)
        model.refresh()
        self.model_, self._classes_fixed = model, False
        return self

    def _shuffled(
        self, batch: Batch, labels: NDArray[Any], weights: NDArray[np.float64] | None
    ) -> tuple[Batch, NDArray[Any], NDArray[np.float64] | None]:
        """Return the samples in the order of `fit`."""
        if not self.shuffle:
            return batch, labels, weights
        order = check_random_state(self.random_state).permutation(len(batch))
        return batch.taken(order), labels[order], None if weights is None else weights[order]

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more messages, in order.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes
            All possible labels, given in the first call. With None, and after `fit`, new labels
            extend `classes_` and the columns of `predict_proba`.

        Raises
        ------
        InputError
            If the data is invalid; the model is unchanged.
        """
        first = not hasattr(self, "model_")
        model = self._prototype().clone() if first else self.model_
        batch, labels = self._read_labelled(model, X, y, reset=first)
        weights = weights_of(sample_weight, len(batch))
        if first:
            fixed = classes is not None
            known = np.unique(np.asarray(classes)) if fixed else np.unique(labels)
        else:
            fixed, known = self._classes_fixed, self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
                raise InputError(f"classes must be {known.tolist()} as in the first call")
        if fixed:
            strange = np.setdiff1d(labels, known)
            if len(strange):
                raise InputError(
                    f"y has the labels {strange.tolist()}, which are not among the classes "
                    f"{known.tolist()}"
                )
        elif not first:
            known = np.union1d(known, labels)
        _check_binary(model, known)
        learn(model, batch, labels.tolist(), weights)
        self.model_, self.classes_, self._classes_fixed = model, known, fixed
        return self

    # --- predicting ---------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each message."""
        batch = self._read(X)
        decided = self.model_.predict_many(batch.messages, batch.words)
        labels: NDArray[Any] = self.classes_[np.searchsorted(self.classes_, decided)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_`.

        Classes without training messages have probability 0.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, in the order of `classes_`."""
        batch = self._read(X)
        known = self.model_.predict_log_proba_many(batch.messages, batch.words)
        learned = np.array(self.model_.classes_, self.classes_.dtype)
        shares = np.full((len(batch), len(self.classes_)), -np.inf)
        shares[:, np.searchsorted(self.classes_, learned)] = known
        return shares

    # --- reading ------------------------------------------------------------------------------

    def _read_labelled(
        self, model: NaiveBayes[Any], X: Any, y: Any, reset: bool
    ) -> tuple[Batch, NDArray[Any]]:
        """Return the validated training data. A fit (`reset`) fixes the format of later calls."""
        batch = messages_of(X)
        self._check_kind(batch, reset)
        if batch is None:
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset, multi_output=False
            )
        else:
            y = validate_data(self, y=y, multi_output=False, reset=False)
            if len(y) != len(batch):
                raise InputError(f"X has {len(batch)} messages and y {len(y)} labels")
            if reset:  # as scikit-learn: what texts have are no features
                for name in ("n_features_in_", "feature_names_in_"):
                    self.__dict__.pop(name, None)
        check_classification_targets(y)
        _check_binary(model, np.unique(y))
        return self._columns(X) if batch is None else batch, y

    def _read(self, X: Any) -> Batch:
        """Return the validated messages to predict."""
        check_is_fitted(self, "model_")
        batch = messages_of(X)
        self._check_kind(batch, reset=False)
        if batch is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            batch = self._columns(X)
        return batch

    def _columns(self, X: Any) -> Batch:
        check_non_negative(X, f"{type(self).__name__} (counts of words)")
        return _columns_of(X, getattr(self, "feature_names_in_", None))

    def _check_kind(self, batch: Batch | None, reset: bool) -> None:
        """Raise an error for texts after a matrix, or a matrix after texts."""
        if reset or not hasattr(self, "model_"):
            return
        learned, given = hasattr(self, "n_features_in_"), batch is None
        if learned != given:
            kinds = {True: "a matrix", False: "texts or mappings"}
            raise InputError(
                f"X is {kinds[given]}, and this {type(self).__name__} was fitted on "
                f"{kinds[learned]}"
            )


def _tokenizer_of(model: NaiveBayes[Any]) -> Tokenizer | None:
    """Return the tokenizer with options; None for a function of the user."""
    tokenizer = model.default_tokenizer if model.tokenizer is None else model.tokenizer
    return tokenizer if isinstance(tokenizer, Tokenizer) else None


def _with_options(tokenizer: Any, options: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer with changed options."""
    if not isinstance(tokenizer, Tokenizer):
        raise InputError(
            f"{_TOKENIZER}{next(iter(options))} is an option of a Tokenizer, and the tokenizer is "
            f"{tokenizer!r}: set model__tokenizer=Tokenizer(...)"
        )
    known = [option.name for option in dataclasses.fields(Tokenizer)]
    if unknown := sorted(set(options) - set(known)):
        raise InputError(f"Tokenizer has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    return dataclasses.replace(tokenizer, **options)


def _check_binary(model: NaiveBayes[Any], classes: NDArray[Any]) -> None:
    if model.threshold is not None and len(classes) > 2:
        raise InputError(
            f"Only binary classification is supported. The model has a threshold, which decides "
            f"between two classes, and these are {classes.tolist()}: leave it out"
        )


def learn(model: Any, batch: Batch, names: list[Any], weights: NDArray[np.float64] | None) -> None:
    """Learn messages with their labels and weights; None is a weight of 1 for each."""
    if weights is None:
        model.learn_many(batch.messages, names, vocabulary=batch.words)
        return
    for x, label, weight in zip(batch.each(), names, weights.tolist(), strict=True):
        model.learn_one(x, label, weight)


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


def messages_of(X: Any) -> Batch | None:
    """Return a batch of texts or mappings; None for other types, such as a matrix.

    Parameters
    ----------
    X
        The user's input. Lists, Series, one-dimensional arrays, and data frames with a column of
        texts are accepted.

    Raises
    ------
    InputError
        If `X` is a single text or empty, or an array of texts with several columns.

    Examples
    --------
    >>> messages_of(["win cash"]).messages, messages_of([[1, 0]])
    (['win cash'], None)
    """
    # One kind of sparse matrix is a dict.
    if isinstance(X, (str, bytes, Mapping)) and not sparse.issparse(X):
        raise InputError(f"X must be a sequence of messages, not one {type(X).__name__}: [X] is")
    if frames.has_texts(X):
        X = frames.rows(X)
    if hasattr(X, "to_pylist") and not hasattr(X, "columns"):  # an array of pyarrow
        X = X.to_pylist()
    if not isinstance(X, (list, tuple)):
        if len(getattr(X, "shape", ())) != 1:
            inputs.check_numbers(X)
            return None
        X = X.tolist() if hasattr(X, "tolist") else list(X)
    if not len(X):
        raise InputError("Found array with 0 sample(s): X is empty, and at least 1 is required")
    return Batch(list(X)) if isinstance(X[0], (str, Mapping)) else None


def _columns_of(X: Any, names: Sequence[str] | None) -> Batch:
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
