"""Any input is either learned or rejected as a whole."""

from __future__ import annotations

import contextlib
import math
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from streamnb.errors import StreamNBError
from support.drawn.messages import LABELS, Stream, build, check_sane, messages, streams
from support.drawn.odd import learn_or_refuse, odd_labels, odd_messages, odd_numbers, state
from support.models import matrix, structures
from support.profiles import examples


@structures()
@examples(80)
@given(stream=streams, x=odd_messages, y=st.sampled_from(LABELS), w=st.just(1.0))
@example(stream=[], x={"a": 1.0, "b": math.nan}, y="new", w=1.0)
@example(stream=[], x={"a": 1.0, "b": -1}, y="new", w=1.0)
@example(stream=[], x={"a": 1.0, "b": "many"}, y="new", w=1.0)
@example(stream=[], x={"a": 1.0, None: None}, y="new", w=1.0)
@example(stream=[], x={"a": 10**400}, y="new", w=1.0)
@example(stream=[], x={"a": 1.7e308, "b": 1.7e308}, y="new", w=1.0)
@example(stream=[({"a": 1.7e308}, "ham", 1.0)], x={"a": 1.7e308}, y="ham", w=1.0)
@example(stream=[], x={"a": 1.7e308}, y="ham", w=1e308)
@example(stream=[], x={"a": 5e-324}, y="ham", w=5e-324)
def test_any_message_learns_or_is_refused_whole(
    name: str, stream: Stream, x: Any, y: Any, w: Any
) -> None:
    learn_or_refuse(name, stream, x, y, w)


@matrix()  # sums of tiny weights differ by formula
@examples(40)
@given(stream=streams, x=messages, y=st.sampled_from(LABELS), w=odd_numbers)
@example(stream=[], x={"a": 1}, y="new", w=math.nan)
@example(stream=[], x={"a": 1}, y="new", w=-1.0)
@example(stream=[], x={"a": 1}, y="new", w=0)
@example(stream=[], x={"new": 1}, y="ham", w=math.inf)
@example(stream=[({"a": 1, "b": 1}, "spam", 1.0)], x={"a": 1}, y="spam", w=999_999_999_999_999)
@example(stream=[({}, "ham", 1.0)], x={"a": 1}, y="spam", w=5e-324)
@example(stream=[({"a": 1}, "ham", 1e-17), ({}, "ham", 1.0)], x={"a": 1}, y="spam", w=1e-17)
def test_any_weight_learns_or_is_refused_whole(
    name: str, stream: Stream, x: Any, y: Any, w: Any
) -> None:
    learn_or_refuse(name, stream, x, y, w)


@structures()
@examples(60)
@given(stream=streams, x=messages, y=odd_labels)
def test_any_label_learns_or_is_refused_whole(name: str, stream: Stream, x: Any, y: Any) -> None:
    learn_or_refuse(name, stream, x, y, 1.0)


@structures()
@examples(60)
@given(
    stream=streams,
    X=st.lists(st.one_of(messages, odd_messages), max_size=4),
    y=st.lists(st.one_of(st.sampled_from(LABELS), odd_labels), max_size=4),
    threshold=st.sampled_from([None, "auto"]),
)
@example(stream=[], X=["one", "two"], y=["ham", []], threshold=None)
@example(stream=[], X=["one", "two"], y=["ham", None], threshold="auto")
@example(stream=[], X=["one", 2], y=["ham", "spam"], threshold="auto")
def test_any_batch_learns_or_is_refused_whole(
    name: str, stream: Stream, X: list[Any], y: list[Any], threshold: str | None
) -> None:
    """A batch with one invalid message changes nothing."""
    model = build(name, stream, threshold=threshold)
    before = state(model)
    try:
        model.learn_many(X, y)
    except StreamNBError:
        assert state(model) == before
    else:
        check_sane(model, {"a": 1})
    before = state(model)
    for method in (model.predict_many, model.predict_proba_many, model.joint_log_likelihood_many):
        with contextlib.suppress(StreamNBError):
            assert len(method(X)) == len(X)
        assert state(model) == before
