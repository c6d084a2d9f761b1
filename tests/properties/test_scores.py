"""Scores are those of the reference, probabilities a distribution, explanations sums."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import streamnb
from references.documents import Documents
from support.drawn.messages import (
    LABELS,
    WORDS,
    Stream,
    any_parameters,
    build,
    check_sane,
    integer_weights,
    messages,
    queries,
    streams,
)
from support.models import ALL_MODELS, make_reference, matrix
from support.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Mapping


@matrix(ALL_MODELS)
@given(stream=streams, x=queries, parameters=any_parameters)
@example(stream=[({"a": 1}, "ham", 1.0)], x={"a": 1}, parameters={"prior": "empirical"})
@example(stream=[({}, "ham", 1.0)], x={"a": 1}, parameters={})
@example(stream=[({}, "ham", 1.0), ({}, "spam", 1.0)], x={}, parameters={})
def test_probabilities_are_a_distribution(
    name: str, stream: Stream, x: Mapping[Any, float], parameters: dict[str, Any]
) -> None:
    check_sane(build(name, stream, **parameters), x)


def test_explanation_of_more_unseen_words_than_there_are() -> None:
    """With m known, they take the places of absent words as long as there are any."""
    model = streamnb.BNB(oov="smooth", vocabulary_size=8)
    model.learn_one(dict.fromkeys("abcde", 1), "ham")
    x = dict.fromkeys("vwxyz", 1)
    explanation = model.explain_one(x)
    parts = [explanation.baseline["ham"], *(part["ham"] for part in explanation.words.values())]
    assert len(set(parts[1:])) == 1
    # 5 words absent, each with (1 + 1) / (1 + 2), and 5 present that were never seen.
    expected = 5 * math.log(1 / 3) + 5 * math.log(1 / 3)
    assert math.fsum(parts) == pytest.approx(expected, abs=1e-12)
    assert model.joint_log_likelihood_one(x)["ham"] == pytest.approx(expected, abs=1e-12)


@matrix(ALL_MODELS)
@given(stream=streams, x=queries, parameters=any_parameters, refresh_every=st.sampled_from([1, 5]))
def test_explanation_sums_to_the_score(
    name: str,
    stream: Stream,
    x: dict[Any, float],
    parameters: dict[str, Any],
    refresh_every: int,
) -> None:
    model = build(name, stream, refresh_every=refresh_every, **parameters)
    explanation = model.explain_one(x)
    scores = model.joint_log_likelihood_one(x)
    assert explanation.baseline.keys() == scores.keys()
    present = {word for word, count in x.items() if count > 0}
    # An n-gram is named by its words.
    names = {" ".join(word) if isinstance(word, tuple) else word for word in present}
    assert set(explanation.words) <= names
    for label, score in scores.items():
        parts = [explanation.baseline[label]]
        parts += [contribution[label] for contribution in explanation.words.values()]
        # The counts of a message may be large, and so may the terms that cancel.
        scale = max(1.0, *map(abs, parts), sum(x.values()) / 1e5)
        assert abs(math.fsum(parts) - score) <= 1e-9 * scale


@matrix(ALL_MODELS)
@examples(60)
@given(
    stream=st.lists(
        st.tuples(
            messages,
            st.sampled_from(LABELS),
            # Halves and quarters: what is exact here is exact in any order of adding up.
            st.one_of(integer_weights, st.sampled_from([0.25, 0.5, 1.5, 10.75])),
        ),
        max_size=12,
    ),
    x=st.dictionaries(st.sampled_from([*WORDS, "oov"]), st.integers(0, 5)),
    parameters=any_parameters,
)
@example(stream=[({}, "spam", 1.0), ({"a": 1}, "ham", 1.0)], x={"a": 0, "b": 1}, parameters={})
def test_scores_equal_the_reference(
    name: str, stream: Stream, x: dict[Any, int], parameters: dict[str, Any]
) -> None:
    model = build(name, stream, refresh_every=1, **parameters)
    reference = make_reference(name, **parameters)
    expected = reference.joint_log_likelihood(Documents.from_list(stream), x)
    got = model.joint_log_likelihood_one(x)
    assert got == pytest.approx(expected, abs=1e-9)
