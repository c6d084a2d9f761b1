"""The figure of the house in docs/architecture.md, beside the folders themselves."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = {
    "consumers/streamnb_consumers/": ".py",
    "streamnb/": ".py",
    "core/src/": ".rs",
}


@pytest.fixture(scope="module")
def drawing() -> ModuleType:
    program = ROOT / "docs" / "programs" / "draw_house.py"
    spec = importlib.util.spec_from_file_location("draw_house", program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["draw_house"] = module
    spec.loader.exec_module(module)
    return module


def drawn_rooms() -> dict[str, dict[str, int]]:
    """The figure as it stands in the page: floor → room → number of files."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"`make docs` draws it. -->\n```text\n(.*?)```", page, re.DOTALL)
    floors: dict[str, dict[str, int]] = {}
    for line in block.splitlines():
        if head := re.match(r"[├┌]─ (\S+) ", line):
            rooms = floors[head[1]] = {}
        elif row := re.match(r"│ ([\w.]+/?) .*?  (\d+)  \S", line):
            rooms[row[1]] = int(row[2])
    return floors


@pytest.mark.parametrize(("floor", "suffix"), FLOORS.items(), ids=FLOORS)
def test_the_figure_has_every_room_with_its_files(floor: str, suffix: str) -> None:
    there = {}
    for path in (ROOT / floor).rglob(f"*{suffix}"):
        first, *deeper = path.relative_to(ROOT / floor).parts
        name = f"{first}/" if deeper else first
        if name not in {"__init__.py", "lib.rs"}:
            there[name] = there.get(name, 0) + 1
    assert there
    assert drawn_rooms()[floor] == there, "run `make docs`"


def test_rooms_stand_above_those_they_may_import(drawing: ModuleType) -> None:
    order = drawing.contracts()["streamnb"]
    drawn = [name.removesuffix("/").removesuffix(".py") for name in drawn_rooms()["streamnb/"]]
    assert drawn == [name for name in order if name in drawn]


def test_a_room_without_a_place_is_refused(
    drawing: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = {name: rooms[1:] for name, rooms in drawing.contracts().items()}
    monkeypatch.setattr(drawing, "contracts", lambda: short)
    with pytest.raises(ValueError, match="has no place in the order"):
        drawing.floors()


def test_the_purpose_of_a_room_is_its_first_sentence(drawing: ModuleType) -> None:
    assert drawing.first_sentence("Counts: rows, e.g. those\nof words. More.") == (
        "Counts: rows, e.g. those of words."
    )
    assert (
        drawing.first_sentence("Text ([`text`]) to tokens.\n\nMore.") == "Text (`text`) to tokens."
    )


def test_every_step_of_the_flow_is_drawn(drawing: ModuleType) -> None:
    steps = " → ".join(
        drawing.STEPS[f"core/src/{room}"] for room in ("text", "counts", "statistics", "scoring")
    )
    order = [steps.index(word) for word in drawing.FLOW]
    assert order == sorted(order)


def test_every_family_has_a_section_of_its_name() -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^### .*\(`(\w+)`\)$", page, re.MULTILINE))
    families = {path.stem for path in (ROOT / "streamnb" / "models").glob("*.py")}
    assert sections == families - {"__init__", "composed"}
