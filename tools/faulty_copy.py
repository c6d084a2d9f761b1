"""A copy of the code for seeded faults, and the results of its tests."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A fault may make a program hang. In seconds; cargo's tests take one or two minutes.
TIMEOUT = 900
UNIT_TESTS = 300
# The run of all tests without a fault takes longer.
WITHOUT_FAULT = 3600
FAST = "not soak and not broker_long"
# Exit status of `timeout`.
NOT_IN_TIME = 124


class NoJudgementError(Exception):
    """The tests could not run, so the result is unknown."""


@dataclasses.dataclass(frozen=True)
class Run:
    """Result of a run of tests.

    Attributes
    ----------
    failed
        Failed tests, as pytest or cargo names them; empty if all passed.
    in_time
        Whether the run ended within the time limit.
    """

    failed: tuple[str, ...] = ()
    in_time: bool = True

    @property
    def first(self) -> str:
        """The first failed test; empty if all passed."""
        if not self.in_time:
            return "a test that did not end"
        return self.failed[0] if self.failed else ""


def judge(status: int, said: str, failed: Sequence[str], may_be_empty: bool = False) -> Run:
    """Return the result of a pytest run.

    Parameters
    ----------
    status
        Exit status: 0 all passed, 1 some failed, 2 interrupted, 5 no tests. Others are internal
        errors.
    said
        Output of pytest.
    failed
        Failed tests from pytest's cache.
    may_be_empty
        Whether the marks may select zero tests.

    Raises
    ------
    NoJudgementError
        If no tests ran.
    """
    if status == NOT_IN_TIME:
        return Run(in_time=False)
    if may_be_empty and status in (0, 5):
        return Run()
    # Without Spark or a browser its tests are skipped, so they prove nothing.
    if status == 0 and re.search(r"\b[1-9]\d* passed", said):
        return Run()
    unread = [name for name in failed if "::" not in name]
    # With several processes, pytest exits with 2 at the first failure.
    if status in (1, 2) and unread:
        raise NoJudgementError(f"{unread[0]} is not collected")
    if status in (1, 2) and failed:
        return Run(tuple(failed))
    reasons = {0: "every test is skipped", 5: "there is no test of these marks"}
    reason = reasons.get(status, f"pytest ended with {status}")
    lines = [line for line in said.splitlines() if line.strip()]
    raise NoJudgementError(f"{reason}: {lines[-1] if lines else 'it said nothing'}")


class Copy:
    """A worktree of the last commit, with a core built for tests.

    Parameters
    ----------
    folder
        Path of the worktree, created by `git worktree add`.
    jobs
        Number of pytest processes.
    """

    def __init__(self, folder: Path, jobs: int = 2) -> None:
        self.folder = folder
        self.jobs = jobs
        # Tests that fail without a fault.
        self.broken: tuple[str, ...] = ()
        run = ["git", "worktree", "add", "--quiet", "--detach", str(folder), "HEAD"]
        subprocess.run(run, cwd=ROOT, check=True)
        data = os.environ.get("STREAMNB_DATA", str(ROOT.parent / "shared" / "data"))
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "consumers")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYO3_PYTHON": sys.executable,
            "STREAMNB_DATA": str(Path(data).resolve()),
        }

    def build(self) -> None:
        """Build the core.

        Raises
        ------
        NoJudgementError
            If the compiler reports an error.
        """
        done = self._cargo("build", "--profile", "fast", "--features", "python", "--lib")
        if done.returncode:
            raise NoJudgementError(f"the core does not build: {done.stdout[-2000:]}")
        built = self.folder / "core" / "target" / "fast" / "lib_core.so"
        shutil.copy2(built, self.folder / "streamnb" / f"_core.abi3{self._suffix()}")

    @staticmethod
    def _suffix() -> str:
        return "." + str(sysconfig.get_config_var("EXT_SUFFIX")).rpartition(".")[2]

    def _cargo(self, *arguments: str, timeout: float = TIMEOUT) -> subprocess.CompletedProcess[str]:
        manifest = str(self.folder / "core" / "Cargo.toml")
        command = ["cargo", arguments[0], "--quiet", "--manifest-path", manifest, *arguments[1:]]
        return self._run(command, timeout)

    def _run(
        self, command: list[str], timeout: float = TIMEOUT
    ) -> subprocess.CompletedProcess[str]:
        with subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                said, _ = process.communicate(timeout=timeout)
            except BaseException as error:
                # Kill the whole process group, because cargo leaves hanging tests running.
                os.killpg(process.pid, signal.SIGKILL)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                return subprocess.CompletedProcess(command, NOT_IN_TIME, "it did not end in time")
        return subprocess.CompletedProcess(command, process.returncode, said)

    def unit_tests(self, timeout: float = UNIT_TESTS) -> Run:
        """Run cargo's tests.

        Raises
        ------
        NoJudgementError
            If they do not build.
        """
        done = self._cargo("test", "--profile", "fast", timeout=timeout)
        if done.returncode == NOT_IN_TIME:
            return Run(in_time=False)
        if "could not compile" in done.stdout:
            raise NoJudgementError("the tests of cargo do not build")
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("---- ")]
        if done.returncode:
            return Run(tuple(f"cargo: {line[1]}" for line in lines) or ("cargo: it ends itself",))
        return Run()

    def files(self, patterns: tuple[str, ...]) -> list[str]:
        """Return the files that match patterns.

        Raises
        ------
        SystemExit
            If a pattern matches no file.
        """
        files = []
        for pattern in patterns:
            found = sorted(str(path) for path in self.folder.glob(pattern))
            if not found:
                raise SystemExit(
                    f"no test has the name {pattern}: bring seeded_faults.toml in step"
                )
            files += found
        return files

    def python_tests(
        self,
        tests: Sequence[str],
        marks: str = FAST,
        profile: str = "fast",
        *,
        all_of_them: bool = False,
        may_be_empty: bool = False,
    ) -> Run:
        """Run pytest on files or tests, except tests that fail without a fault.

        Raises
        ------
        NoJudgementError
            If pytest ran no tests.
        """
        with tempfile.TemporaryDirectory(prefix="streamnb-cache-") as cache:
            options = ["-q", "--no-header", "--tb=no", "-o", f"cache_dir={cache}"]
            options += ["-n", str(self.jobs), "-m", marks, f"--hypothesis-profile={profile}"]
            options += [] if all_of_them else ["-x"]
            options += [f"--deselect={test}" for test in self.broken]
            # Files outside this folder need its profiles too.
            named = [str(self.folder / "tests" / "conftest.py"), *tests] if tests else []
            command = [sys.executable, "-m", "pytest", *options, *named]
            done = self._run(command, WITHOUT_FAULT if all_of_them else TIMEOUT)
            last = Path(cache) / "v" / "cache" / "lastfailed"
            failed = list(json.loads(last.read_text())) if last.is_file() else []
        return judge(done.returncode, done.stdout, failed, may_be_empty)

    def close(self) -> None:
        """Remove the worktree."""
        remove = ["git", "worktree", "remove", "--force", str(self.folder)]
        subprocess.run(remove, cwd=ROOT, check=False)
