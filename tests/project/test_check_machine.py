"""`tools/check-machine` says what is missing before anything is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parent.parent.parent / "tools" / "check-machine"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell script")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder of programs: nothing but what the script itself and a good machine need."""
    for name in ("sh", "sed", "dirname"):
        (tmp_path / name).symlink_to(str(shutil.which(name)))
    (tmp_path / "python3").symlink_to(sys.executable)
    program(tmp_path / "cc")
    program(tmp_path / "cargo")
    program(tmp_path / "rustc", "echo 'rustc 1.999.0 (0000000 2026-01-01)'")
    return tmp_path


def program(path: Path, line: str = "exit 0") -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    path.chmod(0o755)


def check(machine: Path, *arguments: str, **variables: str) -> tuple[int, str]:
    environment = {"PATH": str(machine), "PYTHON": "python3"} | variables
    done = subprocess.run(
        [machine / "sh", CHECK, *arguments], env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_a_complete_machine_passes_silently(machine: Path) -> None:
    assert check(machine) == (0, "")
    assert check(machine, "lint") == (0, "")


@pytest.mark.parametrize(
    ("absent", "said"),
    [("python3", "Python 3.11"), ("cc", "linker"), ("cargo", "Rust"), ("rustc", "Rust")],
)
def test_what_is_absent_is_named(machine: Path, absent: str, said: str) -> None:
    (machine / absent).unlink()
    status, text = check(machine)
    assert status == 1
    assert text.count("missing:") == 1
    assert said in text


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("rustc", "echo 'rustc 1.75.0 (0000000 2024-01-01)'", "this is 1.75.0"),
        ("rustc", "exit 1", "rustc --version"),
        ("python3", 'case "$2" in *platform*) echo 3.9.2;; *version_info*) exit 1;; esac', "3.9.2"),
        ("python3", 'case "$2" in *ensurepip*) exit 1;; esac', "python3-venv"),
    ],
)
def test_what_is_too_old_or_broken_is_named(machine: Path, name: str, line: str, said: str) -> None:
    program(machine / name, line)
    status, text = check(machine)
    assert status == 1
    assert said in text


def test_everything_missing_is_told_at_once(machine: Path) -> None:
    for name in ("python3", "cc", "cargo"):
        (machine / name).unlink()
    status, text = check(machine)
    assert status == 1
    assert text.count("missing:") == 3


def test_lint_needs_its_tools(machine: Path) -> None:
    program(machine / "cargo", '[ "$1" != clippy ]')
    status, text = check(machine, "lint")
    assert status == 1
    assert "rustup component add clippy" in text
    assert check(machine)[0] == 0


JAVA = "echo 'openjdk version \"17.0.19\" 2026-04-21' >&2"


def test_a_broker_for_tests_needs_java_and_maven(machine: Path) -> None:
    """Without them tests are skipped: a word where that is allowed, an error where it is not."""
    status, text = check(machine, "test")
    assert status == 0
    assert "Java 17 or newer (java) and Maven" in text
    status, text = check(machine, "test", STREAMNB_REQUIRE_DATA="1")
    assert status == 1
    assert text.count("missing:") == 1
    assert check(machine, "test", KAFKA_BOOTSTRAP_SERVERS="127.0.0.1:9092") == (0, "")
    assert check(machine) == (0, "")
    program(machine / "mvn")
    program(machine / "java", JAVA)
    assert check(machine, "test", STREAMNB_REQUIRE_DATA="1") == (0, "")
    program(machine / "java", JAVA.replace("17.0.19", "1.8.0_422"))
    status, text = check(machine, "test")
    assert status == 0
    assert "this is 1.8.0" in text
    assert "Maven" not in text.splitlines()[0]
