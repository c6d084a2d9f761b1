"""Weights of words and of documents: by hand, alone and together, between refreshes, at bounds."""

from __future__ import annotations

import copy
import math
import random
from typing import Any

import numpy as np
import pytest
from model_support import make_reference
from reference import RATIOS, Documents
from reference_relevance import selected
from reference_weights import EVENTS, MODELS, WeightsReference
from test_reference import TINY, assert_same_scores, prefixes, sms_stream, synthetic_stream

import streamnb
from streamnb import ComposedNB, InputError
from streamnb.statistics import documents as copied
from streamnb.statistics.counts import Counts
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.relevance import class_uncertainty
from streamnb.statistics.weighting import selection

NAMES = {"MNB": "multinomial", "CNB": "complement", "OVA": "one-versus-all"}
WORDS = {
    "Rwc": "chi-square",
    "GRW": "gain-ratio",
    "GRS": "selection",
    "DFW": "correlation-based",
    "DTW": "tree-depth",
}
# Models whose words have parents, with what reference knows them.
PARENTS = {
    "hidden": ("HMNB", "HCNB", "HOVA"),
    "hidden-ratios": (RATIOS,),
    "one-dependence": ("SEMNB", "SECNB", "SEOVA"),
    "packaged": ("PHNB",),
}
STREAM = synthetic_stream(90)
STATISTICS = tuple(name for name in MODELS if not name.startswith("Rwc"))


def learned(model: Any, stream: Any = STREAM) -> Any:
    for x, y, w in stream:
        model.learn_one(x, y, w)
    return model


def composed(name: str, **parameters: Any) -> ComposedNB:
    """Return the same model by the names of its parts."""
    family = name[:-3]
    return ComposedNB(
        event=NAMES[name[-3:]],
        weights=WORDS.get(family, "uniform"),
        document_weights="discriminative" if family == "DW" else "uniform",
        **parameters,
    )


# --- one by one -----------------------------------------------------------------------------------


def test_document_weights_by_hand() -> None:
    """One round on a (ham: a b; spam: a a c), without priors: P(ham|a b) and P(spam|a a c)."""
    ham = (2 / 5 * 2 / 5) / (2 / 5 * 2 / 5 + 3 / 6 * 1 / 6)
    spam = (3 / 6 * 3 / 6 * 2 / 6) / (3 / 6 * 3 / 6 * 2 / 6 + 2 / 5 * 2 / 5 * 1 / 5)
    one, two = 2 - ham, 2 - spam
    model = learned(streamnb.DWMNB(rounds=1, prior="uniform"), TINY)
    model.refresh()
    scores = model.joint_log_likelihood_one({"a": 1, "b": 1})
    assert scores["ham"] == pytest.approx(2 * math.log((one + 1) / (2 * one + 3)), abs=1e-12)
    assert scores["spam"] == pytest.approx(
        math.log((2 * two + 1) / (3 * two + 3)) + math.log(1 / (3 * two + 3)), abs=1e-12
    )
    reference = WeightsReference("DWMNB", prior="uniform", rounds=1)
    expected = reference.joint_log_likelihood(Documents.from_list(TINY), {"a": 1, "b": 1})
    assert_same_scores(scores, expected, "reference")


@pytest.mark.parametrize("event", EVENTS)
def test_selection_is_leave_one_out_by_unlearning(event: str) -> None:
    """Each share by a model of its words alone, which unlearns each message and decides it."""
    stream = [(x, y, w) for x, y, w in synthetic_stream(70) if x]
    names = sorted({word for x, _, _ in stream for word in x})
    model = learned(getattr(streamnb, f"GRS{event}")(refresh_every=10**9), stream)
    model.refresh()
    kept = Documents.from_list(stream)
    right = []
    for words, _ in WeightsReference(f"GRS{event}").kept(kept):
        names_kept = {word for word, column in kept.words.items() if words[column]}
        only = [({t: f for t, f in x.items() if t in names_kept}, y, w) for x, y, w in stream]
        # m is that of all words, whatever is learned.
        part = learned(getattr(streamnb, event)(vocabulary_size=len(names)), only)
        decided = 0
        for x, y, w in only:
            part.unlearn_one(x, y, w)
            scores = part.joint_log_likelihood_one(x)
            own = scores.pop(y, -math.inf)
            # Prior and smoothing know all labels: none of these classes has one message.
            decided += all(own > score + 1e-9 for score in scores.values())
            part.learn_one(x, y, w)
        right.append((decided, names_kept))
    # The last share of all is the full model, so something was chosen among different ones.
    best = max(decided for decided, _ in right)
    expected = next(names_kept for decided, names_kept in right if decided == best)
    assert {word for word, weight in model.weights_.items() if weight} == expected
    assert set(model.weights_) == set(names)


def test_weights_of_words_by_name() -> None:
    model = learned(streamnb.GRWMNB(refresh_every=1))
    assert sum(model.weights_.values()) == pytest.approx(len(model.weights_))
    ratios = Documents.from_list(STREAM).gain_ratios
    words = Documents.from_list(STREAM).words
    for word, weight in model.weights_.items():
        assert weight == pytest.approx(ratios[words[word]] / ratios.mean(), abs=1e-9)
    assert learned(streamnb.MNB()).weights_ == {}
    assert learned(streamnb.RwcMNB()).weights_ == {}


@pytest.mark.parametrize("event", EVENTS)
def test_chi_square_weights_are_never_stale(event: str) -> None:
    model = getattr(streamnb, f"Rwc{event}")(refresh_every=10**9)
    past = prefixes(synthetic_stream)
    for n, (x, y, w) in enumerate(synthetic_stream()[:60]):
        expected = WeightsReference(f"Rwc{event}").joint_log_likelihood(past[n], x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, y, w)


# --- together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_composed_model_equals_the_named_one(name: str) -> None:
    model, named = composed(name, refresh_every=1), getattr(streamnb, name)(refresh_every=1)
    for x, y, w in STREAM:
        assert model.joint_log_likelihood_one(x) == named.joint_log_likelihood_one(x)
        model.learn_one(x, y, w)
        named.learn_one(x, y, w)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
def test_weights_of_words_and_documents_together(event: str, words: str, weighted: bool) -> None:
    stream = synthetic_stream(weighted=weighted)
    past = prefixes(synthetic_stream, weighted=weighted)
    model = ComposedNB(
        event=NAMES[event],
        weights=WORDS[words],
        document_weights="discriminative",
        rounds=4,
        alpha=0.5,
        refresh_every=1,
    )
    reference = WeightsReference(event, words=words, documents="DW", rounds=4, alpha=0.5)
    for n, (x, y, w) in enumerate(stream[:80]):
        expected = reference.joint_log_likelihood(past[n], x | {"new": 1})
        assert_same_scores(model.joint_log_likelihood_one(x | {"new": 1}), expected, n)
        model.learn_one(x, y, w)


@pytest.mark.parametrize("rounds", [0, 1, 20])
@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("DW")])
def test_rounds(name: str, rounds: int) -> None:
    model = learned(getattr(streamnb, name)(rounds=rounds, refresh_every=10**9))
    model.refresh()
    reference = WeightsReference(name, rounds=rounds)
    documents = Documents.from_list(STREAM)
    for x, _, _ in STREAM[:20]:
        assert_same_scores(
            model.joint_log_likelihood_one(x), reference.joint_log_likelihood(documents, x), x
        )


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"event": "bernoulli"}, "absent words"),
        ({"event": "attributes"}, "count no words"),
        ({"event": "attributes", "dependence": "packaged"}, "count no words"),
        ({"event": "bernoulli", "estimate": "paths"}, "absent words"),
        ({"estimate": "correlation"}, "correlation factor"),
    ],
    ids=str,
)
@pytest.mark.parametrize("words", WORDS.values())
def test_what_weights_of_words_do_not_go_with_is_refused(
    words: str, others: dict[str, str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        ComposedNB(weights=words, **others)
    with pytest.raises(InputError, match=f"{why}|counted without any"):
        ComposedNB(document_weights="discriminative", **others)


@pytest.mark.parametrize("dependence", PARENTS)
def test_weights_of_documents_do_not_go_with_parents(dependence: str) -> None:
    with pytest.raises(InputError, match="counted without any"):
        ComposedNB(event="one-versus-all", dependence=dependence, document_weights="discriminative")


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize(
    ("dependence", "name"), [(kind, name) for kind, names in PARENTS.items() for name in names]
)
def test_weights_are_exponents_where_words_have_parents(
    dependence: str, name: str, words: str
) -> None:
    """The score of W_i f_i for f_i; with R_wc, what it multiplies P(w|c) with."""
    event = "OVA" if name == RATIOS else "MNB" if name == "PHNB" else name[-3:]
    model = ComposedNB(
        event=NAMES[event], dependence=dependence, weights=WORDS[words], refresh_every=1
    )
    weighing = WeightsReference(event, words=words)
    reference = make_reference(name)
    past = prefixes(synthetic_stream)
    for n, (x, y, w) in enumerate(synthetic_stream()[:60]):
        docs, query = past[n], x | {"new": 1.0}
        if docs.labels:
            each, unseen = weighing.word_weights(docs)
            weights = {word: each[column] for word, column in docs.words.items()}
            weighted = {word: weights.get(word, unseen) * f for word, f in query.items()}
            expected = reference.joint_log_likelihood(docs, weighted)
            if words == "Rwc":
                expected = {c: expected[c] + log_ratios(docs, event, query, c) for c in expected}
            assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
            explanation = model.explain_one(query)
            for label, score in expected.items():
                parts = [terms[label] for terms in explanation.words.values()]
                assert explanation.baseline[label] + sum(parts) == pytest.approx(score, abs=1e-9)
        model.learn_one(x, y, w)


def log_ratios(docs: Documents, event: str, x: Any, c: Any) -> float:
    """Return what R_wc of the words adds to a score."""
    row = np.zeros(len(docs.words))
    for word, f in x.items():
        if word in docs.words:
            row[docs.words[word]] = f
    reference = WeightsReference(event)
    own, rest = (
        float(row @ np.log(np.maximum(reference._ratios(docs, side), 1)))
        for side in (docs.of(c), ~docs.of(c))
    )
    return {"MNB": own, "CNB": -rest, "OVA": own - rest}[event]


@pytest.mark.parametrize("max_candidates", [1, 3, 12])
def test_search_looks_at_so_many_candidates(max_candidates: int) -> None:
    """Of equal candidates, the first in the order of their bytes."""
    model = streamnb.DFWMNB(max_candidates=max_candidates, refresh_every=1)
    past = prefixes(sms_stream)
    for n, (x, y, w) in enumerate(sms_stream()[:120]):
        model.learn_one(x, y, w)
        taken = {word for word, weight in model.weights_.items() if weight == 2}
        assert len(taken) <= max_candidates
        assert taken == set(selected(past[n + 1], 0, max_candidates)), n
    assert 0 < len(taken) < 30


@pytest.mark.parametrize(
    "parameters",
    [
        {"weights": "chi"},
        {"weights": None},
        {"document_weights": "boosted"},
        {"max_candidates": 0},
        {"max_candidates": 1.5},
        {"rounds": -1},
        {"rounds": 1.5},
        {"rounds": True},
    ],
    ids=str,
)
def test_parameters_out_of_range(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(parameters))):
        ComposedNB(**parameters)


# --- between refreshes, and at bounds -------------------------------------------------------------


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


@pytest.mark.parametrize("name", STATISTICS)
def test_labels_that_go_leave_nothing_behind(name: str) -> None:
    """The id of a class without messages is given to the next label."""
    model = learned(getattr(streamnb, name)(refresh_every=5))
    gone = [document for document in STREAM if document[1] == "c"]
    for x, y, w in gone:
        model.unlearn_one(x, y, w)
    assert model.classes_ == ["a", "b"]
    fresh = [({"w1": 2.0, "w44": 1.0}, "d", 1.0), ({"w2": 1.0}, "d", 1.0)]
    learned(model, fresh)
    assert model._labels.ids["d"] == learned(getattr(streamnb, name)())._labels.ids["c"]
    model.refresh()
    left = [document for document in STREAM if document[1] != "c"]
    anew = learned(getattr(streamnb, name)(), [*left, *fresh])
    anew.refresh()
    for x, _, _ in STREAM[::4]:
        assert_same_scores(
            model.joint_log_likelihood_one(x), anew.joint_log_likelihood_one(x), name
        )


@pytest.mark.parametrize("name", [name for name in STATISTICS if not name.startswith("GRW")])
def test_messages_that_left_the_index_count_as_they_were_learned(name: str) -> None:
    model = learned(getattr(streamnb, name)(max_documents=25, refresh_every=10**9))
    model.refresh()
    reference = WeightsReference(name, max_documents=25)
    documents = Documents.from_list(STREAM)
    for x, _, _ in STREAM[::5]:
        assert_same_scores(
            model.joint_log_likelihood_one(x), reference.joint_log_likelihood(documents, x), x
        )


@pytest.mark.parametrize("name", STATISTICS)
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


@pytest.mark.parametrize("name", STATISTICS)
def test_pruning_forgets_weights(name: str) -> None:
    model = learned(getattr(streamnb, name)(max_words=30, refresh_every=1))
    assert model.n_words <= 30
    model._store.prune(10)
    for x, _, _ in STREAM[::6]:
        assert all(map(math.isfinite, model.joint_log_likelihood_one(x).values()))
    model.refresh()
    if model.weights_:
        assert len(model.weights_) == 10


def test_selection_in_blocks_is_selection_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = learned(streamnb.GRSOVA())
    indexed = copied.Documents.of(model._store)
    parameters = ScoringParameters("one-versus-all", "laplace", 1.0, float(model.n_words))
    at_once = selection(indexed, parameters)
    monkeypatch.setattr("streamnb.statistics.weighting._BLOCK", 1)
    monkeypatch.setattr("streamnb.statistics.weighting._TABLE", 0)
    in_blocks = selection(indexed, parameters)
    np.testing.assert_array_equal(in_blocks.words, at_once.words)
    assert in_blocks.unseen == at_once.unseen


def test_uncertainty_in_blocks_is_that_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = copied.Documents.of(learned(streamnb.DFWMNB())._store, ordered=True)
    at_once = class_uncertainty(documents)
    assert np.count_nonzero(at_once) > 10
    monkeypatch.setattr("streamnb.statistics.relevance._TABLE", 7)
    np.testing.assert_array_equal(class_uncertainty(documents), at_once)


def test_weights_that_do_not_fit_are_refused() -> None:
    store = learned(streamnb.GRWMNB(refresh_every=10**9))._store
    words, classes = Counts.of(store).tokens.shape
    none, rows = np.zeros(0, np.int64), np.zeros(1, np.int64)
    right: dict[str, Any] = {
        "layout": store.layout,
        "words": np.ones(words),
        "unseen": 1.0,
        "documents": np.zeros(classes),
        "indptr": rows,
        "class_ids": none,
        "tokens": np.zeros(0),
    }
    assert store.set_weights(**right)
    assert not store.set_weights(**right | {"layout": store.layout + 1})
    one = {"indptr": np.array([0, 1]), "class_ids": np.array([0]), "tokens": np.ones(1)}
    assert store.set_weights(**right | one)
    for wrong in (
        {"words": -np.ones(words)},
        {"unseen": math.nan},
        {"documents": np.full(classes, np.inf)},
        one | {"class_ids": np.array([classes])},
        one | {"class_ids": np.array([-1])},
        one | {"indptr": np.array([0, 2])},
        one | {"class_ids": np.array([0, 0])},
    ):
        with pytest.raises(InputError, match="weights: "):
            store.set_weights(**right | wrong)
