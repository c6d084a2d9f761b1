"""Files of each version stay readable: `files/write.py` wrote them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamnb
from streamnb.challenger import Challenger

FILES = Path(__file__).parent / "files"
VERSIONS = sorted(path for path in FILES.iterdir() if path.name[0].isdigit())
MODELS = [path for version in VERSIONS for path in version.glob("*.streamnb")]


def test_there_are_files_of_the_first_version() -> None:
    assert len(list((FILES / "0.1.0").glob("*.streamnb"))) == 5


@pytest.mark.parametrize("path", MODELS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_model_of_each_version_is_read_decides_and_learns(path: Path) -> None:
    is_plain = path.stem != "Challenger"
    model = streamnb.load(path) if is_plain else Challenger.from_bytes(path.read_bytes())
    wanted = json.loads((path.parent / "shares.json").read_text())[path.stem]
    for text, shares in wanted.items():
        assert model.predict_proba_one(text) == pytest.approx(shares, rel=1e-6, abs=1e-12)
    for _ in range(30):
        model.learn_one("unknown words", "ham")
    assert model.predict_one("unknown words") == "ham"


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda path: path.name)
def test_a_filter_starts_from_the_snapshot_of_each_version(folder: Path, tmp_path: Path) -> None:
    state = shutil.copytree(folder / "sms", tmp_path / "sms")
    program = Path(sys.executable).parent / "streamnb-sms"
    asked = json.dumps({"id": "later", "text": "claim your cash"}) + "\n"
    done = subprocess.run(
        [program, "--snapshots", state], input=asked, capture_output=True, text=True, check=True
    )
    decision = json.loads(done.stdout)
    assert (decision["label"], decision["version"]) == ("spam", 12)
