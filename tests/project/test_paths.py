"""Every path and module that the documents name is there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docker/*.md")])
TOP = "benchmarks|consumers|core|docker|docs|streamnb|tests|tools"
PATH = re.compile(rf"`((?:{TOP})/[\w./<>*-]*)`")
MODULE = re.compile(r"`(streamnb(?:_consumers)?(?:\.[a-z_]+)+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

# What happened is told with the names of then.
PRESENT = [page for page in PAGES if page.name != "CHANGELOG.md"]
pages = pytest.mark.parametrize("page", PRESENT, ids=lambda page: page.name)


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


@pages
def test_paths_are_there(page: Path) -> None:
    for path in PATH.findall(prose(page)):
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        assert list(ROOT.glob(pattern)), f"{page.name} names {path}"


@pages
def test_modules_are_there(page: Path) -> None:
    for name in MODULE.findall(prose(page)):
        package, _, last = name.rpartition(".")
        module = importlib.import_module(package)
        assert hasattr(module, last) or importlib.util.find_spec(name), f"{page.name} names {name}"


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub makes anchors of them."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pages
def test_links_lead_to_headings(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s:]*)#([\w-]+)\)", prose(page)):
        there = page.parent / target if target else page
        assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"


def test_the_architecture_names_paths() -> None:
    """So that a change of style cannot empty the tests above."""
    assert len(PATH.findall(prose(ROOT / "docs" / "architecture.md"))) > 20
    assert len(PATH.findall(prose(ROOT / "CONTRIBUTING.md"))) > 10
