"""What an import does not wait for: heavy libraries that only some of its users need."""

from __future__ import annotations

import subprocess
import sys

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
