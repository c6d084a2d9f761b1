"""Read mail files, mboxes, Maildirs and folders of them.

Mails are returned as raw bytes. Nothing is decoded, and no content is an error.
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
_BLOCK = 2**16  # maximum number of bytes of one read
_ESCAPED = re.compile(rb">+From ")
_MAILDIR = ("cur", "new")  # mails in tmp are not delivered yet
_MBOX = ".mbox"


class Mail(NamedTuple):
    """One mail of a container.

    Attributes
    ----------
    id
        Its number in an mbox, from 1, or the path of its file relative to the folder.
    label
        The sub-folder that contains it; empty without one.
    raw
        Its bytes without the `From ` line of an mbox; longer mails are cut to one byte more than
        the limit.
    problem
        Reason if the mail could not be read, else None.
    """

    id: str
    label: str
    raw: bytes
    problem: str | None = None


def mail_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of a file or folder, one of `MAIL_FORMATS`; None for other files.

    A folder with `cur` or `new` is a Maildir, any other folder contains files. A file that begins
    with `From ` is an mbox, and a name that ends in `.eml` is a mail.

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
    format: str,  # noqa: A002 - as on the command line
    max_bytes: int = MAX_MAIL_BYTES,
) -> Iterator[Mail]:
    r"""Read mails one at a time; memory is bounded by the longest mail.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file; a folder for `"maildir"` and `"eml"`.
    format
        - `"mail"`: one mail.
        - `"mbox"`: a line `From ` at the beginning or after an empty line begins a mail. One `>` is
          removed from lines such as `>From `.
        - `"maildir"`: a folder with `cur` and `new`.
        - `"eml"`: a folder with one mail per file, with Maildirs, or with mboxes. The name of a
          sub-folder or of an mbox `NAME.mbox` is the label of its mails. Names that begin with a
          dot are ignored.

        Mails in folders are sorted by file name, which begins with the time in a Maildir.
    max_bytes
        Maximum length of a mail; longer mails are cut to one byte more.

    Raises
    ------
    InputError
        If the format is unknown.
    DataError
        If the source does not exist, cannot be read, or is not a folder but must be one.

    Examples
    --------
    >>> import io
    >>> box = b"From ann@x\nSubject: one\n\n>From here\n\nFrom bob@x\nSubject: two\n"
    >>> [(mail.id, mail.raw) for mail in read_mails(io.BytesIO(box), "mbox")]
    [('1', b'Subject: one\n\nFrom here\n'), ('2', b'Subject: two\n')]
    """
    if format not in MAIL_FORMATS:
        raise InputError(f"unknown mail format {format!r}; use one of {', '.join(MAIL_FORMATS)}")
    if format in ("maildir", "eml"):
        if not isinstance(source, (str, os.PathLike)) or not Path(source).is_dir():
            raise DataError(f"{source_name(source)} is not a folder; {format} needs one")
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
    at_start, blank = True, True  # of a line; and whether the previous line was empty
    while line := file.readline(_BLOCK):
        begins, at_start = at_start, line.endswith(b"\n")
        if begins and blank and line.startswith(b"From "):
            if number:
                yield Mail(f"{before}{number}", label, _joined(lines), None)
            number, size, blank = number + 1, 0, False
            lines.clear()
            continue
        blank = begins and line in (b"\n", b"\r\n")
        if not number:  # the file does not begin with `From `: read it as a mail
            number = 1
        if begins and line[:1] == b">" and _ESCAPED.match(line):
            line = line[1:]
        if size <= max_bytes:
            lines.append(line[: max_bytes + 1 - size])
            size += len(line)
    if number:
        yield Mail(f"{before}{number}", label, _joined(lines), None)


def _joined(lines: list[bytes]) -> bytes:
    """Return a mail without the empty line that ends it in an mbox."""
    if len(lines) > 1 and lines[-1] in (b"\n", b"\r\n"):
        lines = lines[:-1]
    return b"".join(lines)


class _File(NamedTuple):
    """A file of a folder; files are sorted by name."""

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
            continue  # moved by a mail program
        except (OSError, DataError) as error:
            yield Mail(below, each.label, b"", f"cannot be read: {error}")
        else:
            yield Mail(below, each.label, raw)


def _files(folder: Path, top: Path, label: str) -> Iterator[_File]:
    if _is_maildir(folder):
        for name in _MAILDIR:
            for path in _entries(folder / name):
                # The folder and the flags after the colon change when a mail is read.
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
        # Reading a pipe or a device could block forever.
        if stat.S_ISREG(mode) or (folders and stat.S_ISDIR(mode) and not path.is_symlink()):
            yield path


def _is_maildir(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in _MAILDIR)
