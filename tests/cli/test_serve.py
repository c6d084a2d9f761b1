"""The command `streamnb serve`, as a process."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import streamnb
from streamnb.cli import main
from streamnb.datasets import streams
from streamnb.errors import DataError
from support.profiles import also_in_soak

MESSAGES = [{"label": "spam", "text": "win cash"}, {"label": "ham", "text": "see you"}]


def started(*options: str) -> tuple[subprocess.Popen[str], str]:
    """The process, and the address that it prints."""
    command = [sys.executable, "-m", "streamnb.cli", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    told = ""
    for line in process.stdout:
        told += line
        if found := re.search(r"open (http://\S+)", line):
            return process, found[1]
    raise AssertionError(told)


@pytest.mark.parametrize("end", also_in_soak([signal.SIGTERM, signal.SIGHUP], [signal.SIGINT]))
def test_it_serves_until_it_is_interrupted_and_saves(tmp_path: Path, end: signal.Signals) -> None:
    file, saved = tmp_path / "messages.jsonl", tmp_path / "saved.model"
    file.write_text("".join(json.dumps(one) + "\n" for one in MESSAGES), encoding="utf-8")
    process, address = started("--stream", str(file), "-m", "MNB", "--output", str(saved))
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            csrf = re.search(r'name="csrf" content="([^"]+)"', answer.read().decode())
        assert csrf is not None
        for number in (1, 2):
            request = urllib.request.Request(
                f"{address}api/stream",
                data=b'{"action": "step"}',
                headers={"X-StreamNB-CSRF": csrf[1]},
            )
            urllib.request.urlopen(request, timeout=10).close()
            while read_state(address)["messages"] < number:
                time.sleep(0.01)
        process.send_signal(end)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
    assert streamnb.load(saved).n_documents == 2


def test_messages_have_several_labels_if_the_models_do(tmp_path: Path) -> None:
    file, saved = tmp_path / "topics.jsonl", tmp_path / "topics.model"
    records = [{"text": "wheat and corn", "labels": ["wheat", "corn"]}, {"text": "see you"}]
    file.write_text("".join(json.dumps(one) + "\n" for one in records))
    stream = ("--stream", str(file), "--output", str(saved))
    process, address = started("-m", "MultiLabelNB", *stream)
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            (csrf,) = re.findall(r'name="csrf" content="([^"]+)"', answer.read().decode())
        request = urllib.request.Request(
            f"{address}api/stream", data=b'{"action": "play"}', headers={"X-StreamNB-CSRF": csrf}
        )
        urllib.request.urlopen(request, timeout=10).close()
        while read_state(address)["messages"] < 2:
            time.sleep(0.01)
        with urllib.request.urlopen(f"{address}api/messages", timeout=10) as answer:
            listed = json.load(answer)["messages"]
        assert [one["label"] for one in listed] == [None, ["corn", "wheat"]]
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.communicate()
    model = streamnb.load(saved)
    assert (model.classes_, model.n_documents) == (["corn", "wheat"], 1)


def read_state(address: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{address}api/state", timeout=10) as answer:
        found: dict[str, int] = json.load(answer)
        return found


def test_another_address_has_a_token_and_a_named_stream_may_stand_where_models_do() -> None:
    process, address = started("synthetic-sms", "--limit", "5", "--host", "0.0.0.0")
    try:
        assert re.fullmatch(r"http://0\.0\.0\.0:\d+/\?token=\S{32}", address)
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(address.replace("0.0.0.0", "127.0.0.1"), timeout=10) as answer:
            assert answer.status == 200
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--stream", "none.jsonl"], "none.jsonl is neither a file nor a stream"),
        (
            ["-m", "river:MultinomialNB", "--stream", "synthetic-sms"],
            "the page shows only text models",
        ),
        (["--host", "203.0.113.1", "--stream", "synthetic-sms"], "assign requested address"),
        (
            ["none.model", "--stream", "synthetic-sms"],
            "none.model does not exist; give a model file: streamnb",
        ),
        (["smss"], "smss does not exist"),
        (["-m", "MultiLabelNB", "-m", "MNB", "sms"], "run the command for each kind"),
        (["--filter", "sms"], "--filter sms: give kafka://HOST:PORT/TOPIC"),
        (["--filter", "kafka://x:1/sms?kind=fax"], "kind is 'fax'; it must be sms or spam"),
        (["--filter", "kafka://x:1/sms", "sms"], "give no model, stream or output"),
        (["--filter", "http://127.0.0.1:1"], "http://127.0.0.1:1 does not answer"),
        (["--filter", "kafka://127.0.0.1:1/sms"], "127.0.0.1:1"),
        (
            ["--output", "none/x.model", "--stream", "synthetic-sms"],
            "--output none/x.model: not a file in a folder that exists",
        ),
        ([__file__], f"messages are given as --stream {__file__}"),
    ],
)
def test_invalid_arguments_are_reported(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) in (1, 2)
    assert error in capsys.readouterr().err


def test_without_its_packages_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["serve", "--stream", "synthetic-sms"]) == 1
    assert "pip install 'streamnb[web]'" in capsys.readouterr().err


def test_a_stream_that_cannot_be_fetched_is_told_before_there_is_a_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def no_network(name: str) -> None:
        raise DataError(f"{name} cannot be downloaded")

    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("STREAMNB_CACHE", str(tmp_path))
    monkeypatch.setattr(streams, "download", no_network)
    assert main(["serve", "sms", "--port", "0"]) == 1
    captured = capsys.readouterr()
    assert "sms cannot be downloaded" in captured.err
    assert "open http" not in captured.out


@pytest.mark.parametrize("command", ["serve", "learn"])
def test_an_output_replaces_a_model_only(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in MESSAGES), encoding="utf-8")
    before = file.read_bytes()
    source = ["--stream", str(file)] if command == "serve" else [str(file)]
    assert main([command, *source, "--output", str(file)]) == 2
    assert "is not a model, so it is not replaced" in capsys.readouterr().err
    assert file.read_bytes() == before
