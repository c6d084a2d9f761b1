"""Merging equals learning the messages of the other model."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb import MNB, Tokenizer
from streamnb.errors import InputError
from support.drawn.messages import Stream, build, refreshed_bytes, streams
from support.models import EXACT, INDEPENDENT, INDEXED, structures


@structures(INDEPENDENT)
@given(parts=st.lists(streams, min_size=1, max_size=4), order=st.randoms(use_true_random=False))
def test_merge_in_any_order_is_learning_the_concatenation(
    name: str, parts: list[Stream], order: Any
) -> None:
    models = [build(name, part) for part in parts]
    order.shuffle(models)
    merged = models[0]
    for model in models[1:]:
        before = model.to_bytes()
        merged.merge(model)
        assert model.to_bytes() == before
    together = build(name, [document for part in parts for document in part])
    assert merged.to_bytes() == together.to_bytes()


@structures(INDEXED)
@given(first=streams, second=streams)
def test_merge_of_hidden_models_is_learning_one_stream_then_the_other(
    name: str, first: Stream, second: Stream
) -> None:
    merged, other = build(name, first), build(name, second)
    merged.merge(other)
    together = build(name, first + second)
    assert refreshed_bytes(merged) == refreshed_bytes(together)
    for x, _, _ in second:
        expected = together.joint_log_likelihood_one(x)
        assert merged.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-9)


@structures(INDEXED)
@given(first=streams, second=streams)
def test_merge_of_hidden_models_scores_alike_in_either_order(
    name: str, first: Stream, second: Stream
) -> None:
    one, two = build(name, first), build(name, second)
    swapped = copy.deepcopy(two)
    swapped.merge(one)
    one.merge(two)
    one.refresh()
    swapped.refresh()
    for x, _, _ in first + second:
        expected = one.joint_log_likelihood_one(x)
        assert swapped.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-9)


@structures()
@given(stream=streams)
def test_merging_an_empty_model_or_into_one(name: str, stream: Stream) -> None:
    model = build(name, stream)
    before = refreshed_bytes(model)
    model.merge(build(name, []))
    assert refreshed_bytes(model) == before
    empty = build(name, [])
    empty.merge(model)
    assert refreshed_bytes(empty) == before


@structures(EXACT)
@given(stream=streams)
def test_merging_a_model_with_itself_doubles_it(name: str, stream: Stream) -> None:
    model = build(name, stream)
    twice = build(name, stream + stream)
    model.merge(model)
    assert refreshed_bytes(model) == refreshed_bytes(twice)


@pytest.mark.parametrize(
    ("mine", "other", "reason"),
    [
        ({}, {"tokenizer": Tokenizer(lowercase=False)}, "different tokenizers"),
        ({"tokenizer": str.split}, {}, "different tokenizers"),
        ({"term_weighting": "presence"}, {"term_weighting": "log"}, "different term_weighting"),
        ({"half_life": 9.0}, {"half_life": 8.0}, "another half_life or window"),
        ({"window_size": 9}, {"window_size": 8}, "another half_life or window_size"),
    ],
)
def test_models_that_count_differently_do_not_merge(
    mine: dict[str, Any], other: dict[str, Any], reason: str
) -> None:
    model, another = MNB(**mine), MNB(**other)
    for each in (model, another):
        each.learn_one("Win a prize", "spam")
    before = model._store.snapshot(True)
    for change in (model.merge, model.subtract):
        with pytest.raises(InputError, match=reason):
            change(another)
    assert model._store.snapshot(True) == before
