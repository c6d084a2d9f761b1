"""Messages next to one with a weight so large that sums are rounded."""

from __future__ import annotations

from typing import Any

import pytest

import streamnb
from streamnb import GRSMNB, HMNB, HNB
from streamnb.errors import NotLearnedError
from support.drawn.messages import refreshed_bytes

Words = dict[str, float]
LIGHT: Words = {"a": 1, "b": 1}


@pytest.mark.parametrize("model", [GRSMNB, HMNB, HNB])
@pytest.mark.parametrize("heavy", [{"a": 1}, LIGHT, {}])
@pytest.mark.parametrize("weight", [3.0, 999_999_999_999_999, 2.0**53 - 3])
def test_whole_weights_are_unlearned_exactly(model: Any, heavy: Words, weight: float) -> None:
    one = model()
    for x, y in (({}, "ham"), ({}, "spam"), (LIGHT, "spam")):
        one.learn_one(x, y)
    before = refreshed_bytes(one)
    one.learn_one(heavy, "spam", weight)
    one.unlearn_one(heavy, "spam", weight)
    assert refreshed_bytes(one) == before


@pytest.mark.parametrize("model", [GRSMNB, HMNB, HNB])
@pytest.mark.parametrize("heavy", [{"a": 1}, LIGHT, {}])
@pytest.mark.parametrize("weights", [(0.5, 1e15), (0.01, 2e15), (1e-6, 1e12)])
def test_what_would_take_the_counts_of_others_along_is_refused(
    model: Any, heavy: Words, weights: tuple[float, float]
) -> None:
    light, much = weights
    one = model()
    one.learn_one({}, "ham")
    one.learn_one(LIGHT, "spam", light)
    one.learn_one(heavy, "spam", much)
    before = one.to_bytes()
    with pytest.raises(NotLearnedError, match="next to so large a weight"):
        one.unlearn_one(heavy, "spam", much)
    assert one.to_bytes() == before
    assert one.predict_one("a b") == "spam"


@pytest.mark.parametrize("name", ["MNB", "GRSMNB", "HMNB", "OVA"])
def test_a_window_counts_its_messages_after_one_of_any_weight(name: str) -> None:
    least = 2.0**-20
    stream: list[tuple[Words, str, float]] = [
        ({"a": 1, "b": 2}, "spam", least),
        ({"a": 1}, "spam", 1e12),
        ({}, "spam", 1.0),
        ({"c": 1}, "ham", 1.0),
        ({"a": 2, "c": 1}, "spam", least),
        ({"a": 1, "c": 3}, "spam", 3 * least),
        ({"c": 2}, "spam", 2.0**40),
        ({"b": 1}, "ham", 1.0),
        ({"a": 1}, "ham", 1.0),
        ({"b": 1}, "ham", 1.0),
    ]
    model = getattr(streamnb, name)(window_size=3)
    for at, (x, y, weight) in enumerate(stream):
        model.learn_one(x, y, weight)
        fresh = getattr(streamnb, name)(window_size=3)
        for message in stream[max(0, at - 2) : at + 1]:
            fresh.learn_one(*message)
        for each in (model, fresh):
            each.refresh()
        assert model.to_bytes() == fresh.to_bytes()
