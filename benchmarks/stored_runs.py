"""Long series of runs: several processes, and a file of finished runs to resume from."""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

import streamnb
from streamnb.datasets import cache_folder
from streamnb.errors import DataError, InputError

Task = TypeVar("Task")
Outcome = tuple[tuple[float, ...], float] | tuple[tuple[float, ...], float, dict[str, Any]]
"""The scores of a run, its seconds, and other figures by name."""

# No figure of a model depends on these folders: the data have a digest of their own.
_OTHER_FOLDERS = ("cli", "datasets", "evaluation", "sklearn", "spark", "web")


@dataclass(frozen=True)
class StoredRun:
    """One finished run.

    Attributes
    ----------
    settings
        Everything that the scores depend on, as JSON values.
    scores
        The figures.
    seconds
        Duration of the run.
    extra
        Other figures by name.
    """

    settings: dict[str, Any]
    scores: tuple[float, ...]
    seconds: float
    extra: dict[str, Any] = field(default_factory=dict)


def code_fingerprint() -> str:
    """Return a digest of the models, the native core and the splits of the papers.

    A stored run is reused only if the same code would produce it again.
    """
    package = Path(streamnb.__file__).parent
    benchmarks = Path(__file__).parent
    files = [
        *package.glob("_core*"),
        *(
            file
            for file in package.rglob("*.py")
            if file.relative_to(package).parts[0] not in _OTHER_FOLDERS
        ),
        *(benchmarks / "papers" / name for name in ("experiment.py", "runs.py", "splits.py")),
    ]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


class RunsFile:
    """Finished runs in a JSON lines file.

    Parameters
    ----------
    path
        The file; `add` creates it and its folder.

    Raises
    ------
    DataError
        A complete line is not a run. An incomplete last line, left by a program that was stopped
        while it was writing, is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._runs: dict[str, StoredRun] = {}
        content = path.read_bytes() if path.exists() else b""
        self._complete = content.rfind(b"\n") + 1
        for number, line in enumerate(content[: self._complete].splitlines(), 1):
            try:
                fields = json.loads(line)
                scores, extra = tuple(fields["scores"]), fields.get("extra", {})
                run = StoredRun(fields["settings"], scores, fields["seconds"], extra)
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(
                    f"{path}, line {number}: not a run; remove the line or choose another file "
                    "with --results"
                ) from error
            self._runs[_key(run.settings)] = run

    def get(self, settings: Mapping[str, Any]) -> StoredRun | None:
        """Return the stored run with these settings, or None."""
        return self._runs.get(_key(settings))

    def last_of_any_code(self, settings: Mapping[str, Any]) -> StoredRun | None:
        """Return the last run with these settings, measured with any version of the code."""
        wanted = _key({**settings, "code": ""})
        runs = reversed(self._runs.values())
        return next((run for run in runs if _key({**run.settings, "code": ""}) == wanted), None)

    def add(self, run: StoredRun) -> None:
        """Append a run to the file."""
        line = json.dumps(asdict(run), sort_keys=True).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(self._complete)
            file.write(line)
        self._complete += len(line)
        self._runs[_key(run.settings)] = run


def _key(settings: Mapping[str, Any]) -> str:
    return json.dumps(settings, sort_keys=True)


def run_all(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], jobs: int
) -> Iterator[tuple[Task, Outcome]]:
    """Yield each task with its outcome when it is finished.

    Parameters
    ----------
    work
        A function that other processes can import.
    tasks
        Its arguments.
    jobs
        Number of processes; 1 runs everything in this process.
    """
    if jobs == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, work(task)
        return
    # Not fork: the native core and scipy may have threads.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), mp_context=context, initializer=_exit_with_parent
    )
    try:
        futures = {pool.submit(work, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _exit_with_parent() -> None:
    """End this worker when its parent ends, even if a signal killed the parent."""

    def watch() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_missing(
    work: Callable[[Task], Outcome],
    tasks: Mapping[Task, dict[str, Any]],
    args: argparse.Namespace,
) -> dict[Task, StoredRun]:
    """Run the tasks that are not stored yet, store them, and return all runs.

    Every finished run is stored immediately, so that an interrupted program can resume.

    Parameters
    ----------
    work
        A function that other processes can import.
    tasks
        Argument of `work` → settings of the run.
    args
        The options of `add_run_arguments`.

    Raises
    ------
    DataError
        The file of finished runs is corrupt.
    """
    file = RunsFile(args.results)
    done: dict[Task, StoredRun] = {}
    if not args.fresh:
        find = file.last_of_any_code if args.any_code else file.get
        done = {task: run for task, settings in tasks.items() if (run := find(settings))}
    todo = [task for task in tasks if task not in done]
    hide = not sys.stderr.isatty()
    with tqdm(total=len(tasks), initial=len(done), unit="run", disable=hide) as bar:
        for task, outcome in run_all(work, todo, args.jobs):
            done[task] = StoredRun(tasks[task], *outcome)
            file.add(done[task])
            bar.update()
    return done


def add_run_arguments(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the options of programs that store their finished runs."""
    default = cache_folder() / "benchmarks" / f"{name}.jsonl"
    parser.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="processes (default: 1)"
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=default,
        metavar="FILE",
        help=f"file of finished runs; the same command resumes from it (default: {default})",
    )
    parser.add_argument("--fresh", action="store_true", help="run everything again")
    parser.add_argument(
        "--any-code",
        action="store_true",
        help="also reuse runs that another version of the code has measured",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: give a number of at least 1")
    return number


def names(text: str | None) -> list[str]:
    """Return the names in a list with commas, without repetitions."""
    return list(dict.fromkeys(name.strip() for name in (text or "").split(",") if name.strip()))


def run_program(main: Callable[[], None]) -> int:
    """Run a program; print a wrong input or missing data as one line."""
    try:
        main()
    except (InputError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0
