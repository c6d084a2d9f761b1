"""ENB, DNB, LNB, GDNB and MSENB against the slow literal reference, and what is their own."""

from __future__ import annotations

import copy
import math
import pickle
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from data_support import require_data
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_loss import LOSSES, LossReference, Row

import streamnb
from streamnb import datasets
from streamnb.columns.moments import Moments, NumberTable
from streamnb.columns.slopes import AttributeSlopes
from streamnb.columns.store import attributes_of
from streamnb.errors import InputError, ModelFileError, NotLearnedError, StreamNBError
from streamnb.statistics.losses import (
    DEVIANCE,
    EXPONENTIAL,
    GENERALISED,
    LIKELIHOOD,
    SQUARED,
    Loss,
    Objective,
)

NAMES = ("ENB", "DNB", "LNB", "GDNB", "MSENB")
each_model = pytest.mark.parametrize("name", NAMES)


def make(name: str, **parameters: Any) -> Any:
    return getattr(streamnb, name)(**parameters)


def stream(n: int = 70, classes: str = "ab", weighted: bool = False, seed: int = 7) -> list[Row]:
    """Return rows of numbers, categories and missing values; some say nothing of the class."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        label = rng.choice(classes[:2] if i < 12 else classes)
        near = {"a": 0.0, "b": 1.5, "c": 3.0}[label]
        size = rng.gauss(near, 1.0)
        row: dict[str, Any] = {
            "size": size,
            "again": size + rng.gauss(0.0, 0.2),
            "noise": rng.gauss(100.0, 30.0) if rng.random() < 0.9 else float("nan"),
            "kind": rng.choice("xxy" if label == "a" else "xyz"),
            "flag": rng.random() < 0.5 if rng.random() < 0.8 else None,
            "same": 2.5,
        }
        if label == "b" and i % 4 == 0:
            row["only b"] = float(i)
        rows.append((row, label, rng.choice([0.5, 1.0, 2.0]) if weighted else 1.0))
    return rows


def learned(name: str, rows: list[Row], **parameters: Any) -> Any:
    model = make(name, **parameters)
    for row, label, weight in rows:
        model.learn_one(row, label, weight)
    return model


def weights_in_use(model: Any) -> dict[Any, tuple[float, dict[str, float]]]:
    weights = attributes_of(model._store).in_use  # type: ignore[union-attr]
    names = model._labels.names
    return {
        pair if pair is None else frozenset(names[i] for i in pair): (weights.prior[pair], each)
        for pair, each in weights.by_pair.items()
    }


SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in LOSSES},
    "ENB, direct": ("ENB", {"multiclass": "direct", "alpha": 0.5}),
    "DNB, direct": ("DNB", {"multiclass": "direct", "prior": "laplace"}),
    "LNB, skip": ("LNB", {"unseen": "skip", "prior": "uniform", "ridge": 1.0}),
    "GDNB, direct": ("GDNB", {"multiclass": "direct", "ridge": 0.1}),
    "LNB, values": ("LNB", {"values": {"kind": 5, "flag": 2, "other": 3}}),
    "MSENB, direct": ("MSENB", {"multiclass": "direct", "ridge": 0.1}),
}
ODD = {"size": 40.0, "kind": "new", "never": 1.0, "unknown": "x", "noise": None, "only b": 3.0}


@pytest.mark.parametrize("classes", ["ab", "abc"], ids=["two classes", "three classes"])
@pytest.mark.parametrize("title", SETTINGS)
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
        for row, label in list(datasets.read_tabular("cmc"))[400:600]
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
    model, reference = learned(name, rows, refresh_every=1, max_documents=25), LossReference(name)
    for pair, found in weights_in_use(model).items():
        check_optimum(reference, rows, rows[-25:], pair, found)
    assert attributes_of(model._store).n_indexed == 25  # type: ignore[union-attr]


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
    value = Objective(loss, offsets, AttributeSlopes(slopes), rng.uniform(0.5, 2.0, size=20), 0.1)
    at = rng.uniform(0, 2, size=4)
    _, gradient = value(at)
    for j in range(4):
        step = np.eye(4)[j] * 1e-6
        slope = (value(at + step)[0] - value(at - step)[0]) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_weights_show_what_matters() -> None:
    """As in the paper's section IV-C: attributes that tell nothing beside as many that do."""
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


def test_weights_stay_finite_where_classes_are_told_apart() -> None:
    """Without a ridge the loss falls for ever: fits end where there is next to none left."""
    rows = [({"size": 10.0 * (i % 2) + i / 10}, "ab"[i % 2], 1.0) for i in range(20)]
    for name in NAMES:
        model = learned(name, rows, ridge=0, refresh_every=1)
        assert 0 < model.weights_["size"] < 1e6, name
        assert model.predict_many([row for row, _, _ in rows]) == [label for _, label, _ in rows]


# --- state ----------------------------------------------------------------------------------------

values = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([0.1, 0.3, -0.0, 1e-300, 2.0**399, None, math.nan]),
    st.sampled_from(["x", "y", True, 3]),
)  # fmt: skip
odd_rows = st.dictionaries(st.sampled_from(["a", "b", "c=d", "é"]), values, max_size=4)
odd_streams = st.lists(
    st.tuples(odd_rows, st.sampled_from("pqr"), st.sampled_from([1.0, 2.0, 3.0])), max_size=8
)


@settings(max_examples=25)
@given(rows=odd_streams, extra=st.tuples(odd_rows, st.sampled_from("pqr"), st.just(2.0)))
def test_state_is_exact(rows: list[Any], extra: Any) -> None:
    """Unlearning undoes learning, in any order; merging is learning on; files hold it all."""
    model = learned("LNB", rows)
    before = model.to_bytes()
    model.learn_one(*extra)
    after = model.to_bytes()
    scores = model.joint_log_likelihood_one(extra[0])
    assert all(map(math.isfinite, scores.values()))
    proba = model.predict_proba_one(extra[0])
    assert sum(proba.values()) == pytest.approx(1.0)
    assert model.predict_one(extra[0]) in proba
    explanation = model.explain_one(extra[0])
    for label, score in scores.items():
        parts = [explanation.baseline[label], *(part[label] for part in explanation.words.values())]
        assert math.fsum(parts) == pytest.approx(score, abs=1e-9 * max(1.0, *map(abs, parts)))
    loaded = streamnb.LNB.from_bytes(after)
    assert loaded.to_bytes() == after
    assert loaded.joint_log_likelihood_one(extra[0]) == scores
    model.unlearn_one(*extra)
    assert model.to_bytes() == before
    one, two = learned("LNB", rows[:3]), learned("LNB", rows[3:])
    kept = one.to_bytes()
    one.merge(two)
    assert one.to_bytes() == before
    one.subtract(two)
    assert one.to_bytes() == kept
    for row, label, weight in reversed(rows):
        model.unlearn_one(row, label, weight)
    assert model.to_bytes() == make("LNB").to_bytes()


@settings(max_examples=50)
@given(
    rows=odd_streams,
    x=st.one_of(
        odd_rows,
        st.dictionaries(
            st.sampled_from(["a", 1, None, 1.5, ("a", "b")]),
            st.sampled_from([math.inf, 1e200, b"x", [1], 1j, "\ud800", 1.0]),
        ),
        st.sampled_from(["a text", None, 7, ["a"]]),
    ),
    weight=st.sampled_from([1.0, 0.0, -1.0, math.nan, "1", None, 1e300, 0.1]),
)
def test_rows_are_learned_or_refused_whole(rows: list[Any], x: Any, weight: Any) -> None:
    model = learned("ENB", rows)
    before = model.to_bytes()
    for act in (
        lambda: model.learn_one(x, "p", weight),
        lambda: model.unlearn_one(x, "p", weight),
        lambda: model.predict_one(x),
        lambda: model.learn_many([{"a": 1.0}, x], ["p", "q"], weight),
    ):
        try:
            act()
        except StreamNBError:
            assert model.to_bytes() == before
        before = model.to_bytes()


@each_model
def test_a_batch_is_learned_as_one_by_one(name: str) -> None:
    rows = stream(60, "abc")
    one, many = learned(name, rows), make(name)
    for start in (0, 10, 35):
        part = rows[start : {0: 10, 10: 35, 35: 60}[start]]
        many.learn_many([row for row, _, _ in part], [label for _, label, _ in part])
    X = [row for row, _, _ in rows]
    assert many.joint_log_likelihood_many(X) == pytest.approx(
        one.joint_log_likelihood_many(X), abs=1e-8
    )
    assert many.to_bytes() == one.to_bytes()
    assert many.predict_many(X) == [many.predict_one(x) for x in X]
    proba = many.predict_proba_many(X)
    assert proba == [pytest.approx(many.predict_proba_one(x), abs=1e-12) for x in X]


@each_model
@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_keep_the_weights_in_use(name: str, copier: Any) -> None:
    rows = stream(60, "abc")
    model = learned(name, rows[:45])
    twin = copier(model)
    assert twin.weights_ == model.weights_ != {}
    for row, label, weight in rows[45:]:
        assert twin.joint_log_likelihood_one(row) == pytest.approx(
            model.joint_log_likelihood_one(row), abs=1e-9
        )
        for each in (model, twin):
            each.learn_one(row, label, weight)
    assert twin.to_bytes() == model.to_bytes()


def test_labels_come_and_go() -> None:
    rows = stream(40, "abc")
    model = learned("LNB", rows, refresh_every=1)
    for row, label, weight in rows:
        if label == "a":
            model.unlearn_one(row, label, weight)
    assert model.classes_ == ["b", "c"]
    assert model.predict_proba_one(rows[0][0]).keys() == {"b", "c"}
    rest = [each for each in rows if each[1] != "a"]
    assert model.to_bytes() == learned("LNB", rest, refresh_every=1).to_bytes()
    model.learn_one({"size": 0.0}, "new")
    assert model.classes_ == ["b", "c", "new"]


def test_what_was_not_learned_is_not_unlearned() -> None:
    rows = stream(20)
    model = learned("DNB", rows)
    before = model.to_bytes()
    row = rows[3][0]
    for x, y in (({"size": 1.0}, "a"), (row | {"size": 5.0}, rows[3][1]), (row, "c")):
        with pytest.raises(NotLearnedError):
            model.unlearn_one(x, y)
    with pytest.raises(NotLearnedError):
        model.unlearn_one(row, rows[3][1], 2.0)
    with pytest.raises(NotLearnedError):
        model.subtract(learned("DNB", [*rows, rows[0]]))
    assert model.to_bytes() == before
    evicted = learned("DNB", rows, max_documents=2)
    evicted.unlearn_one(*rows[3])
    assert evicted.n_documents == 19
    with pytest.raises(NotLearnedError):
        evicted.unlearn_one({"size": 1e9}, "a")


def test_bounds() -> None:
    model = make("LNB", max_words=8, max_documents=5)
    for i in range(60):
        model.learn_one({f"number {i}": 1.0, "kept": float(i), f"word {i}": "x"}, "ab"[i % 2])
    store = attributes_of(model._store)
    assert store is not None
    assert len(store.counted.numbers.moments) <= 8
    assert "kept" in store.counted.numbers.moments
    assert (store.n_indexed, store.n_words <= 8) == (5, True)
    assert 0 < model.memory_bytes < 100_000
    none = learned("LNB", stream(20), max_documents=0)
    assert none.weights_ == {}
    assert none.predict_one(stream(1)[0][0]) in "ab"


def test_thresholds_work() -> None:
    rows = stream(80)
    for threshold in (0.7, "auto"):
        model = learned("GDNB", rows, threshold=threshold)
        decided = [model.predict_one(row) for row, _, _ in rows]
        assert {"a", "b"} == set(decided)
        assert model.predict_many([row for row, _, _ in rows]) == decided


@pytest.mark.parametrize(
    "parameters",
    [{"ridge": -1}, {"ridge": math.nan}, {"ridge": "x"}, {"multiclass": "votes"}, {"max_words": 0}],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        make("LNB", **parameters)


def test_what_does_not_compose_says_why() -> None:
    with pytest.raises(InputError, match="weights must be one of"):
        streamnb.ComposedNB("gaussian", weights="heavy")
    for dependence in ("hidden", "hidden-ratios", "one-dependence", "packaged"):
        with pytest.raises(InputError, match=r"'gaussian'|one-versus-all"):
            streamnb.ComposedNB("gaussian", dependence)
    for estimate in ("correlation", "paths", "pure-paths", "paths-3", "paths-4"):
        with pytest.raises(InputError, match=r"'gaussian'|'bernoulli'"):
            streamnb.ComposedNB("gaussian", estimate=estimate)
    for weights in ("chi-square", "gain-ratio", "selection", "correlation-based"):
        with pytest.raises(InputError, match="columns count no words"):
            streamnb.ComposedNB("gaussian", weights=weights)
    with pytest.raises(InputError, match="columns count no words"):
        streamnb.ComposedNB("gaussian", document_weights="discriminative")
    with pytest.raises(InputError, match="'gaussian'"):
        streamnb.ComposedNB("gaussian", form="log")
    with pytest.raises(InputError):
        make("LNB").merge(make("ENB"))
    with pytest.raises(InputError):
        streamnb.ComposedNB("gaussian", weights="deviance").merge(streamnb.ComposedNB("gaussian"))


def test_files_that_are_none_are_refused() -> None:
    from streamnb.columns.store import AttributeStore

    store = attributes_of(learned("LNB", stream(10))._store)
    assert store is not None
    model = make("LNB")
    whole = store.snapshot(parents=True)
    for old, new in (
        (b'"numbers":{', b'"numbers":[', ),
        (b'"size":{"0":["', b'"size":{"9":["'),
        (b'"size":{"0":["', b'"size":{"0":["-'),
        (b'"examples":[[', b'"examples":[[7,'),
        (b'"weights":{', b'"weights":8,"x":{'),
    ):  # fmt: skip
        body = whole[8:].replace(old, new, 1)
        assert body != whole[8:]
        length = int.from_bytes(whole[:8], "little") + len(new) - len(old)
        with pytest.raises(ModelFileError):
            AttributeStore.restore(
                model._native_tokenizer, length.to_bytes(8, "little") + body, store.settings
            )


# --- moments --------------------------------------------------------------------------------------

numbers = st.lists(
    st.tuples(st.floats(-1e9, 1e9), st.sampled_from([1.0, 0.5, 2.0, 0.1])), min_size=1, max_size=8
)


@given(sample=numbers, order=st.randoms(use_true_random=False))
def test_moments_are_exact(sample: list[tuple[float, float]], order: Any) -> None:
    moments = Moments()
    for x, w in sample:
        moments = moments.plus(x, w)
    n = sum(Fraction(w) for _, w in sample)
    mean = sum(Fraction(w) * Fraction(x) for x, w in sample) / n
    assert moments.mean == float(mean)
    spread = sum(Fraction(w) * (Fraction(x) - mean) ** 2 for x, w in sample)
    expected = math.sqrt(spread / (n - 1)) if n > 1 else 1.0
    assert moments.deviation == pytest.approx(expected or 1.0, rel=1e-12)
    assert moments.is_possible()
    again = Moments()
    for x, w in order.sample(sample, len(sample)):
        again = again.plus(x, w)
    assert again == moments
    for x, w in sample:
        again = again.minus(Moments().plus(x, w))
    assert again == Moments()


def test_moments_of_numbers_far_from_zero_keep_their_spread() -> None:
    moments = Moments()
    for x in (1e15 + 1, 1e15 + 2, 1e15 + 3):
        moments = moments.plus(x, 1.0)
    assert (moments.mean, moments.deviation) == (1e15 + 2, 1.0)
    assert not moments.minus(Moments().plus(0.0, 1.0)).minus(Moments().plus(9.0, 1.0)).is_possible()


def test_a_class_without_numbers_has_those_of_all() -> None:
    table = NumberTable(10)
    table.learn({"size": 1.0}, 0, 1.0)
    table.learn({"size": 3.0}, 1, 1.0)
    normals = table.normals("size", [0, 1, 2])
    assert normals is not None
    assert [round(mean, 9) for mean, _, _ in normals] == [1.0, 3.0, 2.0]
    assert table.normals("other", [0]) is None
