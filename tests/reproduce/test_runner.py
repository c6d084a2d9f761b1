"""Experiments run, go on, and are run again where something changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from streamnb.errors import DataError, InputError
from streamnb.reproduce import (
    FORMATS,
    HMNB_PAPER,
    Experiment,
    RunsFile,
    make_report,
    run_plan,
)
from streamnb.reproduce import runner as runner_module
from streamnb.reproduce.runs import settings_key
from support.experiments import Stub, plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


# Running and resuming


def test_a_second_plan_runs_only_what_is_new(experiment: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "kept" / "toy.jsonl"
    Stub.built = 0
    first = run_plan(plan_of(experiment), RunsFile(path))
    runs = 2 * len(experiment.models) * 2
    assert Stub.built == runs * 5
    assert len(path.read_text().splitlines()) == runs
    again = run_plan(plan_of(experiment), RunsFile(path))
    assert again == first
    assert Stub.built == runs * 5
    more = run_plan(plan_of(experiment, runs=3), RunsFile(path))
    assert Stub.built == runs * 5 * 3 // 2
    assert more["re0", "MNB"].values[:10] == first["re0", "MNB"].values
    run_plan(plan_of(experiment, folds=4), RunsFile(path))
    assert Stub.built == runs * 5 * 3 // 2 + runs * 4
    run_plan(plan_of(experiment), RunsFile(path), fresh=True)
    assert Stub.built == runs * 5 * 5 // 2 + runs * 4


def test_changed_data_or_code_is_run_again(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.jsonl"
    run_plan(plan_of(experiment), RunsFile(path))
    lines = len(path.read_text().splitlines())
    with (tmp_path / "re0.svm").open("a") as file:
        file.write("class0 1:1\n")
    run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == lines * 3 // 2
    monkeypatch.setattr(runner_module, "code_fingerprint", lambda: "other")
    run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == lines * 5 // 2


def test_an_interrupted_run_goes_on(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.jsonl"
    learn = Stub.learn_many
    calls = iter(range(10**6))

    def interrupted(self: Stub, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        if next(calls) == 23:
            raise KeyboardInterrupt
        learn(self, X, y, vocabulary=vocabulary)

    with monkeypatch.context() as patch:
        patch.setattr(Stub, "learn_many", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == 4  # 23 folds: 4 whole runs of 5
    with path.open("a") as file:
        file.write('{"key": "torn of')
    Stub.built = 0
    scores = run_plan(plan_of(experiment), RunsFile(path))
    assert Stub.built == (16 - 4) * 5
    assert len(path.read_text().splitlines()) == 16  # the torn line is gone
    whole = run_plan(plan_of(experiment), RunsFile(tmp_path / "whole.jsonl"))
    assert {names: each.values for names, each in scores.items()} == {
        names: each.values for names, each in whole.items()
    }


def test_a_spoiled_results_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    path.write_text("[]\n")
    with pytest.raises(DataError, match="line 1: not a result"):
        RunsFile(path)
    with pytest.raises(DataError, match="cannot read"):
        RunsFile(tmp_path)


def test_processes_give_the_same(experiment: Experiment, tmp_path: Path) -> None:
    alone = run_plan(plan_of(experiment), RunsFile(tmp_path / "1.jsonl"))
    together = run_plan(plan_of(experiment, jobs=2), RunsFile(tmp_path / "2.jsonl"))
    assert {names: each.values for names, each in alone.items()} == {
        names: each.values for names, each in together.items()
    }


def test_keys_do_not_depend_on_order() -> None:
    assert settings_key({"a": 1, "b": [2]}) == settings_key({"b": [2], "a": 1})
    assert settings_key({"a": 1}) != settings_key({"a": 1.5})


@pytest.mark.parametrize("settings", [{"runs": 0}, {"folds": 1}, {"jobs": 0}])
def test_impossible_plans(experiment: Experiment, settings: dict[str, int]) -> None:
    with pytest.raises(InputError, match="should be at least"):
        plan_of(experiment, **settings)


def test_the_papers_models_end_to_end(experiment: Experiment, tmp_path: Path) -> None:
    models = pytest.importorskip("streamnb", exc_type=ImportError)
    if not hasattr(models, "MNB"):
        pytest.skip("the native core is not built")
    # The stub is MNB and CNB, by numpy.
    real = replace(experiment, models=HMNB_PAPER.models)
    scores = run_plan(plan_of(real, runs=1), RunsFile(tmp_path / "real.jsonl"))
    stubs = run_plan(plan_of(experiment, runs=1), RunsFile(tmp_path / "stubs.jsonl"))
    for collection in ("re0", "oh0"):
        for model in ("MNB", "CNB"):
            assert scores[collection, model].values == stubs[collection, model].values
        for model in ("OVA", "HMNB", "HCNB", "HOVA", "SEMNB", "SECNB", "SEOVA"):
            assert scores[collection, model].mean > 60  # chance is 33
    assert "HOVA against OVA" in FORMATS["text"](make_report(plan_of(real, runs=1), scores))
