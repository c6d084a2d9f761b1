"""Streams of table rows, and models that learned them."""

from __future__ import annotations

import math
import random
from typing import Any

from hypothesis import strategies as st

import streamnb
from references.losses import Row


def make(name: str, **parameters: Any) -> Any:
    return getattr(streamnb, name)(**parameters)


def stream(n: int = 70, classes: str = "ab", weighted: bool = False, seed: int = 7) -> list[Row]:
    """Return rows of numbers, categories and missing values; some do not depend on the class."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        label = rng.choice(classes[:2] if i < 12 else classes)
        near = {"a": 0.0, "b": 1.5, "c": 3.0}[label]
        size = rng.gauss(near, 1.0)
        row: dict[str, Any] = {
            "size": size,
            "again": size + rng.gauss(0.0, 0.2),
            "noise": rng.gauss(100.0, 30.0) if rng.random() < 0.9 else float("nan"),
            "kind": rng.choice("xxy" if label == "a" else "xyz"),
            "flag": rng.random() < 0.5 if rng.random() < 0.8 else None,
            "same": 2.5,
        }
        if label == "b" and i % 4 == 0:
            row["only b"] = float(i)
        rows.append((row, label, rng.choice([0.5, 1.0, 2.0]) if weighted else 1.0))
    return rows


def learned(name: str, rows: list[Row], **parameters: Any) -> Any:
    model = make(name, **parameters)
    for row, label, weight in rows:
        model.learn_one(row, label, weight)
    return model


ODD = {"size": 40.0, "kind": "new", "never": 1.0, "unknown": "x", "noise": None, "only b": 3.0}
# --- state ----------------------------------------------------------------------------------------

values = st.one_of(
    st.floats(-1e6, 1e6), st.sampled_from([0.1, 0.3, -0.0, 1e-300, 2.0**399, None, math.nan]),
    st.sampled_from(["x", "y", True, 3]),
)  # fmt: skip
odd_rows = st.dictionaries(st.sampled_from(["a", "b", "c=d", "é"]), values, max_size=4)
odd_streams = st.lists(
    st.tuples(odd_rows, st.sampled_from("pqr"), st.sampled_from([1.0, 2.0, 3.0])), max_size=8
)
