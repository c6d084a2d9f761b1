"""Every form of the same messages is learned and predicted the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from streamnb.errors import InputError
from support.batches import (
    BATCHES,
    COLUMNS,
    COUNTS,
    INDEX,
    LABELS,
    MAPPINGS,
    QUERY,
    TABLE,
    TEXTS,
    learned,
    new,
)
from support.models import structures


@pytest.mark.parametrize("form", BATCHES)
@structures()
def test_every_batch_form_learns_the_same(name: str, form: str) -> None:
    X, keywords = BATCHES[form]()
    model = new(name)
    y = pd.Series(LABELS, index=INDEX) if isinstance(X, pd.Series | pd.DataFrame) else LABELS
    model.learn_many(X, y, **keywords)
    assert model.to_bytes() == learned(name).to_bytes()


@pytest.mark.parametrize("form", BATCHES)
@structures()
def test_every_batch_form_predicts_the_same(name: str, form: str) -> None:
    X, keywords = BATCHES[form]()
    model = learned(name)
    before = model.to_bytes()
    labels = [model.predict_one(text) for text in TEXTS]
    probabilities = [model.predict_proba_one(text) for text in TEXTS]
    scores = [[model.joint_log_likelihood_one(t)[c] for c in model.classes_] for t in TEXTS]

    got = model.predict_many(X, **keywords)
    got_proba = model.predict_proba_many(X, **keywords)
    got_scores = model.joint_log_likelihood_many(X, **keywords)
    if isinstance(X, pd.Series | pd.DataFrame):
        assert isinstance(got, pd.Series)
        assert isinstance(got_proba, pd.DataFrame)
        assert list(got.index) == list(got_proba.index) == INDEX
        assert list(got_proba.columns) == model.classes_
        got, got_proba = got.tolist(), got_proba.to_dict("records")
    assert isinstance(got, list)
    assert got == labels
    assert isinstance(got_scores, np.ndarray)
    np.testing.assert_allclose(got_scores, scores, rtol=0, atol=1e-9)
    for proba, expected in zip(got_proba, probabilities, strict=True):
        assert proba == pytest.approx(expected, abs=1e-9)
    assert model.to_bytes() == before


@pytest.mark.parametrize("form", MAPPINGS)
@structures()
def test_every_mapping_form_is_the_same_message(name: str, form: str) -> None:
    model = new(name)
    for counts, label in zip(COUNTS, LABELS, strict=True):
        x = MAPPINGS[form](counts)
        length = len(x)
        model.learn_one(x, label)
        assert len(x) == length  # a defaultdict grows when looked into
    expected = learned(name)
    assert model.to_bytes() == expected.to_bytes()
    x = MAPPINGS[form](dict(Counter(QUERY.split())))
    # The order of the words may move the last digit.
    assert model.predict_proba_one(x) == pytest.approx(expected.predict_proba_one(QUERY), abs=1e-12)
    ours, theirs = model.explain_one(x), expected.explain_one(QUERY)
    assert ours.baseline == theirs.baseline
    assert ours.words.keys() == theirs.words.keys()
    for word, contributions in theirs.words.items():
        assert ours.words[word] == pytest.approx(contributions, abs=1e-12)


@pytest.mark.parametrize(
    "labels",
    [
        tuple(LABELS),
        np.array(LABELS),
        np.array(LABELS, dtype=object),
        pd.Series(LABELS),
        pd.Series(LABELS, index=INDEX),
        pd.Series(LABELS, dtype="category"),
        pd.Series(LABELS, dtype="string"),
    ],
    ids=["tuple", "array", "object array", "series", "series, own index", "category", "string"],
)
def test_labels_in_any_sequence(labels: Any) -> None:
    model = new("MNB")
    model.learn_many(TEXTS, labels)
    assert model.to_bytes() == learned().to_bytes()
    assert {type(label) for label in model.classes_} == {str}


def test_iterators_are_learned_whole_or_refused() -> None:
    model = new("MNB")
    try:
        model.learn_many(iter(TEXTS), iter(LABELS))
    except InputError:
        assert model.n_documents == 0
    else:
        assert model.to_bytes() == learned().to_bytes()


@pytest.mark.parametrize(
    ("scalar", "plain"),
    [
        (np.bool_(True), True),
        (np.int64(7), 7),
        (np.uint8(7), 7),
        (np.float64(0.5), 0.5),
        (np.str_("ham"), "ham"),
        (np.bytes_(b"ham"), b"ham"),
    ],
    ids=repr,
)
def test_numpy_scalar_labels_are_their_plain_values(scalar: Any, plain: Any) -> None:
    model = new("MNB")
    model.learn_one("a", scalar)
    model.learn_one("a", plain)
    model.learn_many(["a"], np.array([scalar]))
    assert model.classes_ == [plain]
    assert model.predict_proba_one("a") == {plain: 1.0}
    assert model.predict_one("a") == plain
    expected = new("MNB")
    for _ in range(3):
        expected.learn_one("a", plain)
    assert model.to_bytes() == expected.to_bytes()
    assert model.predict_proba_one("a")[scalar] == 1.0


@structures()
def test_empty_batches(name: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    model.learn_many([], [])
    assert model.to_bytes() == before
    assert model.predict_many([]) == []
    assert model.predict_proba_many([]) == []
    assert model.joint_log_likelihood_many([]).shape == (0, 3)
    empty = pd.DataFrame(TABLE[:0], columns=COLUMNS)
    assert model.predict_many(empty).empty
    assert model.predict_proba_many(empty).empty
    nothing = sparse.csr_array((0, len(COLUMNS)))
    assert model.predict_many(nothing, vocabulary=COLUMNS) == []


@structures()
def test_before_anything_is_learned(name: str) -> None:
    model = new(name)
    assert model.predict_one("a") is None
    assert model.predict_proba_one("a") == {}
    assert model.joint_log_likelihood_one("a") == {}
    assert model.predict_many(["a", "b"]) == [None, None]
    assert model.predict_proba_many(["a", "b"]) == [{}, {}]
    assert model.joint_log_likelihood_many(["a", "b"]).shape == (2, 0)
    explanation = model.explain_one("a")
    assert explanation.baseline == {}
    assert list(model.predict_many(pd.Series(["a", "b"], index=[4, 2])).index) == [4, 2]
    assert list(model.predict_proba_many(pd.Series(["a", "b"], index=[4, 2])).index) == [4, 2]
    assert (model.classes_, model.n_documents, model.n_words) == ([], 0, 0)
    model.refresh()
    assert model.predict_one({}) is None
