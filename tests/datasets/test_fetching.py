"""Collections fetched from a loopback server."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import itertools
import os
import re
import sys
import tarfile
import threading
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from streamnb import datasets
from streamnb.cli import main
from streamnb.datasets import fetching
from streamnb.datasets.catalogue import COLLECTIONS
from streamnb.errors import DataError, InputError, MissingDependencyError
from support.data import require_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


class Server:
    """A server of given files that counts requests."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.files: dict[str, bytes] = {}
        self.asked: Counter[str] = Counter()

    def url(self, name: str, content: bytes) -> str:
        self.files[f"/{name}"] = content
        return f"{self.address}/{name}"


# The value before the fixture below changes it.
GIVEN = os.environ.get("STREAMNB_DATA")


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked[self.path] += 1
            content = known.files.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            short = self.path.startswith("/short")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if short else content)

        def log_message(self, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        known = Server(f"http://127.0.0.1:{running.server_port}")
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield known
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def nothing_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without data, whose cache folder is empty."""
    for name, folder in (("DATA", "absent"), ("CACHE", "cache")):
        monkeypatch.setenv(f"STREAMNB_{name}", str(tmp_path / folder))
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache"


@pytest.fixture
def archived(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """Replace the archives of a collection by others, each an address and a checksum."""

    def replace(name: str, *archives: tuple[str, str]) -> list[str]:
        names = [url.rpartition("/")[2] for url, _ in archives]
        pairs = zip(names, archives, strict=True)
        lines = (f"{each} {sha256} {url}\n" for each, (url, sha256) in pairs)
        registry = tmp_path / "archives.txt"
        registry.write_text("".join(lines))
        monkeypatch.setattr(fetching, "REGISTRY", registry)
        changed = dataclasses.replace(COLLECTIONS[name], archives=tuple(names))
        monkeypatch.setitem(COLLECTIONS, name, changed)
        return names

    return replace


@pytest.fixture
def published(server: Server, archived: Callable[..., list[str]]) -> Callable[..., list[str]]:
    """Publish other archives of a collection."""

    def publish(name: str, *contents: bytes, sha256: str | None = None) -> list[str]:
        found = (
            (server.url(f"{name}-{place}", content), sha256 or hashlib.sha256(content).hexdigest())
            for place, content in enumerate(contents)
        )
        return archived(name, *found)

    return publish


def zipped(files: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(files: Mapping[str, bytes], *others: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for other in others:
            archive.addfile(other)
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


SMS = zipped({"readme": b"about", "SMSSpamCollection": "ham\tsee you\nspam\tWIN £100\n".encode()})


def test_a_collection_is_a_stream_and_kept(published, server, nothing_there) -> None:
    published("sms", SMS)
    stream = datasets.fetch("sms")
    assert isinstance(stream, datasets.Stream)
    assert list(stream) == [("see you", "ham"), ("WIN £100", "spam")]
    assert list(datasets.stream("sms").messages())[1].id == "2"
    assert datasets.available("text/sms_spam")
    assert list(datasets.fetch("sms", limit=1)) == [("see you", "ham")]
    assert datasets.demo_stream()[0].name == "sms"
    assert server.asked == {"/sms-0": 1}
    datasets.fetch("sms", again=True)
    assert server.asked == {"/sms-0": 2}
    # Only the collection is left.
    left = [path for path in nothing_there.rglob("*") if path.is_file()]
    assert left == [nothing_there / "data" / "text" / "sms_spam.jsonl.xz"]


def test_the_stream_sms_fetches_by_itself(published) -> None:
    published("sms", SMS)
    assert len(list(datasets.stream("sms"))) == 2


def test_newsgroups_in_their_order(published) -> None:
    files = {
        "20news-bydate-test/sci.space/9": b"d",
        "20news-bydate-train/sci.space/60": b"b",
        "20news-bydate-train/sci.space/200": b"c",
        "20news-bydate-train/alt.atheism/500": "caf\u00e9".encode("latin-1"),
    }
    published("20news", tarred(files))
    datasets.fetch("20news")
    read = list(datasets.read_text("20news_bydate"))
    assert [(m.id, m.label, m.text) for m in read] == [
        ("train/alt.atheism/500", "alt.atheism", "café"),
        ("train/sci.space/60", "sci.space", "b"),
        ("train/sci.space/200", "sci.space", "c"),
        ("test/sci.space/9", "sci.space", "d"),
    ]


def test_enron_mailbox_by_mailbox(published) -> None:
    published(
        "enron",
        tarred({"enron1/ham/0010.2000-01-02.farmer.ham.txt": b"b", "enron1/Summary.txt": b"no"}),
        tarred({"enron2/spam/0001.2004-08-01.BG.spam.txt": b"c"}),
        tarred({"enron1/spam/0002.2003-12-18.GP.spam.txt": b"a"}),
    )
    assert list(datasets.fetch("enron")) == [("a", "spam"), ("b", "ham"), ("c", "spam")]
    read = list(datasets.read_text("enron_spam"))
    assert read[0].id == "enron1/spam/0002.2003-12-18.GP.spam.txt"
    assert [m.time for m in read] == ["2003-12-18", "2000-01-02", "2004-08-01"]


def test_spamassassin_by_time(published) -> None:
    tail = "." + 32 * "0"
    received = (
        b"Received: from a by b;\n    Mon, 25 Jun 2001 12:18:19 +0100 (IST)\n"
        b"Received: from z; Tue, 26 Jun 2001 00:00:00 +0000\n\nwin"
    )
    files = {
        f"easy_ham/00001{tail}": b"Date: Tue, 26 Jun 2001 09:00:00 -0200\n\nhello",
        f"spam_2/00026{tail}": received,
        f"hard_ham/00003{tail}": b"no header at all",
        "spam_2/cmds": b"mv a b",
    }
    published("spamassassin", tarred(files))
    datasets.fetch("spamassassin")
    read = list(datasets.read_text("spamassassin"))
    assert [(m.id, m.label, m.time) for m in read] == [
        ("hard-ham-1/00003", "ham", None),
        ("spam-2/00026", "spam", "2001-06-25T11:18:19+00:00"),
        ("easy-ham-1/00001", "ham", "2001-06-26T11:00:00+00:00"),
    ]


def test_times_and_order_are_those_of_the_data_folder(monkeypatch) -> None:
    if GIVEN is None:
        monkeypatch.delenv("STREAMNB_DATA")
    else:
        monkeypatch.setenv("STREAMNB_DATA", GIVEN)
    require_data("text/spamassassin.jsonl.xz")
    some = list(itertools.islice(datasets.read_text("spamassassin"), 400))
    for mail in some:
        assert fetching._arrival(mail.text).isoformat() == mail.time
    assert some == sorted(some, key=lambda mail: (mail.time, mail.id))


def test_an_archive_with_a_wrong_checksum_is_not_kept(published, server, nothing_there) -> None:
    published("sms", SMS, sha256="0" * 64)
    with pytest.raises(DataError, match=r"wrong checksum.*put the right file at") as at:
        datasets.fetch("sms")
    assert hashlib.sha256(SMS).hexdigest() in str(at.value)
    assert [path for path in nothing_there.rglob("*") if path.is_file()] == []


def test_a_valid_copy_in_the_cache_needs_no_network(published, server, nothing_there) -> None:
    (name,) = published("sms", SMS)
    (nothing_there / "archives").mkdir(parents=True)
    (nothing_there / "archives" / name).write_bytes(SMS)
    assert len(list(datasets.fetch("sms"))) == 2
    assert not server.asked
    # A wrong one is replaced.
    (nothing_there / "archives" / name).write_bytes(b"other")
    datasets.fetch("sms", again=True)
    assert server.asked == {"/sms-0": 1}


def test_offline(published, archived, server) -> None:
    published("sms", SMS)
    server.files.clear()
    with pytest.raises(DataError, match=r"cannot download .*404.*put it at .*archives"):
        datasets.fetch("sms")
    archived("sms", ("http://127.0.0.1:9/sms.zip", "0" * 64))
    with pytest.raises(DataError, match=r"cannot download .*refused"):
        datasets.fetch("sms")
    with pytest.raises(DataError, match="synthetic-sms"):
        list(datasets.stream("sms"))
    with pytest.raises(DataError, match="streamnb fetch spamassassin"):
        list(datasets.stream("spamassassin"))


def test_a_download_that_ends_early(archived, server) -> None:
    archived("sms", (server.url("short", SMS), hashlib.sha256(SMS).hexdigest()))
    with pytest.raises(DataError, match=r"IncompleteRead|wrong checksum"):
        datasets.fetch("sms")
    assert not datasets.available("sms_spam")


def test_archives_are_not_unpacked_to_disk(published, nothing_there, tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = tarfile.TarInfo("20news-bydate-train/a/7")
    link.type, link.linkname = tarfile.SYMTYPE, str(secret)
    hard = tarfile.TarInfo("20news-bydate-train/a/8")
    hard.type, hard.linkname = tarfile.LNKTYPE, "../../../secret"
    files = {
        "../../evil": b"x",
        "/tmp/evil": b"x",
        "20news-bydate-train/../../evil/5": b"x",
        "20news-bydate-train/a/6": b"fine",
    }
    published("20news", tarred(files, link, hard))
    datasets.fetch("20news")
    assert [m.text for m in datasets.read_text("20news_bydate")] == ["fine"]
    left = {path for path in tmp_path.rglob("*") if path.is_file()}
    left.remove(fetching.REGISTRY)
    assert left == {secret, nothing_there / "data/text/20news_bydate.jsonl.xz"}


def test_a_cache_folder_that_cannot_be_written(published, nothing_there) -> None:
    published("sms", SMS)
    nothing_there.write_text("a file")
    with pytest.raises(DataError, match="set STREAMNB_CACHE to a writable"):
        datasets.fetch("sms")


def test_the_cache_folder(monkeypatch, tmp_path) -> None:
    assert datasets.cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("STREAMNB_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert datasets.cache_folder() == tmp_path / "xdg" / "streamnb"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert datasets.cache_folder() == tmp_path / ".cache" / "streamnb"


def test_unknown_names() -> None:
    with pytest.raises(InputError, match="no collection 'smss' can be fetched; these can: sms, "):
        datasets.fetch("smss")
    assert main(["fetch", "sms", "smss"]) == 2


def test_the_command(published, capsys, nothing_there) -> None:
    published("sms", SMS)
    assert main(["fetch", "sms"]) == 0
    out = capsys.readouterr().out
    assert "licence: CC BY 4.0" in out
    assert str(nothing_there / "data" / "text" / "sms_spam.jsonl.xz") in out
    assert main(["fetch", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name} " in out for name in COLLECTIONS)
    assert out.count("licence: ") == len(COLLECTIONS)
    with pytest.raises(SystemExit, match="2"):
        main(["fetch"])


def test_collections_have_checksums_and_licences() -> None:
    archives = []
    for name, collection in COLLECTIONS.items():
        assert name in datasets.stream_names()
        assert name == "sms" or name in fetching.READERS
        assert collection.licence
        archives += collection.archives
    lines = [line.split() for line in fetching.REGISTRY.read_text().splitlines() if line[0] != "#"]
    assert [name for name, _, _ in lines] == archives
    for _, sha256, url in lines:
        assert re.fullmatch("[0-9a-f]{64}", sha256)
        assert re.match("https?://", url)


def test_downloads_without_pooch_name_the_extra(published, monkeypatch) -> None:
    published("sms", SMS)
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingDependencyError, match=r"streamnb\[datasets\]"):
        datasets.fetch("sms")
    with pytest.raises(DataError, match=r"streamnb\[datasets\].*synthetic-sms"):
        list(datasets.stream("sms"))
