"""A model file holds the state of the caller's program, at the same moment as the model."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import streamnb
from streamnb.cascade import Cascade
from streamnb.challenger import Challenger
from streamnb.errors import InputError, ModelFileError
from streamnb.model.user_state import MOST_BYTES
from support.files import header_of, small, with_header

OFFSETS = {"sms-0": 17, "sms-1": 0}


def labels() -> streamnb.MultiLabelNB:
    model = streamnb.MultiLabelNB()
    model.learn_one("wheat prices", {"wheat"})
    return model


KINDS: dict[str, Any] = {
    "MNB": lambda: small("MNB"),
    "HOVA": lambda: small("HOVA"),
    "OnlineNB": lambda: small("OnlineNB"),
    "MultiLabelNB": labels,
    "Challenger": lambda: Challenger(small("MNB")),
    "Cascade": lambda: Cascade(small("OnlineNB"), agreement=0.9),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_comes_back_with_the_model(kind: str, path: Path) -> None:
    model = KINDS[kind]()
    plain = model.to_bytes()
    model.save(path, state=OFFSETS)
    loaded = type(model).load(path)
    assert loaded.loaded_state == OFFSETS
    assert loaded.to_bytes() == plain == model.to_bytes()  # the next file has its own state
    assert loaded.to_bytes(OFFSETS) == model.to_bytes(dict(reversed(OFFSETS.items())))
    assert type(model).from_bytes(model.to_bytes(OFFSETS)).loaded_state == OFFSETS
    assert type(model).from_bytes(plain).loaded_state == {}


def test_begin_bytes_holds_the_state_of_its_moment() -> None:
    model, state = small("MNB"), dict(OFFSETS)
    expected = model.to_bytes(state)
    complete = model.begin_bytes(state)
    state["sms-0"] = 18
    model.learn_one({"win": 1}, "spam")
    assert complete() == expected


def test_the_returned_state_is_a_copy() -> None:
    loaded = streamnb.MNB.from_bytes(small("MNB").to_bytes(OFFSETS))
    loaded.loaded_state["sms-0"] = 0
    loaded.learn_one("win", "spam")
    assert loaded.loaded_state == OFFSETS


def test_copies_and_pickles_have_no_state() -> None:
    loaded = streamnb.MNB.from_bytes(small("MNB").to_bytes(OFFSETS))
    assert pickle.dumps(loaded) == pickle.dumps(streamnb.MNB.from_bytes(loaded.to_bytes()))
    for copied in (pickle.loads(pickle.dumps(loaded)), copy.deepcopy(loaded), loaded.clone()):
        assert copied.loaded_state == {}


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"": None, "é\ud800": "\x00", "flags": [True, False, []], "nested": {"a": {"b": 1.5}}},
        {"least": -(2**63), "most": 2**63 - 1, "tiny": 5e-324, "minus": -0.0},
        Counter({"sms-0": 3}),
    ],
)
def test_values_of_json_come_back_equal(state: Any) -> None:
    found = streamnb.MNB.from_bytes(small("MNB").to_bytes(state)).loaded_state
    assert found == state
    assert {k: repr(v) for k, v in found.items()} == {k: repr(v) for k, v in state.items()}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return {"a": value}


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ([("a", 1)], "the state must be a mapping"),
        ("a", "the state must be a mapping"),
        ({("sms", 0): 17}, "a key of state must be a text, not tuple"),
        ({0: 17}, "use '0'"),
        ({"a": {"b": {1: 2}}}, r"a key of state\['a'\]\['b'\]"),
        ({"a": float("nan")}, "a finite float"),
        ({"a": 2**63}, "64 bits"),
        ({"a": 10**5000}, "64 bits"),
        ({"a": (1, 2)}, "not tuple"),
        ({"a": b"x"}, "not bytes"),
        ({"a": [1, {2}]}, r"state\['a'\]\[1\]"),
        ({"a": np.int64(3)}, "not int64"),
        (deep(17), "16 levels"),
        ({"a": CYCLE}, "16 levels"),
        ({"a": "x" * MOST_BYTES}, f"a model file holds {MOST_BYTES}"),
    ],
)
@pytest.mark.parametrize("kind", ["MNB", "Challenger", "Cascade"])
def test_other_values_are_refused_and_the_file_remains(
    kind: str, state: Any, message: str, path: Path
) -> None:
    model = KINDS[kind]()
    model.save(path, state=OFFSETS)
    before = path.read_bytes()
    with pytest.raises(InputError, match=message):
        model.save(path, state=state)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


def test_the_largest_state_is_saved_and_loaded() -> None:
    state = {"a": "x" * (MOST_BYTES - len('{"a":""}'))}
    assert streamnb.MNB.from_bytes(small("MNB").to_bytes(state)).loaded_state == state
    assert streamnb.MNB.from_bytes(small("MNB").to_bytes(deep(15))).loaded_state == deep(15)


@pytest.mark.parametrize("forged", [[], "a", {"a": 2**63}, {"a": 1e400}, deep(40)])
def test_forged_states_are_refused(forged: Any) -> None:
    whole = small("MNB").to_bytes(OFFSETS)
    header = {**header_of(whole), "user_state": forged}
    with pytest.raises(ModelFileError):
        streamnb.MNB.from_bytes(with_header(whole, json.dumps(header).encode()))
