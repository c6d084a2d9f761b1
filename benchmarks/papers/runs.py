"""Run a paper's experiment: each model on each collection, with the paper's splits."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import lru_cache

from benchmarks.papers.experiment import (
    Collection,
    CollectionRecipe,
    Experiment,
    ModelRecipe,
    accuracy,
)
from benchmarks.papers.splits import CrossValidation, RandomSamples
from benchmarks.stored_runs import Outcome, StoredRun, code_fingerprint, run_missing
from streamnb.errors import InputError


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
    """Accuracy of one model on one collection: of each fold, run by run; and the duration."""

    values: tuple[float, ...]
    seconds: float

    @property
    def mean(self) -> float:
        """The figure that the papers print."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True, eq=False)
class _Task:
    experiment: Experiment
    collection: CollectionRecipe
    model: ModelRecipe
    folds: int
    seed: int


def cross_validate(
    collection: Collection,
    model: ModelRecipe,
    n_folds: int,
    seed: int,
    protocol: CrossValidation | RandomSamples | None = None,
) -> tuple[float, ...]:
    """Return the accuracy of each fold of one run; every fold has a new model."""
    matrix, words = collection.matrix, collection.vocabulary
    scores = []
    protocol = protocol or CrossValidation()
    for learned, tested in protocol.split(collection.labels, n_folds, seed):
        classifier = model.build(len(words))
        labels = [collection.labels[row] for row in learned]
        classifier.learn_many(matrix[learned], labels, vocabulary=words)
        classifier.refresh()
        predicted = classifier.predict_many(matrix[tested], vocabulary=words)
        scores.append(accuracy([collection.labels[row] for row in tested], list(predicted)))
    return tuple(scores)


@lru_cache(maxsize=32)
def _load(recipe: CollectionRecipe) -> Collection:
    return recipe.load()


def _run(task: _Task) -> Outcome:
    collection = _load(task.collection)
    start = time.perf_counter()
    scores = cross_validate(collection, task.model, task.folds, task.seed, task.experiment.protocol)
    return scores, time.perf_counter() - start


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
        for model in plan.models
    }
    done = run_missing(_run, tasks, args)
    found: dict[tuple[str, str], list[StoredRun]] = {}
    for task in tasks:
        found.setdefault((task.collection.name, task.model.name), []).append(done[task])
    return {
        names: Scores(
            tuple(score for run in runs for score in run.scores), sum(run.seconds for run in runs)
        )
        for names, runs in found.items()
    }
