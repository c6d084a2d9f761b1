"""`streamnb-delete` leaves no byte of a message in the files of a filter."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from streamnb.model.compression import decompressed
from streamnb_consumers.daemon.delete_command import run_delete
from streamnb_consumers.daemon.listen.service import content_id
from support.listener import Listener, listening

pytest.importorskip("uvicorn")

SECRET = b"Message-ID: <s@x>\nSubject: xyzzysecret\n\nclaim your xyzzyprize now"
OTHERS = [b"Message-ID: <%d@x>\n\nsee you at noon %d" % (n, n) for n in range(6)]


def tell(listener: Listener, raw: bytes, label: str) -> str:
    return listener.spamd("TELL", raw, Message_class=label, Set="local")[1]["Streamnb-Result"]


def files_with(folder: Path, word: bytes) -> set[str]:
    """Return the names of the files that contain a word, also compressed ones."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data = decompressed(data, 2**30) if path.suffix == ".bin" else data
            if path.suffix == ".jsonl":
                lines = [json.loads(line) for line in data.splitlines()]
                records = [line for line in lines if isinstance(line, list)]
                data += b"".join(base64.b64decode(each[2] or "") for each in records)
                data += b"".join(base64.b64decode(each[3] or "") for each in records)
            if word in data:
                found.add(path.name.partition("-")[0])
    return found


def fill(folder: Path, *flags: str) -> None:
    dead = folder.parent / "dead.jsonl"
    with listening(folder, flags=("--dead-letters", str(dead), *flags)) as listener:
        tell(listener, OTHERS[0], "ham")
        tell(listener, SECRET, "spam")
        for raw in OTHERS[1:]:
            tell(listener, raw, "ham")
        refused = {"id": content_id(SECRET), "text": "xyzzyprize", "label": "oops"}
        assert listener.http("POST", "/learn", refused)[0] == 422
        assert listener.stop() == 0


def arguments(folder: Path) -> list[str]:
    return ["spam", "--snapshots", str(folder), "--dead-letters", str(folder.parent / "dead.jsonl")]


def restart(folder: Path) -> None:
    """Check that a listener works on the state, and knows the other messages only."""
    with listening(folder) as listener:
        assert tell(listener, OTHERS[1], "ham") == "learned_before"
        assert tell(listener, SECRET, "ham") == "learned"
        assert listener.stop() == 0


@pytest.mark.parametrize("by", ["id", "message"])
def test_no_byte_is_left_in_any_file(
    tmp_path: Path, by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "state"
    fill(folder)
    (tmp_path / "mail").write_bytes(SECRET)
    assert files_with(folder, b"xyzzyprize") == {"snapshot", "journal"}
    which = ["--id", content_id(SECRET)] if by == "id" else ["--message", str(tmp_path / "mail")]
    assert run_delete([*arguments(folder), *which]) == 0
    told = capsys.readouterr().out
    assert "model: unlearned" in told
    assert "dead letters: 1 of 1 lines deleted" in told
    assert "not reached: " in told
    for word in (b"xyzzy", content_id(SECRET).encode()):
        assert not files_with(folder, word)
    assert (tmp_path / "dead.jsonl").read_bytes() == b""
    # Again: there is nothing left.
    assert run_delete([*arguments(folder), *which]) == 1
    restart(folder)


def test_a_past_message_needs_its_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "state"
    fill(folder, "--join-window-count", "1")
    window = ["--join-window-count", "1"]
    assert run_delete([*arguments(folder), *window, "--id", "never"]) == 1
    (tmp_path / "mail").write_bytes(SECRET)
    assert files_with(folder, b"xyzzyprize")
    given = [*arguments(folder), *window, "--message", str(tmp_path / "mail")]
    assert run_delete(given) == 0
    assert "model: unlearned" in capsys.readouterr().out
    assert not files_with(folder, b"xyzzy")


def test_a_past_message_without_its_text_stays_in_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "state"
    fill(folder, "--join-window-count", "1")
    window = ["--join-window-count", "1"]
    assert run_delete([*arguments(folder), *window, "--id", content_id(SECRET)]) == 1
    assert "model: not unlearned: its text has left the join window" in capsys.readouterr().out


def test_a_running_filter_and_records_after_the_snapshot_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "state"
    fill(folder)
    which = [*arguments(folder), "--commit-seconds", "0.2", "--id", content_id(SECRET)]
    with listening(folder) as listener:
        assert run_delete(which)
        assert "locked" in capsys.readouterr().err
        tell(listener, b"Message-ID: <z@x>\n\nlater", "ham")
        listener.kill()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run_delete(which) == 2
    assert "start the listener, stop it" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_other_dead_letters_stay(tmp_path: Path) -> None:
    folder, dead = tmp_path / "state", tmp_path / "dead.jsonl"
    fill(folder)
    other = json.dumps({"error": "x", "key": "", "value": "b29wcw=="}).encode() + b"\nnot json\n"
    dead.write_bytes(dead.read_bytes() + other)
    assert run_delete([*arguments(folder), "--id", content_id(SECRET)]) == 0
    assert dead.read_bytes() == other


def test_no_byte_of_a_word_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, dead = tmp_path / "state", tmp_path / "dead.jsonl"
    fill(folder)
    assert files_with(folder, b"xyzzyprize") == {"snapshot", "journal"}
    assert run_delete([*arguments(folder), "--word", "xyzzyprize"]) == 0
    told = capsys.readouterr().out
    assert "join window: 1 messages removed" in told
    assert "dead letters: 1 of 1 lines deleted" in told
    assert not files_with(folder, b"xyzzyprize")
    assert not dead.read_bytes()
    # The other words of the message stay learned.
    assert files_with(folder, b"xyzzysecret") == {"snapshot"}
    assert run_delete([*arguments(folder), "--word", "xyzzyprize"]) == 1
    restart(folder)


def test_a_word_is_not_deleted_from_topics(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_delete(["spam", "--bootstrap-servers", "x:1", "--word", "a"]) == 2
    assert "--word needs a filter on files" in capsys.readouterr().err
    assert run_delete(["spam", "--truncate", "x", "--word", "a"]) == 2
    assert "--truncate needs bootstrap_servers" in capsys.readouterr().err
