"""A model as a scikit-learn classifier."""

from __future__ import annotations

import argparse
import contextlib
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_non_negative, validate_data

from streamnb import model_specs
from streamnb.errors import InputError
from streamnb.families.online_weights import OnlineNB
from streamnb.model.base import NaiveBayes
from streamnb.sklearn.batches import Batch, columns, messages, weights_of

_NESTED = "model__"


class StreamNBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Any model of texts as a scikit-learn classifier.

    `X` may be a sequence of texts (list, Series or array), which the model tokenises, or a sequence
    of mappings from words to counts. It may also be a dense or sparse matrix of non-negative counts
    or weights, as scikit-learn's vectorizers return. Labels may have any type that scikit-learn
    accepts.

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

    def __init__(
        self,
        model: NaiveBayes | str | None = None,
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
            Whether to include the model's parameters, as `model__alpha` and so on.
        """
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep:
            with contextlib.suppress(InputError):  # `fit` says what is wrong with the model
                nested = self._prototype()._parameters()
                parameters |= {_NESTED + name: value for name, value in nested.items()}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. The model's parameters are `model__alpha` and so on.

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
            before = StreamNBClassifier(params.get("model", self.model))._prototype()
            known = before._parameters()
            if unknown := sorted(set(nested) - set(known)):
                raise InputError(
                    f"{type(before).__name__} has no parameter {unknown[0]!r}; "
                    f"it has {', '.join(known)}"
                )
            params["model"] = type(before)(**(known | nested))
        super().set_params(**params)
        return self

    def _prototype(self) -> NaiveBayes:
        """Return the model that provides the parameters; its counts are not used."""
        model: Any = self.model
        if model is None:
            return OnlineNB()
        if isinstance(model, str):
            try:
                model = model_specs.build(model_specs.model_spec(model))
            except argparse.ArgumentTypeError as error:
                raise InputError(f"model: {error}") from error
            except InputError as error:
                raise InputError(f"model: {str(error).removeprefix('--model ')}") from error
        if not isinstance(model, NaiveBayes):
            raise InputError(
                f"model must be None, a model of streamnb or its name, as in "
                f"MNB(alpha=0.5) or 'MNB(alpha=0.5)', not {model!r}"
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
            Texts, mappings of words to counts, or a matrix of counts.
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
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(len(batch))
            batch, labels = batch.taken(order), labels[order]
            weights = None if weights is None else weights[order]
        _learn(model, batch, labels, weights)
        model.refresh()
        self.model_, self._classes_fixed = model, False
        return self

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
        _learn(model, batch, labels, weights)
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
        self, model: NaiveBayes, X: Any, y: Any, reset: bool
    ) -> tuple[Batch, NDArray[Any]]:
        """Return the validated training data. A fit (`reset`) fixes the format of later calls."""
        batch = messages(X)
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
        batch = messages(X)
        self._check_kind(batch, reset=False)
        if batch is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
            batch = self._columns(X)
        return batch

    def _columns(self, X: Any) -> Batch:
        check_non_negative(X, f"{type(self).__name__} (counts of words)")
        return columns(X, getattr(self, "feature_names_in_", None))

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


def _check_binary(model: NaiveBayes, classes: NDArray[Any]) -> None:
    if model.threshold is not None and len(classes) > 2:
        raise InputError(
            f"Only binary classification is supported. The model has a threshold, which decides "
            f"between two classes, and these are {classes.tolist()}: leave it out"
        )


def _learn(
    model: NaiveBayes, batch: Batch, labels: NDArray[Any], weights: NDArray[np.float64] | None
) -> None:
    names = labels.tolist()
    if weights is None:
        model.learn_many(batch.messages, names, vocabulary=batch.words)
        return
    for x, label, weight in zip(batch.each(), names, weights.tolist(), strict=True):
        model.learn_one(x, label, weight)
