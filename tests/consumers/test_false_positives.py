"""False positives with the default settings, for any share of spam."""

from __future__ import annotations

import json
import math
import random
from typing import Any

import pytest

from streamnb.datasets.lines import read_lines
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.pipeline.threshold import FalsePositiveBound
from support.data import require_data
from support.profiles import also_in_soak


@pytest.mark.soak
@pytest.mark.parametrize(
    ("kind", "name"),
    [("sms", "sms_spam"), ("sms", "sms_spam_de"), ("sms", "sms_spam_hi"),
     ("spam", "spamassassin"), ("spam", "enron_spam")],
)  # fmt: skip
def test_few_false_positives_for_any_share_of_spam(kind: str, name: str) -> None:
    """Like `make flagship ARGS=--ham-lost`, with other streams of the same shares."""
    from benchmarks import flagship

    path = require_data(f"text/{name}.jsonl.xz")
    messages = [(line.raw, json.loads(line.text)["label"] == "spam") for line in read_lines(path)]
    for share, stream in flagship.at_shares(messages, seed=7).items():
        ham = sum(not is_spam for _, is_spam in stream)
        lost, _ = flagship.lost_and_missed(kind, stream, Settings())
        assert lost <= 0.01 * ham + flagship.AT_FIRST, (name, share, lost, ham)


@pytest.mark.parametrize("target", [0.01, 0.1])
@pytest.mark.parametrize("seed", also_in_soak([0], [1, 2]))
def test_target_holds_in_the_long_run_for_any_scores(target: float, seed: int) -> None:
    """Scores drift and jump, and label noise below the target puts some above any threshold."""
    rng, bound = random.Random(seed), FalsePositiveBound(target, calibrated=True)
    n, lost, highest = 40_000, 0, 0.0
    for place in range(n):
        middle = -3.0 + 4.0 * (place > n // 3) + 2.0 * (place > n // 2) - 6.0 * (place > 0.8 * n)
        odds = 30.0 if rng.random() < target / 3 else rng.gauss(middle, 1.5)
        lost += odds > bound.threshold
        bound.observe(odds, positive=False)
        bound.observe(rng.gauss(3.0, 2.0), positive=True)
        highest = max(highest, bound.threshold)
    assert lost <= target * n + 5 + highest + 1
    assert highest < 12


class CutReference:
    """The cut by its definition: the bins are looked through at every message.

    With m_b the ham that is forecast in bin b of 1/20 nat, m all of it, and E what was lost beyond
    the target: the lowest b / 20 with sum of m_a over a > b at most t m + 1/2, and 1/2 a nat for
    each of E - 5. Every 64 messages all m count 15/16, in parts of 2**-32.
    """

    def __init__(self, target: float) -> None:
        self.target, self.excess, self.seen = target, 0.0, 0
        self.ham: dict[int, int] = {}
        self.all = 0

    def cut(self) -> float:
        """Search all bins."""
        allowed = round(self.target * 2**32) * self.all // 2**32 + 2**31
        few = (b for b in range(401) if sum(m for a, m in self.ham.items() if a > b) <= allowed)
        return next(few) / 20 + max(0.0, self.excess - 5)

    def judge(self, odds: float, pos_label: bool) -> None:
        """Add a message and its label."""
        if not pos_label:
            self.excess = max(0.0, self.excess + (odds > self.cut()) - self.target)
        share = round(2**32 / (1 + math.exp(odds)))
        self.all += share
        place = min(math.ceil(odds * 20), 400)
        if place > 0:
            self.ham[place] = self.ham.get(place, 0) + share
        self.seen += 1
        if self.seen % 64 == 0:
            self.ham = {b: m * 15 // 16 for b, m in self.ham.items()}
            self.all = self.all * 15 // 16


def test_threshold_equals_its_definition_and_survives_a_snapshot() -> None:
    rng, bound, reference = (
        random.Random(5),
        FalsePositiveBound(0.02, calibrated=True),
        CutReference(0.02),
    )
    moved = set()
    for n in range(600):
        odds, pos_label = rng.gauss(0.0, 3.0), rng.random() < 0.3
        assert bound.threshold == pytest.approx(reference.cut(), abs=1e-9)
        moved.add(bound.threshold)
        bound.observe(odds, pos_label)
        reference.judge(odds, pos_label)
        if n % 97 == 0:
            again = FalsePositiveBound(0.02, calibrated=True)
            again.restore(json.loads(json.dumps(bound.to_json())))
            assert (again.threshold, again.to_json()) == (bound.threshold, bound.to_json())
            bound = again
    assert len(moved) > 20


def test_threshold_rises_with_the_share_of_spam() -> None:
    """The threshold follows the forecast, without a negative label."""
    cuts = []
    for share in (0.1, 0.5, 0.9):
        rng, bound = random.Random(2), FalsePositiveBound(0.01, calibrated=True)
        for _ in range(3_000):
            bound.observe(rng.gauss(4.0, 2.0) if rng.random() < share else -4.0, positive=True)
        cuts.append(bound.threshold)
    assert cuts[0] < cuts[1] < cuts[2]


def test_probabilities_0_and_1_are_accepted() -> None:
    bound = FalsePositiveBound(0.01, calibrated=True)
    for odds in (math.inf, -math.inf, 1e9, -1e9):
        bound.observe(odds, positive=False)
        bound.observe(odds, positive=True)
    again = FalsePositiveBound(0.01, calibrated=True)
    again.restore(json.loads(json.dumps(bound.to_json())))
    assert again.threshold == bound.threshold == 0


def test_corrected_label_changes_the_threshold() -> None:
    bound = FalsePositiveBound(0.02, calibrated=True)
    for _ in range(7):
        bound.add_excess(1)
    assert bound.threshold == pytest.approx(2.0)
    bound.add_excess(-1)
    assert bound.threshold == pytest.approx(1.0)


def test_excess_of_another_target_is_dropped() -> None:
    bound = FalsePositiveBound(0.02, calibrated=True)
    bound.observe(1.0, positive=False)
    bound.add_excess(1000.0)
    again, other = (FalsePositiveBound(target, calibrated=True) for target in (0.02, 0.05))
    again.restore(bound.to_json())
    other.restore(bound.to_json())
    assert again.threshold == bound.threshold > other.threshold


FOLLOWED: list[Any] = [0.02, 0.5, [3, 2**33, [[4, 2**31], [9, 2**30]]]]
WRONG: dict[str, Any] = {
    "a negative cut": -1.0,
    "a text": "1",
    "infinite": float("inf"),
    "no forecast": [0.02, 0.5, 7],
    "negative excess": [0.02, -0.5, None],
    "an age out of range": [0.02, 0.5, [64, 2**33, []]],
    "an age that is no number": [0.02, 0.5, ["3", 2**33, []]],
    "more in the bins than there is": [0.02, 0.5, [3, 7, [[4, 8]]]],
    "a bin out of range": [0.02, 0.5, [3, 2**33, [[401, 8]]]],
    "a bin that is no number": [0.02, 0.5, [3, 2**33, [[4.5, 8]]]],
    "an empty bin": [0.02, 0.5, [3, 2**33, [[4, 0]]]],
    "too much": [0.02, 0.5, [3, 2**63, []]],
    "too few fields": [0.02, 0.5, [3, 2**33]],
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_invalid_snapshot_is_rejected_without_effect(wrong: Any) -> None:
    bound = FalsePositiveBound(0.02, calibrated=True)
    bound.restore([[], [], FOLLOWED])
    before = bound.to_json()
    assert before == [[], [], FOLLOWED]
    for state in ([[], [], wrong], [[[0.5, 1]], [], FOLLOWED], [[], [], FOLLOWED, 1.0]):
        with pytest.raises((ValueError, TypeError)):
            bound.restore(state)
        assert bound.to_json() == before
