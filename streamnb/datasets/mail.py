"""Read mail files, mboxes, Maildirs and folders of them.

Mails are returned as raw bytes. Nothing is decoded, and no content is an error.
"""

from __future__ import annotations

import functools
import io
import itertools
import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from streamnb.datasets.lines import Source, open_bytes, source_name, with_line_feeds
from streamnb.errors import DataError, InputError

MAIL_FORMATS = ("mail", "mbox", "maildir", "eml")
MAX_MAIL_BYTES = 2**24
_BLOCK = 2**16  # maximum number of bytes of one read
_MAX_MISFITS = 100  # of Content-Length in a file; looking further ahead each time would be slow
_MAILDIR = ("cur", "new")  # mails in tmp are not delivered yet
_FLAGS = re.compile(r"[:;!-]2,[A-Za-z]*$")  # of a mail in a Maildir; some file systems have no ":"
_COMPRESSED = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
_ESCAPED = re.compile(rb">+From ")
_DATED = re.compile(
    rb'From (?:"[^"\n]*"\S*|\S*)[ \t]+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?[ \t]+'
    rb"(?:\d|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)",
    re.IGNORECASE,
)
_LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,12})\s*$", re.IGNORECASE)
_EMPTY = (b"\n", b"\r\n")
_MBOX = ".mbox"
_MAILBOX = re.compile(r"[^\W\d][^.]*")  # a file name that is no number and has no extension
_MMDF = b"\1\1\1\1"  # the line that begins and ends a mail in this format
_HEADER = re.compile(
    rb"(?:Apparently-To|Approved|ARC-[\w-]+|Authentication-Results|B?Cc|Content-[\w-]+|Date"
    rb"|Delivered-To|Delivery-date|DKIM-Signature|DomainKey-Signature|Envelope-To|Errors-To|From"
    rb"|Importance|In-Reply-To|Lines|List-[\w-]+|Message-ID|MIME-Version|Newsgroups|Organi[sz]ation"
    rb"|Path|Precedence|Priority|Received(?:-SPF)?|References|Reply-To|Resent-[\w-]+|Return-Path"
    rb"|Sender|Status|Subject|Thread-[\w-]+|To|User-Agent|X400-[\w-]+|X-[\w-]+)[ \t]*:",
    re.IGNORECASE,
)
# The lines up to an empty one, after a byte order mark.
_HEAD = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*((?:[^\n]*\S[^\n]*\n?)*)")


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
    is_mail
        False for a file that is not a mail, such as an index; `problem` then says so.
    """

    id: str
    label: str
    raw: bytes
    problem: str | None = None
    is_mail: bool = True


def mail_format(path: str | os.PathLike[str]) -> str | None:
    """Return the format of a file or folder, one of `MAIL_FORMATS`; None for other files.

    A folder with `cur` or `new` is a Maildir, any other folder contains files. A file is an mbox or
    a mail by its first lines, and also a mail if its name ends in `.eml` or `.emlx`.

    Examples
    --------
    >>> mail_format("greeting.eml"), mail_format("no/such/file")
    ('mail', None)
    """
    path = Path(path)
    if path.is_dir():
        return "maildir" if _is_maildir(path) else "eml"
    if _COMPRESSED.sub("", path.name).lower().endswith((".eml", ".emlx")):
        return "mail"
    if not path.is_file():
        return None
    with open_bytes(path) as file:
        return _content_format(file.peek(_BLOCK))


def _begins_mail(line: bytes) -> bool:
    return bool(_HEADER.match(line) or _ESCAPED.match(line))


def _content_format(start: bytes) -> str | None:
    """Return `"mbox"` or `"mail"` for the first bytes of a file, None for anything else."""
    if start[1:2] == b"\0" or start[:1] == b"\0":  # UTF-16: its letters suffice here
        start = start.replace(b"\0", b"")
    found = _HEAD.match(re.sub(rb"\r\n?", b"\n", start))
    lines = found[1].splitlines() if found else []
    if not lines or lines[0][:1] in (b"{", b"["):  # JSON
        return None
    if lines[0].startswith((b"From ", _MMDF)):
        after = lines[1] if len(lines) > 1 else b""
        if lines[0] == _MMDF or _DATED.match(lines[0]) or _begins_mail(after):
            return "mbox"
    return "mail" if any(map(_HEADER.match, lines)) else None


def read_mails(
    source: Source,
    format: str,  # noqa: A002 - as on the command line
    max_bytes: int = MAX_MAIL_BYTES,
    follow_links: bool = False,
) -> Iterator[Mail]:
    r"""Read mails one at a time; memory is bounded by the longest mail.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file; a folder for `"maildir"` and `"eml"`.
        Files may be compressed.
    format
        - `"mail"`: one mail.
        - `"mbox"`: a mail begins at a line `From ` with two of three signs: an address and a date,
          an empty line before, a header after. The length in a `Content-Length` header applies if
          such a line or the end of the file follows. One `>` is removed from lines such as
          `>From `. Files of the program MMDF have lines of four control characters instead.
        - `"maildir"`: a folder with `cur` and `new`, and sub-folders.
        - `"eml"`: a folder with one mail per file, with Maildirs, or with mboxes. The name of a
          sub-folder or of an mbox is the label of its mails. Names that begin with a dot are
          ignored, except Maildirs. Files without headers are returned with `is_mail=False`, unless
          the folder contains only such texts.

        Mails in folders are sorted by file name, which begins with the time in a Maildir.
    max_bytes
        Maximum length of a mail; longer mails are cut to one byte more.
    follow_links
        Whether links to files outside of the folder are read. Otherwise they are mails with a
        `problem`: who may write into a folder may not be allowed to read these files.

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
        yield from _folder(Path(source), max_bytes, follow_links)
        return
    with open_bytes(source) as file:
        if format == "mail":
            yield Mail("1", "", read_whole(file, max_bytes))
        else:
            for number, raw in enumerate(_Box(file, max_bytes).mails(), 1):
                yield Mail(str(number), "", raw)


def read_whole(file: BinaryIO, max_bytes: int) -> bytes:
    """Return the rest of a file, or one byte more than the limit.

    Everything that reads a whole file that may be compressed uses it.
    """
    blocks: list[bytes] = []
    left = max_bytes + 1
    while block := file.read(min(left, 2**20)):  # a larger request allocates its size
        blocks.append(block)
        left -= len(block)
    return b"".join(blocks)


class _Box:
    """The lines of an mbox, split into mails."""

    def __init__(self, file: io.BufferedReader, max_bytes: int) -> None:
        self._file, self._max_bytes = with_line_feeds(file), max_bytes
        self._ahead: deque[bytes] = deque()
        self._misfits = 0

    def _read(self) -> bytes:
        return self._ahead.popleft() if self._ahead else self._file.readline(_BLOCK)

    def _peek(self) -> bytes:
        if not self._ahead:
            self._ahead.append(self._file.readline(_BLOCK))
        return self._ahead[0]

    def mails(self) -> Iterator[bytes]:
        """Yield the bytes of each mail."""
        self._ahead.append(self._read().removeprefix(b"\xef\xbb\xbf"))
        is_mmdf = self._peek().startswith(_MMDF)
        lines: list[bytes] | None = None  # of the current mail
        size = length = 0
        # Whether the line is the first of the file, or follows a body of the declared length.
        expected = True
        ends = blank = in_head = True
        while line := self._read():
            begins, ends = ends, line.endswith(b"\n")
            if begins and self._separates(line, is_mmdf, blank, expected):
                if lines is not None and not (is_mmdf and not lines):
                    yield _joined(lines)
                lines, size, length = [], 0, 0
                in_head, blank, expected = True, False, False
                continue
            if lines is None:  # the file does not begin with `From `: read it as a mail
                lines = []
            blank = begins and line in _EMPTY
            expected = expected and blank
            if begins and in_head and (found := _LENGTH.match(line)):
                length = int(found[1])
            if begins and line[:1] == b">" and _ESCAPED.match(line):
                line = line[1:]
            if size <= self._max_bytes:
                lines.append(line[: self._max_bytes + 1 - size])
                size += len(line)
            if blank and in_head:
                in_head = False
                body = self._body(length, self._max_bytes - size)
                lines += body
                expected = bool(body)
        if lines:
            yield _joined(lines)

    def _separates(self, line: bytes, is_mmdf: bool, blank: bool, expected: bool) -> bool:
        """Return whether a line begins a mail."""
        if is_mmdf:
            return line.rstrip() == _MMDF
        if not line.startswith(b"From "):
            return False
        signs = bool(_DATED.match(line)) + blank + _begins_mail(self._peek())
        return expected or signs >= 2

    def _body(self, length: int, room: int) -> list[bytes]:
        """Return the lines of a body of the declared length, or none if the length is wrong."""
        if not 0 < length <= room or self._misfits >= _MAX_MISFITS:
            return []
        lines: list[bytes] = []
        after: list[bytes] = []
        left = length
        while left > 0 and (line := self._read()):
            lines.append(line)
            left -= len(line)
        # The length may leave out the last line end.
        fits = left == 0 or (left < 0 and not lines[-1][left:].strip())
        if fits:
            while (line := self._read()) in _EMPTY:
                after.append(line)
            after.append(line)
            fits = not line or line.startswith(b"From ")
        self._ahead.extendleft(reversed(after if fits else lines + after))
        if not fits:
            self._misfits += 1
            return []
        if any(line.startswith(b"From ") for line in lines):
            return lines  # nothing was escaped
        return [line[1:] if _ESCAPED.match(line) else line for line in lines]


def _joined(lines: list[bytes]) -> bytes:
    """Return a mail without the empty line that ends it in an mbox."""
    if len(lines) > 1 and lines[-1] in _EMPTY:
        lines = lines[:-1]
    return b"".join(lines)


class _File(NamedTuple):
    """A file of a folder; files are sorted by name."""

    name: str
    id: str
    path: Path
    label: str
    delivered: bool  # in a Maildir


def _folder(folder: Path, max_bytes: int, follow_links: bool) -> Iterator[Mail]:
    try:
        files = sorted(_files(folder, folder, ""))
        inside = folder.resolve()
    except OSError as error:
        raise DataError(f"cannot read {folder}: {error.strerror}") from error

    def leaves(found: _File) -> bool:
        return found.path.is_symlink() and not found.path.resolve().is_relative_to(inside)

    links = set() if follow_links else {each for each in files if leaves(each)}
    mails = [each for each in files if each not in links]
    has_mail = functools.cache(lambda: any(map(_is_mail_file, mails)))
    for each in files:
        name = os.fsencode(each.id).decode("utf-8", "replace")
        if each in links:
            problem = "a link out of the folder; to read it, set follow_links (--follow-links)"
            yield Mail(name, each.label, b"", problem)
            continue
        try:
            # A text without headers is a mail only in a folder of such texts.
            kind = _kind(each) or (None if has_mail() else "text")
            with open_bytes(each.path) as file:
                if kind is None or (kind == "text" and b"\0" in file.peek(_BLOCK)):
                    yield Mail(name, each.label, b"", "not a mail", is_mail=False)
                elif kind == "mbox":
                    yield from _mails_of(each, name, file, max_bytes)
                else:
                    yield Mail(name, each.label, read_whole(file, max_bytes))
        except DataError as error:
            if not isinstance(error.__cause__, FileNotFoundError):  # moved by a mail program
                yield Mail(name, each.label, b"", f"cannot be read: {error}")


def _kind(found: _File) -> str | None:
    """Return `"mail"` or `"mbox"` for a file of a folder, None for a file without mail."""
    if _bare_name(found).endswith(_MBOX):
        return "mbox"
    return "mail" if found.delivered else mail_format(found.path)


def _is_mail_file(found: _File) -> bool:
    try:
        return _kind(found) is not None
    except DataError:  # reported when its turn comes
        return False


def _bare_name(found: _File) -> str:
    return _COMPRESSED.sub("", found.name)


def _mails_of(found: _File, name: str, file: io.BufferedReader, max_bytes: int) -> Iterator[Mail]:
    """Yield the mails of an mbox in a folder."""
    mails = _Box(file, max_bytes).mails()
    begun = list(itertools.islice(mails, 2))
    # The file of a single mail can begin with a line `From `, too.
    bare = _bare_name(found).removesuffix(_MBOX)
    named = bare != _bare_name(found)
    label = found.label or (bare if named or _MAILBOX.fullmatch(bare) else "")
    for number, raw in enumerate(itertools.chain(begun, mails), 1):
        yield Mail(f"{name}:{number}" if named or len(begun) > 1 else name, label, raw)


def _files(folder: Path, top: Path, label: str) -> Iterator[_File]:
    is_maildir = _is_maildir(folder)
    for path in _entries(folder):
        if not path.is_dir():
            yield _File(path.name, str(path.relative_to(top)), path, label, False)
        elif not (is_maildir and path.name in (*_MAILDIR, "tmp")):
            yield from _files(path, top, label or path.name.lstrip("."))
        elif path.name in _MAILDIR:
            for mail in _entries(path):
                # The folder and the flags change when a mail is read.
                bare = _FLAGS.sub("", mail.name)
                yield _File(bare, str((folder / bare).relative_to(top)), mail, label, True)


def _entries(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") and not _is_maildir(path):
            continue
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        # Reading a pipe or a device could block forever.
        if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and not path.is_symlink()):
            yield path


def _is_maildir(folder: Path) -> bool:
    return any((folder / name).is_dir() for name in _MAILDIR)
