"""Seed faults into a copy of the code, one at a time, and see which of the suites catches each.

    tools/seed_faults.py                    every fault, the fast suite
    tools/seed_faults.py --suite full       what `make soak` and `make test-broker` catch as well
    tools/seed_faults.py --check            only look whether each fault still fits the code
    tools/seed_faults.py sign --whole       faults with this in their names, on every test

It is run by the interpreter of .venv. Faults are in tools/seeded_faults.toml. Of each the old text
has to stand exactly once in the files of its `where`, so that faults keep in step with the code:
where it does not, nothing is run at all.

The suite `fast` is what `make test` runs, cargo's tests included; `full` is that and what only
`make soak` and `make test-broker` run, so what `fast` catches `full` catches. To be quick, a fault
is tried on the tests that its `tests` name; `--whole` tries it on all. Work is done in a git
worktree of its own, made from the last commit: what is not committed is not tried, and nothing
here is touched.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tools" / "seeded_faults.toml"
# A fault may make a program wait for ever.
TIMEOUT = 900
FAST = "not soak and not broker_long"
SUFFIXES = {".rs", ".py"}


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes
    ----------
    name
        What is wrong.
    where
        A file, or a folder whose sources are searched.
    old, new
        The text that stands there, once, and the faulty text in its place.
    tests
        Patterns of the test files that may see it.
    cargo
        Whether cargo's tests may.
    """

    name: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]
    cargo: bool = False

    def place(self, root: Path) -> Path:
        """Return the one file that has the old text once.

        Raises
        ------
        SystemExit
            If there is no such file, or more than one place.
        """
        start = root / self.where
        files = sources(start) if start.is_dir() else [start]
        found = [path for path in files if path.is_file() and self.old in path.read_text()]
        times = sum(path.read_text().count(self.old) for path in found)
        if times != 1:
            raise SystemExit(
                f"{self.name}: the old text stands {times} times in {self.where}, not once; "
                f"bring {FAULTS.name} in step with the code:\n{self.old}"
            )
        return found[0]

    def is_native(self, root: Path) -> bool:
        """Whether the core has to be built again."""
        return self.place(root).suffix == ".rs"


def sources(folder: Path) -> list[Path]:
    """Return the sources below a folder."""
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def read_faults(chosen: list[str]) -> list[Fault]:
    """Return the faults whose names contain one of the words; all, where there is none."""
    listed = tomllib.loads(FAULTS.read_text())["fault"]
    faults = [Fault(**{**each, "tests": tuple(each["tests"])}) for each in listed]
    names = [fault.name for fault in faults]
    if len(set(names)) != len(names):
        raise SystemExit(f"two faults of {FAULTS.name} have one name")
    return [f for f in faults if not chosen or any(word in f.name for word in chosen)]


class Copy:
    """A worktree of the last commit, with a core built for tests.

    Parameters
    ----------
    folder
        Where; it is made by `git worktree add`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        run = ["git", "worktree", "add", "--quiet", "--detach", str(folder), "HEAD"]
        subprocess.run(run, cwd=ROOT, check=True)
        data = os.environ.get("STREAMNB_DATA", str(ROOT.parent / "shared" / "data"))
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(folder), str(folder / "consumers")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYO3_PYTHON": sys.executable,
            "STREAMNB_DATA": str(Path(data).resolve()),
        }

    def build(self) -> str:
        """Build the core; return what the compiler said if it failed."""
        arguments = ["build", "--profile", "fast", "--features", "python", "--lib"]
        done = self._cargo(*arguments)
        if done.returncode:
            return done.stdout[-2000:]
        built = self.folder / "core" / "target" / "fast" / "lib_core.so"
        shutil.copy2(built, self.folder / "streamnb" / f"_core.abi3{self._suffix()}")
        return ""

    @staticmethod
    def _suffix() -> str:
        return "." + str(sysconfig.get_config_var("EXT_SUFFIX")).rpartition(".")[2]

    def _cargo(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        manifest = str(self.folder / "core" / "Cargo.toml")
        command = ["cargo", arguments[0], "--quiet", "--manifest-path", manifest, *arguments[1:]]
        return self._run(command)

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "it did not end in time")

    def unit_tests(self) -> str:
        """Run cargo's tests; return which one fails first, or nothing."""
        done = self._cargo("test", "--profile", "fast")
        if not done.returncode:
            return ""
        failed = [line for line in done.stdout.splitlines() if line.startswith("---- ")]
        return f"cargo: {failed[0].split()[1]}" if failed else "cargo: it does not end well"

    def python_tests(self, patterns: tuple[str, ...], marks: str, profile: str, jobs: int) -> str:
        """Run pytest; return which test fails first, or nothing.

        Raises
        ------
        SystemExit
            If no file has the name of a pattern.
        """
        files = []
        for pattern in patterns:
            found = sorted(str(path) for path in self.folder.glob(pattern))
            if not found:
                raise SystemExit(f"no test has the name {pattern}: bring {FAULTS.name} in step")
            files += found
        options = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-n", str(jobs)]
        options += ["-m", marks, f"--hypothesis-profile={profile}"]
        done = self._run([sys.executable, "-m", "pytest", *options, *files])
        if done.returncode in (0, 5):  # 5: none of the tests is of these marks
            return ""
        if done.returncode == 124:
            return "a test that did not end"
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return failed[0].split(" - ")[0].partition(" ")[2] if failed else "pytest did not begin"

    def close(self) -> None:
        """Take the worktree away."""
        remove = ["git", "worktree", "remove", "--force", str(self.folder)]
        subprocess.run(remove, cwd=ROOT, check=False)


@dataclasses.dataclass
class Finding:
    """What caught a fault: the first test of a suite that failed; nothing where none did."""

    fault: Fault
    fast: str = ""
    full: str | None = None
    error: str = ""
    seconds: float = 0.0


def try_fault(fault: Fault, copy: Copy, full: bool, whole: bool, jobs: int) -> Finding:
    """Seed a fault, run the tests, and take it back."""
    started = time.monotonic()
    path = fault.place(copy.folder)
    native = path.suffix == ".rs"
    text = path.read_text()
    tests = () if whole else fault.tests  # none: all that pyproject.toml names
    finding = Finding(fault)
    path.write_text(text.replace(fault.old, fault.new))
    try:
        if native:
            finding.error = copy.build()
        if not finding.error:
            if native and (fault.cargo or whole):
                finding.fast = copy.unit_tests()
            finding.fast = finding.fast or copy.python_tests(tests, FAST, "fast", jobs)
            if full:
                longer = "soak or matrix or broker_long"
                finding.full = finding.fast or copy.python_tests(tests, longer, "soak", jobs)
    finally:
        path.write_text(text)
    finding.seconds = time.monotonic() - started
    return finding


def without_faults(faults: list[Fault], copy: Copy, jobs: int) -> None:
    """Refuse to go on where tests fail without any fault.

    Raises
    ------
    SystemExit
        If one does.
    """
    tests = tuple(sorted({pattern for fault in faults for pattern in fault.tests}))
    failed = copy.python_tests(tests, FAST, "fast", jobs)
    if not failed and any(fault.cargo for fault in faults):
        failed = copy.unit_tests()
    if failed:
        raise SystemExit(f"without any fault {failed} fails")


def rows(findings: list[Finding], full: bool) -> Iterator[str]:
    """Yield the lines of the table."""
    width = max(len(finding.fault.name) for finding in findings)
    suites = "  fast    full  " if full else "  fast  "
    yield f"{'fault':{width}}{suites}   s  first test that fails"
    for found in findings:
        if found.error:
            yield f"{found.fault.name:{width}}  does not build: {found.error.splitlines()[-1]}"
            continue
        marks = f"  {'caught' if found.fast else 'MISSED'}"
        if full:
            marks += f"  {'caught' if found.full else 'MISSED'}"
        by = found.fast or found.full or ""
        yield f"{found.fault.name:{width}}{marks}  {found.seconds:4.0f}  {by}"
    tried = [found for found in findings if not found.error]
    line = f"{len(tried)} faults: fast caught {sum(bool(found.fast) for found in tried)}"
    yield line + (f", full {sum(bool(found.full) for found in tried)}" if full else "")


def main() -> int:
    """Return 0 if the suites that ran caught every fault that they should."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="faults whose names contain one of these")
    parser.add_argument("--suite", choices=["fast", "full"], default="fast")
    parser.add_argument("--whole", action="store_true", help="run every test of the suite")
    parser.add_argument("--check", action="store_true", help="only look whether each fault fits")
    parser.add_argument("--list", action="store_true", help="only print the names")
    parser.add_argument("--trusting", action="store_true", help="don't run the tests without fault")
    parser.add_argument("-n", "--jobs", type=int, default=2, help="processes of pytest (2)")
    options = parser.parse_args()
    faults = read_faults(options.names)
    if not faults:
        raise SystemExit("there is no such fault")
    for fault in faults:
        place = fault.place(ROOT).relative_to(ROOT)
        if options.list or options.check:
            print(f"{fault.name}: {place}")
    if options.list or options.check:
        return 0
    findings = []
    with tempfile.TemporaryDirectory(prefix="streamnb-faults-") as scratch:
        copy = Copy(Path(scratch) / "copy")
        try:
            if said := copy.build():
                raise SystemExit(f"without any fault the core does not build: {said}")
            if not options.trusting:
                without_faults(faults, copy, options.jobs)
            native = False
            # Those of the core first, and it is built once more before the others.
            for fault in sorted(faults, key=lambda fault: not fault.is_native(copy.folder)):
                if native and not fault.is_native(copy.folder):
                    copy.build()
                native = fault.is_native(copy.folder)
                full, whole = options.suite == "full", options.whole
                findings.append(try_fault(fault, copy, full, whole, options.jobs))
                print(f"{fault.name}: {findings[-1].fast or 'missed'}", file=sys.stderr, flush=True)
        finally:
            copy.close()
    print(*rows(findings, options.suite == "full"), sep="\n")
    return int(any(found.error or not (found.full or found.fast) for found in findings))


if __name__ == "__main__":
    raise SystemExit(main())
