"""TWCNB beside scikit-learn's `ComplementNB(norm=True)`, and what keeps its sums exact.

Equality with the slow reference at every prefix is in test_prefixes.py, with that of all models.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import ComplementNB

import streamnb
from streamnb.errors import InputError
from support.streams import synthetic_stream

WORDS = sorted({word for counts, _, _ in synthetic_stream() for word in counts})


def row(counts: dict[str, float]) -> Any:
    return np.array([[counts.get(word, 0.0) for word in WORDS]])


@pytest.mark.parametrize("alpha", [1.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
def test_equals_scikit_learn_at_every_prefix(alpha: float, weighted: bool) -> None:
    """With the words known beforehand, as scikit-learn knows them."""
    stream = synthetic_stream(weighted=weighted)
    model = streamnb.TWCNB(alpha=alpha, vocabulary_size=len(WORDS))
    theirs = ComplementNB(alpha=alpha, norm=True)
    queries = [counts for counts, _, _ in stream[:12]]
    compared = 0
    for counts, label, weight in stream:
        model.learn_one(counts, label, weight)
        theirs.partial_fit(row(counts), [label], classes=["a", "b", "c"], sample_weight=[weight])
        if model.classes_ != ["a", "b", "c"]:  # theirs scores classes without messages, too
            continue
        for x in queries:
            expected = theirs.predict_joint_log_proba(row(x))[0]
            got = model.joint_log_likelihood_one(x)
            np.testing.assert_allclose(list(got.values()), expected, rtol=1e-10, atol=1e-13)
            highest = np.sort(expected)[-2:]
            if highest[1] - highest[0] > 1e-12:
                assert model.predict_one(x) == theirs.predict(row(x))[0]
            compared += 1
    assert compared > 600


def test_scores_are_the_same_bits_in_whatever_order_messages_came_and_went() -> None:
    stream = synthetic_stream(90)
    model, turned, merged = streamnb.TWCNB(), streamnb.TWCNB(), streamnb.TWCNB()
    for counts, label, _ in stream[:60]:
        model.learn_one(counts, label)
    for counts, label, _ in reversed(stream):
        turned.learn_one(counts, label)
    for counts, label, _ in stream[60:]:
        turned.unlearn_one(counts, label)
    parts = [streamnb.TWCNB(), streamnb.TWCNB()]
    for i, (counts, label, _) in enumerate(stream[:60]):
        parts[i % 2].learn_one(counts, label)
    for part in parts:
        merged.merge(part)
    others = (turned, merged, copy.deepcopy(model), streamnb.TWCNB.from_bytes(model.to_bytes()))
    for counts, _, _ in stream:
        expected = model.joint_log_likelihood_one(counts)
        for other in others:
            assert other.joint_log_likelihood_one(counts) == expected


def test_pruned_words_leave_the_sums() -> None:
    bounded = streamnb.TWCNB(max_features=20)
    for counts, label, _ in synthetic_stream(90):
        bounded.learn_one(counts, label)
    fresh = streamnb.TWCNB.from_bytes(bounded.to_bytes())
    for counts, _, _ in synthetic_stream(30):
        assert bounded.joint_log_likelihood_one(counts) == fresh.joint_log_likelihood_one(counts)


def test_a_single_word_tells_nothing() -> None:
    model = streamnb.TWCNB()
    model.learn_one("win win", "spam")
    model.learn_one("win", "ham")
    assert model.joint_log_likelihood_one("win") == {"ham": 0.0, "spam": 0.0}


@pytest.mark.parametrize(
    "parts",
    [
        {"dependence": "hidden"},
        {"dependence": "packaged"},
        {"estimate": "correlation"},
        {"estimate": "paths"},
        {"weights": "gain-ratio"},
        {"weights": "chi-square"},
        {"document_weights": "discriminative"},
        {"neighbourhood": "tree"},
        {"neighbourhood": "nearest"},
    ],
    ids=str,
)
def test_goes_with_plain_parts_only(parts: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"event must be .*, not 'normalised-complement'"):
        streamnb.ComposedNB("normalised-complement", **parts)
