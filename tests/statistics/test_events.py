"""The numpy terms of events equal the core's scores, of whole messages and of single words."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

from streamnb import ComposedNB
from streamnb.statistics.events import (
    ScoringParameters,
    log_chi_square_ratios,
    log_counts,
    log_denominators,
    log_numerators,
    log_priors,
)

EVENTS = ("multinomial", "complement", "one-versus-all")
PRIORS = ("empirical", "laplace", "uniform")


def stream() -> list[tuple[dict[str, float], str]]:
    rng = random.Random(11)
    found = []
    for _ in range(60):
        label = rng.choice("abbc")
        words = [f"{rng.choice([label, 'w'])}{rng.randrange(6)}" for _ in range(7)]
        found.append(({word: float(words.count(word)) for word in words}, label))
    return found


def twin(model: Any, x: dict[str, float], parameters: ScoringParameters) -> list[float]:
    """Return the scores of a message by the numpy terms, classes in the order of their labels."""
    counts, words = model.counts(), model._store.words()
    order = [model._labels.ids[label] for label in model.classes_]
    table = counts.tokens.toarray()[:, order]
    totals = table.sum(axis=0)
    numerators = log_numerators(table, table.sum(axis=1)[:, None], parameters)
    denominators = log_denominators(totals, totals.sum(), parameters)
    terms = numerators + denominators
    if parameters.chi_square:
        documents = counts.documents.toarray()[:, order]
        terms = terms + log_chi_square_ratios(documents, counts.class_documents[order], parameters)
    scores = log_priors(counts.class_documents[order], len(order), parameters)
    for word, count in x.items():
        scores = scores + count * terms[words.index(word)]
    return [float(score) for score in scores]


@pytest.mark.parametrize("chi_square", [False, True])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("event", EVENTS)
def test_terms_are_those_of_the_core(event: str, prior: str, chi_square: bool) -> None:
    weights = "chi-square" if chi_square else "uniform"
    model = ComposedNB(event, prior=prior, alpha=0.3, vocabulary_size=40, weights=weights)
    for x, y in stream():
        model.learn_one(x, y)
    parameters = ScoringParameters(event, prior, 0.3, 40.0, chi_square=chi_square)
    for x, _ in stream()[:20]:
        expected = list(model.joint_log_likelihood_one(x).values())
        assert twin(model, x, parameters) == pytest.approx(expected, rel=1e-12, abs=1e-10)


@pytest.mark.parametrize("event", EVENTS)
def test_what_is_left_out_is_as_if_never_learned(event: str) -> None:
    """Each message without its own counts, against the core that unlearned it."""
    model = ComposedNB(event, prior="laplace", vocabulary_size=40)
    for x, y in stream():
        model.learn_one(x, y)
    parameters = ScoringParameters(event, "laplace", 1.0, 40.0)
    counts, words = model.counts(), model._store.words()
    order = [model._labels.ids[label] for label in model.classes_]
    table = counts.tokens.toarray()[:, order]
    totals = table.sum(axis=0)
    for x, y in stream()[::7]:
        own = np.array([label == y for label in model.classes_])
        rows, f = [words.index(word) for word in x], np.array(list(x.values()))
        length = f.sum()
        numerators = log_numerators(
            table[rows],
            table[rows].sum(axis=1)[:, None],
            parameters,
            own * f[:, None],
            ~own * f[:, None],
        )
        denominators = log_denominators(
            totals, totals.sum(), parameters, own * length, ~own * length
        )
        priors = log_priors(counts.class_documents[order] - own, len(order), parameters)
        found = priors + f @ (numerators + denominators)
        model.unlearn_one(x, y)
        expected = list(model.joint_log_likelihood_one(x).values())
        model.learn_one(x, y)
        assert found.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-10)


def test_one_versus_all_is_the_sum_of_the_other_two() -> None:
    rng = np.random.default_rng(1)
    of_class = rng.integers(0, 9, size=(5, 3)).astype(float)
    one, rest, both = (
        log_counts(
            of_class, of_class.sum(axis=1)[:, None], 0.5, ScoringParameters(e, "laplace", 1, 1)
        )
        for e in EVENTS
    )
    np.testing.assert_allclose(one + rest, both)
    assert one[0, 0] == pytest.approx(math.log(of_class[0, 0] + 0.5))


def test_classes_without_documents_have_no_prior() -> None:
    parameters = ScoringParameters("one-versus-all", "empirical", 1.0, 1.0)
    assert log_priors(np.array([0.0, 5.0]), 1, parameters).tolist() == [0.0, 0.0]
