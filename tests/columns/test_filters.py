"""KLNB, CBFWNB, DFWNB, TreeNB and SBC compared with the slow reference, and their properties."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from benchmarks.papers.readers import read_tabular
from references import filters
from references.filters import FILTERS, FilterReference
from references.losses import Row
from streamnb.columns import filters as attribute_filters
from streamnb.columns.examples import description_length_cuts, equal_width_cuts, members
from streamnb.errors import InputError, NotLearnedError, StreamNBError
from support.data import require_data
from support.drawn.messages import refreshed_bytes
from support.models import family, matrix
from support.profiles import examples
from support.rows import ODD, learned, make, odd_rows, odd_streams, stream

NAMES = family("filters")
each_model = matrix(NAMES)

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in NAMES},
    "DFWNB, alpha": ("DFWNB", {"alpha": 0.3, "prior": "laplace"}),
    "DFWNB, skip": ("DFWNB", {"oov": "skip", "values": {"kind": 5, "other": 3}}),
    "SBC, uniform": ("SBC", {"prior": "uniform", "alpha": 2.0}),
    "CBFWNB, skip": ("CBFWNB", {"oov": "skip", "prior": "laplace"}),
}


@pytest.mark.parametrize("classes", ["ab", "abc"], ids=["two classes", "three classes"])
@pytest.mark.parametrize("title", SETTINGS)
def test_weights_and_scores_equal_the_reference_at_every_prefix(title: str, classes: str) -> None:
    name, parameters = SETTINGS[title]
    rows = stream(26, classes, weighted=True)
    model, reference = (
        make(name, refresh_every=1, **parameters),
        FilterReference(name, **parameters),
    )
    told = 0
    for n, (row, label, weight) in enumerate(rows):
        weights = reference.weights(rows[:n], rows[:n])
        assert model.weights_ == pytest.approx(weights, abs=1e-9), n
        told += len(set(weights.values())) > 1
        for x in (row, ODD):
            expected = reference.filtered_scores(rows[:n], weights, x)
            assert model.joint_log_likelihood_one(x) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        model.learn_one(row, label, weight)
    assert told > 12


@each_model
def test_real_table_equals_the_reference(name: str) -> None:
    require_data("tabular/cmc.csv.xz")
    table = [
        ({k: float(v) if k in ("Wifes_age", "Number_of_children_ever_born") else v
          for k, v in row.items()}, label, 1.0)
        for row, label in list(read_tabular("cmc"))[400:600]
    ]  # fmt: skip
    model, reference = learned(name, table[:80], refresh_every=80), FilterReference(name)
    weights = reference.weights(table[:80], table[:80])
    assert model.weights_ == pytest.approx(weights, abs=1e-9)
    for row, _, _ in table[80:90]:
        expected = reference.filtered_scores(table[:80], weights, row)
        assert model.joint_log_likelihood_one(row) == pytest.approx(expected, abs=1e-9)


@each_model
def test_weights_look_at_the_recent_rows_only(name: str) -> None:
    rows = stream(50)
    model = learned(name, rows, refresh_every=1, index_size=20)
    assert model.weights_ == pytest.approx(FilterReference(name).weights(rows, rows[-20:]))
    none = learned(name, rows, index_size=0)
    assert none.weights_ == {}
    plain = learned("ComposedNB", rows, event="gaussian")
    assert none.joint_log_likelihood_one(ODD) == plain.joint_log_likelihood_one(ODD)


@each_model
def test_a_composition_is_the_named_model(name: str) -> None:
    rows = stream(60, "abc")
    composed = learned("ComposedNB", rows, event="gaussian", weights=FILTERS[name])
    model = learned(name, rows)
    assert composed.weights_ == model.weights_
    for row, _, _ in rows:
        assert composed.predict_proba_one(row) == model.predict_proba_one(row)


def test_relative_weights_are_raw_weights_over_their_mean() -> None:
    rows = stream(60, "abc")
    raw = learned("ComposedNB", rows, event="gaussian", weights="kullback-leibler-raw")
    raw.refresh()
    assert raw.weights_ == pytest.approx(FilterReference("raw").weights(rows, rows))
    model = learned("KLNB", rows)
    model.refresh()
    mean = sum(raw.weights_.values()) / len(raw.weights_)
    assert model.weights_ == pytest.approx({k: v / mean for k, v in raw.weights_.items()})
    assert max(raw.weights_.values()) < 1


def test_informative_attributes_have_larger_weights() -> None:
    """The rows have an informative attribute, a near copy of it, and random noise."""
    rng = random.Random(1)
    rows: list[Row] = []
    for _ in range(300):
        label = rng.choice("ab")
        good = rng.gauss(-1.0 if label == "a" else 1.0, 0.5)
        rows.append(({"a": good, "b": good + rng.gauss(0, 0.5), "c": rng.gauss(0, 2)}, label, 1.0))
    weights = {}
    for name in NAMES:
        model = learned(name, rows, refresh_every=10**9)
        model.refresh()
        weights[name] = model.weights_
    for name in ("KLNB", "TreeNB", "SBC", "DFWNB"):
        assert weights[name]["a"] > weights[name]["c"], name
    assert weights["DFWNB"] == {"a": 2.0, "b": 1.0, "c": 1.0}
    assert weights["SBC"]["a"] == 1.0
    assert weights["TreeNB"]["a"] == 1.0
    assert 0 < weights["CBFWNB"]["b"] < weights["CBFWNB"]["a"] < 1


def test_a_new_attribute_has_weight_one() -> None:
    model = learned("KLNB", stream(40), refresh_every=10**9)
    model.refresh()
    model.learn_one({"later": "x"}, "a")
    model.learn_one({"later": "y"}, "b")
    plain = learned("ComposedNB", [*stream(40), ({"later": "x"}, "a", 1.0),
                                   ({"later": "y"}, "b", 1.0)], event="gaussian")  # fmt: skip
    x = {"later": "x"}
    assert model.joint_log_likelihood_one(x) == plain.joint_log_likelihood_one(x)


# --- bins and information -------------------------------------------------------------------------

samples = st.lists(
    st.tuples(
        st.sampled_from([-3.0, 0.1, 0.5, 1.0, 7.5, 2.0**399]), st.sampled_from("xyz"),
        st.sampled_from([1.0, 2.0, 3.0]),
    ), min_size=1, max_size=30,
)  # fmt: skip


@given(sample=samples)
def test_bins_are_those_of_the_reference(sample: list[tuple[float, str, float]]) -> None:
    numbers = np.array([x for x, _, _ in sample])
    classes = np.array(["xyz".index(y) for _, y, _ in sample])
    weights = members(classes, np.array([w for _, _, w in sample]), 3)
    assert equal_width_cuts(numbers, weights).tolist() == pytest.approx(filters.equal_width(sample))
    found = description_length_cuts(numbers, weights).tolist()
    assert found == pytest.approx(filters.description_length(sample))


def test_bins_separate_classes() -> None:
    rng = np.random.default_rng(5)
    classes = np.repeat([0, 1, 2], 50)
    weights = members(classes, np.ones(150), 3)
    cuts = description_length_cuts(classes * 10 + rng.random(150), weights)
    assert len(cuts) == 2
    assert 1 < cuts[0] < 10
    assert 11 < cuts[1] < 20
    assert len(description_length_cuts(rng.random(150), weights)) == 0


def test_attributes_with_many_values_need_no_large_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stream(80, "abc")
    before = learned("CBFWNB", rows).weights_
    monkeypatch.setattr(attribute_filters, "_TABLE", 1)
    assert learned("CBFWNB", rows).weights_ == pytest.approx(before, abs=1e-12)
    monkeypatch.undo()
    ids = [({"id": f"{i}", "other": f"{i * 7}"}, "ab"[i % 2], 1.0) for i in range(3000)]
    model = learned("CBFWNB", ids, refresh_every=10**9)
    model.refresh()
    assert set(model.weights_) == {"id", "other"}


# --- state ----------------------------------------------------------------------------------------


@examples(15)
@given(
    name=st.sampled_from(NAMES),
    rows=odd_streams,
    extra=st.tuples(odd_rows, st.sampled_from("pqr"), st.just(2.0)),
)
def test_state_is_exact(name: str, rows: list[Any], extra: Any) -> None:
    """Unlearning undoes learning; merging is learning on; files hold it all."""
    model = learned(name, rows)
    before = refreshed_bytes(model)
    model.learn_one(*extra)
    after = model.to_bytes()
    scores = model.joint_log_likelihood_one(extra[0])
    assert all(map(math.isfinite, scores.values()))
    assert all(map(math.isfinite, model.weights_.values()))
    assert sum(model.predict_proba_one(extra[0]).values()) == pytest.approx(1.0)
    explanation = model.explain_one(extra[0])
    for label, score in scores.items():
        parts = [explanation.baseline[label], *(part[label] for part in explanation.words.values())]
        assert math.fsum(parts) == pytest.approx(score, abs=1e-9 * max(1.0, *map(abs, parts)))
    loaded = type(model).from_bytes(after)
    assert loaded.to_bytes() == after
    assert loaded.joint_log_likelihood_one(extra[0]) == pytest.approx(scores)
    model.unlearn_one(*extra)
    assert refreshed_bytes(model) == before
    one, two = learned(name, rows[:3]), learned(name, rows[3:])
    kept = refreshed_bytes(one)
    one.merge(two)
    assert one.to_bytes() == before
    one.subtract(two)
    assert one.to_bytes() == kept


@each_model
def test_a_batch_is_learned_as_one_by_one(name: str) -> None:
    rows = stream(60, "abc")
    one, many = learned(name, rows), make(name)
    for start, stop in ((0, 10), (10, 35), (35, 60)):
        part = rows[start:stop]
        many.learn_many([row for row, _, _ in part], [label for _, label, _ in part])
    X = [row for row, _, _ in rows]
    assert many.to_bytes() == one.to_bytes()
    assert many.joint_log_likelihood_many(X) == pytest.approx(
        one.joint_log_likelihood_many(X), abs=1e-9
    )
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
        assert twin.joint_log_likelihood_one(row) == model.joint_log_likelihood_one(row)
        for each in (model, twin):
            each.learn_one(row, label, weight)
    assert twin.to_bytes() == model.to_bytes()


@each_model
def test_rows_are_learned_or_refused_whole(name: str) -> None:
    model = learned(name, stream(30))
    before = model.to_bytes()
    for x, y, w in (
        ({"a": math.inf}, "a", 1.0),
        ("text", "a", 1.0),
        ({}, None, 1.0),
        ({}, "a", -1),
    ):
        with pytest.raises(StreamNBError):
            model.learn_one(x, y, w)
    with pytest.raises(NotLearnedError):
        model.unlearn_one({"size": 77.0}, "a")
    assert model.to_bytes() == before


@each_model
def test_labels_come_and_go(name: str) -> None:
    rows = stream(40, "abc")
    model = learned(name, rows)
    for row, label, weight in rows:
        if label == "a":
            model.unlearn_one(row, label, weight)
    assert model.classes_ == ["b", "c"]
    rest = [each for each in rows if each[1] != "a"]
    assert refreshed_bytes(model) == refreshed_bytes(learned(name, rest))
    assert model.weights_ == pytest.approx(FilterReference(name).weights(rest, rest), abs=1e-9)


@each_model
def test_thresholds_work(name: str) -> None:
    rows = stream(80)
    model = learned(name, rows, threshold="auto")
    decided = [model.predict_one(row) for row, _, _ in rows]
    assert {"a", "b"} == set(decided)


def test_invalid_compositions_are_refused() -> None:
    for weights in (*FILTERS.values(), "kullback-leibler-raw"):
        for event in ("multinomial", "bernoulli", "attributes"):
            if weights == "tree-depth":  # words have such weights too
                continue
            with pytest.raises(InputError, match="event 'gaussian'"):
                streamnb.ComposedNB(event, weights=weights)
        with pytest.raises(InputError):
            streamnb.ComposedNB("gaussian", dependence="hidden", weights=weights)
    with pytest.raises(InputError):
        make("KLNB").merge(make("SBC"))
    with pytest.raises(InputError):
        streamnb.ComposedNB("gaussian", weights="kullback-leibler").merge(
            streamnb.ComposedNB("gaussian", weights="kullback-leibler-raw")
        )
