"""Mail as mail programs keep it: one file a mail, mbox, Maildir, and folders of these.

Mails are given as the bytes that they are: nothing is decoded, and no bytes are an error. What a
mail says is for others to find out.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from streamnb.datasets.lines import Source, open_bytes, source_name
from streamnb.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAIL_FORMATS", "Mail", "mail_format", "read_mails"]

MAIL_FORMATS = ("mail", "mbox", "maildir", "eml")
MAX_MAIL_BYTES = 2**24
_BLOCK = 2**16  # bytes of a line that are read at once
_ESCAPED = re.compile(rb">+From ")
_MAILDIR = ("cur", "new")  # what is in tmp is not delivered yet
_MBOX = ".mbox"


class Mail(NamedTuple):
    """One mail of a container.

    Attributes
    ----------
    id
        Its number in an mbox, from 1; else the name of its file, below the folder that was named.
    label
        The sub-folder that it lies in; empty where there is none.
    raw
        Its bytes, without the line that begins it in an mbox; of one that is longer than the
        bound, one byte more than that.
    problem
        Why it could not be read; None if it could.
    """

    id: str
    label: str
    raw: bytes
    problem: str | None = None


def mail_format(path: str | os.PathLike[str]) -> str | None:
    """Return which of `MAIL_FORMATS` a file or a folder has, or None for a file that is no mbox.

    A folder with `cur` or `new` is a Maildir, another one a folder of files; a file that begins
    with `From ` is an mbox, and one whose name ends in `.eml` a mail.

    Examples
    --------
    >>> mail_format("greeting.eml"), mail_format("no/such/file")
    ('mail', None)
    """
    path = Path(path)
    if path.is_dir():
        return "maildir" if _is_maildir(path) else "eml"
    if path.suffix.lower() == ".eml":
        return "mail"
    if not path.is_file():
        return None
    with open_bytes(path) as file:
        return "mbox" if file.peek(5)[:5] == b"From " else None


def read_mails(
    source: Source,
    format: str,  # noqa: A002 - the word the command line uses too
    max_bytes: int = MAX_MAIL_BYTES,
) -> Iterator[Mail]:
    r"""Read mails one at a time; memory is bounded by the longest mail.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file; for `"maildir"` and `"eml"` a folder.
    format
        `"mail"`, one mail; `"mbox"`: each mail follows a line `From `, which an empty line or
        the file's beginning precedes, and of its lines `>From ` (with any number of `>`) one `>`
        is taken away; `"maildir"`: a folder with `cur` and `new`; `"eml"`: a folder of files, a
        mail each. In such a folder the name of a sub-folder, of files or a Maildir, is the label
        of its mails, and so is that of an mbox `NAME.mbox`. Names that begin with a dot are left
        out. Mails in folders come in the order of their files' names, which begin with the time
        in a Maildir; labels come as they fall.
    max_bytes
        Longest mail; of a longer one the beginning is given, one byte more than that.

    Raises
    ------
    InputError
        If the format is none of these.
    DataError
        If the source is absent or can't be read, or is no folder where one is needed.

    Examples
    --------
    >>> import io
    >>> box = b"From ann@x\nSubject: one\n\n>From here\n\nFrom bob@x\nSubject: two\n"
    >>> [(mail.id, mail.raw) for mail in read_mails(io.BytesIO(box), "mbox")]
    [('1', b'Subject: one\n\nFrom here\n'), ('2', b'Subject: two\n')]
    """
    if format not in MAIL_FORMATS:
        raise InputError(f"{format!r} is no format of mail; there are {', '.join(MAIL_FORMATS)}")
    if format in ("maildir", "eml"):
        if not isinstance(source, (str, os.PathLike)) or not Path(source).is_dir():
            raise DataError(f"{source_name(source)} is no folder, which {format} needs")
        yield from _folder(Path(source), max_bytes)
        return
    with open_bytes(source) as file:
        if format == "mail":
            yield Mail("1", "", file.read(max_bytes + 1))
        else:
            yield from _mbox(file, "", "", max_bytes)


def _mbox(file: IO[bytes], before: str, label: str, max_bytes: int) -> Iterator[Mail]:
    number, size = 0, 0
    lines: list[bytes] = []
    at_start, blank = True, True  # of a line; whether the line before was empty
    while line := file.readline(_BLOCK):
        begins, at_start = at_start, line.endswith(b"\n")
        if begins and blank and line.startswith(b"From "):
            if number:
                yield Mail(f"{before}{number}", label, _joined(lines), None)
            number, size, blank = number + 1, 0, False
            lines.clear()
            continue
        blank = begins and line in (b"\n", b"\r\n")
        if not number:  # no line `From ` begins the file: take what is there for a mail
            number = 1
        if begins and line[:1] == b">" and _ESCAPED.match(line):
            line = line[1:]
        if size <= max_bytes:
            lines.append(line[: max_bytes + 1 - size])
            size += len(line)
    if number:
        yield Mail(f"{before}{number}", label, _joined(lines), None)


def _joined(lines: list[bytes]) -> bytes:
    """Return a mail without the empty line that an mbox puts behind it."""
    if len(lines) > 1 and lines[-1] in (b"\n", b"\r\n"):
        lines = lines[:-1]
    return b"".join(lines)


class _File(NamedTuple):
    """A file of a folder, in the order in which files are read: by their names."""

    name: str
    below: str
    path: Path
    label: str


def _folder(folder: Path, max_bytes: int) -> Iterator[Mail]:
    try:
        files = sorted(_files(folder, folder, ""))
    except OSError as error:
        raise DataError(f"cannot read {folder}: {error.strerror}") from error
    for each in files:
        below = os.fsencode(each.below).decode("utf-8", "replace")
        try:
            if each.name.endswith(_MBOX):
                with open_bytes(each.path) as file:
                    yield from _mbox(file, f"{below}:", each.label, max_bytes)
                continue
            with each.path.open("rb") as file:
                raw = file.read(max_bytes + 1)
        except FileNotFoundError:
            continue  # taken away since, as mail programs do
        except (OSError, DataError) as error:
            yield Mail(below, each.label, b"", f"cannot be read: {error}")
        else:
            yield Mail(below, each.label, raw)


def _files(folder: Path, top: Path, label: str) -> Iterator[_File]:
    if _is_maildir(folder):
        for name in _MAILDIR:
            for path in _entries(folder / name):
                # Flags, which follow the colon, change when a mail is read, as its folder does.
                bare = path.name.partition(":2,")[0]
                yield _File(bare, str((folder / bare).relative_to(top)), path, label)
        return
    for path in _entries(folder, folders=True):
        if path.is_dir():
            yield from _files(path, top, label or path.name)
        else:
            found = label or (path.name.removesuffix(_MBOX) if path.suffix == _MBOX else "")
            yield _File(path.name, str(path.relative_to(top)), path, found)


def _entries(folder: Path, folders: bool = False) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.startswith("."):
            continue
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        # A pipe or a device could keep its reader for ever.
        if stat.S_ISREG(mode) or (folders and stat.S_ISDIR(mode) and not path.is_symlink()):
            yield path


def _is_maildir(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in _MAILDIR)
