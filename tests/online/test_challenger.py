"""The challenger equals a version with lists and river's detector at every message."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from river import base, drift, naive_bayes
from river import ensemble as river_ensemble

import streamnb
from streamnb.challenger import MAGIC, VERSION, Challenger
from streamnb.errors import InputError, ModelFileError, NotLearnedError
from streamnb.model import persistence
from streamnb.model_specs import build, model_spec
from support.estimators import river_checks
from support.streams import count_wrong, swapping


class Literal:
    """The same with lists of all that was decided, and river's ADWIN."""

    def __init__(self, make: Callable[[], Any], span: int, margin: float, patience: int) -> None:
        self.make, self.span, self.margin, self.patience = make, span, margin, patience
        self.model, self.rival, self.detector = make(), None, drift.ADWIN()
        self.decided: list[tuple[Any, Any, Any]] = []
        self.swaps = self.given_up = 0

    def learn_one(self, x: str, y: str) -> None:
        mine = self.model.predict_one(x)
        theirs = self.rival.predict_one(x) if self.rival else None
        raised = False
        if mine is not None:
            before = self.detector.estimation
            self.detector.update(int(mine != y))
            raised = self.detector.drift_detected and self.detector.estimation > before
        self.model.learn_one(x, y)
        if self.rival is None:
            if raised:
                self.rival, self.decided = self.make(), []
            return
        self.rival.learn_one(x, y)
        self.decided.append((y, mine, theirs))
        last = self.decided[-self.span :]
        right_mine = sum(y == mine for y, mine, _ in last)
        right_theirs = sum(y == theirs for y, _, theirs in last)
        if len(last) == self.span and (right_theirs - right_mine) / self.span > self.margin:
            self.model, self.rival, self.detector = self.rival, None, drift.ADWIN()
            self.swaps += 1
        elif len(self.decided) == self.patience:
            self.rival = None
            self.given_up += 1


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        ((300, 300), {"span": 40, "margin": 0.0, "patience": 200}),
        ((300, 300, 300), {"span": 64, "margin": 0.1, "patience": 1000}),
        ((300, 300), {"span": 4, "margin": 0.25, "patience": 200}),  # often better by just that
        ((300, 300), {"span": 2, "margin": 0.5, "patience": 200}),
        ((300, 300), {"span": 40, "margin": 0.9, "patience": 50}),  # given up
    ],
)
def test_it_is_what_the_lists_say_at_every_message(
    parts: tuple[int, ...], options: dict[str, Any]
) -> None:
    model, literal = Challenger(streamnb.MNB(), **options), Literal(streamnb.MNB, **options)
    for x, y in swapping(parts):
        assert model.predict_one(x) == literal.model.predict_one(x)
        assert model.predict_proba_one(x) == literal.model.predict_proba_one(x)
        assert model.joint_log_likelihood_one(x) == literal.model.joint_log_likelihood_one(x)
        model.learn_one(x, y)
        literal.learn_one(x, y)
        assert (model.challenger is None) is (literal.rival is None)
        assert (model.n_swaps, model.n_given_up) == (literal.swaps, literal.given_up)
    if options["margin"] <= 0.5:
        assert model.n_swaps >= len(parts) - 1
    else:
        assert (model.n_swaps, model.n_given_up > 0) == (0, True)


def test_it_is_better_after_a_change_and_the_same_without() -> None:
    changed, same = swapping((600, 600)), swapping((1200,))
    assert count_wrong(Challenger(streamnb.MNB(), span=50), changed) < 0.7 * count_wrong(
        streamnb.MNB(), changed
    )
    quiet = Challenger(streamnb.MNB(), span=50)
    assert count_wrong(quiet, same) == count_wrong(streamnb.MNB(), same)
    assert (quiet.alarm.count, quiet.n_swaps) == (0, 0)


def test_there_is_one_challenger_at_a_time_and_memory_says_so() -> None:
    model = Challenger(streamnb.MNB(), span=400, patience=400)
    sizes = []
    for x, y in swapping((300, 200)):
        model.learn_one(x, y)
        sizes.append((model.challenger is not None, model.memory_bytes - model.model.memory_bytes))
    assert {has for has, _ in sizes} == {False, True}
    assert all((more > 0) is has for has, more in sizes)


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_alike(copier: Callable[[Any], Any]) -> None:
    stream = swapping((300, 300))
    model = Challenger(streamnb.MNB(), span=60)
    at = 0
    while model.challenger is None:
        model.learn_one(*stream[at])
        at += 1
    assert 300 < at < 400
    twin = copier(model)
    for x, y in stream[at:]:
        assert twin.predict_proba_one(x) == model.predict_proba_one(x)
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert twin.n_swaps == model.n_swaps == 1
    fresh = model.clone()
    assert (fresh.predict_one("win"), fresh.n_swaps, fresh.span) == (None, 0, 60)


@pytest.mark.parametrize("n", [0, 1, 353, 400, 413, 600])
def test_a_file_goes_on_as_the_model_does(n: int, tmp_path: Path) -> None:
    stream = swapping((300, 300))
    model = Challenger(streamnb.MNB(), span=60)
    for x, y in stream[:n]:
        model.learn_one(x, y)
    model.save(tmp_path / "challenged.bin")
    again = Challenger.load(tmp_path / "challenged.bin", n_jobs=1)
    assert again.to_bytes() == model.to_bytes()
    assert (again.n_started, again.n_jobs, model.n_jobs) == (model.n_started, 1, None)
    assert (n in (353, 400)) is (model.challenger is not None)
    for x, y in stream[n:]:
        model.learn_one(x, y)
        again.learn_one(x, y)
        assert again.predict_proba_one(x) == model.predict_proba_one(x)
    assert again.to_bytes() == model.to_bytes()
    assert model.n_swaps == 1


def test_damaged_files_and_files_of_others_are_refused() -> None:
    model = Challenger(streamnb.MNB(), span=60)
    for x, y in swapping((300, 300))[:380]:
        model.learn_one(x, y)
    assert model.challenger is not None
    data = model.to_bytes()
    for wrong in (data[:-1], data[:60], b"", data[:-1] + b"?", streamnb.MNB().to_bytes()):
        with pytest.raises(ModelFileError):
            Challenger.from_bytes(wrong)
    with pytest.raises(ModelFileError):
        streamnb.MNB.from_bytes(data)
    header, rest = persistence.unpacked(data, MAGIC, VERSION)
    rival = rest[header["length"] :]
    changes: list[tuple[dict[str, Any], bytes]] = [
        ({"gains": "?"}, rest),
        ({"swaps": -1}, rest),
        ({"length": 1.5}, rest),
        ({"parameters": {"span": 0}}, rest),
        ({"parameters": {"size": 1}}, rest),
        ({"alarm": {}}, rest),
        ({"fingerprints": [[]]}, rest),
        ({"fingerprints": [[], []]}, rest),  # and there is a challenger
        ({}, rest[: -len(rival)]),  # and there is none
    ]
    for change, body in changes:
        packed = persistence.packed(header | change, body, MAGIC, VERSION)
        with pytest.raises(ModelFileError):
            Challenger.from_bytes(packed)
    with pytest.raises(InputError, match="no model file"):
        Challenger(naive_bayes.MultinomialNB()).to_bytes()


def test_each_of_the_two_unlearns_what_it_learned() -> None:
    model = Challenger(streamnb.MNB(), span=60)
    stream = swapping((300, 300))
    at = 0
    while model.challenger is None:
        model.learn_one(*stream[at])
        at += 1
    alone = model.model.to_bytes()
    model.relearn_one("cash prize", "ham")
    outcomes = model.alarm.seen
    model.unlearn_one("cash prize", "ham")
    assert (model.model.to_bytes(), model.challenger.n_documents) == (alone, 0)
    assert model.alarm.seen == outcomes  # nobody was judged
    model.unlearn_one(*stream[0])  # of before: the challenger never had it
    assert model.challenger.n_documents == 0
    with pytest.raises(NotLearnedError):
        model.unlearn_one("never", "learned")
    while not model.n_swaps:
        model.learn_one(*stream[at])
        at += 1
    after = model.to_bytes()
    with pytest.raises(NotLearnedError, match="never learned this message"):
        model.unlearn_one("never", "spam")
    with pytest.raises(InputError):
        model.unlearn_one(*stream[at - 1], w=-1.0)
    assert model.to_bytes() == after
    model.unlearn_one(*stream[at - 1])
    assert model.to_bytes() != after


def test_models_of_river_are_challenged_and_ensembles_take_it() -> None:
    stream = [(dict.fromkeys(x.split(), 1), y) for x, y in swapping((300, 300))]
    for model in (
        Challenger(naive_bayes.MultinomialNB(), span=50),
        river_ensemble.BaggingClassifier(Challenger(streamnb.MNB(), span=50), 2, seed=1),
    ):
        for x, y in stream:
            model.learn_one(x, y)
        assert model.predict_one({"win": 1, "cash": 1}) == "ham"
    lone = Challenger(naive_bayes.MultinomialNB(), span=50)
    lone.learn_one({"win": 1}, "spam")
    assert lone.joint_log_likelihood_one({"win": 1}) == {"spam": 0.0}
    assert lone.memory_bytes > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"span": 0},
        {"margin": -0.1},
        {"margin": 1.1},
        {"span": 100, "patience": 99},
        {"detector": "none"},
    ],
)
def test_parameters_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Challenger(streamnb.MNB(), **wrong)


def test_a_specification_names_it() -> None:
    model: Any = build(model_spec("Challenger(model=MNB(alpha=0.5), detector='ddm', span=10)"))
    assert (model.model.alpha, model.detector, model.span) == (0.5, "ddm", 10)
    assert isinstance(build(model_spec("Challenger(model=HMNB)")), Challenger)
    for text in (
        "Challenger()",
        "Challenger(model=None)",
        "Challenger(model=Challenger(model=MNB))",
    ):
        with pytest.raises(InputError, match="a model of this package"):
            build(model_spec(text))


@pytest.mark.parametrize(
    ("model", "check"),
    river_checks({"Challenger": Challenger(streamnb.MNB(), span=20)}),
)
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    assert not model._unit_test_skips()
    check(model.clone())
