"""Weights of words and documents between refreshes, when labels and words go, and in copies."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest

import streamnb
from references.documents import Documents
from references.weights import WeightsReference
from streamnb import InputError
from streamnb.families.selection import Selection
from streamnb.statistics import documents as copied
from streamnb.statistics.counts import Counts
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.relevance import class_uncertainty
from support.models import WEIGHTED, matrix
from support.streams import assert_same_scores, learned, synthetic_stream

# --- between refreshes, and at bounds -------------------------------------------------------------

STREAM = synthetic_stream(90)
STATISTICS = tuple(name for name in WEIGHTED if not name.startswith("Rwc"))


def scores_with(weights: dict[str, float], stream: Any, x: dict[str, float]) -> dict[str, float]:
    """Return multinomial scores with these weights, 1 for other words learned, 0 for unknown."""
    tokens: dict[str, dict[str, float]] = {}
    documents: dict[str, float] = {}
    for counts, label, w in stream:
        documents[label] = documents.get(label, 0) + w
        for word, count in counts.items():
            of_word = tokens.setdefault(word, {})
            of_word[label] = of_word.get(label, 0) + w * count
    scores = {}
    for label, n_c in documents.items():
        total = sum(weights.get(word, 1) * of.get(label, 0) for word, of in tokens.items())
        score = math.log(n_c / sum(documents.values()))
        for word, count in x.items():
            if word in tokens:
                weight = weights.get(word, 1)
                own = weight * tokens[word].get(label, 0)
                score += weight * count * math.log((own + 1) / (total + len(tokens)))
        scores[label] = score
    return scores


def test_counts_are_not_stale_between_refreshes() -> None:
    model = learned(streamnb.GRWMNB(refresh_every=10**9), STREAM[:40])
    model.refresh()
    weights = model.weights_
    stream = list(STREAM[:40])
    rng = random.Random(5)
    for step, (x, y, w) in enumerate(STREAM[40:]):
        x = {**x, f"new{step % 7}": 2.0}
        model.learn_one(x, y, w)
        stream.append((x, y, w))
        if step % 3 == 2:
            gone = stream.pop(rng.randrange(len(stream)))
            model.unlearn_one(*gone)
        names = {word for counts, _, _ in stream for word in counts}
        # A word that was forgotten and comes back is a new one.
        weights = {word: weight for word, weight in weights.items() if word in names}
        expected = scores_with(weights, stream, {**x, "never": 1})
        assert_same_scores(model.joint_log_likelihood_one({**x, "never": 1}), expected, step)


@matrix(STATISTICS)
def test_labels_that_go_leave_nothing_behind(name: str) -> None:
    """The id of a class without messages is given to the next label."""
    model = learned(getattr(streamnb, name)(refresh_every=5), STREAM)
    gone = [document for document in STREAM if document[1] == "c"]
    for x, y, w in gone:
        model.unlearn_one(x, y, w)
    assert model.classes_ == ["a", "b"]
    fresh = [({"w1": 2.0, "w44": 1.0}, "d", 1.0), ({"w2": 1.0}, "d", 1.0)]
    learned(model, fresh)
    assert model._labels.ids["d"] == learned(getattr(streamnb, name)(), STREAM)._labels.ids["c"]
    model.refresh()
    left = [document for document in STREAM if document[1] != "c"]
    anew = learned(getattr(streamnb, name)(), [*left, *fresh])
    anew.refresh()
    for x, _, _ in STREAM[::4]:
        assert_same_scores(
            model.joint_log_likelihood_one(x), anew.joint_log_likelihood_one(x), name
        )


@matrix(name for name in STATISTICS if not name.startswith("GRW"))
def test_messages_that_left_the_index_count_as_they_were_learned(name: str) -> None:
    model = learned(getattr(streamnb, name)(index_size=25, refresh_every=10**9), STREAM)
    model.refresh()
    reference = WeightsReference(name, index_size=25)
    documents = Documents.from_list(STREAM)
    for x, _, _ in STREAM[::5]:
        assert_same_scores(
            model.joint_log_likelihood_one(x), reference.joint_log_likelihood(documents, x), x
        )


@matrix(STATISTICS)
def test_copies_keep_the_weights_in_use(name: str) -> None:
    model = learned(getattr(streamnb, name)(refresh_every=10**9), STREAM[:40])
    model.refresh()
    learned(model, STREAM[40:])
    copied = copy.deepcopy(model)
    for x, _, _ in STREAM[::6]:
        assert_same_scores(
            copied.joint_log_likelihood_one(x), model.joint_log_likelihood_one(x), name
        )
    assert copied.weights_ == model.weights_


@matrix(STATISTICS)
def test_pruning_forgets_weights(name: str) -> None:
    model = learned(getattr(streamnb, name)(max_features=30, refresh_every=1), STREAM)
    assert model.n_words <= 30
    model._store.prune(10)
    for x, _, _ in STREAM[::6]:
        assert all(map(math.isfinite, model.joint_log_likelihood_one(x).values()))
    model.refresh()
    if model.weights_:
        assert len(model.weights_) == 10


def test_selection_in_blocks_is_selection_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learned(streamnb.GRSOVA(), STREAM)
    indexed = copied.Documents.of(model._store.sample(True))
    parameters = ScoringParameters("one-versus-all", "laplace", 1.0, float(model.n_words))
    at_once = Selection().weigh(indexed, parameters)
    monkeypatch.setattr("streamnb.families.selection._BLOCK", 1)
    monkeypatch.setattr("streamnb.families.selection._TABLE", 0)
    in_blocks = Selection().weigh(indexed, parameters)
    np.testing.assert_array_equal(in_blocks.words, at_once.words)
    assert in_blocks.oov == at_once.oov


def test_uncertainty_in_blocks_is_that_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = copied.Documents.of(learned(streamnb.DFWMNB(), STREAM)._store.sample(True))
    at_once = class_uncertainty(documents)
    assert np.count_nonzero(at_once) > 10
    monkeypatch.setattr("streamnb.statistics.relevance._TABLE", 7)
    np.testing.assert_array_equal(class_uncertainty(documents), at_once)


def test_weights_that_do_not_fit_are_refused() -> None:
    store = learned(streamnb.GRWMNB(refresh_every=10**9), STREAM)._store
    words, classes = Counts.of(store).tokens.shape
    none, rows = np.zeros(0, np.int64), np.zeros(1, np.int64)
    right: dict[str, Any] = {
        "sample": store.sample(False),
        "words": np.ones(words),
        "oov": 1.0,
        "scale": 1.0,
        "documents": np.zeros(classes),
        "indptr": rows,
        "classes": none,
        "tokens": np.zeros(0),
    }
    assert store.set_weights(**right)
    one = {"indptr": np.array([0, 1]), "classes": np.array([0]), "tokens": np.ones(1)}
    assert store.set_weights(**right | one)
    for wrong in (
        {"words": -np.ones(words)},
        {"oov": math.nan},
        {"scale": math.nan},
        {"documents": np.full(classes, np.inf)},
        one | {"classes": np.array([classes])},
        one | {"classes": np.array([-1])},
        one | {"indptr": np.array([0, 2])},
        one | {"classes": np.array([0, 0])},
    ):
        with pytest.raises(InputError, match="weights"):
            store.set_weights(**right | wrong)
    store.prune(5)
    assert not store.set_weights(**right)


def test_the_id_of_a_forgotten_word_has_no_weight() -> None:
    """A word that takes the id of one that is gone counts 1, as any word newer than the weights."""
    model = streamnb.GRWMNB(refresh_every=10**9)
    gone = {"clue": 1.0}
    stream = [({"some": 1.0}, "a", 1.0), ({"some": 1.0, "other": 1.0}, "b", 1.0)]
    for document in [*stream, (gone, "a", 1.0)]:
        model.learn_one(*document)
    model.refresh()
    weights = model.weights_
    assert abs(weights.pop("clue") - 1) > 0.1
    model.unlearn_one(gone, "a")
    stream.append(({"late": 1.0}, "a", 1.0))
    model.learn_one(*stream[-1])
    x = {"late": 1.0, "other": 1.0}
    assert_same_scores(model.joint_log_likelihood_one(x), scores_with(weights, stream, x), x)


def test_a_word_that_takes_a_free_id_has_no_weight() -> None:
    """An id that was already free at the last refresh has the weight of a new word too."""
    model = streamnb.GRWMNB(refresh_every=10**9)
    stream = [({"some": 1.0}, "a", 1.0), ({"some": 1.0, "other": 1.0}, "b", 1.0)] * 3
    learned(model, stream)
    model.learn_one({"alpha": 1.0, "beta": 1.0}, "a")
    model.unlearn_one({"alpha": 1.0, "beta": 1.0}, "a")
    model.refresh()
    model.learn_one({"gamma": 1.0, "delta": 1.0}, "a")
    assert model.weights_["gamma"] == model.weights_["delta"] == 1.0


def test_the_id_of_a_forgotten_class_counts_for_nothing() -> None:
    """Weights of a removed label do not pass to the next label with its id."""
    model = streamnb.DWMNB(refresh_every=10**9, rounds=5)
    stream = [({"some": 1.0}, "a", 1.0), ({"some": 1.0, "other": 1.0}, "b", 1.0)] * 3
    gone = [({"some": 2.0, "clue": 1.0}, "c", 1.0), ({"other": 1.0}, "c", 1.0)]
    learned(model, [*stream, *gone])
    model.refresh()
    for x, y, w in gone:
        model.unlearn_one(x, y, w)
    kept = copy.deepcopy(model)
    for each in (model, kept):
        each.learn_one({"late": 1.0}, "d")
    # A copy renumbers classes, so it must not contain the weights of old ids.
    x = {"late": 1.0, "some": 1.0}
    assert_same_scores(model.joint_log_likelihood_one(x), kept.joint_log_likelihood_one(x), x)
