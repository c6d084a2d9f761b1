"""ENB, DNB, LNB, GDNB and MSENB compared with the slow reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import streamnb
from benchmarks.papers.readers import read_tabular
from references.losses import LOSSES, LossReference, Row
from streamnb.statistics.losses import (
    DEVIANCE,
    EXPONENTIAL,
    GENERALISED,
    LIKELIHOOD,
    SQUARED,
    DenseSlopes,
    Loss,
    Objective,
)
from support.data import require_data
from support.models import family, matrix
from support.rows import ODD, learned, make, stream

NAMES = family("losses")
each_model = matrix(NAMES)


def weights_in_use(model: Any) -> dict[Any, tuple[float, dict[str, float]]]:
    weights = model._store.in_use
    names = model._labels.names
    return {
        pair if pair is None else frozenset(names[i] for i in pair): each
        for pair, each in weights.by_pair.items()
    }


SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in LOSSES},
    "ENB, direct": ("ENB", {"multiclass": "direct", "alpha": 0.5}),
    "DNB, direct": ("DNB", {"multiclass": "direct", "prior": "laplace"}),
    "LNB, skip": ("LNB", {"oov": "skip", "prior": "uniform", "ridge": 1.0}),
    "GDNB, direct": ("GDNB", {"multiclass": "direct", "ridge": 0.1}),
    "LNB, values": ("LNB", {"values": {"kind": 5, "flag": 2, "other": 3}}),
    "MSENB, direct": ("MSENB", {"multiclass": "direct", "ridge": 0.1}),
}


# Two classes are one pair of three.
@pytest.mark.parametrize(
    ("title", "classes"),
    [
        pytest.param(title, classes, marks=pytest.mark.soak if classes in few else [])
        for title in SETTINGS
        for classes in ("ab", "abc")
        for few in [[] if title in ("LNB", "ENB, direct") else ["ab"]]
    ],
)
def test_scores_and_loss_equal_the_reference_at_every_prefix(title: str, classes: str) -> None:
    name, parameters = SETTINGS[title]
    rows = stream(36, classes, weighted="direct" in title)
    model, reference = make(name, refresh_every=1, **parameters), LossReference(name, **parameters)
    for n, (row, label, weight) in enumerate(rows):
        weights = weights_in_use(model)
        for x in (row, ODD):
            expected = reference.scores(rows[:n], weights, x) if n % 3 == 0 else {}
            got = model.joint_log_likelihood_one(x)
            assert n % 3 or got.keys() == expected.keys()
            for y, score in expected.items():
                assert got[y] == pytest.approx(score, rel=1e-9, abs=1e-9), (n, y)
        for pair, found in weights.items():
            if n in (14, 33):
                check_optimum(reference, rows[:n], rows[:n], pair, found)
        model.learn_one(row, label, weight)


def check_optimum(
    reference: LossReference, rows: list[Row], recent: list[Row], pair: Any, found: Any
) -> None:
    """No other weights have a lower loss: not nearby, and not where another optimiser ends."""
    examples = reference.examples(rows, recent, pair)
    loss = reference.loss(examples, found)
    first, each = found
    assert first >= 0
    assert all(weight >= 0 for weight in each.values())
    for step in (1e-3, -1e-3):
        for name, weight in each.items():
            moved = each | {name: max(0.0, weight + step)}
            assert reference.loss(examples, (first, moved)) >= loss - 1e-9, name
        if reference.name == "GDNB":
            assert reference.loss(examples, (max(0.0, first + step), each)) >= loss - 1e-9
    if reference.name != "MSENB":  # of which there may be several minima
        assert loss <= reference.least_loss(examples, list(each)) + 1e-6


@pytest.mark.parametrize("name", ["ENB", "LNB", "GDNB"])
def test_real_table_equals_the_reference(name: str) -> None:
    require_data("tabular/cmc.csv.xz")
    table = [
        ({k: float(v) if k in ("Wifes_age", "Number_of_children_ever_born") else v
          for k, v in row.items()}, label, 1.0)
        for row, label in list(read_tabular("cmc"))[400:600]
    ]  # fmt: skip
    model, reference = make(name, refresh_every=40), LossReference(name)
    for n, (row, label, weight) in enumerate(table):
        if n % 20 == 0 and n:
            weights = weights_in_use(model)
            expected = reference.scores(table[:n], weights, row)
            assert model.joint_log_likelihood_one(row) == pytest.approx(expected, abs=1e-9)
        if n == 120:
            for pair, found in weights.items():
                check_optimum(reference, table[:n], table[:n], pair, found)
        model.learn_one(row, label, weight)


@each_model
def test_fits_look_at_the_recent_rows_only(name: str) -> None:
    rows = stream(60)
    model, reference = learned(name, rows, refresh_every=1, index_size=25), LossReference(name)
    for pair, found in weights_in_use(model).items():
        check_optimum(reference, rows, rows[-25:], pair, found)
    assert len(model._store.examples.order) == 25


@each_model
def test_uniform_weights_are_naive_bayes(name: str) -> None:
    rows = stream(30)
    model = learned(name, rows, ridge=1e12)
    plain = streamnb.ComposedNB("gaussian")
    for row, label, weight in rows:
        plain.learn_one(row, label, weight)
    assert plain.weights_ == {}
    for row, _, _ in rows:
        expected = plain.predict_proba_one(row)
        assert model.predict_proba_one(row) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("loss", [EXPONENTIAL, DEVIANCE, LIKELIHOOD, GENERALISED, SQUARED])
def test_gradients_are_those_of_the_losses(loss: Loss) -> None:
    rng = np.random.default_rng(3)
    offsets, slopes = rng.normal(size=(20, 2)), rng.normal(size=(20, 2, 4)) * 3
    value = Objective(loss, offsets, DenseSlopes(slopes), rng.uniform(0.5, 2.0, size=20), 0.1)
    at = rng.uniform(0, 2, size=4)
    gradient = value.at(at).gradient
    for j in range(4):
        step = np.eye(4)[j] * 1e-6
        slope = (value.at(at + step).value - value.at(at - step).value) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_weights_show_what_matters() -> None:
    """As in section IV-C of the paper: half of the attributes are informative."""
    rng = random.Random(1)
    rows: list[Row] = []
    for _ in range(300):
        label = rng.choice("ab")
        good, bad = rng.gauss(-1.5 if label == "a" else 1.5, 0.5), rng.gauss(0, 2)
        row = {"good": good, "good too": good + rng.gauss(0, 0.1)}
        rows.append((row | {"bad": bad, "bad too": bad + rng.gauss(0, 0.1)}, label, 1.0))
    for name in NAMES[:-1]:  # fits of MSENB begin with weights of 1, where next to nothing lacks
        model = make(name, refresh_every=1000, ridge=0)
        model.learn_many([row for row, _, _ in rows], [label for _, label, _ in rows])
        model.refresh()
        weights = model.weights_
        matter = weights["good"] + weights["good too"]
        assert matter > 0.8 * sum(weights.values()), name


@pytest.mark.parametrize("name", NAMES)
def test_without_a_ridge_the_slope_at_the_weights_is_zero(name: str) -> None:
    """With a ridge of 1e-6 the slope would be 1e-6 times the weight."""
    rows: list[Row] = [
        ({"size": 0.25 * (i % 9) + (0.9 if i % 2 else 0.0)}, "ab"[i % 2], 1.0) for i in range(40)
    ]
    model = learned(name, rows, ridge=0, prior="laplace", refresh_every=1)
    reference = LossReference(name, ridge=0.0, prior="laplace")
    ((pair, (first, each)),) = weights_in_use(model).items()
    examples = reference.examples(rows, rows, pair)
    weight, step = each["size"], 1e-4

    def loss(weight: float) -> float:
        return 40 * reference.loss(examples, (first, {"size": weight}))

    # Differences of fourth order.
    slope = (
        8 * (loss(weight + step) - loss(weight - step))
        - (loss(weight + 2 * step) - loss(weight - 2 * step))
    ) / (12 * step)
    assert abs(slope) < 2e-9 < 1e-7 * weight


def test_weights_stay_finite_where_classes_are_told_apart() -> None:
    """The loss falls for ever, so the result is that of a small ridge."""
    rows = [({"size": 10.0 * (i % 2) + i / 10}, "ab"[i % 2], 1.0) for i in range(20)]
    for name in NAMES:
        model = learned(name, rows, ridge=0, refresh_every=1)
        assert 0 < model.weights_["size"] < 1e6, name
        assert model.predict_many([row for row, _, _ in rows]) == [label for _, label, _ in rows]
