"""Odd inputs: numbers, words, messages and labels that a model learns or rejects entirely."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from streamnb.errors import InputError, NotLearnedError, StreamNBError
from support.drawn.messages import LABELS, WORDS, Stream, build, check_sane

# --- anything goes in -----------------------------------------------------------------------------

odd_numbers = st.one_of(
    st.floats(),
    st.floats(width=32).map(np.float32),
    st.integers(),
    st.sampled_from(
        [10**400, -1, 0, -0.0, math.nan, math.inf, -math.inf, 1.7e308, 5e-324, True, False]
    ),
    st.sampled_from([None, "1", "", b"1", 1j, (), [1], object(), type]),
    st.sampled_from([Decimal("1.5"), Decimal("NaN"), Decimal("-2"), Decimal("Infinity")]),
    st.sampled_from([Fraction(1, 3), Fraction(-1, 3)]),
    st.sampled_from([np.int64(2), np.uint8(3), np.bool_(True), np.float64(-1), np.float64("nan")]),
    st.sampled_from([np.array(2.0), np.array([1.0, 2.0]), np.datetime64("2020-01-01")]),
)
odd_keys = st.one_of(
    st.text(),
    st.text(alphabet=st.characters(categories=["Cs"]), min_size=1),
    st.sampled_from([*WORDS, "", "\x00", " ", None, True, 0, 1, 1.0, math.nan, math.inf, b"", 1j]),
    # Decimal(1) and np.int64(1) have equal hashes but cannot be compared: no mapping has both.
    st.sampled_from([(), ("a",), ("a", ("b", 1)), frozenset({"a"}), Decimal(2), np.int64(1), int]),
    st.tuples(st.text(), st.text()),
    st.floats(),
    st.integers(),
)
odd_messages = st.one_of(
    st.text(),
    st.text(alphabet=st.characters(categories=["Cs", "Mn", "Nd", "Lu"])),
    st.dictionaries(odd_keys, odd_numbers, max_size=4),
    st.dictionaries(st.sampled_from(WORDS), odd_numbers, max_size=4),
    st.sampled_from([None, 1, 1.5, b"bytes", ["a"], ("a", "b"), {"a"}, object(), range(3)]),
)
odd_labels = st.one_of(
    st.sampled_from([*LABELS, None, True, False, 0, 1, 1.0, -0.0, math.nan, "", b"b", ("a", 1)]),
    st.sampled_from([np.str_("ham"), np.int64(1), np.bool_(True), np.float64(0.5), frozenset()]),
    st.sampled_from([[], {}, set(), ([],), object(), Decimal(1), Fraction(1, 2), 10**30, 1j]),
    st.text(alphabet=st.characters(categories=["Cs", "L"])),
)


def assert_documented(error: StreamNBError) -> None:
    """Each rejection raises a documented error with a message."""
    assert isinstance(error, InputError | NotLearnedError)
    assert str(error)


def state(model: Any) -> bytes:
    """Return the file's bytes, or a pickle if a label has a type that files do not support."""
    try:
        return bytes(model.to_bytes())
    except InputError:
        return pickle.dumps(model)


def learn_or_refuse(name: str, stream: Stream, x: Any, y: Any, w: Any) -> None:
    try:
        model = build(name, stream)
    except StreamNBError:
        return  # an example whose stream is itself odd
    before = state(model)
    try:
        model.learn_one(x, y, w)
    except StreamNBError as error:
        assert_documented(error)
        assert state(model) == before
    else:
        check_sane(model, {"a": 1})
        check_sane(model, x)
    for method in (
        model.predict_one,
        model.predict_proba_one,
        model.joint_log_likelihood_one,
        model.explain_one,
    ):
        before = state(model)
        try:
            method(x)
        except StreamNBError as error:
            assert_documented(error)
        assert state(model) == before
    try:
        model.unlearn_one(x, y, w)
    except StreamNBError:
        assert state(model) == before
