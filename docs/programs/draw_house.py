"""Draw the house: every room of the code in its layer, with its files and its purpose.

The order of the rooms is the one that `make lint` keeps: of Python by the contracts in
pyproject.toml, of Rust by `tools/check_imports_rust.py`. The purpose of a room is the first
sentence of its docstring. `docs/programs/generate.py` writes the figure into architecture.md.
"""

from __future__ import annotations

import ast
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 108
FLOW = ("text", "tokens", "ids", "counts", "statistics", "scores", "label")


# Which part of the flow a room does.
STEPS = {
    "core/src/text": "text → tokens",
    "core/src/counts": "tokens → ids → counts",
    "core/src/statistics": "counts → statistics",
    "core/src/scoring": "statistics → scores → label",
    "streamnb/text": "text → tokens",
    "streamnb/columns": "rows → counts → statistics",
    "streamnb/statistics": "counts → statistics",
    "streamnb/online": "scores → label",
    "streamnb/naive_bayes": "text → label",
}


class Room(NamedTuple):
    """A folder of modules, or a module that stands alone.

    Attributes
    ----------
    path
        From the root of the repository; a folder ends in `/`.
    files
        How many source files it has, folders in it included.
    purpose
        The first sentence of its docstring.
    step
        Its part of the flow, or nothing.
    """

    path: str
    files: int
    purpose: str
    step: str


class Floor(NamedTuple):
    """A package or crate: its name, its folder and its rooms, highest first."""

    title: str
    folder: str
    rooms: list[Room]


def _documentation(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(text)) or ""
    lines = [line for line in text.splitlines() if line.startswith("//!")]
    return "\n".join(line.removeprefix("//!").strip() for line in lines)


def first_sentence(text: str) -> str:
    """Return the first sentence of a documentation, on one line, without Rust's links.

    Examples
    --------
    >>> first_sentence("Counts of words, e.g. those of [`Rows`]. More of it.")
    'Counts of words, e.g. those of `Rows`.'
    """
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph)[0].replace("[`", "`").replace("`]", "`")


def room(floor: Path, name: str, suffix: str) -> Room:
    """Return a room of a floor, whether it is a folder or one file."""
    folder, file = floor / name, floor / f"{name}{suffix}"
    head = folder / ("__init__.py" if suffix == ".py" else "mod.rs")
    path = folder if folder.is_dir() else file
    purpose = first_sentence(_documentation(head if folder.is_dir() else file))
    if not purpose:
        raise ValueError(f"{path.relative_to(ROOT)} does not say what it is for")
    files = len(list(folder.rglob(f"*{suffix}"))) if folder.is_dir() else 1
    key = f"{floor.relative_to(ROOT)}/{name}"
    shown = f"{path.relative_to(ROOT)}{'/' if folder.is_dir() else ''}"
    return Room(shown, files, purpose, STEPS.get(key, ""))


def names_on(floor: Path, suffix: str) -> set[str]:
    """Return the names of the rooms that a floor has, as its folders and files tell them."""
    files = {path.stem for path in floor.glob(f"*{suffix}")} - {"__init__", "lib", "main"}
    return files | {path.parent.name for path in floor.glob(f"*/*{suffix}")}


def contracts() -> dict[str, list[str]]:
    """Return the rooms of each package, highest first, as pyproject.toml orders them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {
        contract["containers"][0]: [
            name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")
        ]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    }


def core_rooms() -> list[str]:
    """Return the rooms of the core, highest first, as `tools/check_imports_rust.py` orders them."""
    program = ast.parse((ROOT / "tools" / "check_imports_rust.py").read_text(encoding="utf-8"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in program.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in ("ROOMS", "FREE")
    }
    return [*reversed(values["ROOMS"]), *values["FREE"]]


def floors() -> list[Floor]:
    """Return the floors of the house, highest first.

    Raises
    ------
    ValueError
        A room has no place in the order, or does not say what it is for.
    """
    ordered = contracts()
    plans = [
        ("filters on Kafka", "consumers/streamnb_consumers", ".py", ordered["streamnb_consumers"]),
        ("the Python package", "streamnb", ".py", ordered["streamnb"]),
        ("the native core, in Rust", "core/src", ".rs", core_rooms()),
    ]
    found = []
    for title, folder, suffix, order in plans:
        floor = ROOT / folder
        there = names_on(floor, suffix)
        if unplaced := there - set(order):
            raise ValueError(f"{folder}: {', '.join(sorted(unplaced))} has no place in the order")
        rooms = [room(floor, name, suffix) for name in order if name in there]
        found.append(Floor(title, f"{folder}/", rooms))
    return found


def _lines(floor: Floor) -> Iterator[str]:
    names = [room.path.removeprefix(floor.folder) for room in floor.rooms]
    for name, (_, files, purpose, step) in zip(names, floor.rooms, strict=True):
        wrapped = textwrap.wrap(purpose, WIDTH - 55)
        yield f"{name:<16}{step:<29}{files:>3}  {wrapped[0]}"
        for line in wrapped[1:]:
            yield f"{'':<50}{line}"


def figure() -> str:
    """Return the figure: floors as boxes, rooms as lines, each above those that it may import."""
    inner = WIDTH - 4
    rows = ["   " + " ──▶ ".join(FLOW), ""]
    for place, floor in enumerate(floors()):
        files = sum(room.files for room in floor.rooms)
        title = f" {floor.folder}  {floor.title}, {files} files "
        rows.append(f"{'├' if place else '┌'}─{title:─<{WIDTH - 3}}{'┤' if place else '┐'}")
        rows += [f"│ {line:<{inner}} │" for line in _lines(floor)]
    rows.append(f"└{'─' * (WIDTH - 2)}┘")
    rows.append("   a room imports rooms below it only; numbers are source files")
    return "\n".join(line.rstrip() for line in rows)


if __name__ == "__main__":
    print(figure())
