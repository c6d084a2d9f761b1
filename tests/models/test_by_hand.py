"""The references and the models on a stream so small that its scores are computed by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from references.documents import Documents
from references.independent import Reference
from support.models import (
    RATIOS,
    family,
    make_model,
    make_reference,
)
from support.streams import TINY, synthetic_stream

QUERY = {"a": 1, "b": 1, "c": 1}
F = Fraction
# By hand. "a" is in every document, so its gain ratio is 0; "b" and "c" tell the classes apart, so
# theirs are 1 and both exceed the average 2/3: the parents of "a" are b and c, of "b" c, of "c" b.
HAM_INDEPENDENT = F(2, 5) * F(2, 5) * F(1, 5)
SPAM_INDEPENDENT = F(3, 6) * F(1, 6) * F(2, 6)
HAM_HIDDEN = (F(2, 5) + F(1, 3)) / 2 * F(1, 3) * F(1, 5)
SPAM_HIDDEN = (F(1, 3) + F(3, 6)) / 2 * F(1, 6) * F(1, 3)
# Not the quotient of those means, but the mean of the quotients.
HAM_RATIOS = 1 / (
    (F(1, 3) / F(2, 5) + F(3, 6) / F(1, 3)) / 2 * F(1, 6) / F(1, 3) * F(1, 3) / F(1, 5)
)
SPAM_RATIOS = 1 / (
    (F(2, 5) / F(1, 3) + F(1, 3) / F(3, 6)) / 2 * F(1, 3) / F(1, 6) * F(1, 5) / F(1, 3)
)
# Words are their own children too, and "a" is no parent. A class without the parent has 1/3 each.
HAM_GIVEN_B, HAM_GIVEN_C = F(2, 5) * F(2, 5) * F(1, 5), F(1, 3) ** 3
SPAM_GIVEN_B, SPAM_GIVEN_C = F(1, 3) ** 3, F(3, 6) * F(1, 6) * F(2, 6)
HAM_MEAN, SPAM_MEAN = (HAM_GIVEN_B + HAM_GIVEN_C) / 2, (SPAM_GIVEN_B + SPAM_GIVEN_C) / 2
# R_wc is 2 for the word of the one class, 1 for "a". Gain ratios over their mean are 3/2, 3/2, 0:
# of 3 + 3/2 tokens with the smoothing, b has 1 + 3/2 in ham, c has 1. A single message of a class
# is never decided right, so the smallest share is selected: b and c, which tie, of 3 + 1 tokens.
GAIN_RATIO = (F(5, 9) * F(2, 9)) ** 1.5
SELECTED = F(2, 4) * F(1, 4)
# Correlation-based selection takes b, which says it all, and not c, which says the same again.
HAM_TWICE_B = F(2, 6) * F(3, 6) ** 2 * F(1, 6)
SPAM_TWICE_B = F(3, 6) * F(1, 6) ** 2 * F(2, 6)
BY_HAND = {
    "RwcMNB": (2 * HAM_INDEPENDENT, 2 * SPAM_INDEPENDENT),
    "RwcCNB": (1 / (2 * SPAM_INDEPENDENT), 1 / (2 * HAM_INDEPENDENT)),
    "RwcOVA": (HAM_INDEPENDENT / SPAM_INDEPENDENT, SPAM_INDEPENDENT / HAM_INDEPENDENT),
    "GRWMNB": (GAIN_RATIO, GAIN_RATIO),
    "GRWCNB": (1 / GAIN_RATIO, 1 / GAIN_RATIO),
    "GRWOVA": (1, 1),
    "GRSMNB": (SELECTED, SELECTED),
    "GRSCNB": (1 / SELECTED, 1 / SELECTED),
    "GRSOVA": (1, 1),
    "DFWMNB": (HAM_TWICE_B, SPAM_TWICE_B),
    "DFWCNB": (1 / SPAM_TWICE_B, 1 / HAM_TWICE_B),
    "DFWOVA": (HAM_TWICE_B / SPAM_TWICE_B, SPAM_TWICE_B / HAM_TWICE_B),
    # The tree's one test is of b too, at depth 1.
    "DTWMNB": (HAM_TWICE_B, SPAM_TWICE_B),
    "DTWCNB": (1 / SPAM_TWICE_B, 1 / HAM_TWICE_B),
    "DTWOVA": (HAM_TWICE_B / SPAM_TWICE_B, SPAM_TWICE_B / HAM_TWICE_B),
    "BNB": (F(2, 3) * F(2, 3) * F(1, 3), F(2, 3) * F(1, 3) * F(2, 3)),
    "MNB": (HAM_INDEPENDENT, SPAM_INDEPENDENT),
    "CNB": (1 / SPAM_INDEPENDENT, 1 / HAM_INDEPENDENT),
    "OVA": (HAM_INDEPENDENT / SPAM_INDEPENDENT, SPAM_INDEPENDENT / HAM_INDEPENDENT),
    "HMNB": (HAM_HIDDEN, SPAM_HIDDEN),
    "HCNB": (1 / SPAM_HIDDEN, 1 / HAM_HIDDEN),
    "HOVA": (HAM_HIDDEN / SPAM_HIDDEN, SPAM_HIDDEN / HAM_HIDDEN),
    # One document a class has no path: 1/2 for each word.
    "HONB": (F(1, 8), F(1, 8)),
    "NBCF": (
        F(13, 25) * F(11, 25) * F(1, 25),  # of 2 + 5/10 tokens
        F(23, 35) * F(1, 35) * F(11, 35),  # of 3 + 5/10
    ),
    "SEMNB": (HAM_MEAN, SPAM_MEAN),
    "SECNB": (1 / SPAM_MEAN, 1 / HAM_MEAN),
    "SEOVA": (
        (HAM_GIVEN_B / SPAM_GIVEN_B + HAM_GIVEN_C / SPAM_GIVEN_C) / 2,
        (SPAM_GIVEN_B / HAM_GIVEN_B + SPAM_GIVEN_C / HAM_GIVEN_C) / 2,
    ),
    RATIOS: (HAM_RATIOS, SPAM_RATIOS),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_reference_by_hand(name: str) -> None:
    documents = Documents.from_list(TINY)
    ham, spam = BY_HAND[name]
    expected = {"ham": math.log(ham), "spam": math.log(spam)}
    got = make_reference(name, prior="uniform").joint_log_likelihood(documents, QUERY)
    assert got == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", BY_HAND)
def test_model_by_hand(name: str) -> None:
    model = make_model(name, prior="uniform", refresh_every=1)
    for counts, label, weight in TINY:
        model.learn_one(counts, label, weight)
    ham, spam = BY_HAND[name]
    expected = {"ham": math.log(ham), "spam": math.log(spam)}
    assert model.joint_log_likelihood_one(QUERY) == pytest.approx(expected, abs=1e-12)


def test_reference_priors_by_hand() -> None:
    documents = Documents.from_list([*TINY, ({}, "spam", 1.0)])
    logs = {
        name: {
            prior: Reference(name, prior=prior).joint_log_likelihood(documents, {})
            for prior in ("empirical", "laplace", "uniform")
        }
        for name in ("MNB", "CNB", "OVA")
    }
    # Three documents, two classes: P(ham) = 1/3 or (1 + 1)/(3 + 2); the complement of ham is spam.
    p = {"empirical": (F(1, 3), F(2, 3)), "laplace": (F(2, 5), F(3, 5)), "uniform": (F(1), F(1))}
    for prior, (ham, spam) in p.items():
        assert logs["MNB"][prior] == pytest.approx({"ham": math.log(ham), "spam": math.log(spam)})
        assert logs["CNB"][prior] == pytest.approx({"ham": -math.log(spam), "spam": -math.log(ham)})
        difference = math.log(ham) - math.log(spam)
        assert logs["OVA"][prior] == pytest.approx({"ham": difference, "spam": -difference})


def test_reference_unseen_words_and_fixed_vocabulary_by_hand() -> None:
    documents = Documents.from_list(TINY)

    def ham(name: str, x: dict[str, float], **parameters: Any) -> float:
        model = make_reference(name, prior="uniform", **parameters)
        return math.exp(model.joint_log_likelihood(documents, x)["ham"])

    assert ham("MNB", {"new": 2}) == pytest.approx(F(1, 5) ** 2)
    assert ham("MNB", {"new": 2}, oov="skip") == pytest.approx(1)
    assert ham("MNB", {"b": 1}, vocabulary_size=10, alpha=0.5) == pytest.approx(F(3, 2) / 7)
    # "new" is a child of b, never a parent: P(new | b, ham) = 1/(2 + 3), P(b | ham) = 2/5.
    assert ham("HMNB", {"b": 1, "new": 1}) == pytest.approx(F(1, 5) * F(2, 5))
    # The same ratio with P(new | b, spam) = 1/3; "b" has no parent: P(b | spam) = 1/6 alone.
    assert 1 / ham(RATIOS, {"b": 1, "new": 1}) == pytest.approx(F(1, 3) / F(1, 5) * F(1, 6))
    # Present and absent words of p = (df + 1)/(1 + 2): a, b, c, and where asked "new" and the rest.
    absent = F(1, 3) * F(1, 3) * F(2, 3)
    assert ham("BNB", {"new": 1}) == pytest.approx(absent)
    assert ham("BNB", {"new": 1}, oov="smooth") == pytest.approx(absent * F(1, 3))
    assert ham("BNB", {}, vocabulary_size=5) == pytest.approx(absent * F(2, 3) ** 2)


def test_reference_gain_ratio_by_hand() -> None:
    documents = Documents.from_list(
        [({"x": 1}, "a", 1.0), ({"x": 3, "y": 1}, "a", 2.0), ({"y": 1}, "b", 1.0)]
    )
    # Weights 4 in all. x: in 3 of a's 3 and none of b's 1. y: in 2 of a's 3 and 1 of b's 1.
    entropy_3_1 = -(0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    conditional = 0.75 * -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    expected = [1.0, (entropy_3_1 - conditional) / entropy_3_1]
    np.testing.assert_allclose(documents.gain_ratios, expected, atol=1e-12)


def test_reference_weight_equals_repetition() -> None:
    counts, label, _ = TINY[1]
    weighted = Documents.from_list([TINY[0], (counts, label, 3.0)])
    repeated = Documents.from_list([TINY[0], *[TINY[1]] * 3])
    for name in family("independent", "hidden", "hidden-ratios"):
        for prior in ("empirical", "laplace", "uniform"):
            reference = make_reference(name, prior=prior)
            assert reference.joint_log_likelihood(weighted, QUERY) == pytest.approx(
                reference.joint_log_likelihood(repeated, QUERY), abs=1e-12
            )


def test_reference_prefix_equals_documents_laid_out_anew() -> None:
    stream = synthetic_stream()
    documents = Documents.from_list(stream)
    for n in (0, 1, 2, 17, 60, len(stream)):
        anew, prefix = Documents.from_list(stream[:n]), documents.first(n)
        assert anew.words == prefix.words
        assert anew.labels == prefix.labels
        np.testing.assert_array_equal(anew.counts, prefix.counts)
        np.testing.assert_array_equal(anew.weights, prefix.weights)
