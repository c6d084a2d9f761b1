"""Check that modules do not import each other in a circle (`make lint` runs it).

import-linter checks the order of layers, but misses circles through the `__init__.py` of a package.
Imports inside functions and for type checking count too, because a reader follows them as well.
"""

from __future__ import annotations

import argparse
import ast
import graphlib
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("streamnb", "consumers/streamnb_consumers")


def module_files(package: Path) -> dict[str, Path]:
    """Return the file of each module of a package, stubs of native modules included."""
    modules = {}
    for path in sorted([*package.rglob("*.pyi"), *package.rglob("*.py")]):
        parts = [package.name, *path.relative_to(package).with_suffix("").parts]
        modules[".".join(parts).removesuffix(".__init__")] = path
    return modules


def imported_names(module: str, path: Path) -> Iterator[tuple[str, str]]:
    """Yield the imports of a module: the module after `from`, and the name after `import`."""
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                yield source, alias.name


def imports(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Return the modules that each module imports; other names count as their package."""
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        targets = (
            f"{source}.{name}" if f"{source}.{name}" in modules else source
            for source, name in imported_names(module, path)
        )
        graph[module] = {target for target in targets if target in modules} - {module}
    return graph


def circle(modules: dict[str, Path]) -> list[str]:
    """Return the modules of a circle, each importing the next; empty without a circle."""
    try:
        graphlib.TopologicalSorter(imports(modules)).prepare()
    except graphlib.CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def main(arguments: list[str] | None = None) -> int:
    """Print a circle and return 1 if one exists."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "packages", nargs="*", type=Path, default=[ROOT / name for name in PACKAGES]
    )
    modules: dict[str, Path] = {}
    for package in parser.parse_args(arguments).packages:
        modules.update(module_files(package))
    found = circle(modules)
    if not modules:
        print("imports: there is no package here")
        return 1
    if found:
        print("these modules import each other:", *found, sep="\n  → ")
    else:
        print(f"imports: no circle among {len(modules)} modules")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
