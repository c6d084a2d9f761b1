"""All models against the slow literal reference; the reference against river and by hand."""

from __future__ import annotations

import json
import lzma
import math
import random
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from data_support import require_data
from model_support import (
    ALL_MODELS,
    INDEXED,
    REFERENCE_MODELS,
    SLOW,
    make_model,
    make_reference,
)
from reference import RATIOS, Document, Documents, Reference
from river import feature_extraction, naive_bayes

import streamnb

if TYPE_CHECKING:
    from collections.abc import Callable

TOLERANCE = 1e-9
MESSAGES = 300
SLOW_MESSAGES = 200

SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "alpha 0.5, laplace, smooth": {"alpha": 0.5, "prior": "laplace", "unseen": "smooth"},
    "empirical, skip": {"prior": "empirical", "unseen": "skip"},
    "alpha 0.5, uniform, skip": {"alpha": 0.5, "prior": "uniform", "unseen": "skip"},
    "uniform, smooth, m fixed": {"prior": "uniform", "unseen": "smooth", "vocabulary_size": 4000},
    "alpha 0.5, m fixed": {"alpha": 0.5, "vocabulary_size": 2500},
}
CASES = [
    pytest.param(name, parameters, id=f"{name}: {title}")
    for name in REFERENCE_MODELS
    for title, parameters in SETTINGS.items()
]


@cache
def sms_stream(n: int = MESSAGES) -> list[Document]:
    """Return the first SMS messages as river's bag of words sees them."""
    bag = feature_extraction.BagOfWords()
    path = require_data("text/sms_spam.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(n), strict=False)]
    return [(bag.transform_one(record["text"]), record["label"], 1.0) for record in records]


@cache
def synthetic_stream(n: int = 120, weighted: bool = False, seed: int = 7) -> list[Document]:
    """Return messages of three classes; the third comes late, and some messages are empty."""
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(45)]
    favourites = {"a": vocabulary[:15], "b": vocabulary[10:30], "c": vocabulary[25:]}
    stream: list[Document] = []
    for i in range(n):
        label = rng.choice("aaab" if i < 30 else "aaabbc")
        words = rng.choices(favourites[label], k=rng.randrange(6))
        words += rng.choices(vocabulary, k=rng.randrange(4))
        counts = {word: float(words.count(word)) for word in sorted(set(words))}
        weight = rng.choice([0.25, 0.5, 1.0, 1.5, 3.0]) if weighted else 1.0
        if weighted:
            counts = {word: count * rng.choice([0.5, 1.0, 1.25]) for word, count in counts.items()}
        stream.append((counts, label, weight))
    return stream


def assert_same_scores(got: dict[Any, float], expected: dict[Any, float], where: object) -> None:
    assert got.keys() == expected.keys(), where
    for label, score in expected.items():
        assert abs(got[label] - score) <= TOLERANCE, (where, label, got[label], score)


@cache
def prefixes(stream: Callable[..., list[Document]], **parameters: Any) -> list[Documents]:
    """Return the documents before each message of a stream, and at last all of them."""
    documents = Documents.from_list(stream(**parameters))
    return [documents.first(n) for n in range(len(documents.labels) + 1)]


def follow(
    name: str, parameters: dict[str, Any], stream: list[Document], past: list[Documents]
) -> None:
    """Score the next message and a fixed one at every prefix of the stream, then learn."""
    model = make_model(name, refresh_every=1, **parameters)
    reference = make_reference(name, **parameters)
    # Repeated words, a word never learned, fractional counts and a zero.
    words = list(past[-1].words)
    fixed = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (counts, label, weight) in enumerate([*stream, ({}, None, 1.0)]):
        for x in (counts, fixed):
            assert_same_scores(
                model.joint_log_likelihood_one(x), reference.joint_log_likelihood(past[n], x), n
            )
        if n < len(stream):
            model.learn_one(counts, label, weight)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_equals_reference_at_every_prefix_of_sms(name: str, parameters: dict[str, Any]) -> None:
    n = SLOW_MESSAGES if name in SLOW else MESSAGES
    follow(name, parameters, sms_stream()[:n], prefixes(sms_stream)[: n + 1])


@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
def test_equals_reference_at_every_prefix_of_three_classes(
    name: str, parameters: dict[str, Any], weighted: bool
) -> None:
    past = prefixes(synthetic_stream, weighted=weighted)
    follow(name, parameters, synthetic_stream(weighted=weighted), past)


@pytest.mark.parametrize("name", REFERENCE_MODELS)
def test_text_gives_the_scores_of_its_words(name: str) -> None:
    """The model's own tokeniser on the raw text, the reference on river's words."""
    path = require_data("text/sms_spam.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(150), strict=False)]
    model = make_model(name, refresh_every=1)
    for record in records[:100]:
        model.learn_one(record["text"], record["label"])
    documents = Documents.from_list(sms_stream()[:100])
    reference = make_reference(name)
    for record, (counts, _, _) in zip(records[100:], sms_stream()[100:150], strict=True):
        assert_same_scores(
            model.joint_log_likelihood_one(record["text"]),
            reference.joint_log_likelihood(documents, counts),
            record["id"],
        )


@pytest.mark.parametrize("name", ALL_MODELS)
def test_batches_equal_one_by_one(name: str) -> None:
    stream = synthetic_stream(150)
    messages = [counts for counts, _, _ in stream]
    labels = [label for _, label, _ in stream]
    one, many = (make_model(name, refresh_every=1) for _ in range(2))
    for start in range(0, 120, 30):
        for counts, label in zip(
            messages[start : start + 30], labels[start : start + 30], strict=True
        ):
            one.learn_one(counts, label)
        many.learn_many(messages[start : start + 30], labels[start : start + 30])
        scores = many.joint_log_likelihood_many(messages[120:])
        assert scores.shape == (30, len(many.classes_))
        assert one.classes_ == many.classes_
        expected = [
            [one.joint_log_likelihood_one(x)[label] for label in one.classes_]
            for x in messages[120:]
        ]
        np.testing.assert_allclose(scores, expected, rtol=0, atol=TOLERANCE)
        assert many.predict_many(messages[120:]) == [one.predict_one(x) for x in messages[120:]]
        for got, x in zip(many.predict_proba_many(messages[120:]), messages[120:], strict=True):
            assert got == pytest.approx(one.predict_proba_one(x), abs=TOLERANCE)
    assert one.to_bytes() == many.to_bytes()


@pytest.mark.parametrize("refresh_every", [1, 7, 0.1, 0.5], ids=str)
@pytest.mark.parametrize("name", [*INDEXED, RATIOS])
def test_batches_equal_one_by_one_on_any_schedule(name: str, refresh_every: float) -> None:
    """Where a batch starts and ends does not move the refreshes."""
    stream = synthetic_stream(120)
    messages = [counts for counts, _, _ in stream]
    labels = [label for _, label, _ in stream]
    one, many = (make_model(name, refresh_every=refresh_every) for _ in range(2))
    for counts, label, _ in stream:
        one.learn_one(counts, label)
    for start in (0, 1, 18, 77):
        stop = {0: 1, 1: 18, 18: 77, 77: 120}[start]
        many.learn_many(messages[start:stop], labels[start:stop])
    for x in messages[::5]:
        assert_same_scores(
            many.joint_log_likelihood_one(x), one.joint_log_likelihood_one(x), refresh_every
        )


@pytest.mark.parametrize("name", ALL_MODELS)
def test_order_of_messages_classes_and_words_does_not_matter(name: str) -> None:
    stream = synthetic_stream()
    rng = random.Random(3)
    straight, shuffled = (make_model(name, refresh_every=1) for _ in range(2))
    for counts, label, weight in stream:
        straight.learn_one(counts, label, weight)
    for counts, label, weight in rng.sample(stream, len(stream)):
        keys = rng.sample(list(counts), len(counts))
        shuffled.learn_one({word: counts[word] for word in keys}, label, weight)
    assert straight.classes_ == shuffled.classes_ == sorted(straight.classes_)
    for counts, _, _ in stream:
        keys = rng.sample(list(counts), len(counts))
        assert_same_scores(
            shuffled.joint_log_likelihood_one({word: counts[word] for word in keys}),
            straight.joint_log_likelihood_one(counts),
            counts,
        )


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("bernoulli", "independent"), "BNB"),
        (("multinomial", "independent"), "MNB"),
        (("complement", "independent"), "CNB"),
        (("one-versus-all", "independent"), "OVA"),
        (("multinomial", "hidden"), "HMNB"),
        (("complement", "hidden"), "HCNB"),
        (("one-versus-all", "hidden"), "HOVA"),
        (("multinomial", "one-dependence"), "SEMNB"),
        (("complement", "one-dependence"), "SECNB"),
        (("one-versus-all", "one-dependence"), "SEOVA"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_composed_model_equals_the_named_one(parts: tuple[str, str], name: str) -> None:
    event, dependence = parts
    composed = streamnb.ComposedNB(event=event, dependence=dependence, refresh_every=1)
    named = getattr(streamnb, name)(refresh_every=1)
    for counts, label, weight in synthetic_stream(60):
        assert composed.joint_log_likelihood_one(counts) == named.joint_log_likelihood_one(counts)
        composed.learn_one(counts, label, weight)
        named.learn_one(counts, label, weight)


# --- river's own models -------------------------------------------------------------------------


def river_bernoulli(model: naive_bayes.BernoulliNB, x: dict[str, int]) -> dict[str, float]:
    """Return river's scores without the 10e-10 it adds inside each logarithm."""
    corrected = {}
    for label, score in model.joint_log_likelihood(x).items():
        for word in model.feature_counts:
            p = model.p_feature_given_class(word, label)
            p = p if x.get(word, 0) > model.true_threshold else 1.0 - p
            score -= math.log1p(10e-10 / p)
        corrected[label] = score
    return corrected


RIVER = {
    "MNB": (naive_bayes.MultinomialNB, naive_bayes.MultinomialNB.joint_log_likelihood, {}),
    "CNB": (
        naive_bayes.ComplementNB,
        naive_bayes.ComplementNB.joint_log_likelihood,
        {"prior": "uniform"},
    ),
    "BNB": (naive_bayes.BernoulliNB, river_bernoulli, {}),
}


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("name", RIVER)
def test_model_and_reference_equal_river_along_sms(name: str, alpha: float) -> None:
    river_class, score, parameters = RIVER[name]
    theirs = river_class(alpha=alpha)
    ours = getattr(streamnb, name)(alpha=alpha, **parameters)
    reference = Reference(name, alpha=alpha, **parameters)
    stream = sms_stream()
    documents = Documents.from_list(stream)
    for n, (counts, label, weight) in enumerate(stream):
        # River's complement model rebuilds every count at every score, so look in every tenth time.
        if n % 10 == 0:
            expected = score(theirs, counts)
            past = documents.first(n)
            assert_same_scores(reference.joint_log_likelihood(past, counts), expected, n)
            assert_same_scores(ours.joint_log_likelihood_one(counts), expected, n)
        theirs.learn_one(counts, label)
        ours.learn_one(counts, label, weight)


def test_mnb_equals_river_along_the_whole_sms_stream() -> None:
    theirs, ours = naive_bayes.MultinomialNB(), streamnb.MNB()
    for n, (counts, label, _) in enumerate(sms_stream(6000)):
        assert_same_scores(
            ours.joint_log_likelihood_one(counts), theirs.joint_log_likelihood(counts), n
        )
        theirs.learn_one(counts, label)
        ours.learn_one(counts, label)


# --- the reference by hand -----------------------------------------------------------------------

TINY: list[Document] = [({"a": 1, "b": 1}, "ham", 1.0), ({"a": 2, "c": 1}, "spam", 1.0)]
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
        model = Reference(name, prior="uniform", **parameters)
        return math.exp(model.joint_log_likelihood(documents, x)["ham"])

    assert ham("MNB", {"new": 2}) == pytest.approx(F(1, 5) ** 2)
    assert ham("MNB", {"new": 2}, unseen="skip") == pytest.approx(1)
    assert ham("MNB", {"b": 1}, vocabulary_size=10, alpha=0.5) == pytest.approx(F(3, 2) / 7)
    # "new" is a child of b, never a parent: P(new | b, ham) = 1/(2 + 3), P(b | ham) = 2/5.
    assert ham("HMNB", {"b": 1, "new": 1}) == pytest.approx(F(1, 5) * F(2, 5))
    # The same ratio with P(new | b, spam) = 1/3; "b" has no parent: P(b | spam) = 1/6 alone.
    assert 1 / ham(RATIOS, {"b": 1, "new": 1}) == pytest.approx(F(1, 3) / F(1, 5) * F(1, 6))
    # Present and absent words of p = (df + 1)/(1 + 2): a, b, c, and where asked "new" and the rest.
    absent = F(1, 3) * F(1, 3) * F(2, 3)
    assert ham("BNB", {"new": 1}) == pytest.approx(absent)
    assert ham("BNB", {"new": 1}, unseen="smooth") == pytest.approx(absent * F(1, 3))
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
    for name in REFERENCE_MODELS:
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
