"""Quantities beside a text: close numbers share a token, in Python, frames and files."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

from streamnb import MNB, InputError, Tokenizer


def bin_of(value: Any) -> str:
    """Return the token of a number beside a text."""
    *found, word = Tokenizer(fields=("price",), numbers=("price",))(
        {"text": "ring", "price": value}
    )
    assert word == "ring"
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("values", "token"),
    [
        ([8, 9.99, "11.9", 11, np.float32(8.5), np.int8(8)], "price=8..12"),
        ([12, 15.9], "price=12..16"),
        ([0.75, 0.9], "price=0.75..1"),
        ([-8, -9, "-9e0"], "price=-12..-8"),
        ([0, 0.0, -0.0, False], "price=0"),
        ([True, 1], "price=1..1.5"),
        ([None, "", math.nan], ""),
    ],
)
def test_close_numbers_share_a_token(values: list[Any], token: str) -> None:
    assert {bin_of(value) for value in values} == {token}


def test_each_number_is_in_its_bin() -> None:
    generator = random.Random(5)
    for _ in range(2_000):
        number = generator.choice((-1, 1)) * 2.0 ** generator.uniform(-60, 60)
        low, high = map(float, bin_of(number).removeprefix("price=").split(".."))
        slack = 1e-5 * abs(number)  # six digits are written
        assert low - slack <= number <= high + slack
        assert sorted((high / low, low / high))[1] < 1.51


@pytest.mark.parametrize("value", ["cheap", math.inf, "-inf", [1], 2**2_000])
def test_values_that_are_no_numbers_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match=r"'price' must be a finite number, .* leave it out of"):
        bin_of(value)


def test_a_model_learns_from_numbers_beside_a_text() -> None:
    """In river's loop, in a frame and from a file, a number decides where the words say nothing."""
    tokenizer = Tokenizer(fields=("price",), numbers=("price",))
    rows = [{"text": "gold ring", "price": 9 + at / 10} for at in range(20)]
    rows += [{"text": "gold ring", "price": 900 + 9 * at} for at in range(20)]
    labels = 20 * ["fake"] + 20 * ["real"]
    one, frame = MNB(tokenizer=tokenizer), MNB(tokenizer=tokenizer)
    for row, label in zip(rows, labels, strict=True):
        one.learn_one(row, label)
    frame.learn_many(pd.DataFrame(rows), labels)
    assert frame.to_bytes() == one.to_bytes()
    again = MNB.from_bytes(one.to_bytes())
    for price, label in [(8.2, "fake"), ("10", "fake"), (1_000, "real")]:
        assert again.predict_one({"text": "gold ring", "price": price}) == label
    assert "price=8..12" in again.explain_one(rows[0]).in_words().words
