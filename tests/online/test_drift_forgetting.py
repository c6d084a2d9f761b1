"""A half-life that is shortened at an alarm: beside a list of weights and river's detector."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from river import base, drift, naive_bayes

import streamnb
from references.forgetting import Forgetting
from streamnb import MNB, InputError, ModelFileError
from streamnb.challenger import Challenger
from streamnb.drift_forgetting import DriftForgetting
from streamnb.model_specs import build, model_spec
from streamnb.persistence import saving
from support.estimators import river_checks
from support.models import make_reference
from support.streams import assert_same_scores, count_wrong, swapping


class Literal:
    """The same with the weight of each message, and river's ADWIN."""

    def __init__(self, half_life: float, short_half_life: float, span: int) -> None:
        self.counts = Forgetting(make_reference("MNB"), half_life=half_life)
        self.short, self.span, self.left = short_half_life, span, 0
        self.detector = drift.ADWIN()
        self.alarms = 0

    def predict(self, x: str) -> Any:
        scores = self.counts.joint_log_likelihood(words(x)) if self.counts.stream else {}
        return max(sorted(scores), key=scores.__getitem__, default=None)

    def learn_one(self, x: str, y: str) -> None:
        decision = self.predict(x)
        self.counts.learn(words(x), y)
        if decision is not None:
            before = self.detector.estimation
            self.detector.update(int(decision != y))
            if self.detector.drift_detected and self.detector.estimation > before:
                self.alarms += 1
                self.left = self.span
        if self.left:
            self.counts.fade(1 / self.short)
            self.left -= 1


def words(text: str) -> dict[str, float]:
    return {word: float(text.split().count(word)) for word in text.split()}


@pytest.mark.parametrize(
    ("half_life", "short_half_life", "span"),
    [(1e6, 20, 60), (400, 2.5, 150), (1e6, 0.2, 40), (1e6, 1e9, 1)],
)
def test_it_is_what_the_weights_say_at_every_message(
    half_life: float, short_half_life: float, span: int
) -> None:
    parameters: dict[str, Any] = {"short_half_life": short_half_life, "span": span}
    model = DriftForgetting(MNB(half_life=half_life), **parameters)
    literal = Literal(half_life, short_half_life, span)
    for at, (x, y) in enumerate(swapping((300, 300))):
        assert model.predict_one(x) == literal.predict(x)
        if literal.counts.stream:
            expected = literal.counts.joint_log_likelihood(words(x))
            assert_same_scores(model.joint_log_likelihood_one(x), expected, at)
        model.learn_one(x, y)
        literal.learn_one(x, y)
        assert (model.events, model.alarm.count) == ({"shortened": literal.alarms}, literal.alarms)
    assert literal.alarms >= 1


def test_it_is_better_after_a_change_and_the_same_without() -> None:
    changed, same = swapping((600, 600)), swapping((1200,))
    steady = MNB(half_life=1e9)
    assert count_wrong(DriftForgetting(steady.clone()), changed) < 0.7 * count_wrong(
        steady.clone(), changed
    )
    quiet = DriftForgetting(steady.clone())
    assert count_wrong(quiet, same) == count_wrong(steady, same)
    assert quiet.events == {"shortened": 0}
    assert quiet.model.to_bytes() == steady.to_bytes()


@pytest.mark.parametrize(
    "copier",
    [
        copy.deepcopy,
        lambda m: pickle.loads(pickle.dumps(m)),
        lambda m: DriftForgetting.from_bytes(m.to_bytes()),
    ],
)
def test_copies_go_on_alike_while_an_alarm_is_at_work(copier: Callable[[Any], Any]) -> None:
    stream = swapping((300, 300))
    model = DriftForgetting(MNB(half_life=1000), short_half_life=20, span=60)
    at = 0
    while not model.alarm.count:
        model.learn_one(*stream[at])
        at += 1
    assert 300 < at < 400
    for x, y in stream[at : at + 10]:
        model.learn_one(x, y)
    twin = copier(model)
    for x, y in stream[at + 10 :]:
        assert twin.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert twin.to_bytes() == model.to_bytes()
    fresh = model.clone()
    assert (fresh.predict_one("win"), fresh.alarm.count, fresh.span) == (None, 0, model.span)


def test_a_file_is_written_and_read(tmp_path: Path) -> None:
    model = DriftForgetting(MNB(half_life=500), "ddm", span=60)
    for x, y in swapping((300, 60)):
        model.learn_one(x, y)
    assert model.alarm.count > 0
    model.save(tmp_path / "forgetting.bin")
    again = DriftForgetting.load(tmp_path / "forgetting.bin", n_jobs=2)
    assert (again.to_bytes(), again.n_jobs) == (model.to_bytes(), 2)
    assert again.saved_parameters().keys() == {"model", "detector", "short_half_life", "span"}


def test_damaged_files_and_files_of_others_are_refused() -> None:
    model = DriftForgetting(MNB(half_life=500))
    for x, y in swapping((300, 60)):
        model.learn_one(x, y)
    data = model.to_bytes()
    others = (MNB().to_bytes(), Challenger(MNB()).to_bytes())
    for bad in (data[:-1], data[:60], b"", data[:-1] + b"?", *others):
        with pytest.raises(ModelFileError):
            DriftForgetting.from_bytes(bad)
    with pytest.raises(ModelFileError):
        Challenger.from_bytes(data)
    header, rest = saving.unpacked(data, DriftForgetting._magic, 1)
    changes: list[tuple[dict[str, Any], bytes]] = [
        ({"left": -1}, rest),
        ({"left": 11}, rest),
        ({"left": 1.0}, rest),
        ({"length": -1}, rest),
        ({"parameters": {"span": 0}}, rest),
        ({"alarm": {}}, rest),
        ({}, rest + b"more"),
    ]
    for change, body in changes:
        packed = saving.packed(header | change, body, DriftForgetting._magic, 1)
        with pytest.raises(ModelFileError):
            DriftForgetting.from_bytes(packed)


def test_a_message_is_unlearned_and_learned_again_without_a_judgement() -> None:
    model = DriftForgetting(MNB(half_life=1e9))
    for x, y in swapping((100,)):
        model.learn_one(x, y)
    known, seen = model.model.n_documents, model.alarm.seen
    model.relearn_one("cash prize", "ham")
    assert (model.model.n_documents, model.alarm.seen) == (pytest.approx(known + 1), seen)
    model.unlearn_one("cash prize", "ham")
    assert model.model.n_documents == pytest.approx(known)


def test_an_alarm_is_at_work_for_messages_that_are_learned_again_too() -> None:
    model = DriftForgetting(MNB(half_life=1e9), short_half_life=4, span=3)
    for x, y in swapping((300, 300)):
        model.learn_one(x, y)
        if model.alarm.count:
            break
    literal = copy.deepcopy(model.model)  # the message of the alarm is the first of the three
    for at in range(4):
        model.relearn_one("cash prize", "ham")
        literal.learn_one("cash prize", "ham")
        if at < 2:
            literal.fade(1 / 4)
        assert model.model.to_bytes() == literal.to_bytes()


@pytest.mark.parametrize(
    "wrong",
    [{"span": 0}, {"short_half_life": 0}, {"short_half_life": "5"}, {"detector": "none"}],
)
def test_parameters_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        DriftForgetting(MNB(half_life=9), **wrong)


@pytest.mark.parametrize(
    "model", [MNB(), MNB(window=9), streamnb.HMNB(), naive_bayes.MultinomialNB()]
)
def test_a_model_without_a_half_life_has_none_to_shorten(model: Any) -> None:
    with pytest.raises(InputError, match="must have a half-life"):
        DriftForgetting(model)


def test_a_specification_names_it() -> None:
    text = "DriftForgetting(model=MNB(half_life=900), detector='ddm', span=10)"
    model: Any = build(model_spec(text))
    assert (model.half_life, model.detector, model.span) == (900, "ddm", 10)
    for text, said in (
        ("DriftForgetting()", "one of this package"),
        ("DriftForgetting(model=MNB())", "must have a half-life"),
        ("DriftForgetting(model=MNB(half_life=9), span=0)", "span"),
    ):
        with pytest.raises(InputError, match=said):
            build(model_spec(text))


@pytest.mark.parametrize(
    ("model", "check"),
    river_checks(
        {"MNB": DriftForgetting(MNB(half_life=500), span=20)}, lambda name: pytest.mark.matrix
    ),
)
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    assert not model._unit_test_skips()
    check(model.clone())
