"""Experiments on toy collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from streamnb.reproduce import (
    CollectionRecipe,
    Experiment,
    ModelRecipe,
)
from support.experiments import TABLES, Stub

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    random = np.random.default_rng(3)
    recipes = []
    for name in ("re0", "oh0"):
        lines = []
        for place in range(60):
            label = place % 3
            weights = np.where(np.arange(30) % 3 == label, 3.0, 1.0)
            counts = random.poisson(weights / 2)
            cells = " ".join(f"{at + 1}:{n}" for at, n in enumerate(counts) if n)
            lines.append(f"class{label} {cells}".rstrip())
        path = tmp_path / f"{name}.svm"
        path.write_text("\n".join(lines) + "\n")
        recipes.append(CollectionRecipe(name, str(path)))
    models = (
        ModelRecipe("MNB", f"{Stub.__module__}:Stub"),
        ModelRecipe("CNB", f"{Stub.__module__}:Stub", {"complement": True}),
        ModelRecipe("HMNB", f"{Stub.__module__}:Stub", {"complement": True}),
        ModelRecipe("Own", f"{Stub.__module__}:Stub"),
    )
    return Experiment("toy", "A paper", "toys", TABLES, tuple(recipes), models)
