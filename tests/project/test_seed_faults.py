"""What tools/seed_faults.py makes of its runs: caught, missed, or nothing known."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = argparse.Namespace(suite="fast", whole=False, trusting=False)
CODE = 'def double(n):\n    """Examples\n\n    >>> double(1)\n    2\n    """\n    return 2 * n\n'
TESTS = """
from code_of import double
def test_double(): assert double(3) == 6
def test_none(): assert double(0) == 0
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import seed_faults

    return seed_faults


@pytest.fixture
def judge(tool: Any) -> Any:
    """What judges a run of pytest; it is where `tool` takes its copies from."""
    return sys.modules["faulty_copy"].judge


@pytest.fixture
def copy(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A copy of a small house, which needs no building."""
    house = tmp_path / "house"
    (house / "tests").mkdir(parents=True)
    (house / "code_of.py").write_text(CODE)
    (house / "pytest.ini").write_text(
        "[pytest]\naddopts = --doctest-modules\nmarkers =\n    soak: long\n    broker_long: long\n"
    )
    (house / "tests" / "conftest.py").write_text(
        "from hypothesis import settings\nsettings.register_profile('fast')\n"
    )
    (house / "tests" / "test_double.py").write_text(TESTS)
    (house / "tests" / "test_broken.py").write_text("def test_broken(): assert False\n")
    (house / "tests" / "test_not_read.py").write_text(
        "from code_of import double\nassert double(1) == 2\ndef test_any(): pass\n"
    )
    git = ["git", "-c", "user.name=n", "-c", "user.email=n@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A house"]):
        subprocess.run([*git, *command], cwd=house, check=True)
    monkeypatch.setattr(sys.modules["faulty_copy"], "ROOT", house)
    monkeypatch.setattr(tool.Copy, "build", lambda self: None)
    made = tool.Copy(tmp_path / "copy", jobs=0)
    yield made
    made.close()


def fault(tool: Any, name: str, new: str, *tests: str) -> Any:
    return tool.Fault(name, "code_of.py", "return 2 * n", new, tests)


def runs(status: Path) -> bool:
    """Return whether a process still runs, by its status file in /proc; a zombie has ended."""
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")
def test_what_does_not_end_is_ended_with_all_that_it_started(copy: Any) -> None:
    begun = time.monotonic()
    done = copy._run(["sh", "-c", "sleep 60 & echo $! > pid; wait"], timeout=0.5)
    assert done.returncode == sys.modules["faulty_copy"].NOT_IN_TIME
    assert time.monotonic() - begun < 30
    status = Path("/proc") / (copy.folder / "pid").read_text().strip() / "status"
    while time.monotonic() - begun < 30 and runs(status):
        time.sleep(0.05)
    assert not runs(status)


@pytest.mark.soak
def test_what_is_caught_missed_or_not_known(tool: Any, copy: Any) -> None:
    faults = [
        fault(tool, "seen by a test", "return 3 * n", "tests/test_double.py"),
        fault(tool, "seen by a doctest alone", "return 3 * n", "code_of.py"),
        fault(tool, "beside a test that fails anyway", "return 2.0 * n", "tests/test_[bd]*.py"),
        fault(tool, "its tests are not read", "return 3 * n", "tests/test_not_read.py"),
    ]
    findings = tool.try_all(faults, copy, OPTIONS)
    assert [found.fast for found in findings] == [
        "tests/test_double.py::test_double",
        "code_of.py::code_of.double",
        "",
        "",
    ]
    assert [bool(found.error) for found in findings] == [False] * 3 + [True]
    assert findings[-1].error == "tests/test_not_read.py is not collected"
    assert copy.broken == ("tests/test_broken.py::test_broken",)
    assert (copy.folder / "code_of.py").read_text() == CODE
    lines = list(tool.rows(findings, copy.broken, full=False))
    assert lines[-1] == "3 faults: fast caught 2; 1 errors, of which nothing is known"
    words = [next(w for w in ("caught", "MISSED", "ERROR") if w in line) for line in lines[1:5]]
    assert words == ["caught", "caught", "MISSED", "ERROR"]
    assert tool.status(findings, ()) == 1
    assert tool.status(findings[:2], ()) == 0
    assert tool.status(findings[:2], copy.broken) == 1
    assert tool.status(findings[-1:], ()) == 1


@pytest.mark.parametrize("status", [2, 3, 4, 5, -11])
def test_a_run_without_tests_is_no_judgement(tool: Any, judge: Any, status: int) -> None:
    with pytest.raises(tool.NoJudgementError, match=r"no test|pytest ended"):
        judge(status, "usage: pytest", [])


def test_a_run_is_judged_by_how_it_ended(tool: Any, judge: Any) -> None:
    assert judge(0, "== 3 passed, 1 skipped in 0.1s ==", []).first == ""
    with pytest.raises(tool.NoJudgementError, match="every test is skipped: == 3 skipped"):
        judge(0, "== 3 skipped in 0.1s ==", [])
    assert judge(1, "", ["a.py::this", "a.py::that"]).first == "a.py::this"
    assert judge(2, "", ["a.py::this"]).first == "a.py::this"
    assert judge(124, "", []).first == "a test that did not end"
    assert judge(5, "", [], may_be_empty=True).first == ""
    with pytest.raises(tool.NoJudgementError, match="is not collected"):
        judge(1, "", ["tests/test_b.py::test_b", "tests/test_a.py"])
    with pytest.raises(tool.NoJudgementError, match="ended with 1: INTERNALERROR"):
        judge(1, "INTERNALERROR\n", [])


def test_a_core_that_does_not_build_is_no_judgement(tool: Any, copy: Any) -> None:
    def refuse() -> None:
        raise tool.NoJudgementError("the core does not build: error")

    (copy.folder / "core.rs").write_text("1 + 1")
    copy.build = refuse
    native = tool.Fault("of the core", "core.rs", "1 + 1", "1 +", ("tests/test_double.py",))
    found = tool.try_fault(native, copy, full=False, whole=False)
    assert (found.fast, found.error) == ("", "the core does not build: error")
    assert tool.status([found], ()) == 1
