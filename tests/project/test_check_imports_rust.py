"""The check of the core's house finds what it is there to find."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "tools" / "check_imports_rust.py"

CLEAN = {
    "lib.rs": "pub mod text;\npub mod counts;\npub mod error;\npub mod scoring;\n",
    "text.rs": "use crate::error::Error;\n",
    "error.rs": "pub enum Error {}\n",
    "counts/mod.rs": "pub mod store;\npub mod rows;\n",
    "counts/rows.rs": "// crate::scoring::scorer is no import here\nuse crate::text::Token;\n",
    "counts/store.rs": "use crate::counts::{rows::Cell, bag as other};\n#[cfg(test)]\nmod tests {\n"
    "    use crate::scoring::scorer::Scoring;\n}\n",
    "scoring/mod.rs": "pub mod scorer;\n",
    "scoring/scorer.rs": "use crate::counts::store::{Settings, Store};\n",
}


def checked(folder: Path, sources: dict[str, str]) -> tuple[int, str]:
    for name, text in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, CHECK, folder], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_the_core_is_in_order() -> None:
    done = subprocess.run([sys.executable, CHECK], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({}, ""),
        ({"counts/rows.rs": "fn f() { crate::scoring::f() }\n"}, "counts::rows imports scoring"),
        ({"counts/rows.rs": "use crate::{counts::{store::*}};\n"}, "a circle"),
        ({"error.rs": "use crate::explain::E;\n", "explain.rs": ""}, "error imports explain"),
        ({"counts/rows.rs": "use super::store::Store;\n"}, "a circle"),
        ({"kitchen.rs": "fn f() {}\n"}, "kitchen is in no room"),
        ({"counts/rows.rs": "\n" * 401}, "401 lines"),
        ({f"counts/a{i}.rs": "" for i in range(18)}, "holds 21 files"),
    ],
)
def test_complaints(tmp_path: Path, changed: dict[str, str], complaint: str) -> None:
    status, said = checked(tmp_path, {**CLEAN, **changed})
    assert status == bool(complaint)
    assert complaint in said
    assert len(said.splitlines()) == bool(complaint)
