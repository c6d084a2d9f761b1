"""Models that look at some of the past messages only, against the slow literal reference."""

from __future__ import annotations

import copy
import pickle
from math import log
from typing import Any

import pytest

import streamnb
from references.documents import Documents
from references.neighbourhood import NeighbourhoodReference
from streamnb.errors import InputError
from support.drawn.messages import refreshed_bytes
from support.models import family, make_model, make_reference, mark, matrix
from support.streams import (
    assert_same_scores,
    follow,
    prefixes,
    sms_stream,
    synthetic_stream,
)

TREES, NEAREST = family("tree"), family("nearest")
MODELS = (*TREES, *NEAREST)
EVENTS = {
    "BNB": "bernoulli",
    "MNB": "multinomial",
    "CNB": "complement",
    "OVA": "one-versus-all",
}
SHAPES: dict[str, list[dict[str, Any]]] = {
    "tree": [
        {"min_samples_leaf": 1},
        {"min_samples_leaf": 2.5, "max_depth": 3},
        {"min_samples_leaf": 3, "index_size": 40},
    ],
    "nearest": [{"n_neighbors": 3}, {"n_neighbors": 20, "index_size": 40}, {"n_neighbors": 999}],
}
SHAPE_CASES = [
    pytest.param(name, shape, id=f"{name}: {shape}", marks=mark(name))
    for name in MODELS
    for shape in SHAPES["tree" if name in TREES else "nearest"]
]


@pytest.mark.parametrize(("name", "shape"), SHAPE_CASES)
def test_equals_reference_in_any_shape(name: str, shape: dict[str, Any]) -> None:
    follow(name, shape, sms_stream()[:120], prefixes(sms_stream)[:121])
    past = prefixes(synthetic_stream, weighted=True)
    follow(name, shape, synthetic_stream(weighted=True), past)


@pytest.mark.parametrize("neighbourhood", SHAPES)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("parameters", [{}, {"prior": "empirical", "oov": "smooth"}], ids=str)
def test_composed_equals_reference(
    event: str, neighbourhood: str, parameters: dict[str, Any]
) -> None:
    shape = SHAPES[neighbourhood][0] | parameters
    model = streamnb.ComposedNB(
        event=EVENTS[event], neighbourhood=neighbourhood, refresh_every=1, **shape
    )
    reference = NeighbourhoodReference(event, neighbourhood, **shape)
    past, stream = prefixes(synthetic_stream), synthetic_stream()
    for n, (counts, label, weight) in enumerate(stream):
        assert_same_scores(
            model.joint_log_likelihood_one(counts),
            reference.joint_log_likelihood(past[n], counts),
            n,
        )
        model.learn_one(counts, label, weight)


@matrix(MODELS)
def test_is_the_composed_model_of_its_parts(name: str) -> None:
    neighbourhood = "tree" if name in TREES else "nearest"
    event = EVENTS[name.replace("Tree", "").replace("LWW", "")]
    named = make_model(name)
    composed = streamnb.ComposedNB(
        event=event, neighbourhood=neighbourhood, **SHAPES[neighbourhood][0]
    )
    named = type(named)(**SHAPES[neighbourhood][0])
    for counts, label, weight in synthetic_stream():
        named.learn_one(counts, label, weight)
        composed.learn_one(counts, label, weight)
    for counts, _, _ in synthetic_stream():
        assert composed.joint_log_likelihood_one(counts) == named.joint_log_likelihood_one(counts)


@pytest.mark.parametrize("term_weighting", ["presence", "log-unit"])
@matrix(MODELS)
def test_goes_with_any_form_of_documents(name: str, term_weighting: str) -> None:
    stream = synthetic_stream()
    model = make_model(name, term_weighting=term_weighting)
    for counts, label, weight in stream[:100]:
        model.learn_one(counts, label, weight)
    before = refreshed_bytes(model)
    for counts, label, weight in stream[100:]:
        model.learn_one(counts, label, weight)
    for counts, label, weight in stream[100:]:
        model.unlearn_one(counts, label, weight)
    assert refreshed_bytes(model) == before
    if term_weighting != "presence":
        return
    # Only the presence of words counts.
    shape = {**model._get_params(), "term_weighting": "counts"}
    counted = type(model)(**shape)
    for counts, label, weight in stream[:100]:
        counted.learn_one(dict.fromkeys(counts, 1), label, weight)
    counted.refresh()
    for counts, _, _ in stream:
        assert_same_scores(
            model.joint_log_likelihood_one(counts),
            counted.joint_log_likelihood_one(dict.fromkeys(counts, 1)),
            counts,
        )


# --- trees ---------------------------------------------------------------------------------------


@matrix(TREES)
def test_trees_of_one_leaf_are_the_event_model(name: str) -> None:
    tree, plain = make_model(name, max_depth=0), make_model(name[:3], prior="laplace")
    for counts, label, weight in synthetic_stream(weighted=True):
        tree.learn_one(counts, label, weight)
        plain.learn_one(counts, label, weight)
    for counts, _, _ in synthetic_stream():
        assert_same_scores(
            tree.joint_log_likelihood_one(counts), plain.joint_log_likelihood_one(counts), counts
        )


def test_leaves_are_never_stale() -> None:
    """Between refreshes the tree stays as it is, and its leaves learn, unlearn and evict."""
    model = streamnb.MNBTree(min_samples_leaf=2, refresh_every=10**9, index_size=30)
    for x, y in [("win cash", "spam"), ("see you", "ham")] * 3:
        model.learn_one(x, y)
    model.refresh()
    grown = model._store.tree()
    for i in range(40):
        model.learn_one(f"win word{i}" if i % 3 else f"see word{i}", "ham" if i % 2 else "spam")
    model.unlearn_one("win word38", "spam")
    assert model._store.tree() == grown
    copied = copy.deepcopy(model)  # counts its leaves anew
    for x in ("win", "see", "cash", "you word39", ""):
        scores = model.joint_log_likelihood_one(x)
        assert scores == copied.joint_log_likelihood_one(x)
    # The leaf of "cash" has the 20 or so messages with it, not those without.
    assert model.joint_log_likelihood_one("win") != model.joint_log_likelihood_one("see")


def test_a_split_on_a_forgotten_word_is_no_split() -> None:
    model = streamnb.MNBTree(min_samples_leaf=1, refresh_every=10**9)
    for x, y in [("win cash", "spam"), ("see you", "ham")]:
        model.learn_one(x, y)
    model.refresh()
    assert len(nodes(model)) == 3
    model.unlearn_one("win cash", "spam")  # "cash", the word of the split, is gone
    assert nodes(model) == [-1]
    # The next word with its id splits no node.
    for x, y in [("new words here", "spam"), ("others", "ham")]:
        model.learn_one(x, y)
    anew = streamnb.MNBTree(min_samples_leaf=1, refresh_every=10**9)
    for x, y in [("see you", "ham"), ("new words here", "spam"), ("others", "ham")]:
        anew.learn_one(x, y)
    for x in ("new", "words", "others here", "see"):
        assert model.joint_log_likelihood_one(x) == anew.joint_log_likelihood_one(x)


def test_pruned_words_leave_the_leaves() -> None:
    model = streamnb.MNBTree(min_samples_leaf=3, max_features=40, refresh_every=25)
    for counts, label, weight in sms_stream():
        model.learn_one(counts, label, weight)
        assert model.n_words <= 40
    copied = copy.deepcopy(model)  # counts its leaves anew
    for counts, _, _ in sms_stream()[:50]:
        assert_same_scores(
            model.joint_log_likelihood_one(counts), copied.joint_log_likelihood_one(counts), counts
        )


def nodes(model: Any) -> list[int]:
    """Return the tree as an array."""
    return memoryview(model._store.tree()).cast("q").tolist()


@matrix(TREES)
def test_a_pickled_tree_is_the_tree_in_use(name: str) -> None:
    model = make_model(name, refresh_every=50)
    for counts, label, weight in sms_stream()[:80]:  # the tree is of the first 50
        model.learn_one(counts, label, weight)
    fresh = copy.deepcopy(model)
    fresh.refresh()
    queries = [counts for counts, _, _ in sms_stream()[80:120]]
    scores = [model.joint_log_likelihood_one(x) for x in queries]
    assert scores != [fresh.joint_log_likelihood_one(x) for x in queries]
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model.clone()):
        if twin.n_documents:
            assert [twin.joint_log_likelihood_one(x) for x in queries] == scores
    assert pickle.loads(pickle.dumps(model)).to_bytes() == model.to_bytes()


# --- what has no meaning -------------------------------------------------------------------------


@pytest.mark.parametrize("neighbourhood", ["tree", "nearest"])
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"dependence": "hidden"}, "need neighbourhood 'stream'"),
        ({"estimate": "correlation", "factor": "auto"}, "needs neighbourhood 'stream'"),
        ({"event": "bernoulli", "estimate": "paths"}, "needs neighbourhood 'stream'"),
        ({"event": "attributes"}, "event must be 'bernoulli', .* not 'attributes'"),
        ({"weights": "gain-ratio"}, "need neighbourhood 'stream'"),
        ({"document_weights": "discriminative"}, "need neighbourhood 'stream'"),
    ],
    ids=str,
)
def test_refuses_statistics_of_the_whole_stream_and_columns(
    neighbourhood: str, parts: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        streamnb.ComposedNB(neighbourhood=neighbourhood, **parts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"neighbourhood": "far"}, "neighbourhood must be one of"),
        ({"neighbourhood": None}, "neighbourhood must be one of"),
        ({"max_depth": -1}, "max_depth must be a whole number from 0 on"),
        ({"max_depth": 2.0}, "max_depth must be a whole number from 0 on"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number above 0"),
        ({"min_samples_leaf": float("nan")}, "min_samples_leaf must be a number above 0"),
        ({"min_samples_leaf": "many"}, "min_samples_leaf must be a number"),
        ({"neighbourhood": "nearest", "n_neighbors": 0}, "n_neighbors must be a whole number"),
    ],
    ids=str,
)
def test_refuses_parameters_out_of_range(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        streamnb.ComposedNB(**{"neighbourhood": "tree", **parameters})


# --- the reference by hand -----------------------------------------------------------------------


def test_reference_tree_by_hand() -> None:
    documents = Documents.from_list(
        [({"a": 1, "b": 2}, "x", 1.0), ({"a": 1}, "y", 1.0), ({"b": 1, "c": 1}, "x", 1.0)]
    )
    # b tells the classes apart. In its leaf are 2 documents of x with 4 tokens, none of y.
    model = make_reference("MNBTree", min_samples_leaf=1)
    got = model.joint_log_likelihood(documents, {"b": 1})
    assert got == pytest.approx({"x": log(3 / 4 * 4 / 8), "y": log(1 / 4 * 1 / 3)})
    # Without it: y's one document with one token.
    got = model.joint_log_likelihood(documents, {"c": 1})
    assert got == pytest.approx({"x": log(1 / 3 * 1 / 3), "y": log(2 / 3 * 1 / 4)})
    # Too few on the other side: one leaf.
    got = make_reference("MNBTree", min_samples_leaf=2).joint_log_likelihood(documents, {"c": 1})
    assert got == pytest.approx({"x": log(3 / 5 * 2 / 8), "y": log(2 / 5 * 1 / 4)})


@pytest.mark.parametrize("n_neighbors", [1, 2, 10])
def test_tiny_counts_have_the_same_neighbours(n_neighbors: int) -> None:
    """The squares of counts below 1e-162 underflow; cosines do not depend on the size of counts."""
    model = streamnb.LWWMNB(n_neighbors=n_neighbors)
    for x, y in (
        ({"a": 1, "b": 2}, "ham"),
        ({"a": 3, "d": 5}, "spam"),
        ({"b": 1, "c": 1}, "spam"),
        ({"c": 2, "a": 1}, "ham"),
    ):
        model.learn_one(x, y)
    found = [
        model.joint_log_likelihood_one({"a": size, "b": 3 * size, "new": size})
        for size in (1e-100, 1e-165, 1e-120)
    ]
    for each in found:
        assert each == pytest.approx(found[0], abs=1e-12)
