"""Weights of words that minimise a loss: their minimum, their margins and what they do not fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import streamnb
from references.losses import LossReference
from references.word_fits import LOSSES, WordFitReference
from streamnb import ComposedNB, InputError
from streamnb.statistics import documents as copied
from streamnb.statistics import word_fits
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.losses import LIKELIHOOD, Objective
from streamnb.statistics.word_fits import Margins, fitted_words
from support.models import EVENTS
from support.streams import (
    assert_same_scores,
    learned,
    prefixes,
    sms_stream,
    synthetic_stream,
)

each_event = pytest.mark.parametrize("event", EVENTS)


def make(event: str = "OVA", loss: str = "generalised", **parameters: Any) -> Any:
    return getattr(streamnb, f"Loss{event}")(loss=loss, **parameters)


def scale_of(model: Any) -> float:
    kept = model._store.weights()
    return 1.0 if kept is None else kept[2]


# --- the reference --------------------------------------------------------------------------------

SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    **{f"{loss} {event}": (event, loss, {}) for loss in LOSSES for event in EVENTS},
    "with its own counts": ("OVA", "likelihood", {"leave_one_out": False}),
    "laplace": ("MNB", "generalised", {"prior": "laplace", "ridge": 2.0}),
    "uniform, skip": ("CNB", "generalised", {"prior": "uniform", "oov": "skip"}),
    "alpha, size": ("OVA", "likelihood", {"alpha": 0.2, "vocabulary_size": 80, "ridge": 1.0}),
    "recent": ("MNB", "deviance", {"index_size": 20}),
}


def optima() -> list[Any]:
    """Each loss with one event, each other setting; in the soak each loss with each event."""
    soak = {f"{loss} {event}" for loss in LOSSES for event in ("MNB", "CNB")}
    return [
        pytest.param(title, marks=pytest.mark.soak if title in soak else []) for title in SETTINGS
    ]


@pytest.mark.parametrize("title", optima())
def test_scores_equal_the_reference_at_every_prefix(title: str) -> None:
    event, loss, parameters = SETTINGS[title]
    weighted = event == "OVA"
    model = make(event, loss, refresh_every=1, **parameters)
    reference = WordFitReference(f"Loss{event}", loss, **parameters)
    past = prefixes(synthetic_stream, weighted=weighted)
    for n, (x, y, w) in enumerate(synthetic_stream(weighted=weighted)[:50]):
        query = x | {"new": 1.0}
        expected = reference.scores(past[n], query, model.weights_, scale_of(model))
        assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
        model.learn_one(x, y, w)


@pytest.mark.parametrize("n", [12, pytest.param(45, marks=pytest.mark.soak)])
@pytest.mark.parametrize("title", optima())
def test_no_weights_have_a_lower_loss(title: str, n: int) -> None:
    event, loss, parameters = SETTINGS[title]
    reference = WordFitReference(f"Loss{event}", loss, **parameters)
    weighted = event == "OVA"
    model = make(event, loss, refresh_every=10**9, **parameters)
    learned(model, synthetic_stream(weighted=weighted)[:n])
    model.refresh()
    examples = reference.examples(prefixes(synthetic_stream, weighted=weighted)[n])
    scale = reference.multiplier(examples)
    assert scale_of(model) == pytest.approx(scale, rel=1e-4)
    check_optimum(reference.losses, reference.scaled(examples, scale_of(model)), model.weights_)


def check_optimum(losses: LossReference, examples: Any, weights: dict[Any, float]) -> None:
    """No other weights have a lower loss: not nearby, and not where another optimiser ends."""
    loss = losses.loss(examples, (1.0, weights))
    assert min(weights.values()) >= 0
    occurs = {word for _, margins in examples for _, slopes in margins for word in slopes}
    for word, weight in weights.items():
        if word not in occurs:
            assert weight == pytest.approx(1.0)
    for word in sorted(occurs)[::5]:
        for step in (1e-3, -1e-3):
            moved = weights | {word: max(0.0, weights[word] + step)}
            assert losses.loss(examples, (1.0, moved)) >= loss - 1e-9, word
    if losses.name != "MSENB":  # of which there may be several minima
        assert loss <= losses.least_loss(examples, sorted(occurs)) + 1e-6


def test_messages_of_mail_equal_the_reference() -> None:
    model = make("MNB", refresh_every=40)
    reference = WordFitReference("LossMNB")
    past = prefixes(sms_stream)
    for n, (x, y, w) in enumerate(sms_stream()[:200]):
        if n % 10 == 0:
            expected = reference.scores(past[n], x, model.weights_, scale_of(model))
            assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, y, w)


@each_event
def test_margins_are_those_of_models_that_unlearned_the_message(event: str) -> None:
    stream = [(x, y, w) for x, y, w in synthetic_stream(70) if x]
    model = learned(make(event, refresh_every=10**9), stream)
    indexed = copied.Documents.of(model._store.sample(True))
    prior = "empirical" if event == "MNB" else "laplace"
    parameters = ScoringParameters(EVENTS[event], prior, 1.0, float(model.n_words))
    margins = Margins.of(indexed, parameters, leave_one_out=True)
    assert margins is not None
    found = margins.offsets + margins.slopes.margins(np.ones(len(margins.words)))
    # m counts all words.
    plain = learned(ComposedNB(EVENTS[event], vocabulary_size=model.n_words), stream)
    for j, (x, y, w) in enumerate(stream):
        plain.unlearn_one(x, y, w)
        scores = plain.joint_log_likelihood_one(x)
        expected = [scores[y] - scores[c] for c in plain.classes_ if c != y]
        np.testing.assert_allclose(found[j], expected, atol=1e-9)
        plain.learn_one(x, y, w)


def test_margins_in_blocks_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    indexed = copied.Documents.of(learned(make(), synthetic_stream())._store.sample(True))
    parameters = ScoringParameters("one-versus-all", "laplace", 1.0, 45.0)
    at_once = Margins.of(indexed, parameters, leave_one_out=True)
    monkeypatch.setattr(word_fits, "_BLOCK", 1)
    in_blocks = Margins.of(indexed, parameters, leave_one_out=True)
    assert at_once is not None
    assert in_blocks is not None
    for one, two in zip(at_once.slopes.columns, in_blocks.slopes.columns, strict=True):
        np.testing.assert_array_equal(one.data, two.data)


def test_gradients_are_those_of_the_loss() -> None:
    indexed = copied.Documents.of(learned(make(), synthetic_stream())._store.sample(True))
    margins = Margins.of(indexed, ScoringParameters("multinomial", "laplace", 1.0, 45.0), True)
    assert margins is not None
    value = Objective(LIKELIHOOD, margins.offsets, margins.slopes, margins.weights, 0.3)
    rng = np.random.default_rng(1)
    at = rng.uniform(0, 2, size=len(margins.words))
    gradient = value.at(at).gradient
    for j in range(0, len(at), 4):
        step = np.eye(len(at))[j] * 1e-6
        slope = (value.at(at + step).value - value.at(at - step).value) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@each_event
def test_uniform_weights_are_naive_bayes(event: str) -> None:
    stream = synthetic_stream(60)
    model = learned(make(event, "likelihood", ridge=1e12), stream)
    plain = learned(ComposedNB(EVENTS[event]), stream)
    for x, _, _ in stream:
        expected = plain.joint_log_likelihood_one(x)
        assert model.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-5)


def test_words_that_tell_nothing_weigh_little() -> None:
    """Words in pairs, which naive Bayes counts twice, beside some that tell as much alone."""
    rng = np.random.default_rng(2)
    stream = []
    for i in range(300):
        label = "ab"[i % 2]
        double, single = (label if rng.random() < 0.8 else "ab"[rng.integers(2)] for _ in "12")
        noise = "ab"[rng.integers(2)]
        x = {f"{kind} {double}": 1.0 for kind in ("one", "two")}
        x |= {f"alone {single}": 1.0, f"noise {noise}": 1.0}
        stream.append((x, label, 1.0))
    for event in EVENTS:
        weights = learned(make(event, "likelihood"), stream).weights_
        one, alone, noise = (
            weights[f"{kind} a"] + weights[f"{kind} b"] for kind in ("one", "alone", "noise")
        )
        assert noise < 0.1 * alone, event
        assert one < 0.75 * alone, event


# --- state ----------------------------------------------------------------------------------------


def test_new_words_weigh_one_and_pruned_ones_are_forgotten() -> None:
    model = learned(make(refresh_every=10**9), synthetic_stream())
    model.refresh()
    model.learn_one({"new": 2.0, "w1": 1.0}, "a")
    assert model.weights_["new"] == 1.0
    model._store.prune(10)
    assert len(model.weights_) == 10
    for x, _, _ in synthetic_stream()[:5]:
        assert all(map(math.isfinite, model.joint_log_likelihood_one(x).values()))
    bounded = learned(make(refresh_every=3, max_features=12, index_size=9), synthetic_stream())
    assert len(bounded.weights_) <= 12


def test_nothing_to_tell_apart_leaves_weights_of_one() -> None:
    model = make(refresh_every=1)
    assert model.weights_ == {}
    model.learn_one({"u": 1.0}, "a")
    model.learn_one({}, "a")
    assert model.weights_ == {"u": 1.0}
    model.learn_one({"v": 1.0}, "b")  # alone in its class
    assert set(model.weights_) == {"u", "v"}
    none = learned(make(index_size=0), synthetic_stream())
    assert set(none.weights_.values()) == {1.0}


@each_event
def test_weights_are_exponents_beside_parents_too(event: str) -> None:
    stream = synthetic_stream()
    model = learned(ComposedNB(EVENTS[event], dependence="hidden", weights="generalised"), stream)
    model.refresh()
    plain = learned(make(event), stream)
    plain.refresh()
    assert model.weights_ == pytest.approx(plain.weights_)
    hidden = learned(getattr(streamnb, f"H{event}"[:4] if event != "OVA" else "HOVA")(), stream)
    hidden.refresh()
    scale = scale_of(model)
    nothing = hidden.joint_log_likelihood_one({})
    for x, _, _ in stream[::9]:
        weighted = {t: scale * model.weights_.get(t, 1.0) * f for t, f in x.items()}
        expected = hidden.joint_log_likelihood_one(weighted)
        got = model.joint_log_likelihood_one(x)
        for label, score in expected.items():
            assert got[label] == pytest.approx(score - (1 - scale) * nothing[label], abs=1e-9)


# --- invalid values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"ridge": -1}, "ridge"),
        ({"ridge": math.nan}, "ridge"),
        ({"ridge": "x"}, "ridge"),
        ({"multiclass": "pairs"}, "one weight for all classes"),
        ({"multiclass": "votes"}, "multiclass"),
        ({"leave_one_out": 1}, "leave_one_out"),
        ({"document_weights": "discriminative"}, "document_weights 'uniform'"),
        ({"event": "bernoulli"}, "word counts"),
        ({"event": "attributes"}, "word counts"),
        ({"estimate": "correlation"}, "correlation factor"),
        ({"neighbourhood": "tree"}, "neighbourhood 'stream'"),
    ],
    ids=str,
)
def test_what_does_not_compose_says_why(parameters: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        ComposedNB(**{"weights": "likelihood"} | parameters)


def test_one_fit_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit that is cut off is not the best one, and the more rounds it has, the better it is."""
    indexed = copied.Documents.of(learned(make(), synthetic_stream())._store.sample(True))
    parameters = ScoringParameters("one-versus-all", "laplace", 1.0, 45.0)
    margins = Margins.of(indexed, parameters, leave_one_out=True)
    assert margins is not None
    value = Objective(LIKELIHOOD, margins.offsets, margins.slopes, margins.weights, 0.01)
    losses = []
    for rounds in (0, 2, 8, 32, 1000):
        monkeypatch.setattr(word_fits, "MOST_ROUNDS", rounds)
        words, _ = fitted_words(indexed, parameters, LIKELIHOOD, 0.01, leave_one_out=True)
        losses.append(value.at(words[margins.words]).value)
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > losses[1] > losses[-1]
