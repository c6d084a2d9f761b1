"""The classifier in scikit-learn's hands: its input, its labels, its errors, its weights."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

import streamnb
from streamnb import DFWNB, MNB, OnlineNB, Tokenizer
from streamnb.errors import InputError
from streamnb.sklearn import StreamNBClassifier

TEXTS = [
    "win cash now",
    "free entry: win",
    "cash prize, call free",
    "see you at noon",
    "lunch at noon?",
    "call you later",
]
LABELS = ["spam", "spam", "spam", "ham", "ham", "ham"]
NEW = ["free cash now", "are you at lunch", "call"]


def _direct(model: streamnb.NaiveBayes) -> streamnb.NaiveBayes:
    model.learn_many(TEXTS, LABELS)
    return model


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, np.array, lambda x: np.array(x, object)])
def test_texts_in_any_sequence(kind: Any) -> None:
    classifier = StreamNBClassifier("MNB").fit(kind(TEXTS), LABELS)
    assert classifier.predict(kind(NEW)).tolist() == _direct(MNB()).predict_many(NEW)
    assert not hasattr(classifier, "n_features_in_")


def test_probabilities_are_the_models() -> None:
    classifier = StreamNBClassifier(OnlineNB(), shuffle=False).fit(TEXTS, LABELS)
    direct = _direct(OnlineNB())
    expected = [[p[label] for label in ("ham", "spam")] for p in direct.predict_proba_many(NEW)]
    np.testing.assert_allclose(classifier.predict_proba(NEW), expected, rtol=1e-12)
    np.testing.assert_allclose(classifier.predict_log_proba(NEW), np.log(expected), rtol=1e-9)
    assert classifier.classes_.tolist() == ["ham", "spam"]
    assert classifier.score(TEXTS, LABELS) == 1.0
    assert classifier.model_.explain_one("cash").top("spam", 1)


def test_log_probabilities_do_not_underflow() -> None:
    long = "win cash " * 500
    logs = StreamNBClassifier("MNB").fit(TEXTS, LABELS).predict_log_proba([long])
    assert np.isfinite(logs).all()
    assert logs[0, 0] < -800


def test_mappings() -> None:
    rows = [Counter(text.split()) for text in TEXTS]
    classifier = StreamNBClassifier("MNB").fit(rows, LABELS)
    assert classifier.predict([{"cash": 2}, {"noon": 1}]).tolist() == ["spam", "ham"]


@pytest.mark.parametrize("vectorizer", [CountVectorizer(), TfidfVectorizer()])
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        ("MNB(alpha=0.3)", naive_bayes.MultinomialNB(alpha=0.3)),
        ("BNB(alpha=0.3)", naive_bayes.BernoulliNB(alpha=0.3)),
        ("TWCNB(alpha=0.3)", naive_bayes.ComplementNB(alpha=0.3, norm=True)),
    ],
)
def test_a_matrix_gives_what_scikit_learn_gives(mine: str, theirs: Any, vectorizer: Any) -> None:
    X = vectorizer.fit_transform(TEXTS)
    new = vectorizer.transform(NEW)
    classifier = StreamNBClassifier(mine).fit(X, LABELS)
    theirs = clone(theirs).fit(X, LABELS)
    # Weights that are no integers are kept as multiples of 2**-20.
    np.testing.assert_allclose(
        classifier.predict_proba(new), theirs.predict_proba(new), rtol=0, atol=2e-6
    )
    np.testing.assert_array_equal(classifier.predict(new), theirs.predict(new))
    assert classifier.n_features_in_ == X.shape[1]
    for other in (X.toarray(), sparse.csc_array(X), sparse.coo_array(X)):
        again = StreamNBClassifier(mine).fit(other, LABELS)
        np.testing.assert_allclose(again.predict_proba(new), classifier.predict_proba(new))


def test_a_hashed_matrix_learns_the_columns_it_has() -> None:
    hashing = HashingVectorizer(alternate_sign=False, norm=None)
    classifier = StreamNBClassifier("MNB").fit(hashing.transform(TEXTS), LABELS)
    assert classifier.n_features_in_ == 2**20
    assert classifier.model_.n_words == len(CountVectorizer().fit(TEXTS).vocabulary_)
    assert classifier.predict(hashing.transform(NEW)).tolist()[:2] == ["spam", "ham"]


def test_names_of_columns_are_words() -> None:
    vectorizer = CountVectorizer()
    frame = pd.DataFrame(
        vectorizer.fit_transform(TEXTS).toarray(), columns=vectorizer.get_feature_names_out()
    )
    classifier = StreamNBClassifier("MNB").fit(frame, LABELS)
    assert set(classifier.feature_names_in_) == set(frame.columns)
    assert "cash" in classifier.model_.explain_one({"cash": 1}).words
    assert StreamNBClassifier("MNB").fit(frame.to_numpy(), LABELS).model_.n_words == len(
        frame.columns
    )


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 1, 1, 0, 0, 0], [1, 0]),
        ([True, True, True, False, False, False], [True, False]),
        ([2.0, 2.0, 2.0, 1.0, 1.0, 1.0], [2.0, 1.0]),
        (np.array([7, 7, 7, 3, 3, 3], dtype=np.uint8), [7, 3]),
        (pd.Series(["b", "b", "b", "a", "a", "a"], dtype="category"), ["b", "a"]),
    ],
)
def test_labels_of_any_type(labels: Any, expected: list[Any]) -> None:
    classifier = StreamNBClassifier("MNB").fit(TEXTS, labels)
    predicted = classifier.predict(NEW[:2])
    assert predicted.tolist() == expected
    assert predicted.dtype == classifier.classes_.dtype == np.unique(np.asarray(labels)).dtype


def test_weights_are_repetitions_to_counts() -> None:
    weights = [2, 1, 0, 1, 3, 1]
    repeated = StreamNBClassifier("CNB").fit(np.repeat(TEXTS, weights), np.repeat(LABELS, weights))
    vectorizer = CountVectorizer().fit(TEXTS)
    counted = StreamNBClassifier("CNB").fit(
        vectorizer.transform(TEXTS), LABELS, sample_weight=weights
    )
    weighted = StreamNBClassifier("CNB").fit(TEXTS, LABELS, sample_weight=weights)
    expected = repeated.predict_proba(NEW)
    np.testing.assert_allclose(weighted.predict_proba(NEW), expected, rtol=1e-12)
    again = StreamNBClassifier("CNB").fit(
        vectorizer.transform(np.repeat(TEXTS, weights)), np.repeat(LABELS, weights)
    )
    new = vectorizer.transform(NEW)
    np.testing.assert_allclose(counted.predict_proba(new), again.predict_proba(new), rtol=1e-12)
    online = StreamNBClassifier(random_state=0)
    one = online.fit(TEXTS, LABELS).predict_proba(NEW)
    same = online.fit(TEXTS, LABELS, sample_weight=np.ones(6)).predict_proba(NEW)
    other = online.fit(TEXTS, LABELS, sample_weight=[9, 9, 9, 1, 1, 1]).predict_proba(NEW)
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_partial_fit_goes_on() -> None:
    whole = StreamNBClassifier(shuffle=False).fit(TEXTS, LABELS)
    parts = StreamNBClassifier()
    for start in range(0, 6, 2):
        parts.partial_fit(
            TEXTS[start : start + 2], LABELS[start : start + 2], classes=["ham", "spam"]
        )
    np.testing.assert_allclose(whole.predict_proba(NEW), parts.predict_proba(NEW), rtol=1e-12)


def test_classes_are_given_or_join() -> None:
    first = StreamNBClassifier("MNB").partial_fit(TEXTS[:2], LABELS[:2], classes=["spam", "ham"])
    np.testing.assert_array_equal(first.predict_proba(NEW), [[0, 1]] * 3)
    with pytest.raises(InputError, match=r"labels \['eggs'\].*not among the classes"):
        first.partial_fit(["eggs"], ["eggs"])
    with pytest.raises(InputError, match=r"classes must be .* as in the first call"):
        first.partial_fit(["eggs"], ["ham"], classes=["ham", "eggs"])
    joining = StreamNBClassifier("MNB").partial_fit(TEXTS[:2], LABELS[:2])
    joining.partial_fit(["two eggs"], ["eggs"])
    assert joining.classes_.tolist() == ["eggs", "spam"]
    assert joining.predict(["eggs"]).tolist() == ["eggs"]


def test_a_batch_that_is_refused_changes_nothing() -> None:
    classifier = StreamNBClassifier("MNB").partial_fit(TEXTS, LABELS)
    before = classifier.model_.to_bytes()
    with pytest.raises(ValueError, match="message"):
        classifier.partial_fit(["fine", None], ["eggs", "ham"])
    assert classifier.model_.to_bytes() == before
    assert classifier.classes_.tolist() == ["ham", "spam"]


def test_order_of_learning() -> None:
    def learned(**parameters: Any) -> Any:
        classifier = StreamNBClassifier("OnlineNB(warm_up=0)", **parameters)
        return classifier.fit(TEXTS, LABELS).predict_proba(NEW)

    np.testing.assert_array_equal(learned(random_state=1), learned(random_state=1))
    assert not np.array_equal(learned(random_state=1), learned(random_state=2))
    np.testing.assert_array_equal(learned(shuffle=False), learned(shuffle=False, random_state=2))


def test_the_model_given_stays_as_it_is() -> None:
    model = _direct(MNB(alpha=0.5))
    before = model.to_bytes()
    classifier = StreamNBClassifier(model).fit(["other words"], [1])
    assert model.to_bytes() == before
    assert classifier.model_.n_documents == 1
    assert classifier.model_.alpha == 0.5


def test_parameters() -> None:
    classifier = StreamNBClassifier("MNB", random_state=3)
    assert classifier.get_params()["model__alpha"] == 1.0
    assert "model__alpha" not in classifier.get_params(deep=False)
    classifier.set_params(model__alpha=0.25, shuffle=False)
    assert classifier.model.alpha == 0.25
    assert clone(classifier).get_params()["model__alpha"] == 0.25
    classifier.set_params(model="CNB", model__alpha=0.75)
    assert (type(classifier.model).__name__, classifier.model.alpha) == ("CNB", 0.75)
    words = Tokenizer(words=(1, 2))
    assert clone(StreamNBClassifier(MNB(tokenizer=words))).model.tokenizer == words
    with pytest.raises(InputError, match="MNB has no parameter 'beta'; it has alpha"):
        StreamNBClassifier("MNB").set_params(model__beta=1)
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        classifier.set_params(beta=1)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("NoSuchNB", "model: unknown model 'NoSuchNB'"),
        ("MNB(beta=1)", r"model: MNB\(beta=1\): .*beta"),
        ("river:MultinomialNB", "model must be None, a model of streamnb"),
        (3, "model must be None, a model of streamnb .*not 3"),
        (DFWNB(), "DFWNB reads columns"),
    ],
)
def test_models_that_are_none(model: Any, message: str) -> None:
    classifier = StreamNBClassifier(model)
    assert classifier.get_params()["model"] is model
    repr(classifier)
    with pytest.raises(InputError, match=message):
        classifier.fit(TEXTS, LABELS)


def test_errors() -> None:
    classifier = StreamNBClassifier("MNB")
    with pytest.raises(NotFittedError):
        classifier.predict(TEXTS)
    with pytest.raises(ValueError, match="not one str"):
        classifier.fit("one text", ["spam"])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        classifier.fit([], [])
    with pytest.raises(ValueError, match="6 messages and y 2 labels"):
        classifier.fit(TEXTS, LABELS[:2])
    with pytest.raises(ValueError, match="requires y to be passed"):
        classifier.fit(TEXTS, None)
    with pytest.raises(ValueError, match="continuous"):
        classifier.fit(TEXTS, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    with pytest.raises(ValueError, match="NaN"):
        classifier.fit(TEXTS, [1, 1, 1, 0, 0, np.nan])
    with pytest.raises(ValueError, match="message"):
        classifier.fit(pd.Series([*TEXTS[:5], None]), LABELS)
    with pytest.raises(ValueError, match="Negative values"):
        classifier.fit([[1, -1]], [1])
    for weights, message in (
        ([1, 2], "2 values for 6"),
        ([-1] * 6, "from 0 on"),
        ([0] * 6, "zero for every"),
        (["a"] * 6, "must be numbers"),
        ([[1]] * 6, "1D"),
    ):
        with pytest.raises(InputError, match=message):
            classifier.fit(TEXTS, LABELS, sample_weight=weights)
    assert not hasattr(classifier, "model_")


def test_texts_after_a_matrix_and_a_matrix_after_texts() -> None:
    X = CountVectorizer().fit_transform(TEXTS)
    texts, matrix = StreamNBClassifier("MNB"), StreamNBClassifier("MNB")
    texts.fit(TEXTS, LABELS)
    matrix.fit(X, LABELS)
    with pytest.raises(InputError, match=r"X is a matrix, and this .* fitted on texts"):
        texts.predict(X)
    with pytest.raises(InputError, match=r"X is texts or mappings, and this .* a matrix"):
        matrix.partial_fit(TEXTS, LABELS)
    with pytest.raises(ValueError, match="features"):
        matrix.predict(X[:, :3])
    # A new fit begins anew.
    assert matrix.fit(TEXTS, LABELS).predict(NEW[:1]).tolist() == ["spam"]
    assert not hasattr(matrix, "n_features_in_")


def test_pickled() -> None:
    classifier = StreamNBClassifier().fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(classifier))
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        partial = StreamNBClassifier("MNB").partial_fit(TEXTS[:2], LABELS[:2], classes=LABELS)
        assert partial.predict_log_proba(NEW)[0, 0] == -np.inf


def test_without_scikit_learn_the_error_says_what_to_install() -> None:
    program = """
import sys
sys.modules["sklearn"] = None
import streamnb
try:
    import streamnb.sklearn
except streamnb.MissingDependencyError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'streamnb[sklearn]'" in done.stdout
