"""Public collections into the cache folder: downloaded, checked, and written as one file each."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import lzma
import os
import secrets
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.datasets.archives import READERS
from streamnb.datasets.cache import cache_folder
from streamnb.datasets.folder import cached_file
from streamnb.datasets.public import COLLECTIONS, Archive
from streamnb.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamnb.datasets.message import Message

__all__ = ["MAX_DOWNLOAD_BYTES", "download"]

MAX_DOWNLOAD_BYTES = 128 * 2**20
_SECONDS = 30.0  # without any answer
_CHUNK = 2**16


def download(name: str) -> Path:
    """Return the file of a collection in the cache folder, newly written.

    Parameters
    ----------
    name
        One of `COLLECTIONS`.

    Raises
    ------
    InputError
        There is no such collection.
    DataError
        It cannot be downloaded, is not what was published, or cannot be written.
    """
    collection = COLLECTIONS.get(name)
    if collection is None:
        raise InputError(
            f"no collection {name!r} can be fetched; these can: {', '.join(COLLECTIONS)}"
        )
    target = cached_file(collection.file)
    folder = cache_folder() / "archives"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        paths = [_archive(archive, folder) for archive in collection.archives]
        _write(target, READERS[name](paths))
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"{name} cannot be kept in {cache_folder()} ({error}): set STREAMNB_CACHE to a folder "
            f"that can be written"
        ) from error
    for path in paths:
        path.unlink(missing_ok=True)
    return target


def _archive(archive: Archive, folder: Path) -> Path:
    """Return an archive in the folder: one that is there, if it is the right one, or a new one."""
    path = folder / archive.name
    if path.is_file() and _sha256(path) == archive.sha256:
        return path
    with _temporary(path) as part:
        found = _download(archive, part, path)
        if found != archive.sha256:
            raise DataError(
                f"{archive.url} is not what was published: its SHA-256 is {found}, not "
                f"{archive.sha256}. Nothing of it is kept; try again, or put a right copy at {path}"
            )
        part.replace(path)
    return path


def _download(archive: Archive, part: Path, path: Path) -> str:
    """Write what the address gives, and return its checksum."""
    digest = hashlib.sha256()
    request = urllib.request.Request(archive.url, headers={"User-Agent": "streamnb"})
    try:
        with (
            urllib.request.urlopen(request, timeout=_SECONDS) as answer,
            part.open("wb") as file,
            _bar(archive.url, answer.headers.get("Content-Length"), "B", scale=True) as bar,
        ):
            size = 0
            while chunk := answer.read(_CHUNK):
                size += len(chunk)
                if size > MAX_DOWNLOAD_BYTES:
                    raise DataError(
                        f"{archive.url} gives more than {MAX_DOWNLOAD_BYTES:,} bytes; that is no "
                        f"archive of this collection"
                    )
                digest.update(chunk)
                file.write(chunk)
                bar.update(len(chunk))
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(
            f"{archive.url} cannot be downloaded ({reason}): try again with a network, or get the "
            f"file elsewhere and put it at {path}"
        ) from error
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(target: Path, messages: Sequence[Message]) -> None:
    """Write a collection in the form of the data folder, as a whole or not at all."""
    with _temporary(target) as part:
        with (
            lzma.open(part, "wt", preset=1, encoding="utf-8", newline="\n") as file,
            _bar(f"writing {target.name}", len(messages), " messages") as bar,
        ):
            for message in messages:
                file.write(json.dumps(message._asdict(), ensure_ascii=False) + "\n")
                bar.update(1)
        part.replace(target)


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Name a file beside another, that is gone at the end unless it has become the other."""
    part = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _bar(title: str, total: Any, unit: str, scale: bool = False) -> Any:
    """Return a bar of progress, which shows on a terminal only."""
    from tqdm import tqdm

    known = int(total) if str(total).isdecimal() else None
    return tqdm(
        total=known,
        desc=title.rpartition("/")[2],
        unit=unit,
        unit_scale=scale,
        disable=not sys.stderr.isatty(),
        leave=False,
        dynamic_ncols=True,
    )
