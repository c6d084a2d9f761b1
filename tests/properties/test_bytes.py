"""A file restores the state, and its bytes depend on the state alone."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from streamnb.model.compression import decompressed
from support.drawn.messages import Stream, build, messages, streams
from support.models import INDEPENDENT, INDEXED, ROUNDED, structures


@structures()
@given(stream=streams, x=messages)
def test_load_gives_back_what_save_wrote(name: str, stream: Stream, x: dict[Any, int]) -> None:
    model = build(name, stream, alpha=0.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        for loaded in (streamnb.load(path), getattr(streamnb, name).load(path)):
            assert type(loaded) is type(model)
            assert loaded._get_params() == model._get_params()
            assert loaded.to_bytes() == model.to_bytes()
            expected = model.joint_log_likelihood_one(x)
            if name in (*INDEXED, *ROUNDED):
                # Classes are numbered by arrival, in a file by label: statistics that sum over
                # three or more classes add in another order.
                expected = pytest.approx(expected, rel=1e-12, abs=1e-12)
            assert loaded.joint_log_likelihood_one(x) == expected
            loaded.save(path)
            assert decompressed(path.read_bytes()) == model.to_bytes()


@structures(INDEPENDENT)
@given(stream=streams, order=st.randoms(use_true_random=False))
def test_bytes_do_not_depend_on_the_order_of_arrival(name: str, stream: Stream, order: Any) -> None:
    shuffled = [
        ({word: x[word] for word in order.sample(list(x), len(x))}, y, w)
        for x, y, w in order.sample(stream, len(stream))
    ]
    assert build(name, shuffled).to_bytes() == build(name, stream).to_bytes()


@structures()
@given(stream=streams, order=st.randoms(use_true_random=False))
def test_bytes_do_not_depend_on_the_order_of_words(name: str, stream: Stream, order: Any) -> None:
    shuffled = [
        ({word: x[word] for word in order.sample(list(x), len(x))}, y, w) for x, y, w in stream
    ]
    assert build(name, shuffled).to_bytes() == build(name, stream).to_bytes()
