"""Texts, files and folders of strangers, given to the commands."""

from __future__ import annotations

import bz2
import json
import resource
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB
from streamnb.cli import main
from streamnb.datasets import read_mails, read_messages
from streamnb.errors import printable
from support.scenes.scene import SPAM_MAIN

NAUGHTY = ["\x1b[2J", "\x1b]0;owned\x07", "a\r\nb", "\x9b31m", "\u202espam", "x\x7f", "\x00"]


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.jsonl"
    lines = [{"text": f"win cash {i % 7}", "label": NAUGHTY[i % 7]} for i in range(70)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def check_printed(text: str) -> None:
    assert not set(text) - {"\n", "\t"} & {chr(code) for code in (*range(32), *range(127, 160))}
    assert "\u202e" not in text


def test_printable_keeps_text_and_escapes_control_characters() -> None:
    assert printable("Größe 5 🎉\n", keep="\n") == "Größe 5 🎉\n"
    assert printable("\x1b\n\u202e\ud800") == "\\x1b\\n\\u202e\\ud800"
    for text in NAUGHTY:
        check_printed(printable(text))


def test_labels_of_strangers_are_escaped(
    labelled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "a.model"
    assert main(["learn", str(labelled), "--model", "MNB", "-o", str(model)]) == 0
    learned = capsys.readouterr()
    assert "\\x1b[2J" in learned.out
    assert main(["evaluate", str(labelled), "--model", "MNB"]) == 0
    evaluated = capsys.readouterr()
    assert "\\x1b[2J" in evaluated.out
    # The labels of a stranger's model.
    assert main(["learn", str(labelled), "--from", str(model), "-o", str(model)]) == 0
    again = capsys.readouterr()
    assert main(["evaluate", str(labelled), "--model", "MNB", "--pos-label", "\x1bx"]) == 2
    refused = capsys.readouterr()
    for each in (learned, evaluated, again, refused):
        check_printed(each.out)
        # Progress bars use carriage returns.
        check_printed(each.err.replace("\r", ""))


def test_logs_as_text_are_escaped(tmp_path: Path) -> None:
    lines = [json.dumps({"id": "1", "text": "x", "label": NAUGHTY[0]})] * 3
    done = subprocess.run(
        [sys.executable, "-c", SPAM_MAIN, "--log-format", "text", "--snapshots", "\x1b[2J/no"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    check_printed(done.stderr)


def folder_with_links(tmp_path: Path, kind: str) -> Path:
    folder = tmp_path / "box"
    place = folder / "cur" if kind == "maildir" else folder / "spam"
    place.mkdir(parents=True)
    secret = tmp_path / "secret.eml"
    secret.write_text("Subject: secret\n\nfalcon\n")
    (place / "1.eml").write_text("Subject: one\n\nhello\n")
    (place / "2.eml").symlink_to(secret)
    (place / "3.eml").symlink_to(place / "1.eml")
    return folder


@pytest.mark.parametrize("kind", ["maildir", "eml"])
def test_links_out_of_a_folder_are_refused(kind: str, tmp_path: Path) -> None:
    folder = folder_with_links(tmp_path, kind)
    found = list(read_mails(folder, kind))
    one = b"Subject: one\n\nhello\n"
    assert [mail.raw for mail in found] == [one, b"", one]
    assert [mail.problem is None for mail in found] == [True, False, True]
    assert "link out of the folder" in str(found[1].problem)
    bad: list[Any] = []
    texts = [
        message.text
        for message in read_messages(folder, kind, label_required=False, report=bad.append)
    ]
    assert not any("falcon" in text for text in texts)
    assert len(bad) == 1
    followed = list(read_mails(folder, kind, follow_links=True))
    assert b"falcon" in followed[1].raw


def test_the_command_follows_links_with_a_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with_links(tmp_path, "maildir")
    main(["read", str(folder)])
    out = capsys.readouterr().out
    assert "falcon" not in out
    main(["read", str(folder), "--follow-links"])
    assert "falcon" in capsys.readouterr().out


def run_spam(*flags: str, megabytes: int) -> subprocess.CompletedProcess[bytes]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))

    return subprocess.run(
        [sys.executable, "-c", SPAM_MAIN, *flags],
        input=b"",
        capture_output=True,
        timeout=240,
        preexec_fn=limit,
    )


def test_a_compressed_mail_is_read_in_bounds(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.eml.bz2"
    # A gigabyte of zeros, as compressed streams that follow each other.
    bomb.write_bytes(bz2.compress(b"Subject: bomb\n\n") + 64 * bz2.compress(bytes(2**24)))
    state = ("--snapshots", str(tmp_path / "state"))
    small = ("--max-bytes", "1000000", "--input", str(bomb), *state)
    done = run_spam("-s", *small, megabytes=900)
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    refused = run_spam("-p", *small, megabytes=900)
    assert b"decompresses to more than 1,000,000 bytes" in refused.stderr
    # A mail that is not compressed passes, whatever its length.
    plain = tmp_path / "long.eml"
    plain.write_bytes(b"Subject: long\n\n" + b"x" * 2_000_000)
    passed = run_spam("-p", "--max-bytes", "1000000", "--input", str(plain), *state, megabytes=900)
    assert passed.stdout.endswith(b"x" * 1_000_000)
    assert len(passed.stdout) > 2_000_000


def test_credentials_in_a_url_are_not_printed(tmp_path: Path) -> None:
    from streamnb_consumers.daemon.settings import Settings
    from streamnb_consumers.daemon.settings_text import to_toml
    from streamnb_consumers.daemon.snapshots.stores import open_store
    from streamnb_consumers.errors import SettingsError

    url = "nosuch://key:hunter2@bucket/path?sig=hunter2"
    shown = to_toml(Settings(bootstrap_servers="x:1", shared_snapshots=url, teacher_url=url), "sms")
    assert "hunter2" not in shown
    assert shown.count('"nosuch://***@bucket/path?***"') == 2
    with pytest.raises(SettingsError) as error:
        open_store(url)
    assert "hunter2" not in str(error.value)


def test_errors_of_a_store_do_not_contain_the_credentials_of_its_url() -> None:
    from streamnb_consumers.daemon.snapshots.stores import open_store

    pytest.importorskip("fsspec")
    store = open_store("memory://key:hunter2@bucket/path?sig=hunter2")
    assert store.names() == []
    store.write("a", b"1")
    with pytest.raises(FileNotFoundError, match=r"\*\*\*@bucket/path") as error:
        store.read("b", 10)
    assert "hunter2" not in "".join(traceback.format_exception(error.value))
    assert (store.names(), store.read("a", 10)) == (["a"], b"1")
    store.remove("a")
    store.remove("a")


def test_sasl_without_encryption_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    from streamnb_consumers.daemon.kafka_settings import make_cluster
    from streamnb_consumers.daemon.settings import Settings

    names = {"STREAMNB_SASL_USERNAME": "a", "STREAMNB_SASL_PASSWORD": "b"}
    for protocol in ("SASL_SSL", "SASL_PLAINTEXT"):
        settings = Settings(bootstrap_servers="x:1", security_protocol=protocol)  # type: ignore[arg-type]
        make_cluster("sms", settings, names)
        assert ("not encrypted" in caplog.text) is (protocol == "SASL_PLAINTEXT")


def test_labels_are_bounded_if_any_is_learned() -> None:
    worker, metrics = counted_filter([f"label{n % 10}" for n in range(20)])
    assert (metrics.dead_letters, len(worker.learner.model.classes_)) == (10, 5)


def counted_filter(labels: list[str], ids: list[str] | None = None) -> tuple[Any, Any]:
    """Return a filter of any label that has read these labels, and its metrics."""
    from streamnb_consumers.daemon.metrics import PrometheusMetrics
    from streamnb_consumers.pipeline.filter import LocalFilter
    from streamnb_consumers.pipeline.options import Options
    from streamnb_consumers.pipeline.reading import SmsReader
    from streamnb_consumers.records import Partition, Record

    worker, metrics = LocalFilter(MNB(), SmsReader(), Options(max_classes=5)), PrometheusMetrics()
    for offset, label in enumerate(labels):
        fields = {"id": ids[offset] if ids else str(offset), "text": "win", "label": label}
        record = Record(Partition("in", 0), offset, json.dumps(fields).encode())
        metrics.committed([record], worker.handle(record), worker, 0.01)
    return worker, metrics


def series_of(metrics: Any, name: str) -> dict[str, float]:
    found = {family.name: family.samples for family in metrics.registry.collect()}
    return {
        each.labels["label"]: each.value
        for each in found[f"streamnb_{name}"]
        if not each.name.endswith("_created")
    }


def test_series_are_bounded_if_any_label_is_learned() -> None:
    # Each correction replaces the label, so the model always has one class.
    worker, metrics = counted_filter([f"label{n}" for n in range(50)], ["1"] * 50)
    assert worker.learner.model.classes_ == ["label49"]
    learned, decided = series_of(metrics, "training_events"), series_of(metrics, "decisions")
    assert len(learned) <= 5 + 3
    assert (sum(learned.values()), sum(decided.values())) == (50, 50)
    assert learned["(other labels)"] >= 42
    assert len(decided) <= 5 + 3
    assert series_of(metrics, "model_messages").keys() == {"label49"}
