"""The types of the library, as a program of a user meets them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any, Literal

import pytest

import streamnb
from streamnb.errors import InputError
from streamnb.model import choices
from streamnb.model.stored import StoredModel

PROGRAM = """\
from streamnb import MNB, OnlineNB, Tokenizer

model = OnlineNB(threshold="auto", tokenizer=Tokenizer(words=(1, 2)))
model.learn_one("win cash now", "spam")
model.learn_one({"text": "see you at noon", "user": "bob"}, "ham", w=2.0)
label = model.predict_one("win cash")
print(label == "spam", sorted(model.predict_proba_one("win cash").values())[-1] > 0.5)
for found in model.predictions_many(["win cash"]):
    print(found.label, found.scores["spam"] > found.scores["ham"])
print(model.explain_one("win cash").in_words().top("spam", 1)[0][0])
MNB(prior="laplace", oov="skip", term_weighting="log", threshold=0.5)
typed: OnlineNB[str] = OnlineNB(threshold="auto")
typed.learn_one("win cash", "spam")
found_label = typed.predict_one("win cash")
print(found_label is not None and found_label.upper(), typed.classes_[0].upper())
print([each.label is not None and each.label.lower() for each in typed.predictions_many(["a"])])
"""
WRONG = {
    'OnlineNB(threshold="sometimes")': "threshold",
    'MNB(prior="sometimes")': "prior",
    'OnlineNB(loss="sometimes")': "loss",
    'MNB(term_weighting="sometimes")': "term_weighting",
    'LossMNB(loss="sometimes")': "loss",
    "OnlineNB(aplha=1.0)": "aplha",
    'OnlineNB().learn_one(3, "spam")': "learn_one",
    'OnlineNB().learn_one("a", ["spam"])': "learn_one",
    'OnlineNB[str]().learn_one("a", 1)': "learn_one",
    "number: int | None = typed.predict_one('a')": "int | None",
}


def test_a_program_of_a_user_is_checked(tmp_path: Path) -> None:
    """One run of mypy accepts the calls of a program, and refuses each wrong call."""
    pytest.importorskip("mypy", reason="make lint installs mypy")
    path = tmp_path / "program.py"
    start = f"{PROGRAM}from streamnb import LossMNB\n"
    path.write_text(start + "".join(f"{call}\n" for call in WRONG), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", path.name]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = {}
    for line in found.stdout.splitlines():
        name, number, text = line.split(":", 2)
        assert name == path.name, line
        if text.startswith(" error:"):
            errors[int(number)] = text
    assert list(errors) == [start.count("\n") + place for place in range(1, len(WRONG) + 1)]
    for text, name in zip(errors.values(), WRONG.values(), strict=True):
        assert f'"{name}"' in text


PYRIGHT = [sys.executable, "-m", "pyright"]


@pytest.mark.soak
def test_pyright_knows_the_types() -> None:
    """At least 98 % of the public types are complete, without those of other packages."""
    pytest.importorskip("pyright", reason="pip install pyright, which needs Node.js")
    root = Path(streamnb.__file__).parents[1]
    # It asks the first Python of the path for the packages.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [*PYRIGHT, "--verifytypes", "streamnb", "--ignoreexternal", "--outputjson"]
    found = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(found.stdout)["typeCompleteness"]["completenessScore"] >= 0.98


@pytest.mark.soak
def test_pyright_checks_a_program_of_a_user(tmp_path: Path) -> None:
    """It accepts the calls of a program, and refuses each wrong call."""
    pytest.importorskip("pyright", reason="pip install pyright, which needs Node.js")
    start = f"{PROGRAM}from streamnb import LossMNB\n"
    path = tmp_path / "program.py"
    path.write_text(start + "".join(f"{call}\n" for call in WRONG), encoding="utf-8")
    root = Path(streamnb.__file__).parents[1]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(root)]}))
    command = [*PYRIGHT, "--pythonpath", sys.executable, "--outputjson", path.name]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    errors = json.loads(found.stdout)["generalDiagnostics"]
    lines = {each["range"]["start"]["line"] for each in errors if each["severity"] == "error"}
    assert lines == {start.count("\n") + place for place in range(len(WRONG))}


def test_choices_of_types_are_those_of_the_checks() -> None:
    """Each choice of a type is accepted by one model at least, and another value by none."""
    seen: dict[str, set[str]] = {}
    for name in streamnb.__all__:
        model = getattr(streamnb, name)
        if not (isinstance(model, type) and issubclass(model, StoredModel)):
            continue
        if model is streamnb.NaiveBayes or not dataclasses.is_dataclass(model):
            continue
        for field in dataclasses.fields(model):
            alias = str(field.type).removesuffix(" | None")
            if not field.init or not hasattr(choices, alias):
                continue
            with pytest.raises(InputError):
                model(**{field.name: "sometimes"})
            for value in words(getattr(choices, alias)):
                with contextlib.suppress(InputError):
                    model(**{field.name: value})
                    seen.setdefault(alias, set()).add(value)
    names = {name for name in vars(choices) if words(getattr(choices, name))}
    assert seen == {name: set(words(getattr(choices, name))) for name in names}


def words(alias: Any) -> tuple[str, ...]:
    """Return the names that a type allows."""
    if typing.get_origin(alias) is Literal:
        return typing.get_args(alias)
    return tuple(word for part in typing.get_args(alias) for word in words(part))
