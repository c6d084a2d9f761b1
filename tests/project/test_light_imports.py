"""What an import does not wait for: heavy libraries that only some of its users need."""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from streamnb import cli

ROOT = Path(__file__).parents[2]

HEAVY = (
    "matplotlib",
    "pandas",
    "river.datasets",
    "river.metrics",
    "scipy.stats",
    "sklearn",
    "tqdm",
)


@pytest.mark.parametrize(
    "statement",
    [
        "import streamnb",
        "from streamnb.datasets import read_messages, read_text",
        "from streamnb.evaluation import log_odds",
        "from streamnb.cli import build_parser; build_parser()",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    program = f"{statement}\nimport sys\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_the_package_costs_about_as_much_as_its_dependencies() -> None:
    """After numpy and river's base, the import of streamnb takes at most 1.5 times their time."""
    # Both parts in one process, and the median of the ratios, so that other work slows both. The
    # threads of BLAS would count as time of numpy, more of them on an idle machine.
    program = """
import time
start = time.process_time()
import numpy, river.base
between = time.process_time()
import streamnb
print((time.process_time() - between) / (between - start))
"""
    command = [sys.executable, "-c", program]
    ratios = [
        float(
            subprocess.run(
                command,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
                capture_output=True,
                check=True,
            ).stdout
        )
        for _ in range(9)
    ]
    assert statistics.median(ratios) < 1.5, ratios


PROGRAMS = {
    "streamnb": "streamnb.cli:main",
    "streamnb-sms": "streamnb_consumers.daemon.command:run_sms",
    "streamnb-spam": "streamnb_consumers.asking:run_spam",
    "streamnb-delete": "streamnb_consumers.daemon.delete_command:run_delete",
    "streamnb-dead-letters": "streamnb_consumers.daemon.topic_commands:replay_dead_letters",
    "streamnb-teacher": "streamnb_consumers.daemon.teacher_command:run_teacher",
    "streamnb-transactions": "streamnb_consumers.daemon.topic_commands:repair_transactions",
}
"""As `project.scripts` has them."""


HELP = [*PROGRAMS, *(f"streamnb {command}" for command in cli.COMMANDS)]
# Command lines, with their exit statuses.
ENDED_EARLY = [
    *((f"{command} --help", 0) for command in HELP),
    ("streamnb", 2),
    ("streamnb --version", 0),
    ("streamnb evalute", 2),
    ("streamnb evaluate --nonsense", 2),
    ("streamnb evaluate --demo --model MNBB", 2),
    ("streamnb evaluate nofile", 2),
    ("streamnb evaluate --list-streams", 0),
    ("streamnb learn nofile -o x", 2),
    ("streamnb fetch --list", 0),
    ("streamnb fetch nothing", 2),
    ("streamnb-sms --nonsense", 2),
    ("streamnb-sms --version", 0),
    ("streamnb-spam --batch x", 2),
    ("streamnb-spam -p --nonsense", 3),
    ("streamnb-delete", 2),
    ("streamnb-dead-letters", 2),
    ("streamnb-teacher", 2),
    ("streamnb-transactions", 2),
]


def test_the_programs_are_those_that_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] | {"streamnb": "streamnb.cli:main"} == PROGRAMS


@pytest.mark.parametrize("command", PROGRAMS)
def test_help_and_errors_of_arguments_wait_for_no_library(command: str) -> None:
    """All of them in one process: a library that one imports is there after it."""
    module, function = PROGRAMS[command].split(":")
    lines = [
        (line.split()[1:], status) for line, status in ENDED_EARLY if line.split()[0] == command
    ]
    program = f"""
import sys
from {module} import {function}
for arguments, expected in {lines!r}:
    try:
        status = {function}(arguments)
    except SystemExit as error:
        status = error.code
    assert status == expected, (arguments, status)
    heavy = {{"scipy", "tqdm", "ssl", "importlib.metadata", "streamnb_consumers.daemon.loop"}}
    assert not heavy & set(sys.modules), (arguments, heavy & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_file_that_is_no_model_waits_for_no_other_model() -> None:
    program = f"""
import sys
from streamnb.cli import main
assert main(["classify", "nomodel", "nofile"]) in (1, 2)
assert not set({HEAVY!r}) & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_messages_and_model_files_do_not_wait_for_scipy() -> None:
    program = """
import sys
import streamnb
model = streamnb.MNB()
model.learn_one("win cash now", "spam")
model.learn_many(["see you", "at noon"], ["ham", "ham"])
assert model.predict_many(["cash", "see"]) == ["spam", "ham"]
loaded = streamnb.MNB.from_bytes(model.to_bytes())
assert loaded.to_bytes() == model.to_bytes()
assert "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "program",
    sorted([*ROOT.glob("tools/*.py"), *ROOT.glob("benchmarks/*.py")]),
    ids=lambda path: path.name,
)
def test_programs_import_names_that_exist(program: Path) -> None:
    for node in ast.walk(ast.parse(program.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("streamnb"):
            for name in node.names:
                exec(f"from {node.module} import {name.name}", {})


def test_late_names_of_datasets_are_there() -> None:
    from streamnb import datasets

    assert set(datasets.__all__) <= set(dir(datasets))
    assert all(getattr(datasets, name) is not None for name in datasets.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = datasets.nothing
