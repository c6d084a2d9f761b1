"""Requests for labels: the budget, the choice of messages, near-duplicates and a saved budget."""

from __future__ import annotations

import json
import random

import pytest

from streamnb.active import LabelRequester

SHARE, N = 0.02, 6000


def message(number: int) -> str:
    """Return a text that resembles no other one."""
    return f"{random.Random(number).getrandbits(400):x}"


def asked(requester: LabelRequester, probabilities: list[float], first: int = 0) -> list[bool]:
    """Return for each message, by its P(spam), whether its label is requested."""
    return [
        requester.ask(message(number), {"ham": 1 - spam, "spam": spam}, SHARE)
        for number, spam in enumerate(probabilities, first)
    ]


@pytest.mark.parametrize("spam", [0.5, 0.9, 0.999, 1.0])
def test_the_budget_is_kept_whatever_the_confidence(spam: float) -> None:
    requests = asked(LabelRequester(capacity=10.0), [spam] * N)
    # The budget repays the advance of 60 within 6,000 messages, and at most 10 remain unspent.
    assert SHARE * N - 11 <= sum(requests) <= SHARE * N
    assert sum(requests[: N // 2]) <= (SHARE * N + 60) / 2


def test_uncertain_messages_are_requested() -> None:
    generator = random.Random(1)
    probabilities = [generator.choice((0.6, 0.001)) for _ in range(N)]
    requests = asked(LabelRequester(advance=0.0), probabilities)
    uncertain = sum(each for each, spam in zip(requests, probabilities, strict=True) if spam == 0.6)
    assert uncertain > 0.8 * sum(requests) > 0
    assert uncertain < sum(requests)  # some confident messages, too


def test_the_advance_is_spent_early_and_repaid() -> None:
    early = {
        advance: sum(asked(LabelRequester(advance=advance), [0.5] * 500)) for advance in (0.0, 40.0)
    }
    assert early[0.0] <= SHARE * 500
    # Half of the credit repays the advance.
    assert 40 <= early[40.0] <= 40 + SHARE * 500 / 2


def test_near_duplicates_are_skipped_until_forgotten() -> None:
    requester = LabelRequester()
    text, almost = message(1), message(1)[:-3]
    assert requester.ask(text, {}, 1.0, "first")
    assert not any(requester.ask(almost, {}, 1.0) for _ in range(20))
    requester.forget("first")
    assert any(requester.ask(almost, {}, 1.0) for _ in range(20))


def test_a_restored_budget_continues() -> None:
    probabilities = [random.Random(number).random() for number in range(2000)]
    one = LabelRequester()
    asked(one, probabilities[:1000])
    other = LabelRequester()
    other.restore(json.loads(json.dumps(one.to_json())))
    assert asked(one, probabilities[1000:], 1000) == asked(other, probabilities[1000:], 1000)


@pytest.mark.parametrize("state", [[1.0], [1, 0, -1, 0, 0], [float("nan"), 0, 1, 0, 0], ["x"] * 5])
def test_an_invalid_budget_is_refused(state: list[object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        LabelRequester().restore(state)
