"""Mails in an mbox, a Maildir, a folder and on standard input get the same decisions."""

from __future__ import annotations

import base64
import io
import json
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb.datasets.lines import read_lines
from streamnb_consumers.daemon.assembly import recognised
from streamnb_consumers.daemon.command import run
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from support.data import require_data
from support.filters import WORDS, text

CUTS = ("--spam-cutoff=0.99", "--ham-cutoff=0.2")


def made(count: int) -> list[tuple[str, bytes]]:
    generator = random.Random(5)
    found = []
    for number in range(count):
        label = generator.choice(list(WORDS))
        head = f"From: {label}{number}@x.example\nSubject: {text(label, generator)}\n\n"
        raw = head + f"From {text(label, generator)}\n>From \xff\n\n{text(label, generator)}\n"
        raw = raw.replace("\n", "\r\n") if number % 3 == 0 else raw
        found.append((label, raw.encode("latin-1")))
    return found


def escaped(raw: bytes) -> bytes:
    lines = raw.splitlines(keepends=True)
    return b"".join(
        b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in lines
    )


def mbox(path: Path, mails: list[bytes]) -> Path:
    box = (b"From x Sat Jan 3\n" + escaped(raw) + b"\n" for raw in mails)
    path.write_bytes(b"".join(box))
    return path


def maildir(path: Path, mails: list[bytes]) -> Path:
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    for number, raw in enumerate(mails):
        name = f"new/{number:06}.M.host" if number % 2 else f"cur/{number:06}.M.host:2,S"
        (path / name).write_bytes(raw)
    return path


def folder(path: Path, mails: list[bytes]) -> Path:
    path.mkdir()
    for number, raw in enumerate(mails):
        (path / f"{number:06}.eml").write_bytes(raw)
    return path


def lines(path: Path, mails: list[bytes]) -> Path:
    text = (json.dumps({"base64": base64.b64encode(raw).decode()}) + "\n" for raw in mails)
    path.write_text("".join(text))
    return path


def answers(output: Path | bytes) -> list[Any]:
    data = output.read_bytes() if isinstance(output, Path) else output
    decisions = [json.loads(line) for line in data.splitlines()]
    return [(each["label"], each["score"], each["probabilities"]) for each in decisions]


def one_by_one(
    state: Path, mails: list[bytes], monkeypatch: Any, capfdbinary: Any
) -> Iterator[tuple[Any, int]]:
    for raw in mails:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        status = run("spam", ["--format=mail", "--snapshots", str(state), *CUTS])
        yield *answers(capfdbinary.readouterr().out), status


def compare(
    learned: list[tuple[str, bytes]],
    mails: list[bytes],
    tmp_path: Path,
    monkeypatch: Any,
    capfdbinary: Any,
) -> list[Any]:
    state = tmp_path / "state"
    for number, (label, raw) in enumerate(learned):
        path = tmp_path / "learned" / label / f"{number:06}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    flags = ["--snapshots", str(state), "--input", str(tmp_path / "learned")]
    assert run("spam", [*flags, "--output", str(tmp_path / "learned.out"), *CUTS]) == 0
    found = {}
    for make in (mbox, maildir, folder, lines):
        source = make(tmp_path / f"to-{make.__name__}", mails)
        own = tmp_path / f"state-{make.__name__}"
        shutil.copytree(state, own)
        output = tmp_path / f"{make.__name__}.out"
        flags = ["--snapshots", str(own), "--input", str(source), "--output", str(output), *CUTS]
        assert run("spam", flags) == 0, make.__name__
        found[make.__name__] = answers(output)
    asked = list(one_by_one(state, mails, monkeypatch, capfdbinary))
    found["standard input"] = [each for each, _ in asked]
    first = found["mbox"]
    assert len(first) == len(mails)
    for name, each in found.items():
        assert each == first, name
    known = {"spam": 0, "ham": 1, "unsure": 2}
    assert [status for _, status in asked] == [known[each[0]] for each in first]
    return first


def test_all_containers_give_the_same_decisions(
    tmp_path: Path, monkeypatch: Any, capfdbinary: Any
) -> None:
    mails = made(60)
    found = compare(mails[:30], [raw for _, raw in mails[30:]], tmp_path, monkeypatch, capfdbinary)
    assert {"spam", "ham"} <= {each[0] for each in found}


@pytest.mark.soak
def test_all_containers_give_the_same_decisions_on_real_mails(
    tmp_path: Path, monkeypatch: Any, capfdbinary: Any
) -> None:
    every = [
        json.loads(line.text) for line in read_lines(require_data("text/spamassassin.jsonl.xz"))
    ]
    mails = [(each["label"], each["text"].encode()) for each in every[1000::4]]
    only = [raw for _, raw in mails[200:1200]]
    assert len(only) == 1000
    found = compare(mails[:200], only, tmp_path, monkeypatch, capfdbinary)
    counted = {
        label: [each[0] for each in found].count(label) for label in ("spam", "ham", "unsure")
    }
    print(counted)
    # Of 824 ham and 176 spam, by a filter that was taught 200 mails: what it is not sure of after
    # so few is "unsure". Every answer must come often, for the comparison to say something.
    assert min(counted.values()) > 50


def test_subfolders_are_labels(tmp_path: Path, capfd: Any) -> None:
    for label in ("ham", "spam", "eggs"):
        (tmp_path / "mail" / label).mkdir(parents=True)
    for number, (label, raw) in enumerate(made(20)):
        (tmp_path / "mail" / label / f"{number:03}").write_bytes(raw)
    (tmp_path / "mail" / "eggs" / "x").write_bytes(b"To: b")
    output = tmp_path / "out"
    assert run("spam", ["--input", str(tmp_path / "mail"), "--output", str(output)]) == 0
    decisions = [json.loads(line) for line in output.read_text().splitlines()]
    assert [each["id"][-3:] for each in decisions] == [f"{number:03}" for number in range(20)]
    assert [each["version"] for each in decisions] == list(range(20))
    dead = json.loads((tmp_path / "out.dead").read_text())
    assert dead["error"] == "label 'eggs' is not one of ham, spam"
    assert base64.b64decode(dead["value"]) == b"To: b"


def test_invalid_json_is_a_dead_letter(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text('{"text": "a: b"}\nSubject: no JSON\n')
    output = tmp_path / "out"
    assert run("spam", ["--input", str(path), "--output", str(output)]) == 0
    assert len(output.read_text().splitlines()) == 1
    assert "not JSON" in (tmp_path / "out.dead").read_text()
    forced = tmp_path / "forced"
    path.write_text("Subject: no JSON\nFrom: x\n")
    flags = ["--input", str(path), "--output", str(forced)]
    assert run("spam", [*flags, "--format=jsonl"]) == 1
    assert forced.read_text() == ""


def test_crash_neither_loses_nor_duplicates_mails(tmp_path: Path) -> None:
    mails = [raw for _, raw in made(40)]
    box, output = mbox(tmp_path / "box", mails), tmp_path / "out"
    flags = ["--input", str(box), "--output", str(output), "--batch=7"]
    assert run("spam", flags) == 0
    whole = output.read_bytes()
    mark = tmp_path / "out.offsets"
    state = json.loads(mark.read_text())
    size = sum(len(line) for line in whole.splitlines(keepends=True)[:14])
    state["sizes"][0], state["offsets"][0][2] = size, 14
    mark.write_text(json.dumps(state))
    assert run("spam", flags) == 0
    assert output.read_bytes() == whole


@pytest.mark.parametrize(
    ("begun", "found"),
    [
        (b'{"id"', "jsonl"), (b' \r\n\xef\xbb\xbf{"', "mail"), (b'\xef\xbb\xbf {"', "jsonl"),
        (b"From: x", "mail"), (b"From x", "mail"), (b"hello", "mail"), (b"", "jsonl"),
        (b"\n", "jsonl"),
    ],
)  # fmt: skip
def test_standard_input_is_recognised(begun: bytes, found: str) -> None:
    assert recognised("spam", Settings(), begun) == found
    assert recognised("sms", Settings(), begun) == "jsonl"
    assert recognised("spam", Settings(format="mbox"), begun) == "mbox"
    with pytest.raises(SettingsError, match="sms is read from JSON lines"):
        recognised("sms", Settings(format="mail"), begun)
