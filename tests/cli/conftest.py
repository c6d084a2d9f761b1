"""Streams and models for commands."""

from __future__ import annotations

import json

import pytest

from streamnb import cli, datasets


def synthetic(n, seed=1):
    return list(datasets.stream("synthetic-sms", limit=n, seed=seed).messages())


@pytest.fixture(scope="module")
def pairs():
    return [(message.label, message.text) for message in synthetic(120)]


@pytest.fixture
def jsonl(tmp_path, pairs):
    path = tmp_path / "messages.jsonl"
    lines = [
        json.dumps({"id": f"m{number}", "label": label, "text": text})
        for number, (label, text) in enumerate(pairs)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model_file(tmp_path, jsonl, run):
    path = tmp_path / "some.model"
    assert run("learn", jsonl, "--model", "MNB", "--output", path)[0] == 0
    return path


@pytest.fixture
def run(capsys):
    """Run the command in this process; return its status, output and error output."""

    def run(*args):
        capsys.readouterr()
        try:
            status = cli.main([str(each) for each in args])
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run
