"""`streamnb read`: mail and tables as they arrive, message by message."""

from __future__ import annotations

import gzip
import json

import pytest

from streamnb import OnlineNB, Tokenizer
from support.commands import feed
from support.data import cases_folder

# Each input with its messages as (label, part of the text), and parts of the error output.
BOXES = {
    "b1_unescaped.mbox": ([(None, "From now on you can"), (None, "mail 2")], []),
    "b3_bare.mbox": ([(None, f"a{n}@x.example") for n in (1, 2, 3)], []),
    "b4_mboxcl2.mbox": ([(None, "From here it goes on.\n\nEnd."), (None, "mail 2")], []),
    "b5_crlf.mbox": ([(None, "mail 1"), (None, "mail 2")], []),
    "b6_bom.mbox": ([(None, "From: a1@x.example"), (None, "mail 2")], []),
    "b8_rd.mbox": ([(None, "From a\n>From b\n>>From c")], []),
    "b9_cr.mbox": ([(None, "mail 1\n"), (None, "mail 2\n")], []),
    "b10_forwarded.mbox": ([(None, "Subject: inner"), (None, "mail 2")], []),
    "b11_mmdf.mbox": ([(None, "mail 1"), (None, "mail 2")], []),
    "b12_tabs_fromspace.mbox": ([(None, "not a header line"), (None, "mail 2")], []),
    "maildir_gz": ([(None, f"mail {n}") for n in range(3)], []),
    "corpus_gz": (
        [(label, f"mail {n}") for n in range(3) for label in ("ham", "spam")], []
    ),
    "corpus_mboxnoext": ([("spam", "mail")] * 2 + [("ham", "mail")] * 2, []),
    "corpus_mixed": (
        [("spam", "mail 1"), ("ham", "mail 1"), ("ham", "mail 2")],
        [f"{name} is not a mail" for name in (
            "ham/README", "ham/Thumbs.db", "ham/desktop.ini", "spam/c.msg", "spam/old.zip"
        )],
    ),
    "corpus_cmds": (
        [(label, f"mail {n}") for n in range(3) for label in ("ham", "spam")],
        ["ham/cmds is not a mail", "spam/cmds is not a mail"],
    ),
    "maildirfs": (
        [("INBOX", "mail 0"), ("Junk", "mail 0"), ("INBOX", "mail 1"), ("Junk", "mail 1"),
         ("INBOX", "mail 5"), ("INBOX", "mail 6")],
        ["subscriptions is not a mail", "dovecot.index.log is not a mail"],
    ),
    "maildir_flags": ([(None, f"mail {n}") for n in (1, 2, 3, 4)], []),
    "corpus_nested": ([("ham", "mail 1"), ("spam", "mail 1"), (None, "mail 3")], []),
    "corpus_caps": ([("Ham", "mail 1"), ("SPAM", "mail 1")], ["label 'Ham'", "label 'SPAM'"]),
}  # fmt: skip

SIX = ["ham", "spam"] * 3
TABLES = {
    "SMSSpamCollection": (["ham", "spam", "ham", "ham", "spam", "ham", "Ham "], ["label 'Ham '"]),
    "SMSSpamCollection.csv": (["ham", "ham", "spam", "ham", "spam"], []),
    "s01_kaggle.csv": (["ham", "ham", "spam", "ham", "spam"], ["line 3", "--encoding latin-1"]),
    "s02_semicolon_bom.csv": (SIX, []),
    "s04_utf16.txt": (SIX, []),
    "s05_01.csv": (["0", "1"] * 3, ["reading 'spam'"]),
    "s07_empty_rows.csv": (["ham", "ham", "spam", "spam"], []),
    "s08_dup_ids.csv": (SIX, []),
    "s09_array.json": (SIX, []),
    "s09c_columns.json": (SIX, []),
    "s10_backslash.csv": (["ham", "spam", "ham"], []),
    "s12_stray_quote.csv": (["ham", "spam", "ham", "spam", "ham"], []),
    "s13_multiline.csv": (["ham", "ham", "spam"], ["reading 'Message'", "reading 'Spam/Ham'"]),
    "s14_label.jsonl": (["0", "1"] * 3, []),
    "s15_uci_quotes.tsv": (["ham", "spam", "ham", "ham"], []),
    "s16_header_sms.tsv": (SIX, ["reading 'message'"]),
    "s17_nul.csv": (["ham", "spam"], []),
    "s18_latin1.csv": (["ham"], ["66.7% of the input", "--encoding latin-1"]),
    "s19_index_col.csv": (SIX, []),
    "s20_dup_cols.csv": (["ham", "spam"], ["2 columns 'text'"]),
    "s21_spaces_header.csv": (["ham", "spam"], []),
    "s22_caps_header.csv": (["ham", "spam"], []),
    "s23_no_header.csv": (["ham", "spam", "ham"], ["no header"]),
    "s24_ragged.csv": (["ham"], ["line 2: 3 fields", "line 3: 4 fields"]),
    "s30_numeric.jsonl": (["1", "0", "1", "0"], []),
    "s31_dupids.jsonl": (["spam", "ham", "spam", "spam", "ham"], []),
    "s32_labels.jsonl": (
        ["Spam", "ham ", None, "ham", *6 * [None]], ["label 'Spam'", "label 'ham '", "line 5"]
    ),
    "s33_redelivered.jsonl": ([*2 * SIX, None], []),
}  # fmt: skip


def records(out):
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("name", BOXES)
def test_mail_as_it_arrives(run, name):
    expected, remarks = BOXES[name]
    status, out, err = run("read", cases_folder() / "boxes" / name)
    found = records(out)
    assert [record["label"] for record in found] == [label for label, _ in expected]
    for record, (_, text) in zip(found, expected, strict=True):
        assert text in record["text"]
    assert status == 0
    assert all(remark in err for remark in remarks)
    assert len(err.splitlines()) == len(remarks) + (1 if name != "maildirfs" else 2)


@pytest.mark.parametrize("name", TABLES)
def test_tables_as_they_arrive(run, name):
    labels, remarks = TABLES[name]
    status, out, err = run("read", cases_folder() / "tables" / name)
    assert [record["label"] for record in records(out)] == labels
    assert status == (3 if "could not be read" in err else 0)
    assert status == 0 or any(part in name for part in ("kaggle", "latin1", "ragged", "s32"))
    assert all(remark in err for remark in remarks)


def test_stray_quotes_and_backslashes_are_read(run):
    folder = cases_folder() / "tables"
    texts = [record["text"] for record in records(run("read", folder / "s10_backslash.csv")[1])]
    assert texts == ['he said "ok" to me', 'win "cash" now', "plain"]
    texts = [record["text"] for record in records(run("read", folder / "s12_stray_quote.csv")[1])]
    assert texts[:2] == ['he said "ok" to me', '"win" cash now']
    status, out, err = run("read", folder / "s18_latin1.csv", "--encoding", "latin-1")
    assert (status, len(records(out)), len(err.splitlines())) == (0, 3, 1)


def test_words_are_the_tokens_of_a_model(run, tmp_path):
    path, model = tmp_path / "some.sms", tmp_path / "some.model"
    path.write_text("spam\tFree entry NOW\n")
    status, out, err = run("read", path, "--words", "--raw")
    assert records(out) == [
        {"id": "1", "label": "spam", "text": "Free entry NOW",
         "words": list(OnlineNB.default_tokenizer("Free entry NOW"))}
    ]  # fmt: skip
    assert (status, err) == (0, "1 message read\n")
    shown = records(run("read", path, "--words")[1])[0]["words"]
    assert {"free entry", "letters …f…", "edge of a word"} < set(shown)
    tokenizer = "Tokenizer(lowercase=False)"
    expected = list(Tokenizer(lowercase=False)("Free entry NOW"))
    assert run("learn", path, "-m", f"MNB(tokenizer={tokenizer})", "-o", model)[0] == 0
    for name in (model, f"MNB(tokenizer={tokenizer})"):
        assert records(run("read", path, "--words", "--raw", "-m", name)[1])[0]["words"] == expected
    assert run("read", path, "--words", "-m", "river:MultinomialNB")[0] == 2
    assert run("read", path, "--words", "-m", "no such model")[0] == 2


def test_delimiters_json_layouts_and_line_ends(run, tmp_path, monkeypatch):
    expected = [("ham", "a, b"), ("spam", "c")]
    pairs = [{"label": label, "text": text} for label, text in expected]
    for content, options in (
        (b"label;text\nham;a, b\nspam;c\n", ()),
        (b"text|label\na, b|ham\nc|spam\n", ()),
        (b"sep=;\nlabel;text\nham;a, b\nspam;c\n", ()),
        (b'label,text\rham,"a, b"\rspam,c\r', ()),
        (b"label#text\nham#a, b\nspam#c\n", ("--delimiter", "#")),
        (b"ham;a, b\nspam;c\n", ()),
        (b"ham;a, b\nspam;c\n", ("--format", "sms", "--delimiter", ";")),
        (b"label\ttext\nham\ta, b\nspam\tc\n", ("--format", "sms")),
        (json.dumps(pairs, indent=2).encode(), ("--format", "jsonl")),
        (b"\n".join(json.dumps(pair, indent=2).encode() for pair in pairs), ("--format", "jsonl")),
        (b"\r".join(json.dumps(pair).encode() for pair in pairs), ("--format", "jsonl")),
    ):
        path = tmp_path / "some.csv"
        path.write_bytes(content)
        status, out, _ = run("read", path, *options)
        assert [(record["label"], record["text"]) for record in records(out)] == expected, content
        assert status == 0
    path.write_bytes(b"x")
    assert run("read", path, "--delimiter", "")[0] == 2
    path.write_bytes(b'[{"text": "a"}, {"text": ')
    status, out, err = run("read", path, "--format", "jsonl")
    assert (status, out, len(err.splitlines())) == (1, "", 1)
    feed(monkeypatch, b"ham\tx\n")
    assert records(run("read", "-", "--format", "sms")[1])[0]["text"] == "x"


def test_the_share_of_unreadable_input_decides_the_status(run, tmp_path):
    path, model = tmp_path / "some.sms", tmp_path / "some.model"
    path.write_text("ham\tx\n" * 19 + "y\n")
    status, _, err = run("learn", path, "-o", model)
    assert (status, "1 bad line (5.0% of the input) skipped" in err) == (0, True)
    path.write_text("ham\tx\n" * 18 + "y\n")
    model.unlink()
    status, _, err = run("learn", path, "-o", model)
    assert (status, "5.3% of the input could not be read" in err) == (3, True)
    assert model.is_file()  # the rest was used


def test_folders_with_compressed_mailboxes(run, tmp_path):
    mail = b"From a@x.example Mon Jan  5 10:00:00 2026\nSubject: one\n\nx\n\n"
    (tmp_path / "spam.mbox.gz").write_bytes(gzip.compress(2 * mail))
    (tmp_path / "ham").write_bytes(2 * mail)
    (tmp_path / "box" / ".Junk" / "cur").mkdir(parents=True)
    (tmp_path / "box" / ".Junk" / "cur" / "1.x:2,S").write_bytes(mail)
    (tmp_path / "box" / ".Junk" / "new").mkdir()
    found = records(run("read", tmp_path)[1])
    assert [(record["id"], record["label"]) for record in found] == [
        ("box/.Junk/1.x", "box"), ("ham:1", "ham"), ("ham:2", "ham"),
        ("spam.mbox.gz:1", "spam"), ("spam.mbox.gz:2", "spam"),
    ]  # fmt: skip


def test_a_folder_of_texts_without_headers(run, tmp_path):
    for name in ("ham/1", "spam/2"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("see you")
    (tmp_path / "ham" / "Thumbs.db").write_bytes(b"\0\1")
    (tmp_path / "ham" / "z.gz").write_bytes(gzip.compress(b"x" * 10_000)[:20])
    status, out, err = run("read", tmp_path)
    assert [record["id"] for record in records(out)] == ["ham/1", "spam/2"]
    assert "ham/Thumbs.db is not a mail" in err
    assert (status, "ham/z.gz: cannot be read" in err) == (3, True)  # a third
