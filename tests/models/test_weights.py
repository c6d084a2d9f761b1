"""Weights of words and of documents: by hand, alone and together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import streamnb
from references.documents import Documents
from references.relevance import selected
from references.weights import WeightsReference
from streamnb import ComposedNB, InputError
from support.models import (
    EVENTS,
    RATIOS,
    WEIGHTED,
    WORD_WEIGHTS,
    family,
    make_reference,
    mark,
    matrix,
)
from support.streams import (
    TINY,
    assert_same_scores,
    learned,
    prefixes,
    sms_stream,
    synthetic_stream,
)

# Models whose words have parents, with what reference knows them.
PARENTS = {
    "hidden": ("HMNB", "HCNB", "HOVA"),
    "hidden-ratios": (RATIOS,),
    "one-dependence": ("SEMNB", "SECNB", "SEOVA"),
    "packaged": ("PHNB",),
}
STREAM = synthetic_stream(90)


def composed(name: str, **parameters: Any) -> ComposedNB:
    """Return the same model by the names of its parts."""
    family = name[:-3]
    return ComposedNB(
        event=EVENTS[name[-3:]],
        weights=WORD_WEIGHTS.get(family, "uniform"),
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
        # m counts all words.
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
    model = learned(streamnb.GRWMNB(refresh_every=1), STREAM)
    assert sum(model.weights_.values()) == pytest.approx(len(model.weights_))
    ratios = Documents.from_list(STREAM).gain_ratios
    words = Documents.from_list(STREAM).words
    for word, weight in model.weights_.items():
        assert weight == pytest.approx(ratios[words[word]] / ratios.mean(), abs=1e-9)
    assert learned(streamnb.MNB(), STREAM).weights_ == {}
    assert learned(streamnb.RwcMNB(), STREAM).weights_ == {}


@pytest.mark.parametrize("event", EVENTS)
def test_chi_square_weights_are_never_stale(event: str) -> None:
    model = getattr(streamnb, f"Rwc{event}")(refresh_every=10**9)
    past = prefixes(synthetic_stream)
    for n, (x, y, w) in enumerate(synthetic_stream()[:45]):
        expected = WeightsReference(f"Rwc{event}").joint_log_likelihood(past[n], x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, y, w)


# --- together -------------------------------------------------------------------------------------


@matrix(WEIGHTED)
def test_composed_model_equals_the_named_one(name: str) -> None:
    model, named = composed(name, refresh_every=1), getattr(streamnb, name)(refresh_every=1)
    for x, y, w in STREAM:
        assert model.joint_log_likelihood_one(x) == named.joint_log_likelihood_one(x)
        model.learn_one(x, y, w)
        named.learn_one(x, y, w)


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("words", WORD_WEIGHTS)
@pytest.mark.parametrize("weighted", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_weights_of_words_and_documents_together(event: str, words: str, weighted: bool) -> None:
    stream = synthetic_stream(weighted=weighted)
    past = prefixes(synthetic_stream, weighted=weighted)
    model = ComposedNB(
        event=EVENTS[event],
        weights=WORD_WEIGHTS[words],
        document_weights="discriminative",
        rounds=4,
        alpha=0.5,
        refresh_every=1,
    )
    reference = WeightsReference(event, words=words, documents="DW", rounds=4, alpha=0.5)
    for n, (x, y, w) in enumerate(stream[:40]):
        expected = reference.joint_log_likelihood(past[n], x | {"new": 1})
        assert_same_scores(model.joint_log_likelihood_one(x | {"new": 1}), expected, n)
        model.learn_one(x, y, w)


@pytest.mark.parametrize("rounds", [0, 1, 20])
@pytest.mark.parametrize("name", family("discriminative"))
def test_rounds(name: str, rounds: int) -> None:
    model = learned(getattr(streamnb, name)(rounds=rounds, refresh_every=10**9), STREAM)
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
        ({"event": "bernoulli"}, "word counts"),
        ({"event": "attributes"}, "word counts"),
        ({"event": "attributes", "dependence": "packaged"}, "word counts"),
        ({"event": "bernoulli", "estimate": "paths"}, "word counts"),
        ({"estimate": "correlation"}, "correlation factor"),
    ],
    ids=str,
)
@pytest.mark.parametrize("words", WORD_WEIGHTS.values())
def test_what_weights_of_words_do_not_go_with_is_refused(
    words: str, others: dict[str, str], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        ComposedNB(weights=words, **others)
    with pytest.raises(InputError, match=why):
        ComposedNB(document_weights="discriminative", **others)


@pytest.mark.parametrize("dependence", PARENTS)
def test_weights_of_documents_do_not_go_with_parents(dependence: str) -> None:
    with pytest.raises(InputError, match="document_weights 'uniform'"):
        ComposedNB(event="one-versus-all", dependence=dependence, document_weights="discriminative")


@pytest.mark.parametrize("words", WORD_WEIGHTS)
@pytest.mark.parametrize(
    ("dependence", "name"),
    [
        pytest.param(kind, name, marks=mark(name))
        for kind, names in PARENTS.items()
        for name in names
    ],
)
def test_weights_are_exponents_where_words_have_parents(
    dependence: str, name: str, words: str
) -> None:
    """The score of W_i f_i for f_i; with R_wc, what it multiplies P(w|c) with."""
    event = "OVA" if name == RATIOS else "MNB" if name == "PHNB" else name[-3:]
    model = ComposedNB(
        event=EVENTS[event], dependence=dependence, weights=WORD_WEIGHTS[words], refresh_every=1
    )
    weighing = WeightsReference(event, words=words)
    reference = make_reference(name)
    past = prefixes(synthetic_stream)
    for n, (x, y, w) in enumerate(synthetic_stream()[:45]):
        docs, query = past[n], x | {"new": 1.0}
        if docs.labels:
            each, oov = weighing.word_weights(docs)
            weights = {word: each[column] for word, column in docs.words.items()}
            weighted = {word: weights.get(word, oov) * f for word, f in query.items()}
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
