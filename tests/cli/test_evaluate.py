"""`streamnb evaluate`."""

from __future__ import annotations

import io
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
        for heading in ("All messages", "Last 50 messages"):
            assert f"\n{heading}: ranking and probabilities\nmodel" in out
        for named in ("1-AUC%, all", "1-AUC%, both known", "log loss"):
            assert out.count(f"  {named}") == 2
        assert out.count("  ECE") == 0  # of 120 messages
        assert "after the first 500 messages" in out
        assert len(re.findall(rf"^{RIVER} ", out, re.M)) == 5
        assert len(re.findall(r"^MNB ", out, re.M)) == 5
        assert max(map(len, out.splitlines())) <= 80

    def test_json(self, run, jsonl):
        status, out, _ = run("evaluate", jsonl, "-m", RIVER, "-m", "MNB", "--json")
        assert status == 0
        found = json.loads(out, parse_constant=pytest.fail)
        assert found["stream"]["name"] == "messages.jsonl"
        assert found["stream"]["n_messages"] == sum(found["stream"]["labels"].values()) == 120
        assert found["stream"]["pos_label"] == "spam"
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

    def test_wrong_decisions_are_explained(self, run, jsonl):
        status, out, _ = run("evaluate", jsonl, "-m", "OnlineNB", "--explain-errors", "2")
        assert status == 0
        heading = "\nLast wrong decisions of OnlineNB, explained before they were learned\n"
        listed = re.findall(r"^([\d,]+: (?:ham|spam), decided .*)\n    (.*)$", out, re.M)
        assert heading in out
        assert len(listed) == 2
        for _, reasons in listed:
            assert re.fullmatch(
                r"(ham against spam|spam against ham): (\S+( \S+)* [+-]\d+\.\d\d(, )?)+", reasons
            )
            assert not set("\t\x0b\x0c…") & set(reasons)
        found = json.loads(run("evaluate", jsonl, "--explain-errors", "2", "--json")[1])
        (model,) = found["models"]
        assert [f"{each['number']}:" for each in model["errors"]] == [
            each.split()[0] for each, _ in listed
        ]
        assert "errors" not in run("evaluate", jsonl)[1]

    def test_fields(self, run, tmp_path):
        path = tmp_path / "users.jsonl"
        lines = [
            {"text": word, "label": label, "user": user}
            for _ in range(50)
            for user, word, label in [("a", "golf", "ham"), ("b", "golf", "spam")]
        ]
        path.write_text("\n".join(map(json.dumps, lines)))

        def accuracy(*options):
            found = json.loads(run("evaluate", path, "-m", "OnlineNB", "--json", *options)[1])
            return found["models"][0]["cumulative"]["accuracy"]

        assert accuracy() < 0.6
        assert accuracy("--fields", "user, hour", "--per-field", "user") > 0.9
        lines = [
            {"text": "ring", "label": label, "price": price + at}
            for at in range(50)
            for label, price in [("ham", 1_000), ("spam", 100)]
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
        assert accuracy("--fields", "price") < 0.6
        assert accuracy("--fields", "price", "--numbers", "price") > 0.9
        status, _, err = run("evaluate", path, "--per-field", "user")
        assert status == 2
        assert "per_field must be None or one of fields" in err

    def test_label_noise(self, run, jsonl):
        def missed(*options):
            found = json.loads(run("evaluate", jsonl, "-m", "MNB", "--json", *options)[1])
            return found["models"][0]["cumulative"]["sm_percent"]

        assert missed() < 40
        assert missed() < missed("--label-noise", "0.4", "--seed", "1") < 100
        status, _, err = run("evaluate", jsonl, "--label-noise", "1.5")
        assert status == 2
        assert "invalid probability (0 to 1) value: '1.5'" in err

    def test_requested_labels(self, run, jsonl):
        options = ("--label-share", "0.2", "--ask", "uncertain", "--max-labels", "15")
        found = json.loads(run("evaluate", jsonl, "--json", *options)[1])
        assert found["models"][0]["n_labels"] == 15
        out = run("evaluate", jsonl, "-m", "MNB", *options)[1]
        assert "Labels learned: MNB 15." in out

    def test_cascades(self, run, tmp_path):
        options = ("synthetic-sms", "--limit", "600", "-m", "OnlineNB", "-m", "MNB")
        options += ("--agreement", "0.9", "--agreement", "0.99", "--defer", "0.05")
        picture = tmp_path / "calls.png"
        status, out, _ = run(
            "evaluate", *options, "--window", "100", "--call-price", "0.5", "--plot", picture
        )
        assert status == 0
        assert out.startswith("synthetic-sms: 600 messages\n")
        for goal in ("agreement=0.9 ", "agreement=0.99 ", "budget=0.05 "):
            assert len(re.findall(rf"^(?:OnlineNB|MNB) +{goal}", out, re.M)) == 4
        assert picture.read_bytes().startswith(b"\x89PNG")
        found = json.loads(run("evaluate", *options, "--json")[1])["cascades"]
        assert [each["name"] for each in found] == ["OnlineNB", "MNB"] * 3
        assert [each["goal"] for each in found][::2] == [
            "agreement=0.9",
            "agreement=0.99",
            "budget=0.05",
        ]
        calls = [each["n_calls"] for each in found if each["name"] == "OnlineNB"]
        assert 0 < calls[0] < calls[1] < 600
        assert all(each["n_calls"] <= 0.05 * 600 + 60 for each in found[4:])
        assert all(each["agreement"] > 0.9 for each in found[:4])
        noisy = json.loads(run("evaluate", *options, "--json", "--label-noise", "0.1")[1])
        assert all(0.85 < each["teacher_accuracy"] < 0.95 for each in noisy["cascades"])
        status, _, err = run("evaluate", *options, "--label-share", "0.5")
        assert status == 2
        assert "--label-share has no meaning with --agreement or --defer" in err
        status, _, err = run("evaluate", "synthetic-sms", "--call-price", "1")
        assert status == 2
        assert "--call-price needs --agreement or --defer" in err

    def test_folders_of_mail(self, run, tmp_path):
        """The name of a sub-folder is the label: files, an mbox and a Maildir side by side."""
        mail = "From: a@shop.example\nSubject: {}\n\n{} now\n"
        for label in ("ham", "spam"):
            folder, new = tmp_path / "corpus" / label, tmp_path / "corpus" / label / "box" / "new"
            for each in (new, new.with_name("cur")):
                each.mkdir(parents=True)
            (new / "1").write_text(mail.format(label, label))
            (folder / "2.eml").write_text(mail.format(label, label))
            (folder / "3.mbox").write_text(f"From a\n{mail.format(label, label)}\n" * 2)
        status, out, err = run("evaluate", tmp_path / "corpus")
        assert (status, err) == (0, "")
        assert out.startswith("corpus: 8 messages, 2 classes (ham 4, spam 4)")

    def test_json_of_probabilities(self, run, jsonl):
        options = ("-m", "MNB", "--json", "--calibration-skip", "20")
        found = json.loads(run("evaluate", jsonl, *options)[1], parse_constant=pytest.fail)
        assert found["stream"]["calibration_skip"] == 20
        (model,) = found["models"]
        assert sum(each["messages"] for each in model["reliability"]) == 100
        error = sum(
            each["messages"] * abs(each["share"] - each["probability"])
            for each in model["reliability"]
        )
        assert model["cumulative"]["calibration_error"] == pytest.approx(error / 100)
        assert model["windowed"]["calibration_error"] is None
        for name in ("one_minus_auc_percent", "one_minus_auc_percent_both_known", "log_loss"):
            assert model["cumulative"][name] > 0

    def test_shuffle(self, run, tmp_path):
        path = tmp_path / "sorted.sms"
        path.write_text(
            "".join(f"ham\tlunch at noon {n}\n" for n in range(60))
            + "".join(f"spam\twin cash now {n}\n" for n in range(60))
        )

        def first_half(*options):
            found = run("evaluate", path, "-m", RIVER, "--json", "--limit", "60", *options)[1]
            return json.loads(found)["stream"]["labels"]

        assert first_half() == {"ham": 60}
        one, other = first_half("--shuffle", "1"), first_half("--shuffle", "2")
        assert one.keys() == other.keys() == {"ham", "spam"}
        assert one == first_half("--shuffle", "1")
        assert one != other

    def test_shuffle_of_a_stream_reaches_all_of_it(self, run):
        options = ("--shuffle", "3", "--limit", "40", "-m", RIVER, "--json")
        found = json.loads(run("evaluate", "synthetic-sms", *options)[1])
        assert found["stream"]["n_messages"] == 40

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
        assert status == 3
        assert "60.0% of the input could not be read" in err
        assert "2 messages" in out
        assert "3 bad lines (60.0% of the input) skipped" in out
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
        assert "no message could be read" in err
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
        status, out, _ = run("evaluate", path, "-m", RIVER, "--pos-label", "b")
        assert "AUC" in out

    def test_a_positive_label_that_no_message_has(self, run, tmp_path, monkeypatch):
        path = tmp_path / "some.sms"
        path.write_text("a\tone two\nno tab\nb\tthree four\nc\tfive six\n" * 5)

        def never(*arguments, **options):
            raise AssertionError("the run began")

        with monkeypatch.context() as patch:
            patch.setattr("streamnb.cli.evaluate.prequential", never)
            status, _, err = run("evaluate", path, "-m", RIVER, "--pos-label", "nothing")
            assert status == 2
            assert "--pos-label nothing: no message has the label (there are: a, b, c)" in err
            assert "no tab" not in err
            assert run("evaluate", path, "--pos-label", "c", "--limit", "2")[0] == 2
            assert run("evaluate", "synthetic-sms", "--limit", "50", "--pos-label", "eggs")[0] == 2
        # Standard input can be read only once, so the error comes after the run.
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        status, _, err = run(
            "evaluate", "-", "--format", "sms", "-m", RIVER, "--pos-label", "nothing"
        )
        assert status == 3
        assert "--pos-label nothing: no message has the label (there are: a, b, c)" in err

    def test_plot(self, run, jsonl, tmp_path):
        pytest.importorskip("matplotlib")
        path = tmp_path / "curve.png"
        status, out, _ = run("evaluate", jsonl, "-m", RIVER, "--plot", path)
        assert status == 0
        assert str(path) in out
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert run("evaluate", jsonl, "--plot", tmp_path / "absent" / "curve.png")[0] == 2
        for name in ("curve.xyz", "curve", "curve.svg"):
            status, _, err = run("evaluate", "no such file", "--plot", tmp_path / name)
            assert status == 2
            assert f"{name}: the picture is a PNG; name it curve.png" in err

    def test_plot_without_matplotlib(self, run, jsonl, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
        status, out, err = run("evaluate", jsonl, "-m", RIVER, "--plot", tmp_path / "curve.png")
        assert status == 1
        assert "pip install 'streamnb[plots]'" in err
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
        for name in ("OnlineNB", "MNB", "HMNB", RIVER):
            assert len(re.findall(rf"^{name} ", out, re.M)) == 3
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
            ["synthetic-sms", "--shuffle", "x"],
            ["synthetic-sms", "--calibration-skip", "-1"],
            ["-", "-"],
            [".", "--format", "csv"],
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
