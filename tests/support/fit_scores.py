"""Print the scores of fitted models; `test_fit_kernels` runs this in separate processes."""

from __future__ import annotations

import json
import random
from typing import Any

import streamnb

Messages = list[tuple[dict[str, Any], str]]
COLUMNS = ("ENB", "DNB", "LNB", "GDNB", "MSENB")
TEXTS = ("exponential", "deviance", "likelihood", "generalised", "squared")


def rows(n: int = 120, classes: str = "abc") -> Messages:
    """Return rows of numbers and categories; some columns repeat others."""
    rng = random.Random(5)
    found: Messages = []
    for _ in range(n):
        label = rng.choice(classes)
        size = rng.gauss("abc".index(label), 1.3)
        row = {
            "size": size,
            "again": size + rng.gauss(0.0, 0.01),
            "twice": 2.0 * size,
            "noise": rng.gauss(0.0, 1e3),
            "kind": rng.choice("xxyz" if label == "a" else "xyzz"),
        }
        found.append((row, label))
    return found


def texts(n: int = 150) -> Messages:
    """Return word counts; some words depend on the class."""
    rng = random.Random(6)
    found: Messages = []
    for _ in range(n):
        label = rng.choice("abc")
        about = [f"{label}{rng.randrange(12)}" for _ in range(rng.randrange(1, 5))]
        words = [*about, *(f"w{rng.randrange(40)}" for _ in range(8))]
        found.append(({word: float(words.count(word)) for word in words}, label))
    return found


def models() -> dict[str, tuple[Any, Messages]]:
    """Return an unfitted model of each fit, with its training data."""
    once: dict[str, Any] = {"refresh_every": 10**9}
    found: dict[str, tuple[Any, Messages]] = {}
    for name in COLUMNS:
        make = getattr(streamnb, name)
        found[f"{name}, pairs"] = make(**once), rows()
        found[f"{name}, direct"] = make(multiclass="direct", **once), rows()
        found[f"{name}, no ridge"] = make(ridge=0, **once), rows(60, "ab")
    for loss in TEXTS:
        found[f"{loss} of texts"] = streamnb.LossOVA(loss=loss, **once), texts()
    found["weighted documents"] = streamnb.DWMNB(**once), texts()
    return found


def scores(model: Any, messages: Messages) -> list[list[float]]:
    """Return the scores of messages by label, in order."""
    return [list(model.joint_log_likelihood_one(x).values()) for x, _ in messages]


def main() -> None:
    """Learn, fit and print."""
    found = {}
    for name, (model, messages) in models().items():
        for x, y in messages:
            model.learn_one(x, y)
        model.refresh()
        found[name] = scores(model, messages[:40])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
