"""Docstrings name each parameter of a model, with its type, default and meaning."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import pytest

import streamnb
from streamnb import MNB, MultiLabelNB, NaiveBayes, OnlineNB, families
from streamnb.model import docstrings

MODELS = {**families.MODELS, "MultiLabelNB": MultiLabelNB}


def section(doc: str) -> dict[str, tuple[str, str]]:
    """Return parameter → its line and its description."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n--+\n|\Z)", doc, re.M | re.S)
    assert found is not None, "no section of parameters"
    entries = re.findall(r"^(\w+(?:, \w+)*)(.*)\n((?: {4}.*\n|\n)+)", f"{found[1]}\n", re.M)
    return {
        name.strip(): (line, " ".join(text.split()))
        for names, line, text in entries
        for name in names.split(",")
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_model_names_each_parameter(name: str) -> None:
    model = MODELS[name]
    named = section(inspect.getdoc(model) or "")
    parameters = inspect.signature(model).parameters
    assert list(named) == list(parameters)
    for parameter in parameters.values():
        line, text = named[parameter.name]
        kind = re.fullmatch(rf" : (.+), default {re.escape(repr(parameter.default))}", line)
        assert kind is not None, f"{parameter.name}{line}"
        assert re.match(r"[\w\"`ΔδτΣ*]", text), parameter.name
        assert not text.startswith("As in"), parameter.name
        if re.search(r"\b(int|float)\b", kind[1]) and not text.startswith("No effect"):
            assert re.search(r"\d|None is", text), f"{parameter.name} has no range"


def classes() -> dict[str, type]:
    """Return the other classes of the package that learn or predict, by name."""
    found = {}
    for module in pkgutil.walk_packages(streamnb.__path__, "streamnb."):
        if module.name.endswith("__main__") or module.name.startswith("streamnb.cli"):
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            if not inspect.isclass(value) or value.__module__ != module.name or name[0] == "_":
                continue
            methods = ("learn_one", "partial_fit", "predict_one", "decide_one")
            if any(hasattr(value, method) for method in methods) and "__init__" in vars(value):
                found[name] = value
    return {name: value for name, value in found.items() if not issubclass(value, NaiveBayes)}


def test_wrappers_and_adapters_name_each_parameter() -> None:
    found = classes()
    assert {"Challenger", "Cascade", "StreamNBClassifier", "WeightedBoosting"} <= set(found)
    unnamed = {
        (name, parameter)
        for name, value in found.items()
        if not getattr(value, "_is_protocol", False)
        for parameter in inspect.signature(value).parameters
        if parameter not in section(inspect.getdoc(value) or "")
    }
    assert unnamed == {}.keys()


@dataclasses.dataclass(eq=False, repr=False)
class _WithANewParameter(MNB):
    """A model."""

    shrinkage: float = 0.5


def test_a_new_parameter_needs_a_description() -> None:
    with pytest.raises(KeyError, match="shrinkage"):
        docstrings.complete(_WithANewParameter, NaiveBayes.known)


@pytest.mark.parametrize("model", [OnlineNB, MultiLabelNB])
def test_help_begins_with_the_purpose(model: type) -> None:
    doc = inspect.getdoc(model) or ""
    purpose = doc.partition("\nParameters\n")[0]
    assert "classifies the texts of a stream" in purpose
    assert not re.search(r"[=ΣΠ√]", purpose)
    assert "Notes\n-----" in doc
    assert doc.index("Examples\n--------") < doc.index("Notes\n-----")


def test_descriptions_are_found_through_other_models() -> None:
    described = docstrings.descriptions(families.ComposedNB, NaiveBayes.known)
    smallest = described["min_samples_leaf"]
    assert smallest.split()[:3] == ["Minimum", "weight", "of"]
    assert " ".join(smallest.split()).endswith("means 50 for the tree and 2 for the weights.")
    assert all(line.startswith("    ") for line in smallest.splitlines())


def test_python_without_docstrings_imports_all_models() -> None:
    program = "from streamnb import MNB; print(repr(MNB(alpha=0.5)))"
    command = [sys.executable, "-OO", "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.stdout, found.stderr) == ("MNB(alpha=0.5)\n", "")
