"""The workflows name each action by its commit: a tag can be moved to other code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
USES = re.compile(r"\buses[\"']?\s*:\s*(.*)")
# A commit with its release, or a workflow of the same commit.
PINNED = re.compile(r"[\w.-]+(/[\w.-]+)+@[0-9a-f]{40} # v\d+(\.\d+)*|\./\.github/[\w./-]+")


def unpinned(text: str) -> list[str]:
    return [action for action in USES.findall(text) if not PINNED.fullmatch(action)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert USES.search(text)
    assert unpinned(text) == []


def test_the_publishing_job_is_pinned() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    (publish,) = (action for action in USES.findall(text) if "pypi-publish" in action)
    assert PINNED.fullmatch(publish)
    # The test fails for a tag, a branch, or a short commit.
    for moved in ("v1.13.0", "release/v1", "main", "ed0c53931b1d # v1.13.0"):
        changed = text.replace(publish, f"pypa/gh-action-pypi-publish@{moved}")
        assert unpinned(changed) == [f"pypa/gh-action-pypi-publish@{moved}"]
