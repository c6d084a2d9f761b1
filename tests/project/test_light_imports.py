"""What an import does not wait for: heavy libraries that only some of its users need."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    "arguments",
    [["evaluate", "nofile"], ["learn", "nofile", "-o", "x"], ["classify", "nomodel", "nofile"]],
)
def test_an_error_of_a_command_does_not_wait_for_libraries(arguments: list[str]) -> None:
    program = f"""
import sys
from streamnb.cli import main
assert main({arguments!r}) in (1, 2)
print(*sorted(set({HEAVY!r}) & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() in ([], ["tqdm"])


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
