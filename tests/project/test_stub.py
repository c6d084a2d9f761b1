"""The stub of the native core against its docstrings and the keywords that it accepts."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb import InputError, Tokenizer, _core

STUB = ast.parse((Path(streamnb.__file__).parent / "_core.pyi").read_text())


def members(scope: Any, nodes: list[ast.stmt]) -> Iterator[tuple[str, Any, ast.FunctionDef]]:
    """Return the functions of the stub with the native objects of the same names."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from members(getattr(scope, node.name), node.body)
        elif isinstance(node, ast.FunctionDef):
            native = scope if node.name == "__new__" else inspect.getattr_static(scope, node.name)
            yield f"{scope.__name__}.{node.name}", getattr(native, "__func__", native), node


MEMBERS = {name: (native, node) for name, native, node in members(_core, STUB.body)}
CALLABLES = [name for name, (native, _) in MEMBERS.items() if not inspect.isdatadescriptor(native)]


def stub_parameters(node: ast.FunctionDef) -> str:
    """Return the parameters in the stub as `inspect.signature` writes them, without types."""
    for each in ast.walk(node.args):
        if isinstance(each, ast.arg):
            each.annotation = None
    return re.sub(r"\b(self|cls)\b|[\s/]", "", ast.unparse(node.args)).strip(",").replace(",,", ",")


def test_stub_and_module_have_the_same_names() -> None:
    names = {name for name in vars(_core) if not name.startswith("_")}
    stubbed = {node.name for node in STUB.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert names == set(_core.__all__) == stubbed
    for native in (_core.Batch, _core.CountStore, _core.NativeTokenizer, _core.ScoringConfig):
        public = {name for name in vars(native) if not name.startswith("_")}
        stubbed = {name.split(".")[1] for name in MEMBERS if name.startswith(native.__name__)}
        assert public == {name for name in stubbed if not name.startswith("_")}


@pytest.mark.parametrize("name", CALLABLES)
def test_parameters_and_defaults_of_the_stub_are_those_of_the_module(name: str) -> None:
    native, node = MEMBERS[name]
    if node.name.startswith("__") and node.name != "__new__":
        return
    signature = str(inspect.signature(native)).replace("Ellipsis", "...")
    assert stub_parameters(node) == re.sub(r"\bself\b|[\s/()]", "", signature).strip(",").replace(
        ",,", ","
    )


@pytest.mark.parametrize("name", MEMBERS)
def test_everything_public_has_a_docstring(name: str) -> None:
    native, node = MEMBERS[name]
    assert node.name.startswith("__") or (native.__doc__ or "").strip()


@pytest.mark.parametrize("native", [_core.CountStore, _core.ScoringConfig])
def test_each_keyword_is_accepted_with_its_default_and_no_other(native: Any) -> None:
    given = (Tokenizer().native(),) if native is _core.CountStore else ()
    keywords = [
        each
        for each in inspect.signature(native).parameters.values()
        if each.kind is each.KEYWORD_ONLY
    ]
    for each in keywords:
        if each.default is not ...:
            native(*given, **{each.name: each.default})
        with pytest.raises((TypeError, InputError, OverflowError)):
            native(*given, **{each.name: object()})
    with pytest.raises(TypeError, match="unexpected keyword argument 'unknown'"):
        native(*given, unknown=1)


def test_the_options_of_a_tokenizer_are_documented_and_native() -> None:
    fields = {field.name for field in dataclasses.fields(Tokenizer)}
    documented = re.findall(r"^    (\w+)$", Tokenizer.__doc__ or "", re.MULTILINE)
    assert fields == set(documented) - {"Parameters", "Raises", "InputError", "Examples"}
    native = set(inspect.signature(_core.NativeTokenizer).parameters)
    # The joined text tells which fields are values or texts, and which have copies of words.
    in_python = {"analyzer", "ngram_range", "texts", "numbers", "per_field", "hashed"}
    assert native == (fields - in_python) | {"hash_key"}
