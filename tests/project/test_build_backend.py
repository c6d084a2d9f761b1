"""Who builds from source without Rust is told so at once, and what to do."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import maturin
import pytest

ROOT = Path(__file__).parents[2]
BACKEND = ROOT / "tools" / "build_backend.py"
HOOKS = [
    *(f"get_requires_for_build_{what}" for what in ("wheel", "editable", "sdist")),
    *(f"prepare_metadata_for_build_{what}" for what in ("wheel", "editable")),
    *(f"build_{what}" for what in ("wheel", "editable", "sdist")),
]


def without_cargo(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python where nothing is on the path, and nobody has a home."""
    (folder / "bin").mkdir(exist_ok=True)
    environment = {"PATH": str(folder / "bin"), "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True
    )


def test_the_backend_has_what_maturin_has() -> None:
    source = BACKEND.read_text(encoding="utf-8")
    for hook in HOOKS:
        assert callable(getattr(maturin, hook))
        written = "_requires" if "requires" in hook else f'_hook("{hook}")'
        assert f"{hook} = {written}\n" in source


def test_nothing_is_fetched_before_there_is_rust() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["build-system"]["requires"] == []
    backend = runpy.run_path(str(BACKEND))
    assert backend["get_requires_for_build_wheel"]() == [backend["MATURIN"]]
    assert backend["MATURIN"] in project["project"]["optional-dependencies"]["dev"]


def test_the_sdist_brings_the_backend() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["build-system"]["build-backend"] == BACKEND.stem
    assert project["build-system"]["backend-path"] == [BACKEND.parent.name]
    included = project["tool"]["maturin"]["include"]
    assert {"path": "tools/build_backend.py", "format": "sdist"} in included


@pytest.mark.parametrize("hook", HOOKS)
def test_without_cargo_each_hook_says_what_to_do(hook: str, tmp_path: Path) -> None:
    program = f"""
import sys
sys.path.insert(0, {str(BACKEND.parent)!r})
import build_backend
try:
    build_backend.{hook}()
finally:
    assert "maturin" not in sys.modules
"""
    done = without_cargo(tmp_path, "-c", program)
    assert done.returncode == 1
    first, *_, last = done.stderr.splitlines()
    assert "needs Rust 1." in first
    assert "no cargo is on the PATH" in first
    assert "https://rustup.rs" in done.stderr
    assert "pip install --only-binary :all: streamnb" in last


def test_a_cargo_that_is_not_on_the_path_is_named(tmp_path: Path) -> None:
    (tmp_path / ".cargo" / "bin").mkdir(parents=True)
    (tmp_path / ".cargo" / "bin" / "cargo").touch()
    program = f"""
import sys
sys.path.insert(0, {str(BACKEND.parent)!r})
import build_backend
build_backend.build_wheel()
"""
    done = without_cargo(tmp_path, "-c", program)
    assert done.returncode == 1
    assert f"installed in {tmp_path / '.cargo' / 'bin'}: put that on the PATH" in done.stderr


def test_pip_shows_it(tmp_path: Path) -> None:
    """What pip prints is that, and no traceback; nothing is fetched and nothing is built."""
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", os.devnull)
    done = without_cargo(tmp_path, "-m", "pip", "wheel", *options, str(ROOT))
    assert done.returncode == 1
    assert "no cargo is on the PATH" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
