"""Cross-validation: run what is not in the results file yet, in one or more processes."""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from streamnb.errors import InputError
from streamnb.reproduce.folds import WEKA, CrossValidation, RandomSamples
from streamnb.reproduce.runs import RunsFile, StoredRun, code_fingerprint, settings_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from streamnb.reproduce.experiment import Collection, CollectionRecipe, Experiment, ModelRecipe

__all__ = ["Plan", "Scores", "cross_validate", "run_all", "run_plan"]

Task = TypeVar("Task")


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    experiment
        The experiment.
    collections, models
        Those chosen of it.
    runs, folds
        How often cross-validation is repeated, and its folds: at least 1 and 2.
    seed
        Of the first run; the next one has the next number, as in WEKA.
    jobs
        Processes, at least 1.
    """

    experiment: Experiment
    collections: tuple[CollectionRecipe, ...]
    models: tuple[ModelRecipe, ...]
    runs: int = 1
    folds: int = 10
    seed: int = 1
    jobs: int = 1

    def __post_init__(self) -> None:
        for name, value, least in (
            ("runs", self.runs, 1),
            ("folds", self.folds, 2),
            ("jobs", self.jobs, 1),
        ):
            if value < least:
                raise InputError(f"{name} is {value}; it should be at least {least}")


@dataclass(frozen=True)
class Scores:
    """Figures of all folds of all runs of one model on one collection.

    Attributes
    ----------
    values
        Run by run, fold by fold.
    seconds
        Time that the runs took when they were made.
    """

    values: tuple[float, ...]
    seconds: float

    @property
    def mean(self) -> float:
        """The figure that the papers print."""
        return sum(self.values) / len(self.values)


@dataclass(frozen=True)
class _Task:
    experiment: Experiment
    collection: CollectionRecipe
    model: ModelRecipe
    folds: int
    seed: int
    settings: dict[str, Any]

    @property
    def key(self) -> str:
        return settings_key(self.settings)


def cross_validate(
    collection: Collection,
    model: ModelRecipe,
    n_folds: int,
    seed: int,
    metric: Callable[[Sequence[Any], Sequence[Any]], float],
    protocol: CrossValidation | RandomSamples = WEKA,
) -> tuple[float, ...]:
    """Return the figure of each fold of one run.

    Parameters
    ----------
    collection
        The documents.
    model
        A new model is made for every fold.
    n_folds, seed
        As the protocol takes them.
    metric
        Labels and predictions of a fold → a figure.
    protocol
        How the documents are split.
    """
    matrix, words = collection.matrix, collection.vocabulary
    scores = []
    for learned, tested in protocol.split(collection.labels, n_folds, seed):
        classifier = model.build(len(words))
        classifier.learn_many(
            matrix[learned], [collection.labels[place] for place in learned], vocabulary=words
        )
        classifier.refresh()
        predicted = classifier.predict_many(matrix[tested], vocabulary=words)
        scores.append(metric([collection.labels[place] for place in tested], list(predicted)))
    return tuple(scores)


@lru_cache(maxsize=32)
def _load(recipe: CollectionRecipe) -> Collection:
    return recipe.load()


def _run(task: _Task) -> StoredRun:
    collection = _load(task.collection)
    start = time.perf_counter()
    experiment = task.experiment
    scores = cross_validate(
        collection, task.model, task.folds, task.seed, experiment.metric, experiment.protocol
    )
    return StoredRun(task.key, task.settings, scores, time.perf_counter() - start)


def _tasks(plan: Plan) -> Iterator[tuple[tuple[str, str], _Task]]:
    code = code_fingerprint()
    metric = plan.experiment.metric
    for collection in plan.collections:
        # The data is part of the key, so it is read even if nothing is left to run.
        fingerprint = _load(collection).fingerprint()
        for seed in range(plan.seed, plan.seed + plan.runs):
            for model in plan.models:
                settings = {
                    "collection": collection.name,
                    "data": fingerprint,
                    "model": model.name,
                    "factory": model.factory,
                    "parameters": dict(model.parameters),
                    "metric": f"{metric.__module__}.{metric.__qualname__}",
                    "protocol": repr(plan.experiment.protocol),
                    "folds": plan.folds,
                    "seed": seed,
                    "code": code,
                }
                task = _Task(plan.experiment, collection, model, plan.folds, seed, settings)
                yield (collection.name, model.name), task


def run_plan(
    plan: Plan, results: RunsFile, fresh: bool = False, progress: bool | None = None
) -> dict[tuple[str, str], Scores]:
    """Run what the results file does not have yet, and return all scores.

    Parameters
    ----------
    plan
        What to run.
    results
        Each finished run is added to it at once, so that an interrupted program goes on where
        it stopped.
    fresh
        Run everything again.
    progress
        Whether to show a progress bar on standard error; None: if that is a terminal.

    Raises
    ------
    DataError
        A collection is absent, or the results file cannot be written.
    """
    _load.cache_clear()  # the data folder may be another one now
    tasks = list(_tasks(plan))
    finished: dict[str, StoredRun] = {}
    if not fresh:
        stored = (results.get(task.key) for _, task in tasks)
        finished = {result.key: result for result in stored if result is not None}
    todo = [task for _, task in tasks if task.key not in finished]
    hide = not sys.stderr.isatty() if progress is None else not progress
    from tqdm import tqdm

    with tqdm(total=len(tasks), initial=len(finished), unit="run", disable=hide) as bar:
        for result in run_all(_run, todo, plan.jobs):
            results.add(result)
            finished[result.key] = result
            bar.set_postfix_str(f"{result.settings['model']} on {result.settings['collection']}")
            bar.update()
    runs: dict[tuple[str, str], list[StoredRun]] = {}
    for names, task in tasks:
        runs.setdefault(names, []).append(finished[task.key])
    return {
        names: Scores(
            tuple(score for result in found for score in result.scores),
            sum(result.seconds for result in found),
        )
        for names, found in runs.items()
    }


def run_all(
    work: Callable[[Task], StoredRun], tasks: Sequence[Task], jobs: int
) -> Iterator[StoredRun]:
    """Yield the result of each task as it is finished, from so many processes.

    Parameters
    ----------
    work
        A function of a module, which other processes can import.
    tasks
        What it is called with.
    jobs
        Processes, at least 1; with 1, it all happens in this one.
    """
    if jobs == 1 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    # Not fork: the native core and scipy may have threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=context)
    try:
        for future in as_completed([pool.submit(work, task) for task in tasks]):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
