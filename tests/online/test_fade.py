"""What is faded counts for less, at every prefix, in files, batches and merges."""

from __future__ import annotations

import random
from typing import Any

import pytest

import streamnb
from references.forgetting import Forgetting
from streamnb import HMNB, LNB, MNB, InputError, NaiveBayes
from support.models import make_model, make_reference
from support.streams import assert_same_scores, synthetic_stream

QUERY = {"w1": 2.0, "w12": 1.0, "w20": 1.0, "w40": 1.0, "never learned": 2.5}
NAMES = ("MNB", "CNB", "OVA", "BNB", "NBCF", "RwcMNB", "OnlineNB")


@pytest.mark.parametrize("half_life", [7, 0.5, 1e9])
@pytest.mark.parametrize("name", NAMES)
def test_equals_the_reference_at_every_prefix(name: str, half_life: float) -> None:
    rng, faded = random.Random(4), 0.0
    model = make_model(name, half_life=half_life)
    reference = Forgetting(make_reference(name), half_life=half_life)
    for at, (counts, label, weight) in enumerate(synthetic_stream()):
        model.learn_one(counts, label, weight)
        reference.learn(counts, label, weight)
        half_lives = rng.choice([0, 0, 0.25, 1.0, 3.5])
        if at == 60:
            half_lives = 40.0
        model.fade(half_lives)
        reference.fade(half_lives)
        faded += half_lives
        for x in (counts, QUERY):
            assert_same_scores(
                model.joint_log_likelihood_one(x), reference.joint_log_likelihood(x), at
            )
        if at % 10 == 0:
            again = NaiveBayes.from_bytes(model.to_bytes())
            assert again.to_bytes() == model.to_bytes()
            assert again.joint_log_likelihood_one(QUERY) == model.joint_log_likelihood_one(QUERY)
            model = again
    assert faded > 40


@pytest.mark.parametrize("half_lives", [255.0, 256.0, 300.0, 100_000.0])
@pytest.mark.parametrize("name", ["MNB", "BNB", "OnlineNB"])
def test_counts_that_are_divided_on_the_way_count_as_those_that_fade_alone(
    name: str, half_lives: float
) -> None:
    """What is nearly nothing is still known, and what comes then counts for one."""
    model = make_model(name, half_life=1000)
    for counts, label, _ in synthetic_stream():
        model.learn_one(counts, label)
    before = model.n_words
    model.fade(half_lives)
    assert 0 < model.n_documents < 1e-70
    assert NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    model.learn_one({"new": 1.0}, "a")
    assert model.n_documents == pytest.approx(1.0)
    assert (model.n_words, model.predict_one({"new": 1.0})) == (before + 1, "a")


def test_with_times_what_faded_stays_faded() -> None:
    model, reference = MNB(half_life="10s"), Forgetting(make_reference("MNB"), 10.0, timed=True)
    for at, (counts, label, _) in enumerate(synthetic_stream(60)):
        model.learn_one(counts, label, time=3.0 * at)
        reference.learn(counts, label, time=3.0 * at)
        if at % 7 == 0:
            model.fade(0.5)
            reference.fade(0.5)
        scores = model.joint_log_likelihood_one(QUERY)
        assert_same_scores(scores, reference.joint_log_likelihood(QUERY), at)


def test_merging_adds_what_is_left_of_each() -> None:
    one, other = MNB(half_life=50), MNB(half_life=50)
    for _ in range(8):
        one.learn_one("win", "spam")
        other.learn_one("noon", "ham")
    one.fade(2)
    left = one.n_documents + other.n_documents
    one.merge(other)
    assert one.n_documents == pytest.approx(left)


def test_nothing_is_faded_where_nothing_was_learned_or_by_nothing() -> None:
    for half_life in (50, "50s"):
        model = MNB(half_life=half_life)
        empty = model.to_bytes()
        model.fade(3)
        assert model.to_bytes() == empty
        model.learn_one("win", "spam", time=7)
        assert model.n_documents == 1.0
        known = model.to_bytes()
        model.fade(0)
        assert model.to_bytes() == known


@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf"), "1", None, True, 10**400])
def test_what_is_no_number_of_half_lives_is_refused(wrong: Any) -> None:
    model = MNB(half_life=50)
    model.learn_one("win", "spam")
    known = model.to_bytes()
    with pytest.raises(InputError, match="half_lives"):
        model.fade(wrong)
    assert model.to_bytes() == known


@pytest.mark.parametrize("make", [MNB, HMNB, LNB, lambda: MNB(window=5)])
def test_models_without_a_half_life_do_not_fade(make: Any) -> None:
    with pytest.raises(streamnb.InputError, match="give the model half_life"):
        make().fade(1)
