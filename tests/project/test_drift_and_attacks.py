"""The programs of `make drift` and `make attacks`: what their tables say of known models."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb import evaluation

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def drift() -> Any:
    import bench_drift

    return bench_drift


def attacks() -> Any:
    import bench_attacks

    return bench_attacks


def test_streams_change_where_they_say() -> None:
    concepts = [lambda at: (at, "a"), lambda at: (at, "b")]
    found = {each.name: each for each in drift().mixed("s", concepts, 1200, {})}
    labels = {name: "".join(y for _, y in each.pairs) for name, each in found.items()}
    assert labels["s, no drift"] == "a" * 1200
    assert labels["s, abrupt"] == "a" * 600 + "b" * 600
    assert labels["s, recurring"] == ("a" * 300 + "b" * 300) * 2
    gradual = labels["s, gradual"]
    assert gradual[:400] == "a" * 400
    assert gradual[800:] == "b" * 400
    assert 0 < gradual[400:500].count("b") < 25 < 75 < gradual[700:800].count("b")
    assert [each.changes for each in found.values()] == [(), (600,), (400,), (300, 600, 900)]


def test_the_row_of_a_model_is_what_an_evaluation_says() -> None:
    pairs = [(("win cash", "see you")[n % 2], "ab"[(n + n // 300) % 2]) for n in range(600)]
    found = drift().outcome(streamnb.MNB(), pairs)
    result = evaluation.prequential(streamnb.MNB(), pairs, drift="adwin")["MNB"]
    right = result.cumulative.accuracy * (len(pairs) - result.n_unanswered)
    assert len(pairs) - sum(found.wrong) == pytest.approx(right)
    assert len(found.alarms) == result.n_alarms > 0
    name, error, behind, delays, false, _ = drift().row("MNB", found, (300,))
    assert (name, error) == ("MNB", f"{sum(found.wrong) / 6:.2f}")
    assert behind == f"{sum(found.wrong[300:]) / 3:.2f}"
    assert delays == str(next(each for each in found.alarms if each >= 300) - 300)
    assert false == "0"
    quiet = drift().Outcome([False] * 10, [3], 1.0)
    assert drift().row("x", quiet, ()) == ("x", "0.00", "", "", "1", "1")


class Parrot:
    """Says what it learned last."""

    memory_bytes = 5

    def __init__(self) -> None:
        self.last: str | None = None

    def predict_one(self, x: str) -> str | None:
        return self.last

    def learn_one(self, x: str, y: str) -> None:
        self.last = y


def test_shares_are_of_the_collections_own_messages_by_their_true_labels() -> None:
    of = attacks()
    event = of.Event
    before = [event("x", "ham", "ham")]
    behind = [
        event("x", "ham", "ham"),  # right
        event("y", "ham", None, of.ATTACKER),  # the first that it may
        event("x", "ham", "spam", of.ATTACKER),  # missed
        event("x", "spam", None, of.ATTACKER),  # learned after an hour only
        event("x", "spam", "spam"),  # missed
        event("x", "ham", "ham"),  # lost
    ]
    free = of.outcome(Parrot(), before, behind, of.LabelRates())
    assert (free.ham_lost, free.spam_missed, free.refused, free.memory) == (0.5, 0.5, 0, 5)
    bounded = of.outcome(Parrot(), before, behind, of.LabelRates(1.0))
    assert (bounded.ham_lost, bounded.spam_missed, bounded.refused) == (0.5, 1.0, 2)


def test_attacks_leave_the_collections_messages_as_they_are() -> None:
    of = attacks()
    stream = [of.Event(f"m{n}", ("ham", "spam")[n % 4 == 0], "") for n in range(40)]
    stream = [of.dataclasses.replace(each, truth=each.label) for each in stream]
    for name, attack in of.ATTACKS.items():
        events = list(attack(stream, random.Random(1)))
        own = [each for each in events if each.truth is not None]
        assert [(each.text, each.truth) for each in own] == [(e.text, e.truth) for e in stream]
        changed = sum(each.label != each.truth for each in own)
        assert (changed > 0) is ("% of the spam" in name), name
        assert (len(events) > len(own)) is ("spam called ham" not in name and name != "no attack")


def test_every_bounded_model_can_be_made() -> None:
    names = [name for name, make, _ in attacks().contestants() if make() is not None]
    assert names[:2] == ["MNB", "MNB, bounded"]
    bounded = {name: make for name, make, _ in attacks().contestants()}["OnlineNB, bounded"]()
    usual = streamnb.OnlineNB().tokenizer or streamnb.OnlineNB.default_tokenizer
    assert bounded.tokenizer.native().tokens("Win €5!") == usual.native().tokens("Win €5!")
