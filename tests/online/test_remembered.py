"""What a challenger remembers of the messages that it learned, beside a list."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from streamnb.errors import InputError
from streamnb.online.remembered import Remembered

MESSAGES: list[Any] = ["win cash", "see you", "", "\ud800", {"win": 1.0}, {"win": 1, "cash": 2}]


def test_it_is_a_list_from_which_each_message_is_taken_once() -> None:
    rng, remembered, listed = random.Random(4), Remembered(), []
    for _ in range(2_000):
        pair = (rng.choice(MESSAGES), rng.choice(["ham", "spam"]))
        if rng.random() < 0.5:
            remembered.add(*pair)
            listed.append(pair)
        else:
            assert remembered.take(*pair) is (pair in listed)
            if pair in listed:
                listed.remove(pair)
        assert len(remembered) == len(listed)
    again = Remembered.from_json(json.loads(json.dumps(remembered.to_json())))
    assert (again.to_json(), len(again)) == (remembered.to_json(), len(listed))
    for pair in listed:
        assert again.take(*pair)
    assert not any(again.take(x, y) for x in MESSAGES for y in ("ham", "spam"))


def test_the_order_of_words_and_of_messages_says_nothing() -> None:
    one, other = Remembered(), Remembered()
    one.add({"win": 1, "cash": 2}, "spam")
    one.add("see you", "ham")
    other.add("see you", "ham")
    other.add({"cash": 2, "win": 1}, "spam")
    assert one.to_json() == other.to_json()
    assert one.to_json()["digests"] == "KfdTz2yP3FqwJBdToGhKIg=="  # in every process, for good


def test_past_its_bound_it_takes_every_message_for_one_of_them() -> None:
    remembered = Remembered(most=2)
    for message in ("a", "b"):
        remembered.add(message, "ham")
    assert not remembered.is_full
    assert not remembered.take("c", "ham")
    remembered.add("c", "ham")
    assert remembered.is_full
    assert len(remembered) == 0
    again = Remembered.from_json(remembered.to_json())
    again.add("d", "ham")
    for each in (remembered, again):
        assert each.take("never", "ham")
        assert each.is_full


@pytest.mark.parametrize(
    "state",
    [
        {"most": 1, "digests": "AAAAAAAAAAAAAAAAAAAAAA=="},  # two of at most one
        {"most": 9, "digests": "AAAA"},  # three bytes
        {"most": 9, "digests": "?"},
        {"most": 0, "digests": None},
        {"most": 9},
        {"most": 9, "digests": 5},
    ],
)
def test_other_states_are_refused(state: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, InputError)):
        Remembered.from_json(state)
