"""`streamnb results`: every model on streams, resumed, limited, as one page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

import streamnb
from streamnb.cli import main
from streamnb.errors import InputError
from streamnb.model_specs import MODELS
from streamnb.reproduce import RunsFile, results, runs
from streamnb.reproduce.results import Run, make_runs, model_names, page, run_streams

STREAMS = tuple(results.STREAMS)  # before a test replaces them


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stream that every machine has, once in its order and once as if it were shuffled."""
    monkeypatch.setattr(results, "STREAMS", {"synthetic-sms": "made up", "sms": "SMS"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_every_model_is_on_the_page() -> None:
    names = model_names()
    assert {name for name in MODELS if name != "ComposedNB"} <= set(names)
    assert len(set(names)) == len(names)
    for name in results.VARIANTS:
        main_name, _, _ = name.partition("(")
        assert hasattr(streamnb, main_name)


def test_runs_and_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "SHUFFLED", ("sms",))
    runs = make_runs(
        ["MNB", "HMNB"],
        ["synthetic-sms", "sms"],
        2,
        {("HMNB", ""): 5, ("HMNB", "sms"): 7, ("", ""): 9},
    )
    assert runs == [
        Run("MNB", "synthetic-sms", 1, 9),
        Run("HMNB", "synthetic-sms", 1, 5),
        Run("MNB", "sms", 1, 9),
        Run("HMNB", "sms", 1, 7),
        Run("MNB", "sms", 2, 9),
        Run("HMNB", "sms", 2, 7),
    ]
    with pytest.raises(InputError, match="no stream"):
        make_runs(["MNB"], ["mail"], 1, {})
    with pytest.raises(InputError, match="not among the models"):
        make_runs(["MNB"], ["sms"], 1, {("CNB", ""): 5})
    with pytest.raises(InputError, match="not among the streams"):
        make_runs(["MNB"], ["sms"], 1, {("MNB", "20news"): 5})
    for seeds, limits in ((0, {}), (1, {("MNB", ""): 0}), (1, {("", ""): 0})):
        with pytest.raises(InputError, match="at least 1"):
            make_runs(["MNB"], ["sms"], seeds, limits)


def test_figures_are_kept_and_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = make_runs(["MNB", "NBCF(factor='auto')"], ["synthetic-sms"], 1, {("", ""): 300})
    path = tmp_path / "r.jsonl"
    figures = run_streams(runs, RunsFile(path), progress=False)
    assert len(path.read_text().splitlines()) == 2
    for run in runs:
        found = figures[run]
        assert 50 < found.accuracy < 100
        assert 0 <= found.auc_loss < 50
        assert found.messages == 300
        assert found.learn > 0
        assert found.predict > 0
    # Nothing is left to run; a longer stream is another run.
    assert run_streams(runs, RunsFile(path), progress=False) == figures
    assert len(path.read_text().splitlines()) == 2
    longer = make_runs(["MNB"], ["synthetic-sms"], 1, {("", ""): 400})
    run_streams(longer, RunsFile(path), progress=False)
    assert len(path.read_text().splitlines()) == 3
    # Changed code measures anew, unless it need not.
    monkeypatch.setattr(results, "code_fingerprint", lambda: "changed")
    old = run_streams(runs[:1], RunsFile(path), progress=False, any_code=True)
    assert old == {runs[0]: figures[runs[0]]}
    assert len(path.read_text().splitlines()) == 3
    new = run_streams(runs[:1], RunsFile(path), progress=False)
    assert len(path.read_text().splitlines()) == 4
    assert "same version of the code" in page(runs, {**figures, **new})
    assert "same version of the code" not in page(runs, figures)
    # Of two versions it is the last; a shorter stream is another run still.
    again = run_streams(runs[:1], RunsFile(path), progress=False, any_code=True)
    assert again == new
    shorter = make_runs(["MNB"], ["synthetic-sms"], 1, {("", ""): 50})
    run_streams(shorter, RunsFile(path), progress=False, any_code=True)
    assert len(path.read_text().splitlines()) == 5


def test_the_page_says_what_was_limited_and_shuffled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert "; one shuffle." in page(runs[:1], figures)
    assert "first N messages" in text
    two_classes = {run: results.Figures(90.0, 1.5, 1.0, 2.0, 5000) for run in runs}
    assert "| `MNB` | 90.00 ± 0.00 | 1.50 ± 0.00 | 3.0 |" in page(runs, two_classes)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["results", "--streams", "synthetic-sms", "--limit", "200", "--limit", "BNB=100"]
    options += ["--limit", "BNB@synthetic-sms=90"]
    options += ["--models", "MNB, BNB", "--results", str(tmp_path / "r.jsonl")]
    assert main(options) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Results\n")
    assert "(first 90)" in printed
    assert main([*options, "--output", str(tmp_path / "page.md")]) == 0
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == printed
    assert main([*options, "--output", str(tmp_path / "nowhere" / "page.md")]) == 2


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--models", "XYZ"], "no model"),
        (["--models", "MNB(alpha=-1)"], "alpha"),
        (["--limit", "many"], "write N, MODEL=N or"),
        (["--limit", "HONB=x"], "write N, MODEL=N or"),
        (["--jobs", "0"], "jobs"),
    ],
)
def test_bad_options(option: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["results", "--streams", "synthetic-sms", *option]) == 2
    assert message in capsys.readouterr().err


def test_models_with_parameters_are_separated_by_semicolons() -> None:
    from streamnb.cli.results import _models

    assert _models("NBCF(factor=0.5, prior='laplace'); MNB") == [
        "NBCF(factor=0.5, prior='laplace')",
        "MNB",
    ]
    assert _models(None) == []


def test_help_names_every_stream() -> None:
    from streamnb.cli import results as command

    assert all(name in command._DESCRIPTION for name in STREAMS)


def test_a_change_in_any_room_of_the_models_makes_other_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A stored run is used again by the same code only, wherever in the package the code lies."""
    for name in ("text/forms.py", "statistics/counts.py", "cli/table.py", "reproduce/runs.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    for name in ("folds", "runner", "experiment"):
        (tmp_path / "reproduce" / f"{name}.py").write_text("")
    monkeypatch.setattr(runs, "__file__", str(tmp_path / "reproduce" / "runs.py"))
    first = runs.code_fingerprint()
    (tmp_path / "cli" / "table.py").write_text("print()")
    assert runs.code_fingerprint() == first
    for name in ("text/forms.py", "statistics/counts.py", "reproduce/folds.py"):
        (tmp_path / name).write_text("changed = True")
        second = runs.code_fingerprint()
        assert second != first, name
        first = second


def test_the_help_tells_what_is_run() -> None:
    from streamnb.cli.results import _DESCRIPTION

    assert all(re.search(rf"\b{stream}\b", _DESCRIPTION) for stream in STREAMS)
    assert "20news (in shuffled order, once for each seed)" in " ".join(_DESCRIPTION.split())
