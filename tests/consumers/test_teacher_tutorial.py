"""The commands of the tutorial on language models run, with a server on loopback as the model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamnb.datasets import stream
from support.chat_server import CHECKED, MODEL, ChatServer

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorials" / "ask-a-language-model.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_tutorial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = TUTORIAL.read_text(encoding="utf-8")
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    messages = dict(stream("synthetic-sms", limit=3000))
    names: dict[str, object] = {}
    printed = ""
    with ChatServer(messages) as server:
        for language, block in BLOCK.findall(text):
            if language == "py":  # needs the files of the commands
                exec(compile(block, TUTORIAL.name, "exec"), names)
            elif language == "toml":
                block = block.replace("http://localhost:11434/v1", server.url)
                Path("filter.toml").write_text(block.replace("llama3.2", MODEL), encoding="utf-8")
            elif language == "sh":
                done = subprocess.run(
                    ["/bin/sh", "-e"],
                    input=block,
                    env=environment,
                    text=True,
                    capture_output=True,
                    timeout=120,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
                printed += done.stdout
    del server.asked[CHECKED]
    # What the page promises: the measured saving, and the same saving with a real server.
    (calls,) = re.findall(r"agreement=0\.98 +(\d+) +\d", printed)
    assert f"{calls} of 3,000 messages" in text
    assert server.asked.total() < 0.1 * 3000
    assert abs(server.asked.total() - int(calls)) < 0.01 * 3000
    decisions = [json.loads(each) for each in Path("decisions.jsonl").read_text().splitlines()]
    truth = [label for _, label in stream("synthetic-sms", limit=3000)]
    right = sum(each["label"] == label for each, label in zip(decisions, truth, strict=True))
    assert right >= 0.98 * 3000
    out = capsys.readouterr().out
    assert f"{server.asked.total() / 3000:.1%} of the messages were sent" in out
    assert "teacher:" in out
