"""Seed faults into a copy of the code, one at a time, and report which suite catches each.

    tools/seed_faults.py               every fault, the fast suite
    tools/seed_faults.py --suite full  also `make soak` and `make test-broker`
    tools/seed_faults.py --check       only check that each fault still fits the code
    tools/seed_faults.py sign --whole  faults with this in their name, on every test

Run it with the interpreter of .venv. Faults are in tools/seeded_faults.toml. The old text of each
fault must occur exactly once in the files of its `where`. Otherwise nothing runs, so that faults
stay in step with the code.

The suite `fast` consists of the tests of `make test`, including cargo's. `full` adds the tests of
`make soak` and `make test-broker`. To save time, a fault is tried on the tests that its `tests`
name; `--whole` tries it on all tests. The faults are seeded into a new git worktree of the last
commit. Uncommitted changes are not tested, and this worktree is not changed.

A test catches a fault if it fails with the fault and passes without it. So the tests run on the
unchanged copy first, and tests that fail there are left out. If the tests cannot run, or the copy
cannot be built, the result is an error: the fault is neither caught nor missed.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from faulty_copy import ROOT, WITHOUT_FAULT, Copy, NoJudgementError, Run

FAULTS = ROOT / "tools" / "seeded_faults.toml"
SUFFIXES = {".rs", ".py"}


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault.

    Attributes
    ----------
    name
        Description of the fault.
    where
        A file, or a folder of sources to search.
    old, new
        The original text, which occurs once, and its faulty replacement.
    tests
        Patterns of the test files that may catch it.
    cargo
        Whether cargo's tests may catch it.
    """

    name: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]
    cargo: bool = False

    def place(self, root: Path) -> Path:
        """Return the file that contains the old text.

        Raises
        ------
        SystemExit
            If the old text does not occur exactly once.
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
        """Whether the core must be rebuilt."""
        return self.place(root).suffix == ".rs"


def sources(folder: Path) -> list[Path]:
    """Return the sources below a folder."""
    return sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


def read_faults(chosen: list[str]) -> list[Fault]:
    """Return the faults whose names contain one of the words; all without words."""
    listed = tomllib.loads(FAULTS.read_text())["fault"]
    faults = [Fault(**{**each, "tests": tuple(each["tests"])}) for each in listed]
    names = [fault.name for fault in faults]
    if len(set(names)) != len(names):
        raise SystemExit(f"two faults of {FAULTS.name} have one name")
    return [f for f in faults if not chosen or any(word in f.name for word in chosen)]


@dataclasses.dataclass
class Finding:
    """The first failed test of each suite for a fault; empty if all passed."""

    fault: Fault
    fast: str = ""
    full: str | None = None
    error: str = ""
    seconds: float = 0.0


def try_fault(fault: Fault, copy: Copy, full: bool, whole: bool) -> Finding:
    """Seed a fault, run the tests, and revert it."""
    started = time.monotonic()
    path = fault.place(copy.folder)
    native = path.suffix == ".rs"
    text = path.read_text()
    finding = Finding(fault)
    path.write_text(text.replace(fault.old, fault.new))
    try:
        if native:
            copy.build()
        tests = [] if whole else copy.files(fault.tests)  # none: all that pyproject.toml names
        if native and (fault.cargo or whole):
            finding.fast = copy.unit_tests().first
        finding.fast = finding.fast or copy.python_tests(tests).first
        if full:
            longer = "soak or matrix or broker_long"
            slow = finding.fast or copy.python_tests(tests, longer, "soak", may_be_empty=True).first
            finding.full = slow
    except NoJudgementError as error:
        finding.error = str(error)
    finally:
        path.write_text(text)
    finding.seconds = time.monotonic() - started
    return finding


def without_faults(faults: list[Fault], copy: Copy) -> Run:
    """Run the tests without a fault; later runs leave out the tests that fail.

    Raises
    ------
    NoJudgementError
        If the tests do not run.
    """
    tests = copy.files(tuple(sorted({pattern for fault in faults for pattern in fault.tests})))
    found = copy.python_tests(sorted(set(tests)), all_of_them=True)
    if not found.in_time:
        raise NoJudgementError("without any fault the tests did not end in time")
    copy.broken = found.failed
    if any(fault.cargo for fault in faults) and (failed := copy.unit_tests(WITHOUT_FAULT).first):
        raise NoJudgementError(f"without any fault {failed} fails")
    return found


def rows(findings: list[Finding], broken: Sequence[str], full: bool) -> Iterator[str]:
    """Yield the rows of the table."""
    width = max(len(finding.fault.name) for finding in findings)
    suites = "  fast    full  " if full else "  fast  "
    yield f"{'fault':{width}}{suites}   s  first test that fails"
    for found in findings:
        if found.error:
            yield f"{found.fault.name:{width}}  ERROR   {found.error.splitlines()[-1]}"
            continue
        marks = f"  {'caught' if found.fast else 'MISSED'}"
        if full:
            marks += f"  {'caught' if found.full else 'MISSED'}"
        by = found.fast or found.full or ""
        yield f"{found.fault.name:{width}}{marks}  {found.seconds:4.0f}  {by}"
    for test in broken:
        yield f"left out, for it fails without any fault: {test}"
    tried = [found for found in findings if not found.error]
    line = f"{len(tried)} faults: fast caught {sum(bool(found.fast) for found in tried)}"
    line += f", full {sum(bool(found.full) for found in tried)}" if full else ""
    yield line + f"; {len(findings) - len(tried)} errors, of which nothing is known"


def status(findings: list[Finding], broken: Sequence[str]) -> int:
    """Return 0 if each fault was caught, and all tests pass without a fault."""
    caught = all((found.full or found.fast) and not found.error for found in findings)
    return int(not caught or bool(broken))


def try_all(faults: list[Fault], copy: Copy, options: argparse.Namespace) -> list[Finding]:
    """Try the faults one by one: first the faults of the core, which is then rebuilt.

    Raises
    ------
    NoJudgementError
        If the copy cannot be built without a fault, or its tests cannot run.
    """
    copy.build()
    if not options.trusting:
        without_faults(faults, copy)
    findings = []
    native = False
    for fault in sorted(faults, key=lambda fault: not fault.is_native(copy.folder)):
        if native and not fault.is_native(copy.folder):
            copy.build()
        native = fault.is_native(copy.folder)
        found = try_fault(fault, copy, options.suite == "full", options.whole)
        findings.append(found)
        said = found.error and f"ERROR {found.error}"
        print(f"{fault.name}: {said or found.fast or 'missed'}", file=sys.stderr, flush=True)
    return findings


def main() -> int:
    """Return 0 if the suites caught every fault that they should."""
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
    with tempfile.TemporaryDirectory(prefix="streamnb-faults-") as scratch:
        copy = Copy(Path(scratch) / "copy", options.jobs)
        try:
            findings = try_all(faults, copy, options)
        except NoJudgementError as error:
            raise SystemExit(f"nothing is tried: {error}") from error
        finally:
            copy.close()
    print(*rows(findings, copy.broken, options.suite == "full"), sep="\n")
    return status(findings, copy.broken)


if __name__ == "__main__":
    raise SystemExit(main())
