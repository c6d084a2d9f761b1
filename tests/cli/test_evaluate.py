"""`streamnb evaluate`."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from pathlib import Path

import pytest

from support.commands import RIVER, feed


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
