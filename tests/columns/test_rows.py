"""Models of attribute tables learn, unlearn, merge, save and refuse rows as they do texts."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb.errors import InputError, ModelFileError, NotLearnedError, StreamNBError
from support.drawn.messages import refreshed_bytes
from support.models import family, matrix
from support.profiles import examples
from support.rows import learned, make, odd_rows, odd_streams, stream

each_model = matrix(family("losses"))


@examples(25)
@given(rows=odd_streams, extra=st.tuples(odd_rows, st.sampled_from("pqr"), st.just(2.0)))
def test_state_is_exact(rows: list[Any], extra: Any) -> None:
    """Unlearning undoes learning, in any order; merging is learning on; files hold it all."""
    model = learned("LNB", rows)
    before = refreshed_bytes(model)
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
    assert refreshed_bytes(model) == before
    one, two = learned("LNB", rows[:3]), learned("LNB", rows[3:])
    kept = refreshed_bytes(one)
    one.merge(two)
    assert one.to_bytes() == before
    one.subtract(two)
    assert one.to_bytes() == kept
    for row, label, weight in reversed(rows):
        model.unlearn_one(row, label, weight)
    assert refreshed_bytes(model) == make("LNB").to_bytes()


@examples(50)
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
    # Fits begin at different weights and reach the same minimum up to the optimiser's tolerance.
    assert many.joint_log_likelihood_many(X) == pytest.approx(
        one.joint_log_likelihood_many(X), abs=1e-4
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
    expected = learned("LNB", rest, refresh_every=1)
    assert refreshed_bytes(model) == refreshed_bytes(expected)
    model.learn_one({"size": 0.0}, "new")
    assert model.classes_ == ["b", "c", "new"]


def test_unlearning_an_unknown_row_is_refused() -> None:
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
    evicted = learned("DNB", rows, index_size=2)
    evicted.unlearn_one(*rows[3])
    assert evicted.n_documents == 19
    with pytest.raises(NotLearnedError):
        evicted.unlearn_one({"size": 1e9}, "a")


def test_bounds() -> None:
    model = make("LNB", max_features=8, index_size=5)
    for i in range(60):
        model.learn_one({f"number {i}": 1.0, "kept": float(i), f"word {i}": "x"}, "ab"[i % 2])
    store = model._store
    assert len(store.numbers.moments) <= 8
    assert "kept" in store.numbers.moments
    assert (len(store.examples.order), model.n_words <= 8) == (5, True)
    assert 0 < model.memory_bytes < 100_000
    none = learned("LNB", stream(20), index_size=0)
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
    [
        {"ridge": -1},
        {"ridge": math.nan},
        {"ridge": "x"},
        {"multiclass": "votes"},
        {"max_features": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        make("LNB", **parameters)


def test_invalid_compositions_are_refused() -> None:
    with pytest.raises(InputError, match="weights must be one of"):
        streamnb.ComposedNB("gaussian", weights="heavy")
    for dependence in ("hidden", "hidden-ratios", "one-dependence", "packaged"):
        with pytest.raises(InputError, match=r"event must be .* not 'gaussian'"):
            streamnb.ComposedNB("gaussian", dependence=dependence)
    for estimate in ("correlation", "paths", "pure-paths"):
        with pytest.raises(InputError, match=r"event must be .* not 'gaussian'"):
            streamnb.ComposedNB("gaussian", estimate=estimate)
    for weights in ("chi-square", "gain-ratio", "selection", "correlation-based"):
        with pytest.raises(InputError, match=r"word counts: .* not 'gaussian'"):
            streamnb.ComposedNB("gaussian", weights=weights)
    with pytest.raises(InputError, match=r"word counts: .* not 'gaussian'"):
        streamnb.ComposedNB("gaussian", document_weights="discriminative")
    with pytest.raises(InputError, match="'gaussian'"):
        streamnb.ComposedNB("gaussian", term_weighting="log")
    with pytest.raises(InputError):
        make("LNB").merge(make("ENB"))
    with pytest.raises(InputError):
        streamnb.ComposedNB("gaussian", weights="deviance").merge(streamnb.ComposedNB("gaussian"))


def test_corrupt_snapshots_are_refused() -> None:
    from streamnb.columns.table import AttributeTable

    store = learned("LNB", stream(10))._store
    model = make("LNB")
    whole = store.snapshot(statistics=True)
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
            AttributeTable.open(
                model._messages._native_tokenizer,
                {"max_features": 100, "index_size": 100},
                length.to_bytes(8, "little") + body,
            )


def test_the_order_of_attributes_does_not_matter() -> None:
    """A message with another order of attributes is the same message, also after loading."""
    rows = [({"kind": "x", "size": 1.0, "flag": True}, "a", 1.0), ({"kind": "y"}, "b", 1.0)]
    model = learned("LNB", rows)
    row, label, _ = rows[0]
    for twin in (model, streamnb.LNB.from_bytes(model.to_bytes())):
        twin.unlearn_one(dict(reversed(row.items())), label)
        assert refreshed_bytes(twin) == refreshed_bytes(learned("LNB", rows[1:]))


def test_a_part_of_a_weight_is_unlearned() -> None:
    """The example stays in the index with the rest of its weight."""
    rows = [({"size": 1.0 + n, "colour": "red"}, "pq"[n % 2], 1.0) for n in range(6)]
    heavy = ({"size": 4.5, "colour": "blue"}, "p", 3.0)
    model = learned("LNB", [*rows, heavy])
    model.unlearn_one(*heavy[:2], 2.0)
    expected = learned("LNB", [*rows, (*heavy[:2], 1.0)])
    assert refreshed_bytes(model) == refreshed_bytes(expected)
