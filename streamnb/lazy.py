"""Attributes of a package that are imported when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

__all__ = ["attribute"]


def attribute(namespace: dict[str, Any], homes: Mapping[str, str], name: str) -> object:
    """Return an attribute of a package from the module where it stands, and keep it.

    Parameters
    ----------
    namespace
        The package's `globals()`.
    homes
        By name the module, absolute or from the package on (`.hidden`).
    name
        The attribute.

    Raises
    ------
    AttributeError
        If it has no home.

    Examples
    --------
    >>> package = {"__name__": "streamnb.families"}
    >>> attribute(package, {"HMNB": ".hidden"}, "HMNB") is package["HMNB"]
    True
    """
    package = namespace["__name__"]
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(homes[name], package), name)
    namespace[name] = value
    return value
