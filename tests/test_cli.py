"""The command line: in process, and as a process of its own where streams and signals matter."""

from __future__ import annotations

import io
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import streamnb
from streamnb import cli, datasets, model_specs
from streamnb.cli import table

RIVER = "river:MultinomialNB"
COMMAND = [sys.executable, "-m", "streamnb.cli"]


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


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


class TestModelSpecs:
    def test_parameters(self):
        spec = model_specs.model_spec(" HMNB( alpha=.5, threshold='auto', unseen=None, m=-1) ")
        assert spec.name == "HMNB"
        assert spec.parameters == {"alpha": 0.5, "threshold": "auto", "unseen": None, "m": -1}

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "is not a model"),
            ("MNB(", "is not a model"),
            ("MNB + CNB", "is not a model"),
            ("os.system", "is not a model"),
            ("hmnb", "did you mean HMNB"),
            ("river:GaussianNB", "there is no model"),
            ("MNB(0.5)", "by name"),
            ("MNB(**x)", "by name"),
            ("MNB(alpha=open('x'))", "alpha should be"),
            ("MNB(alpha=__import__('os'))", "alpha should be"),
            ("(" * 500 + "MNB" + ")" * 500, "is not a model"),
            ("MNB(tokenizer='char')", "tokenizer must be None, a Tokenizer"),
            ("MNB(tokenizer=str.split)", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=open('x'))", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=os.Tokenizer())", "tokenizer should be None or Tokenizer(...)"),
            ("MNB(tokenizer=Tokenizer('char'))", "by name, as in Tokenizer(analyzer='char')"),
            ("MNB(tokenizer=Tokenizer(**{}))", "Tokenizer takes lowercase"),
            ("MNB(tokenizer=Tokenizer(ngrams=2))", "Tokenizer takes lowercase"),
            ("MNB(tokenizer=Tokenizer(analyzer='sentence'))", "analyzer must be 'word'"),
            ("MNB(tokenizer=Tokenizer(analyzer=open('x')))", "tokenizer: analyzer should be"),
            ("MNB(tokenizer=Tokenizer(ngram_range=2))", "tokenizer: ngram_range must be"),
            ("MNB(tokenizer=Tokenizer(ngram_range=(0, 2)))", "tokenizer: ngram_range must be"),
            ("MNB(tokenizer=Tokenizer(max_tokens=-1))", "tokenizer: max_tokens must be"),
            ("MNB(alpha=Tokenizer())", "alpha should be a number"),
        ],
    )
    def test_refused(self, text, said, run):
        status, out, err = run("evaluate", "synthetic-sms", "--model", text)
        assert status == 2
        assert said in err
        assert not out

    @pytest.mark.parametrize("text", [f"{RIVER}(beta=1)", "MNB(beta=1)", "MNB(alpha=-1)"])
    def test_parameters_that_the_model_refuses(self, text, run):
        status, _, err = run("evaluate", "synthetic-sms", "--model", text)
        assert status == 2
        assert text in err
        assert "Traceback" not in err

    @pytest.mark.parametrize(
        "options",
        [
            "",
            "analyzer='char_wb', ngram_range=(2, 5)",
            "analyzer='osb', max_tokens=1000",
            "lowercase=False, strip_accents=False, max_token_length=20",
        ],
    )
    def test_tokenizer(self, options, run, tmp_path, jsonl):
        text = f"MNB(alpha=.5, tokenizer=Tokenizer({options}))"
        expected = eval(f"streamnb.Tokenizer({options})")
        assert model_specs.model_spec(text).parameters == {"alpha": 0.5, "tokenizer": expected}
        assert run("evaluate", "synthetic-sms", "--limit", "30", "--model", text)[0] == 0
        path = tmp_path / "some.model"
        assert run("learn", jsonl, "--model", text, "--output", path)[0] == 0
        saved = streamnb.load(path)
        assert saved.tokenizer == expected
        assert set(saved.explain_one("Win cash now").words) == set(expected("Win cash now"))

    @pytest.mark.parametrize("name", model_specs.MODELS)
    def test_every_model_can_be_named(self, name, run):
        status, out, _ = run("evaluate", "synthetic-sms", "--limit", "30", "--model", name)
        assert status == 0
        assert name in out

    def test_twice_the_same(self, run):
        assert run("evaluate", "synthetic-sms", "-m", RIVER, "-m", RIVER)[0] == 2


class TestTable:
    def test_bytes(self):
        words = [table.bytes_in_words(size) for size in (0, 999, 1000, 999_960, 2 * 10**12)]
        assert words == ["0 B", "999 B", "1.0 kB", "1.0 MB", "2.0 TB"]


class TestEvaluate:
    def test_table(self, run, jsonl):
        status, out, err = run("evaluate", jsonl, "-m", RIVER, "-m", "MNB", "--window", "50")
        assert status == 0
        assert not err
        assert out.startswith("messages.jsonl: 120 messages, 2 classes (ham ")
        for heading in ("All messages", "Last 50 messages", "Cost"):
            assert f"\n{heading}\nmodel" in out
        assert len(re.findall(rf"^{RIVER} ", out, re.M)) == 3
        assert len(re.findall(r"^MNB ", out, re.M)) == 3
        assert max(map(len, out.splitlines())) <= 80

    def test_json(self, run, jsonl):
        status, out, _ = run("evaluate", jsonl, "-m", RIVER, "-m", "MNB", "--json")
        assert status == 0
        found = json.loads(out, parse_constant=pytest.fail)
        assert found["stream"]["name"] == "messages.jsonl"
        assert found["stream"]["n_messages"] == sum(found["stream"]["labels"].values()) == 120
        assert found["stream"]["positive"] == "spam"
        assert found["bad_lines"] == {"count": 0, "listed": []}
        assert [model["name"] for model in found["models"]] == [RIVER, "MNB"]
        for model in found["models"]:
            assert model["n_unanswered"] == 1
            assert 0 < model["cumulative"]["accuracy"] <= 1
            for name in ("kappa", "macro_f1", "roc_auc", "hm_percent", "sm_percent"):
                assert model["windowed"][name] is not None
            assert model["messages_per_second"] > 0
            assert model["memory_bytes"] > 0
            assert model["curve"][-1]["n_messages"] == 120

    @pytest.mark.parametrize("kind", ["csv", "tsv", "sms"])
    def test_formats(self, run, tmp_path, pairs, kind):
        separator = "," if kind == "csv" else "\t"
        lines = [] if kind == "sms" else [separator.join(("kind", "body"))]
        clean = [(label, re.sub(r'[",\t\n]', " ", text)) for label, text in pairs]
        lines += [f"{label}{separator}{text}" for label, text in clean]
        path = tmp_path / f"file.{kind}"
        path.write_text("\n".join(lines), encoding="utf-16")
        options = ["--encoding", "utf-16"]
        if kind != "sms":
            options += ["--text-field", "body", "--label-field", "kind"]
        status, out, _ = run("evaluate", path, "-m", RIVER, *options)
        assert status == 0
        assert "120 messages" in out

    def test_bad_lines_are_reported(self, run, tmp_path):
        path = tmp_path / "some.jsonl"
        path.write_bytes(
            b'{"text": "win cash", "label": "spam"}\n'
            b"not json\n"
            b'{"text": "see you", "label": "ham"}\n'
            b'{"text": "no label"}\n'
            b'{"text": "bad \xff byte", "label": "ham"}\n'
        )
        status, out, err = run("evaluate", path, "-m", RIVER)
        assert status == 0
        assert "2 messages" in out
        assert "3 bad lines skipped" in out
        for number in (2, 4, 5):
            assert f"{path}, line {number}: " in err
        status, out, err = run("evaluate", path, "-m", RIVER, "--json")
        bad = json.loads(out)["bad_lines"]
        assert bad["count"] == 3
        assert [each["line"] for each in bad["listed"]] == [2, 4, 5]
        status, out, err = run("evaluate", path, "-m", RIVER, "--on-bad", "fail")
        assert status == 1
        assert "line 2" in err
        assert not out

    def test_nothing_good(self, run, tmp_path):
        path = tmp_path / "some.jsonl"
        path.write_text("x\ny\n")
        status, out, err = run("evaluate", path, "-m", RIVER)
        assert status == 1
        assert "not one message" in err
        assert not out

    def test_one_message(self, run, tmp_path):
        path = tmp_path / "some.sms"
        path.write_text("ham\tsee you\n")
        status, out, _ = run("evaluate", path, "-m", RIVER)
        assert status == 0
        assert "1 message, 1 class (ham 1)" in out
        assert "no decision yet" in out

    def test_standard_input(self, run, jsonl, monkeypatch):
        feed(monkeypatch, jsonl.read_bytes())
        status, out, _ = run("evaluate", "-", "-m", RIVER)
        assert status == 0
        assert out.startswith("standard input: 120 messages")

    def test_named_pipe(self, run, jsonl, tmp_path):
        path = tmp_path / "pipe.jsonl"
        os.mkfifo(path)
        writer = threading.Thread(target=path.write_bytes, args=[jsonl.read_bytes()])
        writer.start()
        status, out, _ = run("evaluate", path, "-m", RIVER)
        writer.join()
        assert status == 0
        assert "120 messages" in out

    def test_several_sources_are_one_stream(self, run, jsonl):
        status, out, _ = run("evaluate", jsonl, jsonl, "-m", RIVER, "--limit", "150")
        assert status == 0
        assert "150 messages" in out

    def test_many_classes_have_no_auc(self, run, tmp_path):
        path = tmp_path / "some.sms"
        path.write_text("a\tone two\nb\tthree four\nc\tfive six\n" * 5)
        status, out, _ = run("evaluate", path, "-m", RIVER)
        assert status == 0
        assert "3 classes" in out
        assert "AUC" not in out
        status, out, err = run("evaluate", path, "-m", RIVER, "--positive", "b")
        assert "AUC" in out
        status, out, err = run("evaluate", path, "-m", RIVER, "--positive", "nothing")
        assert "no message has the label nothing (there are: a, b, c)" in err

    def test_plot(self, run, jsonl, tmp_path):
        pytest.importorskip("matplotlib")
        path = tmp_path / "curve.png"
        status, out, _ = run("evaluate", jsonl, "-m", RIVER, "--plot", path)
        assert status == 0
        assert str(path) in out
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert run("evaluate", jsonl, "--plot", tmp_path / "absent" / "curve.png")[0] == 2

    def test_plot_without_matplotlib(self, run, jsonl, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
        status, out, err = run("evaluate", jsonl, "-m", RIVER, "--plot", tmp_path / "curve.png")
        assert status == 1
        assert "pip install streamnb[plots]" in err
        assert not out

    @pytest.mark.parametrize("with_matplotlib", [True, False])
    def test_demo(self, run, tmp_path, monkeypatch, with_matplotlib):
        if with_matplotlib:
            pytest.importorskip("matplotlib")
        else:
            monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
            monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
        monkeypatch.chdir(tmp_path)
        status, out, err = run("evaluate", "--demo", "--limit", "300")
        assert status == 0
        assert out.startswith("Stream s")
        for name in ("MNB", "CNB", "HMNB", RIVER):
            assert len(re.findall(rf"^{name} ", out, re.M)) == 2
        assert Path("streamnb-demo.png").is_file() == with_matplotlib
        assert ("streamnb-demo.png" in out) == with_matplotlib
        assert ("pip install" in err) != with_matplotlib

    @pytest.mark.parametrize(
        "wrong",
        [
            [],
            ["absent.jsonl"],
            ["--demo", "synthetic-sms"],
            ["synthetic-sms", "--window", "0"],
            ["synthetic-sms", "--window", "many"],
            ["synthetic-sms", "--limit", "-1"],
            ["-", "-"],
            ["."],
            [__file__],
            [__file__, "--format", "xml"],
            [__file__, "--format", "jsonl", "--encoding", "klingon"],
        ],
    )
    def test_usage(self, run, wrong):
        status, out, err = run("evaluate", *wrong)
        assert status == 2
        assert err
        assert "Traceback" not in err
        assert not out

    def test_list_streams(self, run):
        status, out, _ = run("evaluate", "--list-streams")
        assert status == 0
        assert "synthetic-sms" in out


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
        assert run("learn", first, "-o", path)[0] == 0
        status, out, _ = run("learn", second, "--from", path, "-o", path)
        assert status == 0
        assert "50 messages: now 120 messages" in out
        assert path.read_bytes() == model_file.read_bytes()

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
        assert status == 0
        assert len(out.splitlines()) == 1
        assert "line 2" in err
        assert "1 message classified; 1 bad line skipped" in err

    def test_refused(self, run, tmp_path, jsonl, model_file):
        output = tmp_path / "new.model"
        assert run("learn", jsonl)[0] == 2
        assert run("learn", jsonl, "-o", tmp_path / "absent" / "new.model")[0] == 2
        assert run("learn", jsonl, "-m", RIVER, "-o", output)[0] == 2
        assert run("learn", jsonl, "-m", "MNB", "--from", model_file, "-o", output)[0] == 2
        assert not output.exists()
        for bad in (jsonl, tmp_path / "absent.model"):
            status, _, err = run("classify", bad, jsonl)
            assert status == 1
            assert "Traceback" not in err
            assert len(err.splitlines()) == 1

    def test_nothing_is_saved_when_nothing_was_learned(self, run, tmp_path):
        path, output = tmp_path / "empty.jsonl", tmp_path / "new.model"
        path.write_text("")
        assert run("learn", path, "-o", output)[0] == 1
        assert not output.exists()


class TestProcess:
    """What only shows in a process of its own."""

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
