"""Calibration and log loss, against a slow reference and scikit-learn."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import feature_extraction, naive_bayes
from sklearn import metrics as sk

from streamnb import OnlineNB, evaluation
from streamnb.errors import InputError
from streamnb.evaluation.calibration import loss_of

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)


def slow_error(pairs, bins):
    """The definition: each bin in turn, in exact edges."""
    total = 0.0
    for place in range(bins):
        last = place == bins - 1
        inside = [(p, y) for p, y in pairs if p * bins >= place and (p * bins < place + 1 or last)]
        if inside:
            sure = sum(p for p, _ in inside) / len(inside)
            share = sum(y for _, y in inside) / len(inside)
            total += len(inside) / len(pairs) * abs(share - sure)
    return total


def error_of(probabilities, outcomes):
    calibration = evaluation.Calibration()
    for probability, outcome in zip(probabilities, outcomes, strict=True):
        calibration.add(probability, outcome)
    return calibration.error()


def stream_of(n, labels, seed=0):
    rng = random.Random(seed)
    for _ in range(n):
        label = rng.choice(labels)
        yield " ".join(2 * rng.choice("abcdefgh" + label[0] * 6) for _ in range(4)), label


def river_mnb():
    return feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()


class TestError:
    @given(PAIRS, st.integers(1, 20))
    def test_equals_the_definition_at_every_prefix(self, pairs, bins):
        calibration = evaluation.Calibration(bins)
        assert calibration.error() is None
        for place, (probability, outcome) in enumerate(pairs, 1):
            calibration.add(probability, outcome)
            expected = slow_error(pairs[:place], bins)
            assert calibration.error() == pytest.approx(expected, abs=1e-12)

    def test_perfect_and_far_too_sure(self):
        rng = random.Random(3)
        shares = [rng.random() for _ in range(20_000)]
        outcomes = [rng.random() < share for share in shares]
        assert error_of(shares, outcomes) < 0.02
        sure = [float(share > 0.5) for share in shares]
        assert 0.2 < error_of(sure, outcomes) < 0.3

    @pytest.mark.parametrize("bins", [0, 2.5, True])
    def test_bins_out_of_range(self, bins):
        with pytest.raises(InputError, match="must be a whole number from 1 on"):
            evaluation.Calibration(bins)

    @pytest.mark.parametrize("wrong", [1.1, -0.1, math.nan])
    def test_no_probability(self, wrong):
        with pytest.raises(InputError, match="is not a probability"):
            evaluation.Calibration().add(wrong, True)

    def test_reliability(self):
        calibration = evaluation.Calibration(10)
        for probability, outcome in [(1.0, True), (0.95, False), (0.12, False)]:
            calibration.add(probability, outcome)
        low, high = calibration.reliability()
        assert low == (pytest.approx(0.12), 0.0, 1)
        assert high == (pytest.approx(0.975), 0.5, 2)


class TestOfAStream:
    @pytest.mark.parametrize("labels", [("ham", "spam"), ("ham", "spam", "news")])
    @pytest.mark.parametrize("make", [river_mnb, OnlineNB])
    def test_equals_probabilities_asked_by_hand(self, labels, make):
        stream, skip, model = list(stream_of(160, labels)), 50, make()
        shares = []
        for x, y in stream:
            shares.append(model.predict_proba_one(x))
            model.learn_one(x, y)
        (result,) = evaluation.prequential(make(), stream, calibration_skip=skip).values()
        if len(labels) == 2:
            sure = [each.get("spam", 0.0) for each in shares]
            right = [y == "spam" for _, y in stream]
        else:
            sure = [max(each.values(), default=0.0) for each in shares]
            right = [
                max(each, key=each.get, default=None) == y
                for each, (_, y) in zip(shares, stream, strict=True)
            ]
        assert result.cumulative.calibration_error == pytest.approx(
            slow_error(list(zip(sure, right, strict=True))[skip:], 15), abs=1e-12
        )
        assert result.calibration_skip == skip
        assert sum(each.messages for each in result.reliability) == len(stream) - skip
        decided = [(each, y) for each, (_, y) in zip(shares, stream, strict=True) if each]
        table = [[each.get(label, 0.0) for label in sorted(labels)] for each, _ in decided]
        expected = sk.log_loss([y for _, y in decided], np.clip(table, 1e-15, 1))
        assert result.cumulative.log_loss == pytest.approx(expected, rel=1e-9)
        window = result.window
        (short,) = evaluation.prequential(make(), stream, window=40).values()
        expected = np.mean([loss_of(each.get(y, 0.0)) for each, y in decided[-40:]])
        assert short.windowed.log_loss == pytest.approx(expected, rel=1e-6)
        assert short.windowed.calibration_error is None
        assert window == 500
