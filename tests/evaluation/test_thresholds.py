"""What thresholds would have done: the ROC curve of a stream, and what the best one costs."""

from __future__ import annotations

import random

import pytest

from streamnb import evaluation
from streamnb.evaluation.roc import RocPoint
from support.streams import noisy_messages, river_mnb

SCORES = random.Random(3)
# Rounded, so that there are ties.
STREAM = [(SCORES.random() < 0.3, round(SCORES.gauss(0.0, 1.0), 2)) for _ in range(2_000)]
SHIFTED = [(pos_label, score + 1.5 * pos_label) for pos_label, score in STREAM]


def area_of(stream):
    area = evaluation.RocAuc()
    for pos_label, score in stream:
        area.add(pos_label, score)
    return area


def every_point(stream):
    """What each threshold does, counted from the definition: what scores as much is positive."""
    ham = [score for pos_label, score in stream if not pos_label]
    spam = [score for pos_label, score in stream if pos_label]
    thresholds = [*{score for _, score in stream}, float("inf")]
    return {
        (
            sum(score >= threshold for score in ham) / len(ham),
            sum(score < threshold for score in spam) / len(spam),
        )
        for threshold in thresholds
    }


@pytest.mark.parametrize("stream", [STREAM, SHIFTED, SHIFTED[:50]])
def test_points_are_those_of_thresholds(stream):
    every, points = every_point(stream), area_of(stream).curve()
    assert set(points) <= every
    assert points == sorted(points)
    # None of them is better than the curve, where few are lost.
    negatives = sum(not pos_label for pos_label, _ in stream)
    for lost, missed in every:
        if lost * negatives < 20:
            assert min(point.missed for point in points if point.lost <= lost) <= missed


def test_mirrored_is_the_curve_of_the_other_class():
    other = [(not pos_label, -score) for pos_label, score in SHIFTED]
    assert area_of(SHIFTED).curve(mirrored=True) == area_of(other).curve()


def test_none_without_both_classes():
    assert area_of([]).curve() == []
    assert area_of([(True, 1.0), (True, 2.0)]).curve() == []


def test_scores_without_an_order_lose_as_many_as_they_find():
    assert area_of([(True, 0.0), (False, 0.0)]).curve() == [RocPoint(0.0, 1.0), RocPoint(1.0, 0.0)]


@pytest.mark.parametrize("pos_label", ["spam", "ham"])
def test_a_result_has_the_curve_of_its_positive_label(pos_label):
    result = evaluation.prequential(
        {"one": river_mnb()}, list(noisy_messages(300, noise=0.7)), pos_label=pos_label
    )["one"]
    area = sum(
        (right.lost - left.lost) * left.missed
        for left, right in zip(result.roc, [*result.roc[1:], RocPoint(1.0, 0.0)], strict=True)
    )
    # Steps are above the curve of thresholds, by no more than one message in each.
    above = result.cumulative.one_minus_auc_percent / 100
    assert above == pytest.approx(area, abs=0.02)
    assert result.to_dict()["roc"][0] == {
        "lost": result.roc[0].lost,
        "missed": result.roc[0].missed,
    }


def test_there_is_no_curve_of_many_classes():
    labels = ("ham", "spam", "news")
    (result,) = evaluation.prequential(river_mnb(), noisy_messages(300, labels)).values()
    assert result.roc == []
