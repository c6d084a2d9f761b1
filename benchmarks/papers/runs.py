"""Run a paper's experiment: each model on each collection, with the paper's splits."""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.papers.experiment import (
    Collection,
    CollectionRecipe,
    Experiment,
    ModelRecipe,
    accuracy,
)
from benchmarks.papers.splits import CrossValidation, Protocol
from benchmarks.stored_runs import Outcome, StoredRun, code_fingerprint, run_missing
from streamnb.errors import InputError

MEASURED = Path(__file__).with_name("measured")
"""Folder of the runs behind the pages: a JSON lines file for each experiment."""


@dataclass(frozen=True)
class Plan:
    """The chosen part of an experiment.

    Attributes
    ----------
    experiment
        The experiment.
    collections, models
        The chosen ones.
    runs, folds
        Number of repetitions (at least 1) and of folds (at least 2).
    seed
        Seed of the first run; the next run has the next number, as in WEKA.
    """

    experiment: Experiment
    collections: tuple[CollectionRecipe, ...]
    models: tuple[ModelRecipe, ...]
    runs: int = 1
    folds: int = 10
    seed: int = 1

    def __post_init__(self) -> None:
        if self.runs < 1 or self.folds < 2:
            raise InputError(
                f"{self.runs} runs of {self.folds} folds: at least 1 run and 2 folds are needed"
            )


@dataclass(frozen=True)
class Scores:
    """One model on one collection.

    Attributes
    ----------
    values
        Accuracy of each fold, run by run, in percent.
    seconds
        Duration of all runs.
    extra
        Other figures by name, of each run.
    """

    values: tuple[float, ...]
    seconds: float
    extra: tuple[dict[str, Any], ...] = ()

    @property
    def mean(self) -> float:
        """The figure that the papers print."""
        return sum(self.values) / len(self.values)

    def figure(self, name: str) -> float | None:
        """Return the accuracy or the mean of another figure; None if it was not recorded."""
        if name == "accuracy":
            return self.mean
        found = [extra[name] for extra in self.extra if name in extra]
        return sum(found) / len(found) if found else None


AllScores = Mapping[tuple[str, str], Scores]
"""(collection, model) → its scores."""


@dataclass(frozen=True, eq=False)
class _Task:
    experiment: Experiment
    collection: CollectionRecipe
    model: ModelRecipe
    folds: int
    seed: int


@dataclass
class _Extra:
    """Figures that are added up over the folds of a run."""

    seconds: float = 0.0
    right: Counter[str] = field(default_factory=Counter)
    tested: Counter[str] = field(default_factory=Counter)
    selected: list[float] = field(default_factory=list)

    def figures(self, by_class: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"test_seconds": round(self.seconds, 3)}
        if self.selected:
            found["selected"] = sum(self.selected) / len(self.selected)
        if by_class:
            found["by_class"] = {
                label: round(100 * self.right[label] / total, 2)
                for label, total in sorted(self.tested.items())
            }
        return found


def cross_validate(
    collection: Collection,
    model: ModelRecipe,
    n_folds: int,
    seed: int,
    protocol: Protocol | None = None,
    extra: _Extra | None = None,
) -> tuple[float, ...]:
    """Return the accuracy of each fold of one run; every fold has a new model."""
    matrix, words = collection.matrix, collection.vocabulary
    scores = []
    protocol = protocol or CrossValidation()
    extra = extra or _Extra()
    for learned, tested in protocol.split(collection.labels, n_folds, seed):
        classifier = model.build(len(words))
        labels = [collection.labels[row] for row in learned]
        classifier.learn_many(matrix[learned], labels, vocabulary=words)
        classifier.refresh()
        start = time.process_time()
        predicted = list(classifier.predict_many(matrix[tested], vocabulary=words))
        extra.seconds += time.process_time() - start
        truth = [collection.labels[row] for row in tested]
        scores.append(accuracy(truth, predicted))
        extra.tested.update(truth)
        extra.right.update(y for y, label in zip(truth, predicted, strict=True) if y == label)
        if (selected := getattr(classifier, "selected", None)) is not None:
            extra.selected.append(selected)
    return tuple(scores)


@lru_cache(maxsize=32)
def _load(recipe: CollectionRecipe) -> Collection:
    return recipe.load()


def _run(task: _Task) -> Outcome:
    collection = _load(task.collection)
    start, extra = time.process_time(), _Extra()
    scores = cross_validate(
        collection, task.model, task.folds, task.seed, task.experiment.protocol, extra
    )
    return scores, time.process_time() - start, extra.figures(task.experiment.by_class)


def run_plan(plan: Plan, args: argparse.Namespace) -> dict[tuple[str, str], Scores]:
    """Run a plan, and return the scores of each collection and model.

    Parameters
    ----------
    plan
        The chosen part of an experiment.
    args
        The options of `add_run_arguments`.
    """
    code = code_fingerprint()
    tasks = {
        _Task(plan.experiment, collection, model, plan.folds, seed): {
            "collection": collection.name,
            "data": _load(collection).fingerprint(),
            "model": [model.name, model.model, dict(model.parameters)],
            "protocol": repr(plan.experiment.protocol),
            "folds": plan.folds,
            "seed": seed,
            "code": code,
        }
        for collection in plan.collections
        for seed in range(plan.seed, plan.seed + plan.runs)
        for model in (recipe.on(collection.name) for recipe in plan.models)
    }
    done = run_missing(_run, tasks, args)
    experiment = plan.experiment
    if plan.folds == experiment.folds and set(plan.collections) <= set(experiment.collections):
        record(experiment.name, list(done.values()))
    return _by_cell(list(done.values()))


def _by_cell(runs: list[StoredRun]) -> dict[tuple[str, str], Scores]:
    found: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        found.setdefault((run.settings["collection"], run.settings["model"][0]), []).append(run)
    return {
        names: Scores(
            tuple(score for run in each for score in run.scores),
            sum(run.seconds for run in each),
            tuple(run.extra for run in each),
        )
        for names, each in found.items()
    }


def record(name: str, runs: list[StoredRun]) -> None:
    """Add runs to the file of an experiment, in place of older runs of the same cells."""
    lines = {}
    for run in [*recorded_runs(name), *runs]:
        kept = {key: run.settings[key] for key in ("collection", "model", "folds", "seed")}
        line = {
            **kept,
            "model": kept["model"][0],
            "scores": [round(score, 4) for score in run.scores],
            "seconds": round(run.seconds, 2),
            "extra": run.extra,
        }
        key = line["collection"], line["model"], line["folds"], line["seed"]
        lines[key] = json.dumps(line)
    MEASURED.mkdir(exist_ok=True)
    text = "".join(f"{lines[key]}\n" for key in sorted(lines))
    (MEASURED / f"{name}.jsonl").write_text(text, encoding="utf-8")


def recorded_runs(name: str) -> list[StoredRun]:
    """Return the recorded runs of an experiment."""
    path = MEASURED / f"{name}.jsonl"
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        run = json.loads(line)
        run["model"] = [run["model"]]
        values = [run.pop(key) for key in ("scores", "seconds", "extra")]
        found.append(StoredRun(run, tuple(values[0]), *values[1:]))
    return found


def recorded(name: str) -> dict[tuple[str, str], Scores]:
    """Return the recorded scores of an experiment: (collection, model) → scores."""
    return _by_cell(recorded_runs(name))
