"""Messages from the archives in which collections are published.

Nothing is unpacked to disk: regular files of an archive are read one after the other in memory, by
names of the expected form and in bounds. A link, a device or a path that leads elsewhere is no such
file.
"""

from __future__ import annotations

import email
import email.policy
import email.utils
import functools
import io
import re
import tarfile
import zipfile
import zlib
from datetime import UTC, datetime
from lzma import LZMAError
from pathlib import Path
from typing import TYPE_CHECKING

from streamnb.datasets.files import read_messages
from streamnb.datasets.message import Message
from streamnb.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["MAX_BYTES", "MAX_MEMBER_BYTES", "READERS"]

MAX_MEMBER_BYTES = 32 * 2**20  # of one file
MAX_BYTES = 2**30  # of all files of an archive

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


def _members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each regular file of an archive, in bounds."""
    total = 0
    try:
        for name, size, read in _zip(path) if zipfile.is_zipfile(path) else _tar(path):
            total += size
            if size > MAX_MEMBER_BYTES or total > MAX_BYTES:
                raise DataError(
                    f"{path.name}: {name} has {size:,} bytes, {total:,} with those before; at most "
                    f"{MAX_MEMBER_BYTES:,} and {MAX_BYTES:,} are read"
                )
            yield name, read()
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, LZMAError) as error:
        raise DataError(f"{path.name} is damaged, or no archive: {error}") from error


def _tar(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    with tarfile.open(path, "r:*") as archive:
        for member in archive:
            if member.isreg():
                file = archive.extractfile(member)
                assert file is not None  # of a regular file it is none
                yield member.name, member.size, file.read


def _zip(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                # What the archive says of the size bounds what zipfile reads of it.
                yield member.filename, member.file_size, functools.partial(archive.read, member)


def _matching(
    paths: Sequence[Path], pattern: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the names of an expected form, each with its text."""
    found = False
    for path in paths:
        for name, content in _members(path):
            if (match := pattern.fullmatch(name)) is not None:
                found = True
                yield match, _text(content)
    if not found:
        names = ", ".join(path.name for path in paths)
        raise DataError(f"{names}: no file of the collection is in there")


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _sms(paths: Sequence[Path]) -> list[Message]:
    for path in paths:
        for name, content in _members(path):
            if name == "SMSSpamCollection":
                return list(read_messages(io.BytesIO(content), format="sms", on_bad="fail"))
    raise DataError(f"{paths[0].name} has no file SMSSpamCollection")


def _newsgroups(paths: Sequence[Path]) -> list[Message]:
    """Return the posts: those to train first, then by class and number."""
    posts = {}
    for match, text in _matching(paths, _NEWS):
        half, label, number = match.groups()
        posts[half != "train", label, int(number)] = Message(
            f"{half}/{label}/{number}", label, text
        )
    return [posts[place] for place in sorted(posts)]


def _enron(paths: Sequence[Path]) -> list[Message]:
    """Return the mails: one mailbox after the other, each in its own order."""
    mails = {}
    for match, text in _matching(paths, _ENRON):
        box, label, name, number, day = match.groups()
        mails[box, int(number), label] = Message(f"{box}/{label}/{name}", label, text, day)
    return [mails[place] for place in sorted(mails)]


def _spamassassin(paths: Sequence[Path]) -> list[Message]:
    """Return the mails in order of time."""
    mails = []
    for match, text in _matching(paths, _MAIL):
        folder, number = _MAIL_FOLDERS[match[1]], match[2]
        arrived = _arrival(text)
        time = None if arrived is None else arrived.isoformat()
        mails.append(Message(f"{folder}/{number}", folder.partition("-")[0], text, time))
    labels = {"easy": "ham", "hard": "ham", "spam": "spam"}
    found = [mail._replace(label=labels[mail.label]) for mail in mails]
    return sorted(found, key=lambda mail: (mail.time or "", mail.id))


def _arrival(mail: str) -> datetime | None:
    """Return when a mail came: by its topmost `Received:` header, else by its date."""
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


# How each collection is read from its archives.
READERS: dict[str, Callable[[Sequence[Path]], list[Message]]] = {
    "sms": _sms,
    "spamassassin": _spamassassin,
    "enron": _enron,
    "20news": _newsgroups,
}
