"""Weights by depth in a tree: by hand, settings, bounds and concurrent refreshes."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

import streamnb
from references.documents import Documents
from references.weights import WeightsReference
from streamnb import ComposedNB, InputError, _core
from streamnb.statistics.documents import Documents as Copied
from support.models import family, matrix
from support.streams import assert_same_scores, learned, prefixes, sms_stream, synthetic_stream

MODELS = family("tree-depth")
STREAM = synthetic_stream(90)
# Word b tells x from the others; of these, c tells y from z.
SMALL = [({"b": 1.0}, "x", 1.0)] * 3 + [({"c": 1.0, "e": 2.0}, "y", 1.0), ({"f": 1.0}, "z", 1.0)]
SETTINGS: list[dict[str, Any]] = [
    {"min_samples_leaf": 1, "untested": 0.0},
    {"min_samples_leaf": 2.5, "untested": 0.5, "alpha": 0.5},
    {"min_samples_leaf": 1, "max_depth": 2},
    {"min_samples_leaf": 3, "index_size": 40, "untested": 2},
    {"max_depth": 0, "untested": 0.0},
]


def test_weights_by_hand() -> None:
    model = learned(streamnb.DTWMNB(min_samples_leaf=1, refresh_every=1), SMALL)
    assert model.weights_ == {"b": 2.0, "c": 1 + 1 / math.sqrt(2), "e": 1.0, "f": 1.0}
    literal = learned(streamnb.DTWMNB(untested=0.0, min_samples_leaf=1, refresh_every=1), SMALL)
    assert literal.weights_ == {"b": 1.0, "c": 1 / math.sqrt(2), "e": 0.0, "f": 0.0}
    # A word of weight 0 changes no score, nor does one that no class has seen.
    scores = literal.joint_log_likelihood_one({"b": 1, "e": 5, "new": 7})
    assert scores == literal.joint_log_likelihood_one({"b": 1})


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@matrix(MODELS)
def test_every_setting_equals_the_reference_at_every_prefix(
    name: str, settings: dict[str, Any]
) -> None:
    past = prefixes(synthetic_stream)
    model = getattr(streamnb, name)(refresh_every=1, **settings)
    reference = WeightsReference(name, **settings)
    for n, (x, y, w) in enumerate(synthetic_stream()[:80]):
        query = x | {"new": 1.0}
        expected = reference.joint_log_likelihood(past[n], query)
        assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
        model.learn_one(x, y, w)


def test_depths_on_real_messages() -> None:
    """Of equal gains, the first word in the order of bytes, at whatever depth."""
    past = prefixes(sms_stream)
    model, reference = streamnb.DTWMNB(refresh_every=1), WeightsReference("DTWMNB")
    depths: dict[Any, int] = {}
    for n, (x, y, w) in enumerate(sms_stream()[:150]):
        model.learn_one(x, y, w)
        depths = reference.depths(past[n + 1])
        expected = {word: 1 + 1 / math.sqrt(depth) for word, depth in depths.items()}
        assert {word: w for word, w in model.weights_.items() if w != 1} == expected, n
    assert len(depths) > 3


@pytest.mark.parametrize("event", ["multinomial", "complement", "one-versus-all"])
def test_composed_model_takes_the_settings(event: str) -> None:
    name = {"multinomial": "DTWMNB", "complement": "DTWCNB", "one-versus-all": "DTWOVA"}[event]
    settings: dict[str, Any] = {"untested": 0.25, "max_depth": 3, "min_samples_leaf": 1}
    model = learned(
        ComposedNB(event=event, weights="tree-depth", refresh_every=1, **settings), STREAM
    )
    named = learned(getattr(streamnb, name)(refresh_every=1, **settings), STREAM)
    for x, _, _ in STREAM:
        assert model.joint_log_likelihood_one(x) == named.joint_log_likelihood_one(x)


@pytest.mark.parametrize(
    "settings",
    [
        {"untested": -0.1},
        {"untested": math.nan},
        {"untested": math.inf},
        {"untested": "none"},
        {"max_depth": -1},
        {"min_samples_leaf": 0},
    ],
    ids=str,
)
def test_parameters_out_of_range(settings: dict[str, Any]) -> None:
    for model in (streamnb.DTWMNB, ComposedNB):
        with pytest.raises(InputError, match=next(iter(settings))):
            model(**settings)


def test_largest_weight_of_untested_words() -> None:
    model = learned(streamnb.DTWOVA(untested=2**52, min_samples_leaf=1), SMALL)
    assert all(map(math.isfinite, model.joint_log_likelihood_one({"e": 1, "b": 1}).values()))


def test_predictions_go_on_while_a_tree_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is free while the native grower runs: readers and writers get through."""
    model = learned(streamnb.DTWMNB(min_samples_leaf=1, refresh_every=10**9), STREAM)
    begun, may_end = threading.Event(), threading.Event()
    grow = _core.split_depths

    def slow(*arguments: Any) -> bytes:
        begun.set()
        assert may_end.wait(10)
        return grow(*arguments)

    monkeypatch.setattr(_core, "split_depths", slow)
    refresh = threading.Thread(target=model.refresh)
    refresh.start()
    assert begun.wait(10)
    model.learn_one({"w1": 1, "w7": 3}, "a")
    assert model.predict_one({"w1": 1}) is not None
    assert set(model.weights_.values()) <= {1.0}
    may_end.set()
    refresh.join()
    assert max(model.weights_.values()) == 2.0
    # The totals include messages that were learned meanwhile.
    copied = ComposedNB(weights="tree-depth", min_samples_leaf=1, refresh_every=10**9)
    learned(copied, STREAM).refresh()
    copied.learn_one({"w1": 1, "w7": 3}, "a")
    assert_same_scores(
        model.joint_log_likelihood_one({"w1": 1, "w2": 1}),
        copied.joint_log_likelihood_one({"w1": 1, "w2": 1}),
        "learned meanwhile",
    )


def test_arrays_that_are_no_documents_are_refused() -> None:
    copied = Copied.of(learned(streamnb.DTWMNB(), STREAM)._store.sample(True))
    words = copied.words
    right: dict[str, Any] = {
        "indptr": words.indptr.astype(np.int64),
        "word_ids": words.indices.astype(np.int64),
        "class_ids": copied.classes,
        "weights": copied.weights,
        "n_words": words.shape[1],
        "n_classes": 3,
        "max_depth": 64,
        "min_samples_leaf": 1.0,
    }
    depths = np.frombuffer(_core.split_depths(*right.values()), np.int64)
    expected = WeightsReference("DTWMNB", min_samples_leaf=1).depths(Documents.from_list(STREAM))
    assert sorted(depths[depths > 0]) == sorted(expected.values())
    for wrong in (
        {"class_ids": copied.classes[1:]},
        {"class_ids": copied.classes + 3},
        {"class_ids": copied.classes - 9},
        {"word_ids": right["word_ids"] + 1},
        {"weights": -copied.weights},
    ):
        with pytest.raises(InputError, match="documents as rows"):
            _core.split_depths(*(right | wrong).values())
