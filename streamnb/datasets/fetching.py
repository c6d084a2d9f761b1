"""Public collections: downloaded with pooch, checked, and kept as one file each.

Archives are read in memory; they are not unpacked to disk. Only regular files with the names that
the collection uses are read.
"""

from __future__ import annotations

import email.parser
import email.policy
import email.utils
import io
import json
import lzma
import re
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from streamnb.datasets.catalogue import COLLECTIONS
from streamnb.datasets.files import read_messages
from streamnb.datasets.folder import cache_folder, cached_file
from streamnb.datasets.records import Message
from streamnb.errors import DataError, InputError, needed_for
from streamnb.model.persistence import write

REGISTRY = resources.files(__package__).joinpath("archives.txt")
_NEWS = re.compile(r"(?:\./)?20news-bydate-(train|test)/([A-Za-z0-9.-]+)/([0-9]+)")
_ENRON = re.compile(
    r"(?:\./)?(enron[1-6])/(ham|spam)/(([0-9]+)\.([0-9]{4}-[0-9]{2}-[0-9]{2})\.[^/]*)"
)
_MAIL = re.compile(r"(?:\./)?(easy_ham|easy_ham_2|hard_ham|spam|spam_2)/([0-9]+)\.[0-9a-f]{32}")


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
        paths = _retrieve(collection.archives)
        # One JSON object a line, as in the data folder.
        records = (message._asdict() for message in _messages(name, paths))
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


def _retrieve(names: tuple[str, ...]) -> list[Path]:
    """Return the paths of archives; download those that are not in the folder."""
    with needed_for("a download", "datasets"):
        import pooch
        import requests
    pooch.get_logger().setLevel("WARNING")
    folder = cache_folder() / "archives"
    keeper = pooch.create(folder, base_url="")
    with REGISTRY.open() as registry:
        keeper.load_registry(registry)
    paths = []
    for name in names:
        url = keeper.urls[name]
        try:
            paths.append(Path(keeper.fetch(name, progressbar=sys.stderr.isatty())))
        except requests.RequestException as error:
            raise DataError(
                f"cannot download {url} ({error}): try again with a network, or get the file "
                f"elsewhere and put it at {folder / name}"
            ) from error
        except ValueError as error:
            raise DataError(
                f"{url} has a wrong checksum ({error}): try again, or put the right file at "
                f"{folder / name}"
            ) from error
    return paths


# --- archives -------------------------------------------------------------------------------------


def _messages(name: str, paths: list[Path]) -> list[Message]:
    """Return the messages in the archives of a collection, in their order."""
    if name == "sms":
        file = io.BytesIO(dict(_members(paths[0]))["SMSSpamCollection"])
        return list(read_messages(file, format="sms", on_bad="fail"))
    pattern, read = READERS[name]
    found = {}
    for path in paths:
        for member, content in _members(path):
            if (match := pattern.fullmatch(member)) is not None:
                try:
                    text = content.decode()
                except UnicodeDecodeError:
                    text = content.decode("latin-1")
                place, message = read(match, text)
                found[place] = message
    return [found[place] for place in sorted(found)]


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


def _post(match: re.Match[str], text: str) -> tuple[Any, Message]:
    """Return a post of 20 Newsgroups; training posts come first, each by class and number."""
    half, label, number = match.groups()
    place = half != "train", label, int(number)
    return place, Message(f"{half}/{label}/{number}", label, text)


def _enron(match: re.Match[str], text: str) -> tuple[Any, Message]:
    """Return a mail of a mailbox, in its order."""
    box, label, name, number, day = match.groups()
    return (box, int(number), label), Message(f"{box}/{label}/{name}", label, text, day)


def _spamassassin(match: re.Match[str], text: str) -> tuple[Any, Message]:
    """Return a mail, in order of time."""
    folder = match[1].replace("_", "-")
    name = f"{folder if folder.endswith('-2') else folder + '-1'}/{match[2]}"
    arrived = _arrival(text)
    time = None if arrived is None else arrived.isoformat()
    label = "spam" if match[1].startswith("spam") else "ham"
    return (time or "", name), Message(name, label, text, time)


def _arrival(mail: str) -> datetime | None:
    """Return the time of the topmost `Received:` header, or of the `Date:` header."""
    headers = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(mail)
    received = (headers.get_all("Received") or [""])[0]
    for text in (str(received).rpartition(";")[2], str(headers.get("Date", ""))):
        try:
            time = email.utils.parsedate_to_datetime(" ".join(text.split()))
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


READERS: dict[str, tuple[re.Pattern[str], Callable[[re.Match[str], str], tuple[Any, Message]]]] = {
    "spamassassin": (_MAIL, _spamassassin),
    "enron": (_ENRON, _enron),
    "20news": (_NEWS, _post),
}
"""The names of the messages in the archives of a collection, and their reader."""
