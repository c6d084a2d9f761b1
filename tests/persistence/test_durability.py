"""State survives a crash of the machine: folders are synced, and segments are kept long enough."""

from __future__ import annotations

import os
import random
import stat
from pathlib import Path

import pytest

from streamnb import MNB
from streamnb.mail.content import mail_text
from streamnb_consumers.daemon.listen.journal import Journal
from streamnb_consumers.daemon.listen.service import content_id
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.records import Partition, Record


def folders_synced(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The names in a folder at each sync of it."""
    found: list[list[str]] = []
    sync = os.fsync

    def synced(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            found.append(sorted(os.listdir(handle)))
        sync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    return found


def test_the_folder_of_a_snapshot_is_synced_after_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots, found = Snapshots(tmp_path), folders_synced(monkeypatch)
    path = snapshots.save(b"state")
    assert path.name in found[-1]


def test_the_folder_of_a_new_segment_is_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = folders_synced(monkeypatch)
    Journal(tmp_path, keep=1).close()
    (path,) = tmp_path.iterdir()
    assert path.name in found[-1]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_journal_keeps_the_segments_that_older_snapshots_need(tmp_path: Path, keep: int) -> None:
    """Each of the kept snapshots begins at one of the segments, and the last one is written."""
    journal = Journal(tmp_path, keep=keep)
    for number in range(6):
        journal.append([Record(Partition("requests", 0), number, b"{}", b"id")], durable=True)
        journal.rotate()
    journal.close()
    assert len(list(tmp_path.iterdir())) == keep + 1


def test_blank_lines_around_a_mail_do_not_change_its_id() -> None:
    mail = b"Message-ID: <1@x.example>\nSubject: lunch\n\nsee you\n"
    assert content_id(mail + b"\n \n") == content_id(mail)
    assert content_id(b"\n" + mail) == content_id(mail)
    assert content_id(mail.replace(b"<1@", b"<2@")) != content_id(mail)
    assert content_id(mail + b"more\n") != content_id(mail)


@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_merges_a_pruned_one_prunes_the_same_words_next(seed: int) -> None:
    generator = random.Random(seed)

    def texts(n: int) -> list[str]:
        words = [f"w{number}" for number in range(20_000)]
        return [" ".join(generator.choices(words, k=30)) for _ in range(n)]

    pruned, merged = MNB(max_features=1000), MNB(max_features=1000)
    for text in texts(150):
        pruned.learn_one(text, generator.choice(("ham", "spam")))
    merged.merge(pruned)
    for text in texts(100):
        for model in (pruned, merged):
            model.learn_one(text, "ham")
    assert merged.to_bytes() == pruned.to_bytes()


def test_a_character_may_be_split_over_encoded_words_of_one_charset_in_any_case() -> None:
    first, second = "=?UTF-8?B?4oI=?=", "=?utf-8?B?rA==?="
    assert "Subject: \u20ac" in mail_text(f"Subject: {first} {second}\n\nx\n".encode())
