"""Readiness of a model, and the evidence in a message."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from streamnb import CNB, MNB, OnlineNB
from streamnb.challenger import Challenger
from streamnb.errors import InputError
from streamnb.model.readiness import strength_of

SPAM = [f"claim your prize cash now winner {n}" for n in range(12)]
HAM = [f"minutes of the meeting attached agenda {n}" for n in range(12)]


def trained(model: Any, spam: int = 12, ham: int = 12) -> Any:
    for texts, label, n in ((SPAM, "spam", spam), (HAM, "ham", ham)):
        for each in texts[:n]:
            model.learn_one(each, label)
    return model


def consensus(contributions: list[float]) -> float:
    return max(0.0, sum(contributions) / math.sqrt(0.04 + sum(c * c for c in contributions)))


class TestReadiness:
    def test_needs_messages_of_two_labels(self) -> None:
        for spam, ham, reason in (
            (0, 0, "nothing was learned"),
            (12, 0, "only one label was learned: spam"),
            (12, 9, "ham has 9 of 10 messages"),
            (12, 10, ""),
        ):
            found = trained(MNB(), spam, ham).readiness(10)
            assert (found.ready, found.reason) == (not reason, reason)

    def test_counts_remaining_weights(self) -> None:
        model = trained(MNB())
        for each in HAM[:4]:
            model.unlearn_one(each, "ham")
        assert model.readiness(10).labels == {"ham": 8.0, "spam": 12.0}
        assert not model.readiness(10).ready

    def test_ignores_a_third_label(self) -> None:
        model = trained(MNB())
        model.learn_one("new", "other")
        assert model.readiness(10).ready

    def test_a_challenger_has_the_readiness_of_its_model(self) -> None:
        model = trained(Challenger(OnlineNB()))
        assert model.readiness(10).ready
        assert model.evidence_one(SPAM[0]) == model.model.evidence_one(SPAM[0])

    def test_refuses_an_invalid_number(self) -> None:
        with pytest.raises(InputError, match="least"):
            MNB().readiness(0)


class TestEvidence:
    @pytest.mark.parametrize("model", [MNB, CNB])
    @pytest.mark.parametrize("text", [SPAM[0], HAM[3], "prize of the meeting", "unknown"])
    def test_is_the_consensus_of_the_contributions(self, model: type, text: str) -> None:
        made = trained(model())
        first, second = sorted(made.joint_log_likelihood_one(text).items(), key=lambda i: -i[1])
        parts = made.explain_one(text).words.values()
        expected = consensus([each[first[0]] - each[second[0]] for each in parts])
        assert made.evidence_one(text).strength == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("text", [SPAM[0], HAM[3], "prize of the meeting", "free cash 77"])
    def test_of_an_online_model_has_two_views(self, text: str) -> None:
        model = trained(OnlineNB())
        scores = model.joint_log_likelihood_one(text)
        first, second = sorted(scores, key=lambda label: -scores[label])
        found = model.explain_one(text)
        corrected = {word: each[first] - each[second] for word, each in found.words.items()}
        counts = {
            word: lead - found.corrections[word][first] + found.corrections[word][second]
            if word in found.corrections
            else lead
            for word, lead in corrected.items()
        }
        views = consensus([*counts.values()]), consensus([*corrected.values()]) / math.sqrt(2)
        assert model.evidence_one(text).strength == pytest.approx(max(views), abs=1e-9)

    def test_counts_known_words(self) -> None:
        found = trained(MNB()).evidence_one("prize prize meeting zloty")
        assert (found.words, found.known) == (3, 2)

    def test_is_nothing_without_two_labels(self) -> None:
        assert trained(OnlineNB(), 5, 0).evidence_one(SPAM[0]).strength == 0.0

    def test_small_leads_have_no_strength_even_if_all_words_agree(self) -> None:
        model = OnlineNB(learning_rate=0, bias_rate=0)
        words = " ".join(f"w{n}" for n in range(40))
        for _ in range(50):
            model.learn_one(words, "ham")
            model.learn_one(words, "spam")
        model.learn_one("w1 w2", "ham")
        assert model.evidence_one(words).strength < 1

    def test_does_not_change_the_model(self) -> None:
        model = trained(OnlineNB())
        before = model.to_bytes()
        model.evidence_one(SPAM[0])
        model.readiness()
        assert model.to_bytes() == before

    def test_strength_of_a_share_bounds_random_signs(self) -> None:
        """Hoeffding's inequality, on messages of 30 words with random signs."""
        draw = random.Random(1)
        z = strength_of(0.02)
        values = [draw.uniform(0.5, 3.0) for _ in range(30)]
        above = sum(
            consensus([draw.choice((-1, 1)) * value for value in values]) >= z for _ in range(5000)
        )
        assert above <= 0.02 * 5000
