"""Results on streams, and the file of finished runs."""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import stored_runs
from benchmarks.peers import peers, results
from benchmarks.peers.results import Run, figures_of, make_runs, model_names, page
from benchmarks.stored_runs import RunsFile, StoredRun, run_all
from streamnb.errors import DataError, InputError
from streamnb.model_specs import MODELS, build, model_spec

ROOT = Path(__file__).parents[2]


@pytest.fixture
def synthetic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the streams by one that every machine has."""
    monkeypatch.setattr(results, "STREAMS", {"synthetic-sms": "synthetic", "sms": "SMS"})


def arguments(path: Path, *options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    stored_runs.add_run_arguments(parser, "test")
    return parser.parse_args(["--results", str(path), *options])


def test_page_has_every_model() -> None:
    names = model_names()
    assert {name for name in MODELS if name != "ComposedNB"} <= set(names)
    assert len(set(names)) == len(names)
    for name in results.VARIANTS:
        build(model_spec(name))


@pytest.mark.usefixtures("synthetic")
def test_most_specific_limit_applies() -> None:
    limits = {("", ""): 9, ("HMNB", ""): 7, ("HMNB", "synthetic-sms"): 5}
    runs = make_runs(["MNB", "HMNB"], ["synthetic-sms", "sms"], 2, limits)
    assert [run.limit for run in runs] == [9, 5, 9, 7]
    with pytest.raises(InputError, match="no stream"):
        make_runs(["MNB"], ["mail"], 1, {})
    with pytest.raises(InputError, match="not among the models"):
        make_runs(["MNB"], ["sms"], 1, {("CNB", ""): 5})
    with pytest.raises(InputError, match="at least 1"):
        make_runs(["MNB"], ["sms"], 1, {("", ""): 0})


@pytest.mark.usefixtures("synthetic")
def test_finished_runs_are_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "folder" / "runs.jsonl"
    runs = [Run(name, "synthetic-sms", 1, 300) for name in ("MNB", "NBCF(factor='auto')")]
    figures = figures_of(runs, arguments(path))
    assert all(50 < found.accuracy < 100 and found.messages == 300 for found in figures.values())
    assert figures_of(runs, arguments(path)) == figures
    assert len(RunsFile(path)._runs) == 2
    monkeypatch.setattr(results, "code_fingerprint", lambda: "changed")
    assert figures_of(runs, arguments(path, "--any-code")) == figures
    new = figures_of(runs[:1], arguments(path))
    assert len(RunsFile(path)._runs) == 3
    assert "Different versions of the code" in page(runs, {**figures, **new})
    assert figures_of(runs[:1], arguments(path, "--any-code")) == new
    figures_of(runs[:1], arguments(path, "--fresh"))
    assert len(path.read_text().splitlines()) == 4


def test_incomplete_last_line_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    RunsFile(path).add(StoredRun({"seed": 1}, (1.0,), 0.5))
    with path.open("a") as file:
        file.write('{"settings": {"se')
    RunsFile(path).add(StoredRun({"seed": 2}, (2.0, math.nan), 0.5))
    found = RunsFile(path)
    assert found.get({"seed": 1}) == StoredRun({"seed": 1}, (1.0,), 0.5)
    assert found.get({"seed": 2}).scores[0] == 2.0  # type: ignore[union-attr]
    path.write_text("[]\n")
    with pytest.raises(DataError, match="line 1: not a run"):
        RunsFile(path)


def test_processes_return_the_results_of_all_tasks() -> None:
    assert dict(run_all(divmod_by_7, [30, 31, 32], jobs=2)) == {
        30: ((4.0,), 2.0),
        31: ((4.0,), 3.0),
        32: ((4.0,), 4.0),
    }


def divmod_by_7(number: int) -> stored_runs.Outcome:
    quotient, rest = divmod(number, 7)
    return (float(quotient),), float(rest)


PROGRAM = """
import os, pathlib, sys, time
from benchmarks.stored_runs import run_all

def work(folder):
    pathlib.Path(folder, str(os.getpid())).touch()
    time.sleep(120)

if __name__ == "__main__":
    list(run_all(work, sys.argv[1:3], jobs=2))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    folder = tmp_path / "pids"
    folder.mkdir()
    command = [sys.executable, str(tmp_path / "program.py"), str(folder), str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as program:
        wait_until(lambda: len(list(folder.iterdir())) == 2)
        program.send_signal(number)
    workers = [int(path.name) for path in folder.iterdir()]
    wait_until(lambda: not any(map(is_running, workers)))


def wait_until(condition: object, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_page_names_limits_and_shuffles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "STREAMS", {"synthetic-sms": "synthetic"})
    monkeypatch.setattr(results, "SHUFFLED", ("synthetic-sms",))
    runs = make_runs(["MNB", "HMNB"], ["synthetic-sms"], 2, {("HMNB", ""): 60})
    figures = dict.fromkeys(runs, results.Figures(90.0, math.nan, 1.0, 2.0, 5000))
    figures[runs[2]] = results.Figures(92.0, math.nan, 1.0, 4.0, 5000)
    figures |= {
        run: results.Figures(50.0, math.nan, 100.0, 1000.0, 60) for run in runs if run.limit
    }
    text = page(runs, figures)
    assert "| `MNB` | 91.00 ± 1.41 | 4.0 |" in text
    assert "| `HMNB` | 50.00 ± 0.00 (first 60) | 1,100.0 |" in text
    assert "(1 − AUC)% |" not in text
    assert "over 2 shuffles" in text
    assert "first N messages" in text
    binary = {run: results.Figures(90.0, 1.5, 1.0, 2.0, 5000) for run in runs}
    assert "| `MNB` | 90.00 ± 0.00 | 1.50 ± 0.00 | 3.0 |" in page(runs, binary)


def test_page_of_peers_names_missing_filters(tmp_path: Path) -> None:
    pytest.importorskip("vowpalwabbit")
    without = {"Bogofilter": "Install it"}
    peers.STREAMS["synthetic-sms"] = "synthetic"
    try:
        runs = peers.make_runs(["synthetic-sms"], without, 60)
        text = peers.page(runs, figures_of(runs, arguments(tmp_path / "runs.jsonl")), without)
    finally:
        del peers.STREAMS["synthetic-sms"]
    assert "`Bogofilter` was not measured. Install it." in text
    assert all(f"| synthetic | `{run.model}` (first 60) |" in text for run in runs)
    assert {"OnlineNB", "river:MultinomialNB", "VowpalWabbit"} <= {run.model for run in runs}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--models", "XYZ"], "unknown model"),
        (["--models", "MNB(alpha=-1)"], "alpha"),
        (["--limit", "many"], "write N, MODEL=N or"),
        (["--streams", "mail"], "no stream"),
    ],
)
def test_invalid_options_are_refused(
    options: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["results", *options])
    assert stored_runs.run_program(results.main) == 2
    assert message in capsys.readouterr().err
