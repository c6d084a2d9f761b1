"""Build backend for pip: maturin, after a check for Rust.

Without cargo, maturin tries to download Rust for many seconds, and its error message is about the
download. This check only needs Python and reports the missing programs immediately.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# Requested by hooks instead of pyproject.toml, because pip installs those requirements before it
# calls a hook.
MATURIN = "maturin>=1.9,<2"


def _least_rust() -> str:
    """Return the minimum version of Rust."""
    manifest = (ROOT / "core" / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^rust-version *= *"([0-9.]+)"', manifest, re.MULTILINE)
    return found[1] if found else "1.90"


def _lacking(home: Path) -> str:
    """Return an error message with instructions; rustup may have installed Rust in `home`."""
    rust = f"Rust {_least_rust()} or newer"
    lines = [f"streamnb is built from source here, which needs {rust}: no cargo is on the PATH."]
    if any((home / "bin" / name).is_file() for name in ("cargo", "cargo.exe")):
        lines.append(f"It is installed in {home / 'bin'}: put that on the PATH, and try again.")
    else:
        lines.append("Get it from https://rustup.rs, or cargo and rustc of your system, and a C")
        lines.append("compiler as its linker (Debian: apt-get install gcc); then try again.")
    lines.append("A wheel needs neither: pip install --only-binary :all: streamnb")
    return "\n".join(lines)


def _check_rust() -> None:
    """Exit with instructions if Rust is missing or too old."""
    if shutil.which(os.environ.get("CARGO", "cargo")) is None:
        sys.exit(_lacking(Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")))


def _requires(config_settings: Any = None) -> list[str]:
    _check_rust()
    return [MATURIN]


def _hook(name: str) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        _check_rust()
        return getattr(importlib.import_module("maturin"), name)(*arguments, **options)

    return call


# Hooks of PEP 517, and of PEP 660 for `pip install -e`.
get_requires_for_build_wheel = _requires
get_requires_for_build_editable = _requires
get_requires_for_build_sdist = _requires
prepare_metadata_for_build_wheel = _hook("prepare_metadata_for_build_wheel")
prepare_metadata_for_build_editable = _hook("prepare_metadata_for_build_editable")
build_wheel = _hook("build_wheel")
build_editable = _hook("build_editable")
build_sdist = _hook("build_sdist")
