"""Docstrings of models that name each parameter: those of a model's bases complete its own."""

from __future__ import annotations

import dataclasses
import functools
import re
import sys
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from streamnb.model import choices

_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^[A-Z][\w ]+\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*)\n((?: {4}.*\n|\n)+)", re.MULTILINE)
_ELSEWHERE = re.compile(r" *As in `(?:\w+\.)*(\w+)`[^.]*\.\s*")
# The sections that follow the parameters.
_NEXT = re.compile(r"^(?:Attributes|Raises|Notes|Examples|References)\n-+\n", re.MULTILINE)


def clean(doc: str) -> str:
    """Return a docstring of a class without its indentation: `inspect.cleandoc` is slower."""
    return doc.rstrip().replace("\n    ", "\n") if doc.endswith("\n    ") else doc


@functools.cache
def _own(cls: type) -> Mapping[str, str]:
    """Return parameter → description, as the docstring of a class itself has them."""
    doc = vars(cls).get("__doc__") or ""
    if "Parameters" not in doc or not cls.__module__.startswith("streamnb"):
        return {}
    section = _SECTION.search(clean(doc))
    return {
        name: f"{text.rstrip()}\n"
        for names, text in _ENTRY.findall(f"{section[1]}\n" if section else "")
        for name in names.split(", ")
    }


def descriptions(model: type, known: Mapping[str, type]) -> dict[str, str]:
    """Return parameter → indented description, from the docstrings of a model and its bases.

    A description that begins with "As in `X`." begins with the description of the model X instead.

    Parameters
    ----------
    model
        The class of a model.
    known
        The classes that descriptions may refer to, by name.
    """
    found: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        for name, text in _own(cls).items():
            if elsewhere := _ELSEWHERE.match(text):
                rest = text[elsewhere.end() :]
                text = descriptions(known[elsewhere[1]], known)[name]
                text += f"    {rest}" if rest else ""
            found[name] = text
    return found


def complete(model: Any, known: Mapping[str, type]) -> None:
    """Let the docstring of a model name each parameter, with its type, default and description."""
    if sys.flags.optimize > 1:  # Python has removed the docstrings
        return
    described = descriptions(model, known)
    lines = "".join(
        f"{each.name} : {_values(str(each.type))}, default {each.default!r}\n{described[each.name]}"
        for each in dataclasses.fields(model)
    )
    doc = _SECTION.sub("", clean(model.__doc__), count=1)
    place = _NEXT.search(doc)
    end = len(doc) if place is None else place.start()
    before, after = doc[:end].rstrip(), doc[end:]
    model.__doc__ = f"{before}\n\nParameters\n----------\n{lines}" + (f"\n{after}" * bool(after))


@functools.cache
def _values(kind: str) -> str:
    """Return the type of a field with the names of values instead of the name of a choice."""
    name, *rest = kind.split(" | ")
    choice: Any = getattr(choices, name, None)
    parts: Iterable[Any] = typing.get_args(choice)
    if typing.get_origin(choice) is typing.Literal:
        parts = [choice]
    texts = []
    for part in parts:
        names = typing.get_args(part)
        texts += [f'"{each}"' for each in names] or [part.__name__]
    return " | ".join([*(texts or [name]), *rest])
