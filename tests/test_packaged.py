"""HNB and PHNB, on texts and on columns, against the slow literal reference."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from reference_packaged import ColumnsReference, PackagedReference, Row
from test_reference import assert_same_scores, prefixes, sms_stream, synthetic_stream

import streamnb
from streamnb.packaging import GRID

EVENTS = {"multinomial": "MNB", "complement": "CNB", "one-versus-all": "OVA"}

TEXT: dict[str, tuple[str, dict[str, Any]]] = {
    "HNB": ("HNB", {}),
    "HNB, alpha 0.5, laplace": ("HNB", {"alpha": 0.5, "prior": "laplace"}),
    "PHNB": ("PHNB", {}),
    "PHNB, number, skip": ("PHNB", {"bag_threshold": 0.02, "unseen": "skip"}),
    "PHNB, m fixed": ("PHNB", {"vocabulary_size": 2500, "prior": "uniform"}),
    "PHNB, without pairs": ("PHNB", {"max_pairs": 0}),
    "complement": ("complement", {"bag_threshold": "average"}),
    "one-versus-all": ("one-versus-all", {"bag_threshold": 0.001}),
    "complement, without pairs": ("complement", {"max_pairs": 0}),
}


def make(name: str, parameters: dict[str, Any]) -> tuple[Any, PackagedReference]:
    """Return a model and its reference."""
    literal = {k: v for k, v in parameters.items() if k not in ("max_pairs", "bag_threshold")}
    threshold = 0.0 if name == "HNB" else parameters.get("bag_threshold", "average")
    if name in EVENTS:
        model = streamnb.ComposedNB(name, "packaged", refresh_every=1, **parameters)
        return model, PackagedReference(threshold, EVENTS[name], **literal)
    model = getattr(streamnb, name)(refresh_every=1, **parameters)
    return model, PackagedReference(threshold, **literal)


@pytest.mark.parametrize("stream", ["sms", "three classes", "weighted"])
def test_texts_equal_the_reference_at_every_prefix(stream: str) -> None:
    """All settings side by side, as the information of a prefix is slow to compute."""
    kind, parameters = {
        "sms": (sms_stream, {"n": 200}),
        "three classes": (synthetic_stream, {}),
        "weighted": (synthetic_stream, {"weighted": True}),
    }[stream]
    past = prefixes(kind, **parameters)
    models = {title: make(*settings) for title, settings in TEXT.items()}
    words = list(past[-1].words)
    fixed = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (counts, label, weight) in enumerate(kind(**parameters)):
        for title, (model, reference) in models.items():
            for x in (counts, fixed):
                expected = reference.joint_log_likelihood(past[n], x)
                assert_same_scores(model.joint_log_likelihood_one(x), expected, (title, n))
            model.learn_one(counts, label, weight)


def test_extreme_thresholds_are_plain_and_hidden_naive_bayes() -> None:
    plain, hidden = streamnb.MNB(), streamnb.HNB(refresh_every=1)
    none = streamnb.PHNB(bag_threshold=math.inf, refresh_every=1)
    every = streamnb.PHNB(bag_threshold=-1, refresh_every=1)
    for counts, label, weight in synthetic_stream():
        assert_same_scores(
            none.joint_log_likelihood_one(counts), plain.joint_log_likelihood_one(counts), "none"
        )
        assert_same_scores(
            every.joint_log_likelihood_one(counts), hidden.joint_log_likelihood_one(counts), "every"
        )
        for model in (plain, hidden, none, every):
            model.learn_one(counts, label, weight)


def test_learned_threshold_is_the_best_so_far() -> None:
    model = streamnb.PHNB(bag_threshold="auto", refresh_every=1)
    past = prefixes(synthetic_stream)
    references = [PackagedReference((factor,)) for factor in GRID]
    losses = [0.0] * len(GRID)
    for n, (counts, label, weight) in enumerate(synthetic_stream()):
        factor = model._packaging.factor
        assert losses[GRID.index(factor)] <= min(losses) + 1e-6
        expected = references[GRID.index(factor)].joint_log_likelihood(past[n], counts)
        assert_same_scores(model.joint_log_likelihood_one(counts), expected, n)
        if label in past[n].classes and len(past[n].classes) > 1:
            for place, reference in enumerate(references):
                scores = reference.joint_log_likelihood(past[n], counts)
                highest = max(scores.values())
                total = sum(math.exp(score - highest) for score in scores.values())
                losses[place] += weight * (highest + math.log(total) - scores[label])
        model.learn_one(counts, label, weight)
        assert model._packaging.losses == pytest.approx(losses, abs=1e-7)
    assert len({round(loss, 6) for loss in losses}) > 1


# --- columns --------------------------------------------------------------------------------------


def nominal_stream(n: int = 60, weighted: bool = False, seed: int = 5) -> list[Row]:
    """Return rows of three classes over five attributes that depend on one another."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        label = rng.choice("ab" if i < 20 else "aabbc")
        first = rng.choice("xyz" if label == "a" else "xx" + "yz")
        row: dict[str, Any] = {
            "first": first,
            "second": first if rng.random() < 0.7 else rng.choice("xyz"),
            "third": rng.random() < (0.3 if label == "b" else 0.6),
            "fourth": rng.randrange(4),
            "a=b": rng.choice(["p", "q=", "\\"]) if rng.random() < 0.8 else None,
            "constant": "same",
        }
        rows.append((row, label, rng.choice([0.5, 1.0, 2.0]) if weighted else 1.0))
    return rows


COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "HNB": ("HNB", {}),
    "PHNB": ("PHNB", {}),
    "PHNB, number": ("PHNB", {"bag_threshold": 0.01}),
    "PHNB, alpha": ("PHNB", {"alpha": 0.5, "max_pairs": 0}),
    "HNB, values": ("HNB", {"values": {"fourth": 9, "a=b": 3, "other": 2}}),
    "NB": ("PHNB", {"bag_threshold": math.inf}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
@pytest.mark.parametrize("title", COLUMNS)
def test_columns_equal_the_reference_at_every_prefix(title: str, weighted: bool) -> None:
    name, parameters = COLUMNS[title]
    model = getattr(streamnb, name)(columns=True, refresh_every=1, **parameters)
    threshold = 0.0 if name == "HNB" else parameters.get("bag_threshold", "average")
    literal = {key: parameters[key] for key in ("alpha", "values") if key in parameters}
    reference = ColumnsReference(threshold, **literal)
    rows = nominal_stream(weighted=weighted)
    odd = {"first": "never", "second": "x", "fourth": 2, "unknown": "x", "third": None}
    for n, (row, label, weight) in enumerate(rows):
        for x in (row, odd):
            expected = reference.joint_log_likelihood(rows[:n], x)
            assert_same_scores(model.joint_log_likelihood_one(x), expected, (n, x))
        model.learn_one(row, label, weight)
