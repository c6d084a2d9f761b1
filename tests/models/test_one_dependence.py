"""Averaged one-dependence estimators: long messages, messages without parents, bounds, parts."""

from __future__ import annotations

import math
from typing import Any

import pytest

import streamnb
from references.documents import Documents
from streamnb.errors import InputError
from support.models import family, make_reference, matrix
from support.streams import assert_same_scores, synthetic_stream

each_model = matrix(family("one-dependence"))


def learned(name: str, **parameters: Any) -> Any:
    model = getattr(streamnb, name)(refresh_every=1, **parameters)
    for x, y, w in synthetic_stream():
        model.learn_one(x, y, w)
    return model


@each_model
def test_long_messages_do_not_underflow(name: str) -> None:
    """A product of 45,000 tokens is far below the smallest float; the literal one is decimal."""
    model = learned(name)
    documents = Documents.from_list(synthetic_stream())
    x = {word: 1000 + 7 * i for i, word in enumerate(documents.words)}
    scores = model.joint_log_likelihood_one(x)
    expected = make_reference(name).joint_log_likelihood(documents, x)
    if name != "SEOVA":  # whose two sides largely cancel
        assert all(abs(score) > 745 for score in expected.values())
    for label, score in expected.items():
        assert scores[label] == pytest.approx(score, rel=1e-11)
    assert sum(model.predict_proba_one(x).values()) == pytest.approx(1)


@each_model
@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.5, "oov": "skip"}], ids=["", "skip"])
def test_messages_without_a_parent_score_as_independent(
    name: str, parameters: dict[str, Any]
) -> None:
    model = getattr(streamnb, name)(refresh_every=1, **parameters)
    plain = getattr(streamnb, name[-3:])(**parameters)
    for x, y, w in synthetic_stream():
        # A word in every message carries no information.
        model.learn_one(x | {"everywhere": 1}, y, w)
        plain.learn_one(x | {"everywhere": 1}, y, w)
    for x in ({}, {"new": 2}, {"everywhere": 3, "new": 1}):
        assert model.joint_log_likelihood_one(x) == plain.joint_log_likelihood_one(x)
        assert model.explain_one(x).words == plain.explain_one(x).words


@each_model
def test_one_class_alone_scores_as_independent(name: str) -> None:
    """Nothing tells one class from another, so every gain ratio is 0."""
    model, plain = (getattr(streamnb, each)(refresh_every=1) for each in (name, name[-3:]))
    for x in ({"a": 1, "b": 2}, {"a": 1}, {"c": 1}):
        model.learn_one(x, "ham")
        plain.learn_one(x, "ham")
    x = {"a": 1, "c": 3, "new": 1}
    assert model.joint_log_likelihood_one(x) == plain.joint_log_likelihood_one(x)


@each_model
def test_estimates_are_of_the_indexed_messages(name: str) -> None:
    """Evicted messages leave P(w_i|w_t,c), i = t included, and nothing else."""
    stream = synthetic_stream()
    model = learned(name, index_size=40)
    all_of_it, indexed = Documents.from_list(stream), Documents.from_list(stream[-40:])
    reference = make_reference(name)
    prior, m = reference.independent._log_prior, reference.independent._m(all_of_it)
    fixed = make_reference(name, vocabulary_size=m)
    # The literal model of the indexed messages, with gain ratios and priors of the whole stream.
    indexed.__dict__["gain_ratios"] = all_of_it.gain_ratios[
        [all_of_it.words[word] for word in indexed.words]
    ]
    for x in ({"w1": 2, "w12": 1, "w30": 1, "never learned": 1}, {"w27": 3, "w28": 1}):
        assert set(x) - {"never learned"} <= set(indexed.words)
        got = model.joint_log_likelihood_one(x)
        fixed.independent._log_prior = lambda docs, members: 0.0
        expected = fixed.joint_log_likelihood(indexed, x)
        for label in expected:
            of_c = all_of_it.of(label)
            if name != "SECNB":
                expected[label] += prior(all_of_it, of_c)
            if name != "SEMNB":
                expected[label] -= prior(all_of_it, ~of_c)
        assert_same_scores(got, expected, x)


@each_model
def test_explanation_tells_children_and_parents_apart(name: str) -> None:
    """A word's part is its own probability under the parents, and its share as a parent."""
    model = learned(name, prior="uniform")
    x = {"w2": 1, "w13": 2, "w29": 1}
    explanation = model.explain_one(x)
    assert explanation.baseline == dict.fromkeys("abc", 0.0)
    for label, score in model.joint_log_likelihood_one(x).items():
        parts = [terms[label] for terms in explanation.words.values()]
        assert math.fsum(parts) == pytest.approx(score, abs=1e-9)
    # The word that only class "c" favours speaks for "c" against "a".
    assert explanation.words["w29"]["c"] > explanation.words["w29"]["a"]


def test_estimators_need_word_counts() -> None:
    with pytest.raises(InputError, match=r"one-dependence estimators need .* word counts"):
        streamnb.ComposedNB(event="bernoulli", dependence="one-dependence")


def test_gain_ratios_are_not_cut_at_their_average() -> None:
    hidden, model = (
        streamnb.ComposedNB(dependence=name, refresh_every=1)
        for name in ("hidden", "one-dependence")
    )
    for x, y, w in synthetic_stream():
        hidden.learn_one(x, y, w)
        model.learn_one(x, y, w)
    parents = [each._components.dependence.parents(each.counts(), 45.0) for each in (hidden, model)]
    assert (parents[0] > 0).sum() < (parents[1] > 0).sum()
    assert (parents[1] >= parents[0]).all()
