"""Files made to deceive: the checksum is right, the content is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import streamnb
from streamnb.errors import ModelFileError
from support.files import header_of, seal, small, with_header
from support.profiles import also_in_soak

if TYPE_CHECKING:
    from pathlib import Path


def test_sealed_helper_makes_whole_files(path: Path) -> None:
    whole = small("HMNB").to_bytes()
    assert seal(whole, whole[44:]) == whole
    encoded = json.dumps(header_of(whole), sort_keys=True, separators=(",", ":")).encode()
    assert with_header(whole, encoded) == whole


@pytest.mark.parametrize("flip", also_in_soak([0x01, 0x80], [0xFF]), ids=hex)
@pytest.mark.parametrize("name", also_in_soak(["MNB", "HOVA"], ["BNB"]))
def test_altered_and_sealed_again(name: str, flip: int, path: Path) -> None:
    """A forger can write any model, and nothing but a model or a ModelFileError comes of it."""
    whole = small(name).to_bytes()
    for position in range(44, len(whole)):
        body = bytearray(whole[44:])
        body[position - 44] ^= flip
        path.write_bytes(seal(whole, bytes(body)))
        try:
            model = streamnb.load(path)
        except ModelFileError:
            continue
        assert set(model.predict_proba_one({"win": 1})) == set(model.classes_)
        assert streamnb.NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("name", ["MNB", "HOVA"])
def test_truncated_and_sealed_again(name: str, path: Path) -> None:
    whole = small(name).to_bytes()
    for length in range(44, len(whole)):
        path.write_bytes(seal(whole, whole[44:length]))
        with pytest.raises(ModelFileError):
            streamnb.load(path)


HEADERS: dict[str, Any] = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "a list": b"[]",
    "a number": b"1",
    "nested without end": b"[" * 100_000,
    "an object without end": b'{"a":' * 100_000,
    "no model": {"model": None},
    "another class": {"model": "Tokenizer"},
    "a private name": {"model": "__builtins__"},
    "an unhashable model": {"model": []},
    "no parameters": {"parameters": None},
    "a parameter too many": {"parameters": {"evil": 1}},
    "a bad parameter": {"parameters": {"alpha": -1}},
    "a parameter of another type": {"parameters": {"alpha": [1]}},
    "labels missing": {"labels": []},
    "labels twice": {"labels": [["str", "ham"], ["str", "ham"]]},
    "labels of no type": {"labels": [["code", "ham"], ["str", "spam"]]},
    "labels that are no list": {"labels": 3},
    "a label that is a list": {"labels": [["tuple", ["str"]], ["str", "spam"]]},
    "a label nested without end": b'{"labels":' + b'["tuple",' * 5000 + b"1" + b"]" * 5000 + b"}",
    "a label of many digits": {"labels": [["int", "9" * 10_000], ["str", "spam"]]},
}


@pytest.mark.parametrize("title", HEADERS)
@pytest.mark.parametrize("name", ["MNB", "HOVA"])
def test_forged_headers(name: str, title: str, path: Path) -> None:
    whole = small(name).to_bytes()
    change = HEADERS[title]
    if isinstance(change, dict):
        header = header_of(whole)
        parameters = {**header["parameters"], **(change.get("parameters") or {})}
        header |= change
        if isinstance(change.get("parameters"), dict):
            header["parameters"] = parameters
        change = json.dumps(header).encode()
    path.write_bytes(with_header(whole, change))
    with pytest.raises(ModelFileError):
        streamnb.load(path)


@pytest.mark.parametrize("state", [None, 3, [[0, 0]], [[9, 0, 1]], [[0, 10**6, 1]], [["a", 0, 1]]])
def test_forged_thresholds(state: Any, path: Path) -> None:
    model = streamnb.MNB(threshold="auto")
    whole = model.to_bytes()
    header = header_of(whole) | {"threshold": state}
    path.write_bytes(with_header(whole, json.dumps(header).encode()))
    with pytest.raises(ModelFileError):
        streamnb.load(path)
