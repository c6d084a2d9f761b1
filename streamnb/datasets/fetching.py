"""Public collections: downloaded with pooch, checked, and kept as one file each.

Archives are read in memory; they are not unpacked to disk. Only regular files with the names that
the collection uses are read.
"""

from __future__ import annotations

import email
import email.policy
import email.utils
import io
import json
import lzma
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from streamnb.datasets.catalogue import COLLECTIONS
from streamnb.datasets.files import read_messages
from streamnb.datasets.folder import cache_folder, cached_file
from streamnb.datasets.lines import Message
from streamnb.errors import DataError, InputError, needed_for
from streamnb.model.persistence import write

_NEWS = re.compile(r"(?:\./)?20news-bydate-(train|test)/([A-Za-z0-9.-]+)/([0-9]+)")
_ENRON = re.compile(
    r"(?:\./)?(enron[1-6])/(ham|spam)/(([0-9]+)\.([0-9]{4}-[0-9]{2}-[0-9]{2})\.[^/]*)"
)
_MAIL = re.compile(r"(?:\./)?(easy_ham|easy_ham_2|hard_ham|spam|spam_2)/([0-9]+)\.[0-9a-f]{32}")
_MAIL_FOLDERS = {
    "easy_ham": "easy-ham-1",
    "easy_ham_2": "easy-ham-2",
    "hard_ham": "hard-ham-1",
    "spam": "spam-1",
    "spam_2": "spam-2",
}


def archive_name(url: str, sha256: str) -> str:
    """Return the name of an archive in the folder `archives` of the cache folder."""
    return f"{sha256[:12]}-{url.rstrip('/').rpartition('/')[2]}"


def download(name: str) -> Path:
    """Download a collection to the cache folder, and return its file.

    Parameters
    ----------
    name
        One of `COLLECTIONS`.

    Raises
    ------
    InputError
        If the name is unknown.
    DataError
        If the download fails, its checksum is wrong, or the cache folder is not writable.
    MissingDependencyError
        If pooch is not installed.
    """
    collection = COLLECTIONS.get(name)
    if collection is None:
        raise InputError(
            f"no collection {name!r} can be fetched; these can: {', '.join(COLLECTIONS)}"
        )
    target = cached_file(collection.file)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        paths = [_retrieve(url, sha256) for url, sha256 in collection.archives]
        # One JSON object a line, as in the data folder.
        records = (message._asdict() for message in READERS[name](paths))
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        write(target, lzma.compress(lines.encode(), preset=1))
        for path in paths:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"cannot write {name} to {cache_folder()} ({error}): set STREAMNB_CACHE to a writable "
            f"folder"
        ) from error
    return target


def _retrieve(url: str, sha256: str) -> Path:
    """Return the path of an archive; download it unless the right one is in the folder."""
    with needed_for("a download", "datasets"):
        import pooch
        import requests
    folder, name = cache_folder() / "archives", archive_name(url, sha256)
    pooch.get_logger().setLevel("WARNING")
    try:
        return Path(
            pooch.retrieve(url, sha256, fname=name, path=folder, progressbar=sys.stderr.isatty())
        )
    except requests.RequestException as error:
        raise DataError(
            f"cannot download {url} ({error}): try again with a network, or get the file elsewhere "
            f"and put it at {folder / name}"
        ) from error
    except ValueError as error:
        raise DataError(
            f"{url} has a wrong checksum ({error}): try again, or put the right file at "
            f"{folder / name}"
        ) from error


# --- archives -------------------------------------------------------------------------------------


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each regular file of an archive."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                yield member.filename, archive.read(member)
        return
    with tarfile.open(path, "r:*") as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isreg() else None
            if file is not None:
                yield entry.name, file.read()


def _matching(
    paths: Sequence[Path], pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the names that match a pattern, each with its text."""
    for path in paths:
        for name, content in _members(path):
            if (match := pattern.fullmatch(name)) is not None:
                try:
                    yield match, content.decode()
                except UnicodeDecodeError:
                    yield match, content.decode("latin-1")


def _sms(paths: Sequence[Path]) -> list[Message]:
    files = dict(_members(paths[0]))
    return list(read_messages(io.BytesIO(files["SMSSpamCollection"]), format="sms", on_bad="fail"))


def _newsgroups(paths: Sequence[Path]) -> list[Message]:
    """Return the training posts, then the test posts, each by class and number."""
    posts = {}
    for match, text in _matching(paths, _NEWS):
        half, label, number = match.groups()
        posts[half != "train", label, int(number)] = Message(
            f"{half}/{label}/{number}", label, text
        )
    return [posts[place] for place in sorted(posts)]


def _enron(paths: Sequence[Path]) -> list[Message]:
    """Return the mails of each mailbox in its order."""
    mails = {}
    for match, text in _matching(paths, _ENRON):
        box, label, name, number, day = match.groups()
        mails[box, int(number), label] = Message(f"{box}/{label}/{name}", label, text, day)
    return [mails[place] for place in sorted(mails)]


def _spamassassin(paths: Sequence[Path]) -> list[Message]:
    """Return the mails in order of time."""
    mails = []
    for match, text in _matching(paths, _MAIL):
        arrived = _arrival(text)
        time = None if arrived is None else arrived.isoformat()
        label = "spam" if match[1].startswith("spam") else "ham"
        mails.append(Message(f"{_MAIL_FOLDERS[match[1]]}/{match[2]}", label, text, time))
    return sorted(mails, key=lambda mail: (mail.time or "", mail.id))


def _arrival(mail: str) -> datetime | None:
    """Return the time of the topmost `Received:` header, or of the `Date:` header."""
    head = re.split(r"\r?\n\r?\n", mail, maxsplit=1)[0]
    headers = email.message_from_string(head, policy=email.policy.compat32)
    received = (headers.get_all("Received") or [""])[0]
    for text in (str(received).rpartition(";")[2], str(headers.get("Date", ""))):
        try:
            time = email.utils.parsedate_to_datetime(" ".join(text.split()))
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


READERS: dict[str, Callable[[Sequence[Path]], list[Message]]] = {
    "sms": _sms,
    "spamassassin": _spamassassin,
    "enron": _enron,
    "20news": _newsgroups,
}
"""Readers of the archives of each collection."""
