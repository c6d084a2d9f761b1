"""Naive Bayes corrected online by weights that multiply the log odds of words."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from river import checks

from references.online_weights import OnlineWeightsReference
from streamnb import InputError, NaiveBayes, OnlineNB, Tokenizer
from support.models import make_model
from support.streams import (
    assert_same_parts,
    assert_same_scores,
    learned,
    sms_stream,
    synthetic_stream,
)

STREAM = synthetic_stream(120)
WEIGHTED = synthetic_stream(weighted=True)
TEXTS = [
    ("win cash now", "spam"),
    ("see you at noon", "ham"),
    ("win a phone now", "spam"),
    ("cash at noon", "ham"),
    ("call now, win", "spam"),
]


def make(**parameters: Any) -> Any:
    """A model that takes steps from the first message on: streams here are short."""
    return make_model("OnlineNB", **{"warm_up": 0, "correction": "multiplicative", **parameters})


def make_reference(**parameters: Any) -> OnlineWeightsReference:
    return OnlineWeightsReference(warm_up=0, correction="multiplicative", **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"learning_rate": 1.0, "bias_rate": 0.5, "rate_decay": 1.0, "margin": 0.0},
        {"learning_rate": 20.0, "nb_weight": 1.0, "rate_decay": 1.0},
        {"loss": "deviance", "damping": 0.8, "oov": "smooth"},
        {"loss": "exponential", "nb_weight": 1.0, "prior": "laplace", "vocabulary_size": 60},
        {"loss": "squared", "alpha": 1.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("stream", ["two classes", "three classes", "weighted"])
def test_equals_the_reference_at_every_prefix(parameters: dict[str, Any], stream: str) -> None:
    messages = {"two classes": sms_stream()[:60], "three classes": STREAM, "weighted": WEIGHTED}
    names = {"nb_weight": "scale", "learning_rate": "rate", "rate_decay": "decay"}
    reference = make_reference(**{names.get(k, k): v for k, v in parameters.items()})
    model = make(**parameters)
    for n, (x, y, w) in enumerate(messages[stream]):
        expected = reference.scores(x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    assert any(reference.sums.values())
    weights = [1 + reference.w(*key) for key in reference.sums]
    assert min(weights) >= 0
    if parameters.get("learning_rate") == 20.0:
        assert min(weights) == 0


def test_rate_0_is_additive_with_rate_0_to_the_last_bit() -> None:
    rates = {"learning_rate": 0.0, "bias_rate": 0.0}
    model, additive = make(**rates), make(correction="additive", **rates)
    for x, y, _ in sms_stream():
        assert model.joint_log_likelihood_one(x) == additive.joint_log_likelihood_one(x)
        model.learn_one(x, y)
        additive.learn_one(x, y)


def test_explanations_have_the_parts_of_the_reference() -> None:
    model, reference = make(), make_reference()
    for x, y, w in STREAM:
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    for x, _, _ in STREAM[::7]:
        asked = x | {"never": 2}
        explanation = model.explain_one(asked)
        scores = model.joint_log_likelihood_one(asked)
        assert explanation.scores() == pytest.approx(scores, abs=1e-9)
        for label in scores:
            assert_same_parts(explanation, reference.parts(asked, label), label, x)


def test_two_classes_mirror_each_other() -> None:
    model = learned(make(), sms_stream()[:60])
    for x, _, _ in sms_stream()[60:90]:
        ham, spam = model.joint_log_likelihood_one(x).values()
        assert ham == pytest.approx(-spam, abs=1e-9)


def test_unlearning_takes_counts_back_and_leaves_weights() -> None:
    model, reference = learned(make(), STREAM), make_reference()
    for document in STREAM:
        reference.learn(*document)
    for x, y, w in STREAM[::5]:
        model.unlearn_one(x, y, w)
        reference.unlearn(x, y, w)
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), x)


def test_merging_adds_counts_and_averages_weights() -> None:
    parts = [STREAM[:70], STREAM[70:]]
    models = [learned(make(), part) for part in parts]
    references = [make_reference() for _ in parts]
    for reference, part in zip(references, parts, strict=True):
        for document in part:
            reference.learn(*document)
    models[0].merge(models[1])
    references[0].merge(references[1])
    for x, _, _ in STREAM[::5]:
        expected = references[0].scores(x)
        assert_same_scores(models[0].joint_log_likelihood_one(x), expected, x)
    with pytest.raises(InputError):
        models[0].merge(make(correction="additive"))


def test_files_copies_batches_and_messages_that_are_predicted_first() -> None:
    # Words and pairs, two of a kind of token, so that a message is kept for when it is learned.
    tokens = {"tokenizer": Tokenizer(words=(1, 2)), "warm_up": 0}
    one, other, many = (OnlineNB(correction="multiplicative", **tokens) for _ in range(3))
    for x, y in TEXTS * 3:
        one.learn_one(x, y)
        other.predict_one(x)
        other.learn_one(x, y)
    many.learn_many(*zip(*TEXTS * 3, strict=True))
    assert one.to_bytes() == other.to_bytes() == many.to_bytes()
    scores = one.joint_log_likelihood_one("win cash at noon")
    again = NaiveBayes.from_bytes(one.to_bytes())
    for model in (again, copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert model.joint_log_likelihood_one("win cash at noon") == scores
        model.learn_one("cash", "ham")
    assert again._get_params()["correction"] == "multiplicative"


def test_words_in_another_order_learn_the_same() -> None:
    one, other = make(), make()
    for x, y, w in STREAM:
        one.learn_one(x, y, w)
        other.learn_one(dict(reversed(x.items())), y, w)
    assert one.to_bytes() == other.to_bytes()


def test_the_default_correction_is_additive() -> None:
    models = [make_model("OnlineNB", **p) for p in ({}, {"correction": "additive"})]
    assert models[0].to_bytes() == models[1].to_bytes()


@pytest.mark.parametrize("bad", ["added", "", None, 1, True])
def test_another_correction_is_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="correction must be"):
        OnlineNB(correction=bad)


@pytest.mark.soak
def test_river_accepts_it() -> None:
    checks.check_estimator(make(warm_up=5))
