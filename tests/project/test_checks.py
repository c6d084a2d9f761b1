"""The checks of `make lint`: circles of imports, and sizes of files and folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(name: str, *arguments: object) -> tuple[int, str]:
    command = [sys.executable, str(ROOT / "tools" / name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout


def package(folder: Path, **modules: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in {"__init__": "", **modules}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_chain_of_imports_is_no_circle(tmp_path: Path) -> None:
    room = package(
        tmp_path / "house",
        __init__="from house.attic import roof",
        attic="from house import cellar\nroof = 1",
        cellar="import os",
    )
    # `attic` imports the module `cellar`, and with it the package only where it asks for a name.
    assert check("check_imports.py", room) == (0, "imports: no circle among 3 modules\n")


@pytest.mark.parametrize(
    "line",
    [
        "from house.attic import roof",
        "import house.attic",
        "from house import attic",
        "from . import attic",
        "from .attic import roof",
        "def later():\n    from house import attic",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from house import attic",
        "from house import roof",
    ],
)
def test_a_circle_is_found_however_it_is_written(tmp_path: Path, line: str) -> None:
    room = package(
        tmp_path / "house",
        __init__="from house.attic import roof",
        attic="from house import cellar\nroof = 1",
        cellar=line,
    )
    status, text = check("check_imports.py", room)
    assert status == 1
    assert "house.cellar" in text
    assert "house.attic" in text


def test_a_circle_between_rooms_is_found(tmp_path: Path) -> None:
    house = package(tmp_path / "house")
    package(house / "text", words="from house.parts.events import Event")
    package(house / "parts", events="from ..text.words import Word")
    status, text = check("check_imports.py", house)
    assert status == 1
    assert "house.text.words" in text
    assert "house.parts.events" in text


def test_no_package_is_no_pass(tmp_path: Path) -> None:
    assert check("check_imports.py", tmp_path / "nowhere")[0] == 1


def test_sizes(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "long.py").write_text("\n" * 400)
    (tmp_path / "prose.md").write_text("\n" * 4000)
    for number in range(18):
        (tmp_path / f"{number}.txt").touch()
    assert check("check_sizes.py", tmp_path)[0] == 0
    (tmp_path / "long.py").write_text("\n" * 401)
    status, text = check("check_sizes.py", tmp_path)
    assert (status, text) == (1, "long.py has 401 lines; at most 400: split it by subject\n")
    (tmp_path / "room").mkdir()
    for number in range(21):
        (tmp_path / "room" / f"{number}.txt").touch()
    text = check("check_sizes.py", tmp_path)[1]
    assert "room/ has 21 files" in text
    # A file that git is told to ignore is no part of the house.
    (tmp_path / ".gitignore").write_text("room/\nlong.py\n")
    assert check("check_sizes.py", tmp_path)[0] == 0
