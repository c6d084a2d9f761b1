"""MultiLabelNB in river: its checks, pipelines, evaluation and encoders."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from river import base, checks, compose, datasets, metrics, stream

from streamnb import MultiLabelNB


class Music:
    """Numbers and six labels, as in the data set of this name, which river downloads."""

    def take(self, number: int) -> Iterator[tuple[dict[str, float], dict[str, bool]]]:
        """Yield this number of rows."""
        rng = random.Random(3)
        moods = ("amazed", "happy", "relaxing", "quiet", "sad", "angry")
        for _ in range(number):
            y = {mood: rng.random() < 0.3 for mood in moods}
            loud = sum(3 * given for given in y.values())
            yield {f"f{place}": rng.random() * loud for place in range(70)}, y


MODELS = [MultiLabelNB(), MultiLabelNB(output="dicts", half_life=50.0)]
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(datasets, "Music", Music)
    CHECKS = [(model, check) for model in MODELS for check in checks.yield_checks(model)]


@pytest.mark.parametrize(("model", "check"), CHECKS)
def test_river_check(model: MultiLabelNB, check: Callable[[base.Estimator], None]) -> None:
    check(model.clone())


def test_it_is_a_multi_label_classifier_without_skipped_checks() -> None:
    assert isinstance(MultiLabelNB(), base.MultiLabelClassifier)
    assert set(MultiLabelNB()._unit_test_skips()) == set()
    assert len(CHECKS) > 10


def messages(number: int = 60) -> list[tuple[dict[str, Any], dict[str, bool]]]:
    topics = {
        "wheat and corn prices fall": {"wheat", "corn"},
        "corn harvest": {"corn"},
        "bank raises rates": {"interest"},
    }
    texts = list(topics)
    names = ("wheat", "corn", "interest", "never")
    return [
        ({"id": place, "body": text}, {name: name in topics[text] for name in names})
        for place, text in ((place, texts[place % 3]) for place in range(number))
    ]


def test_a_pipeline_learns_mappings_and_answers_with_them() -> None:
    model = compose.Select("body") | MultiLabelNB(output="dicts")
    micro = metrics.multioutput.MicroAverage(metrics.F1())
    exact = metrics.multioutput.ExactMatch()
    for x, y in messages():
        predicted = model.predict_one(x)
        if predicted:
            assert predicted.keys() == y.keys()
            micro.update(y, predicted)
            exact.update(y, predicted)
        model.learn_one(x, y)
    assert micro.get() > 0.9
    assert exact.get() > 0.8
    probabilities = model.predict_proba_one({"body": "corn harvest"})
    assert set(probabilities) == {"wheat", "corn", "interest", "never"}
    assert all(sum(each.values()) == pytest.approx(1) for each in probabilities.values())
    assert probabilities["corn"][True] > 0.5
    assert probabilities["never"] == {False: 1.0, True: 0.0}


def test_both_outputs_decide_alike() -> None:
    sets, dicts = MultiLabelNB(), MultiLabelNB(output="dicts")
    for x, y in messages():
        given = {label for label, has_label in y.items() if has_label}
        found = dicts.predict_one(x)
        assert {label for label, has_label in found.items() if has_label} == sets.predict_one(x)
        sets.learn_one(x, given)
        dicts.learn_one(x, y)
    assert sets.predict_proba_one("corn") == {
        label: share[True]
        for label, share in dicts.predict_proba_one("corn").items()
        if label != "never"
    }


def test_river_streams_of_arrays_have_labels() -> None:
    """A stream of river with several targets yields mappings."""
    import pandas as pd

    X = pd.DataFrame({"win": [1, 0, 2], "noon": [0, 1, 0]})
    y = pd.DataFrame({"spam": [True, False, True], "ham": [False, True, False]})
    model = MultiLabelNB()
    for x, labels in stream.iter_pandas(X, y):
        model.learn_one(x, labels)
    assert model.class_count_ == {"ham": 1.0, "spam": 2.0}
