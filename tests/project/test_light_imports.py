"""What an import does not wait for: heavy libraries that only some of its users need."""

from __future__ import annotations

import importlib
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
        "from streamnb.datasets import read_messages, read_counts, read_tabular",
        "from streamnb.evaluation import log_odds",
        "from streamnb.cli import build_parser; build_parser()",
        "from streamnb.reproduce import experiments",
    ],
)
def test_nothing_heavy_is_imported(statement: str) -> None:
    program = f"{statement}\nimport sys\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_streamnb_itself_imports_what_is_asked_for() -> None:
    program = """
import sys
import streamnb
rooms = ("numpy", "river", "streamnb.naive_bayes", "streamnb._core")
assert not set(rooms) & set(sys.modules), sorted(sys.modules)
assert set(streamnb.__all__) <= set(dir(streamnb))
streamnb.MNB().learn_one("win", "spam")
assert streamnb.parts.Multinomial and streamnb.models.MNB is streamnb.MNB
try:
    streamnb.nothing
except AttributeError as error:
    assert "no attribute 'nothing'" in str(error)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


PROGRAMS = {
    "streamnb": "streamnb.cli:main",
    "streamnb-sms": "streamnb_consumers.daemon.command:run_sms",
    "streamnb-spam": "streamnb_consumers.daemon.command:run_spam",
    "streamnb-dead-letters": "streamnb_consumers.daemon.dead_letters_command:main",
}
"""As `project.scripts` has them."""


def left_out(arguments: str, status: int) -> None:
    """Run a command; of numpy, river and the native module it may have imported nothing."""
    command, *rest = arguments.split()
    module, function = PROGRAMS[command].split(":")
    program = f"""
import sys
from {module} import {function}
try:
    status = {function}({rest!r})
except SystemExit as error:
    status = error.code
assert status == {status}, status
heavy = {{"numpy", "river", "scipy", "tqdm", "ssl", "importlib.metadata", "streamnb._core"}}
heavy |= {{"streamnb.naive_bayes", "streamnb.text.tokenizer", "streamnb_consumers.daemon.loop"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
rooms = ("streamnb.models.", "streamnb.parts")
assert not [name for name in sys.modules if name.startswith(rooms)]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_programs_are_those_that_are_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"] | {"streamnb": "streamnb.cli:main"} == PROGRAMS


@pytest.mark.parametrize(
    "command", [*PROGRAMS, *(f"streamnb {command}" for command in cli.COMMANDS)]
)
def test_help_waits_for_no_library(command: str) -> None:
    left_out(f"{command} --help", 0)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
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
        ("streamnb-dead-letters", 2),
    ],
)
def test_an_error_of_the_arguments_waits_for_no_library(arguments: str, status: int) -> None:
    left_out(arguments, status)


def test_a_file_that_is_no_model_waits_for_no_other_model() -> None:
    program = f"""
import sys
from streamnb.cli import main
assert main(["classify", "nomodel", "nofile"]) in (1, 2)
assert not set({HEAVY!r}) & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_model_is_named() -> None:
    import streamnb
    from streamnb import models

    assert all(getattr(streamnb, name) is not None for name in streamnb.__all__)
    assert set(models.__all__) <= set(dir(models)) & set(streamnb.__all__)
    for family, names in models._FAMILIES.items():
        assert set(importlib.import_module(f"streamnb.models.{family}").__all__) == set(names)
    files = {path.stem for path in Path(models.__file__).parent.glob("[a-z]*.py")}
    assert files == set(models._FAMILIES)


def test_every_part_is_named() -> None:
    from streamnb import parts

    assert all(getattr(parts, name) is not None for name in parts.__all__)
    folder = Path(parts.__file__).parent
    files = [*folder.glob("[a-z]*.py"), *folder.glob("weights/[a-z]*.py")]
    named = {".".join(path.relative_to(folder).with_suffix("").parts) for path in files}
    assert named == set(parts._FAMILIES)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = parts.nothing


def test_a_model_imports_its_own_family() -> None:
    program = """
import sys
import streamnb
model = streamnb.OnlineNB()
model.learn_one("win cash now", "spam")
model.predict_proba_one("cash")
rooms = ("streamnb.models.", "streamnb.parts.")
families = {name for name in sys.modules if name.startswith(rooms)}
assert families == {
    "streamnb.models.online_weights",
    "streamnb.parts.axes",
    "streamnb.parts.axes.choice",
    "streamnb.parts.axes.composition",
    "streamnb.parts.events",
    "streamnb.parts.forgetting",
    "streamnb.parts.weights",
    "streamnb.parts.weights.online_weights",
}, families
later = {"base64", "hashlib", "json", "pathlib", "tempfile", "streamnb.statistics.weights_in_use"}
assert not later & set(sys.modules), later & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", ["gain-ratio", "uniform"])
def test_a_part_is_found_by_its_name_before_anyone_asked_for_it(name: str) -> None:
    program = f"""
from streamnb.parts import Weights
assert Weights.named({name!r}).name == {name!r}
try:
    Weights.named("none")
except ValueError as error:
    allowed = str(error)
assert "'chi-square', 'correlation-based', " in allowed, allowed
assert "'uniform', or such a part" in allowed, allowed
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_model_file_is_read_before_any_model_was_asked_for(tmp_path: Path) -> None:
    import streamnb

    streamnb.HMNB().save(tmp_path / "model")
    program = f"import streamnb; print(type(streamnb.load({str(tmp_path / 'model')!r})).__name__)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "HMNB\n"


def test_messages_one_by_one_do_not_wait_for_scipy() -> None:
    program = """
import sys
import streamnb
model = streamnb.MNB()
model.learn_one("win cash now", "spam")
model.learn_many(["see you", "at noon"], ["ham", "ham"])
assert model.predict_many(["cash", "see"]) == ["spam", "ham"]
assert "scipy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_late_names_of_datasets_are_there() -> None:
    from streamnb import datasets

    assert set(datasets.__all__) <= set(dir(datasets))
    assert all(getattr(datasets, name) is not None for name in datasets.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = datasets.nothing
