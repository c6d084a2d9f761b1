"""`streamnb learn` and `streamnb classify`, in process and as processes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess

import pytest

import streamnb
from streamnb import cli
from support.commands import COMMAND, RIVER, feed


class TestLearnAndClassify:
    def test_decisions(self, run, jsonl, model_file):
        status, out, err = run("classify", model_file, jsonl)
        assert status == 0
        assert err == "120 messages classified\n"
        decisions = [json.loads(line) for line in out.splitlines()]
        assert [each["id"] for each in decisions] == [f"m{number}" for number in range(120)]
        for each in decisions:
            assert list(each) == ["id", "label", "probabilities", "score"]
            assert sum(each["probabilities"].values()) == pytest.approx(1)
            assert (each["score"] > 0) == (each["label"] == "spam")

    def test_learning_goes_on(self, run, tmp_path, pairs, jsonl, model_file):
        lines = jsonl.read_text().splitlines(keepends=True)
        first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
        first.write_text("".join(lines[:70]))
        second.write_text("".join(lines[70:]))
        path = tmp_path / "grown.model"
        assert run("learn", first, "--model", "MNB", "-o", path)[0] == 0
        status, out, _ = run("learn", second, "--from", path, "-o", path)
        assert status == 0
        assert "50 messages: now 120 messages" in out
        assert path.read_bytes() == model_file.read_bytes()

    def test_the_model_that_is_learned_where_none_is_named(self, run, tmp_path, jsonl):
        path = tmp_path / "some.model"
        assert run("learn", jsonl, "-o", path)[0] == 0
        assert type(streamnb.load(path)) is streamnb.OnlineNB

    def test_explain(self, run, jsonl, model_file, monkeypatch):
        feed(monkeypatch, b"claim your free prize now\n")
        status, out, _ = run("classify", model_file, "--format", "sms", "--explain", "2")
        assert status == 0
        found = json.loads(out)
        assert found["id"] == "1"
        assert {found["label"], found["against"]} == {"ham", "spam"}
        assert len(found["words"]) == 2
        loud = [abs(each["towards"]) for each in found["words"]]
        assert loud == sorted(loud, reverse=True)

    def test_output_is_plain_ascii_json(self, run, tmp_path):
        path, model = tmp_path / "some.sms", tmp_path / "some.model"
        path.write_text("häm\tgrüße\nspäm\t\u2028 kauf\n", encoding="utf-8")
        assert run("learn", path, "-o", model)[0] == 0
        status, out, _ = run("classify", model, path, "--explain", "3")
        assert status == 0
        assert out.isascii()
        assert json.loads(out.splitlines()[0])["label"] == "häm"

    def test_bad_lines(self, run, tmp_path, model_file):
        path = tmp_path / "some.jsonl"
        path.write_text('{"text": "hello"}\n{"label": "ham"}\n')
        status, out, err = run("classify", model_file, path)
        assert status == 3
        assert len(out.splitlines()) == 1
        assert "line 2" in err
        assert "1 message classified; 1 bad line (50.0% of the input) skipped" in err
        path.write_text('{"text": "hello"}\n' * 19 + '{"label": "ham"}\n')
        assert run("classify", model_file, path)[0] == 0  # 5 %

    def test_refused(self, run, tmp_path, jsonl, model_file):
        output = tmp_path / "new.model"
        assert run("learn", jsonl)[0] == 2
        assert run("learn", jsonl, "-o", tmp_path / "absent" / "new.model")[0] == 2
        assert run("learn", jsonl, "-m", RIVER, "-o", output)[0] == 2
        assert run("learn", jsonl, "-m", "MNB", "--from", model_file, "-o", output)[0] == 2
        assert not output.exists()
        for bad in (jsonl, tmp_path / "absent.model"):
            status, _, err = run("classify", bad, jsonl)
            assert status == (1 if bad == jsonl else 2)
            assert "Traceback" not in err
            assert len(err.splitlines()) == 1

    def test_nothing_is_saved_when_nothing_was_learned(self, run, tmp_path):
        path, output = tmp_path / "empty.jsonl", tmp_path / "new.model"
        path.write_text("")
        assert run("learn", path, "-o", output)[0] == 1
        assert not output.exists()


class TestProcess:
    """Behaviour that only a separate process shows."""

    def test_standard_input_and_no_progress_bar(self, jsonl):
        done = subprocess.run(
            [*COMMAND, "evaluate", "-", "-m", RIVER],
            input=jsonl.read_bytes(),
            capture_output=True,
            check=True,
        )
        assert b"120 messages" in done.stdout
        assert done.stderr == b""

    def test_reader_of_the_output_goes_away(self, model_file, jsonl):
        process = subprocess.Popen(
            [*COMMAND, "classify", str(model_file), "synthetic-sms"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout.readline().startswith(b'{"id"')
        process.stdout.close()
        error = process.stderr.read()
        assert process.wait(60) == 141
        assert error == b""

    def test_interrupted(self, model_file):
        process = subprocess.Popen(
            [*COMMAND, "classify", str(model_file), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A background job of a shell ignores the signal, and so would its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        process.stdin.write(b'{"text": "hello"}\n')
        process.stdin.flush()
        # A decision comes before the next message does.
        assert process.stdout.readline().startswith(b'{"id"')
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"streamnb: interrupted\n"
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()

    def test_progress_bar_on_a_terminal(self):
        termios = pytest.importorskip("termios")
        ours, theirs = os.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        with os.fdopen(ours, "rb", buffering=0) as terminal, os.fdopen(theirs, "wb") as error:
            done = subprocess.run(
                [*COMMAND, "evaluate", "synthetic-sms", "--limit", "200", "-m", RIVER],
                stdout=subprocess.PIPE,
                stderr=error,
                check=True,
            )
            assert b"200 messages" in done.stdout
            assert select.select([terminal], [], [], 10)[0]
            assert b"messages/s" in terminal.read(65536)

    def test_version_and_help(self, run):
        status, out, _ = run("--version")
        assert status == 0
        assert out.startswith("streamnb ")
        status, out, _ = run("--help")
        assert status == 0
        for name in cli.COMMANDS:
            assert name in out
        assert "exit status" in out
        assert run()[0] == 2
