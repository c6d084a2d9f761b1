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
from streamnb.families import OnlineNB
from streamnb.model.base import NaiveBayes
from streamnb.sklearn.batches import Batch, columns, messages, weights_of

__all__ = ["StreamNBClassifier"]

_NESTED = "model__"


class StreamNBClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Any model of texts as a scikit-learn classifier.

    `X` is a sequence of texts (a list, a Series, an array), which the model's own tokenizer cuts;
    or of mappings of words to counts; or a dense or sparse matrix of counts or weights from 0 on,
    as scikit-learn's vectorizers make them. The labels are of any type that scikit-learn takes.

    Parameters
    ----------
    model
        The model to learn: one that has its parameters, as in `MNB(alpha=0.5)`, or a text that
        names it, as in `"MNB(alpha=0.5)"`. None is `OnlineNB()`. It is copied, and never learns
        itself. Its parameters are found and set as `model__alpha` and so on.
    shuffle
        Whether `fit` learns the messages in random order. Models with online weights or a learned
        threshold need it where the data is sorted by class; False keeps the order of a stream. To
        the counts it makes no difference.
    random_state
        The seed of that order: None, a whole number from 0 on, or numpy's `RandomState`.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    model_ : NaiveBayes
        The model that has learned, with the labels themselves: for `explain_one`, `save`,
        `unlearn_one` and whatever else models do.
    n_features_in_ : int
        The columns of the matrix that was learned; absent where it was texts.

    Raises
    ------
    InputError
        By `fit`, if a parameter or the data can't be used; it is a ValueError.

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
        # As scikit-learn's own naive Bayes models of counts: the checks draw numbers, not counts.
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
            Whether those of the model are among them, as `model__alpha` and so on.
        """
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep:
            with contextlib.suppress(InputError):  # `fit` says what is wrong with the model
                nested = self._prototype()._parameters()
                parameters |= {_NESTED + name: value for name, value in nested.items()}
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names, those of the model as `model__alpha` and so on.

        Raises
        ------
        InputError
            If the model does not take one of its own; nothing is changed.
        ValueError
            If there is no such parameter.
        """
        nested = {
            name.removeprefix(_NESTED): value
            for name, value in params.items()
            if name.startswith(_NESTED)
        }
        plain = {name: value for name, value in params.items() if not name.startswith(_NESTED)}
        if nested:
            chosen = plain.get("model", self.model)
            before = StreamNBClassifier(chosen)._prototype()
            known = before._parameters()
            if unknown := sorted(set(nested) - set(known)):
                raise InputError(
                    f"{type(before).__name__} has no parameter {unknown[0]!r}; "
                    f"it has {', '.join(known)}"
                )
            plain["model"] = type(before)(**(known | nested))
        super().set_params(**plain)
        return self

    def _prototype(self) -> NaiveBayes:
        """Return the model whose parameters are meant: it has learned nothing that counts."""
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
        """Learn messages, and nothing that was learned before.

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
            If a parameter or the data can't be used.
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
        """Learn more messages, in their order.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes
            All labels there will ever be, in the first call. None lets labels join as they come, as
            they do after `fit`: then `classes_` grows, and so does what `predict_proba` returns.

        Raises
        ------
        InputError
            If the data can't be used; what was learned before is unchanged.
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
                raise InputError(f"classes differ from those of the first call, {known.tolist()}")
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
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        decided = self.model_.predict_many(batch.messages, batch.words)
        labels: NDArray[Any] = self.classes_[[places[label] for label in decided]]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, in the order of `classes_`.

        It is 0 of a class that no message was learned of.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, in the order of `classes_`."""
        batch = self._read(X)
        known = self.model_.predict_log_proba_many(batch.messages, batch.words)
        places = {label: place for place, label in enumerate(self.classes_.tolist())}
        shares = np.full((len(batch), len(self.classes_)), -np.inf)
        shares[:, [places[label] for label in self.model_.classes_]] = known
        return shares

    # --- reading ------------------------------------------------------------------------------

    def _read_labelled(
        self, model: NaiveBayes, X: Any, y: Any, reset: bool
    ) -> tuple[Batch, NDArray[Any]]:
        """Return what is to be learned; a fit (`reset`) says what later calls have to be like."""
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
        """Return what is to be predicted."""
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
        """Refuse texts after a matrix, and a matrix after texts."""
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
