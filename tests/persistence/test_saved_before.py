"""Models saved by an earlier version load, score as they did then, and go on learning.

The files of `fixtures/models` were written by version 0.1.0, before its modules moved. They are
never written again: a later version has to read them. `expected.json` holds what that version said.
Weights that a fit gives are fitted again when a file is read, and fits of that version stopped a
little before they had converged: `within` says how near its scores are.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import streamnb

SAVED = Path(__file__).parent.parent / "fixtures" / "models"
EXPECTED: dict[str, Any] = json.loads((SAVED / "expected.json").read_text())


def saved(name: str) -> Any:
    return streamnb.load(SAVED / f"{name}.streamnb")


def test_every_file_is_checked() -> None:
    assert {path.stem for path in SAVED.glob("*.streamnb")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_scores_and_labels_are_those_of_then(name: str) -> None:
    model, expected = saved(name), EXPECTED[name]
    assert type(model).__name__ == expected["model"]
    assert model.classes_ == expected["classes"]
    assert (model.n_documents, model.n_words) == (expected["n_documents"], expected["n_words"])
    for query in expected["queries"]:
        x = query["message"]
        scores = model.joint_log_likelihood_one(x)
        assert scores == pytest.approx(query["scores"], abs=expected.get("within", 1e-9)), x
        highest = sorted(scores.values())[-2:]
        if len(highest) < 2 or highest[1] - highest[0] > 1e-2:
            assert model.predict_one(x) == query["label"], x


@pytest.mark.parametrize("name", EXPECTED)
def test_a_loaded_model_goes_on(name: str) -> None:
    """It learns and unlearns, and its new file holds the same model."""
    model = saved(name)
    x, label = EXPECTED[name]["learned_after"]
    model.unlearn_one(x, label)
    assert model.n_documents == EXPECTED[name]["n_documents"] - 1
    model.learn_one(x, label)
    assert model.n_documents == EXPECTED[name]["n_documents"]
    assert streamnb.NaiveBayes.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
