"""The demo: a killed filter recovers without loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamnb.datasets import SyntheticSMS
from tools import demo_recovery as demo


def test_killed_run_equals_uninterrupted_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path))  # absent data: the synthetic stream
    monkeypatch.setenv("STREAMNB_BOOTSTRAP_SERVERS", "127.0.0.1:1")  # it minds no settings of yours
    assert demo.main(["--limit", "400", "--seed", "7"]) == 0
    said, errors = capsys.readouterr()
    assert errors == ""
    assert "synthetic-sms" in said
    assert "killed (SIGKILL) after" in said
    assert "400 messages, 400 labels" in said
    assert "of an uninterrupted run byte for byte" in said


def test_failing_filter_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "_PROGRAM", "import sys; sys.exit('no such thing')")
    assert demo.main(["--limit", "20"]) == 1
    assert "no such thing" in capsys.readouterr().err


def test_lines_are_reproducible_and_labels_are_late(tmp_path: Path) -> None:
    messages = list(SyntheticSMS(500, seed=1).messages())
    paths = [tmp_path / name for name in ("one", "two", "three")]
    seeds = dict(zip(paths, (5, 5, 6), strict=True))
    counts = [demo.write_lines(messages, path, seed) for path, seed in seeds.items()]
    one, two, three = (path.read_bytes() for path in paths)
    assert one == two != three
    assert counts[0]["messages"] == counts[0]["labels"] == 500
    assert counts[0]["invalid"] > 0
    assert counts[0].total() == one.count(b"\n")
    seen: dict[str, int] = {}
    delays = []
    for line in one.splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        if isinstance(fields.get("text"), str):
            seen[fields["id"]] = len(seen)
        elif "label" in fields:
            delays.append(len(seen) - seen[fields["id"]])
    assert len(delays) == 500
    assert min(delays) >= 1
    assert max(delays) > 100
