"""Read lines: compression, encodings, line ends, long lines and invalid ones.

Lines end at a line feed only. Other characters that `str.splitlines` would split at (vertical
tab, U+0085, U+2028 ...) belong to the text of a message.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, cast

from streamnb.errors import DataError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "BadLine",
    "Fields",
    "Line",
    "LineError",
    "Message",
    "Source",
    "open_bytes",
    "read_lines",
    "source_name",
]

Source: TypeAlias = str | os.PathLike[str] | BinaryIO

MAX_LINE_BYTES = 2**24
_KEPT_OF_OVERLONG = 1000
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_MAGIC = {
    ".gz": re.compile(rb"\x1f\x8b\x08"),
    ".xz": re.compile(rb"\xfd7zXZ\x00"),
    ".bz2": re.compile(rb"BZh[1-9]1AY&SY"),
}
_READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error)


class Message(NamedTuple):
    """One message of a stream.

    Attributes
    ----------
    id
        Its name in the source, or the number of its line.
    label
        Its class; empty without one.
    text
        The message itself.
    time
        Its time in the format of the source (ISO 8601 in the data folder), or None.
    """

    id: str
    label: str
    text: str
    time: str | None = None


class LineError(Exception):
    """An invalid line; it becomes a `BadLine` or a `DataError`."""


class Fields(NamedTuple):
    """Names of the fields to read; None for the usual name if it exists."""

    text: str
    label: str
    id: str | None
    time: str | None
    label_required: bool


class BadLine(NamedTuple):
    """A line that could not be read as a message.

    Attributes
    ----------
    number
        Number of the line in the file, from 1 (of the first line, where a CSV record spans
        several).
    reason
        The reason.
    raw
        Its bytes without the line end; only the first 1,000 if the line is too long.
    """

    number: int
    reason: str
    raw: bytes


class Line(NamedTuple):
    """One line: its number, bytes, text, and the problem if it is invalid.

    Undecodable bytes become lone surrogates in the text, so that quotes and separators can still be
    found.
    """

    number: int
    raw: bytes
    text: str
    problem: str | None


def source_name(source: Source) -> str:
    """Return the name of a source for messages to the user."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else os.fspath(source)
    return str(getattr(source, "name", "the given file"))


@contextmanager
def open_bytes(source: Source) -> Iterator[io.BufferedReader]:
    """Open a path, `-` (standard input) or a binary file, and decompress it.

    The extension or the first bytes determine the compression. File objects and standard input are
    not closed.
    """
    extension = ""
    try:
        if isinstance(source, (str, os.PathLike)) and source != "-":
            extension = Path(source).suffix.lower()
            raw: BinaryIO = Path(source).open("rb")  # noqa: SIM115 - closed below
            ours = True
        else:
            raw = sys.stdin.buffer if source == "-" else cast("BinaryIO", source)
            ours = False
    except OSError as error:
        raise DataError(f"cannot open {source_name(source)}: {error.strerror}") from error
    try:
        reader = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(_Unbuffered(raw))
        if extension not in _OPENERS:
            start = reader.peek(10)
            extension = next((kind for kind, magic in _MAGIC.items() if magic.match(start)), "")
        if extension:
            yield cast("io.BufferedReader", _OPENERS[extension](reader, "rb"))
        else:
            yield reader
    except _READ_ERRORS as error:
        raise DataError(f"cannot read {source_name(source)}: {error}") from error
    finally:
        if ours:
            raw.close()


class _Unbuffered(io.RawIOBase):
    """A raw file over any binary file, which is not closed with the buffer around it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block: object = self._file.read(len(buffer))
        if not isinstance(block, bytes):
            raise InputError("messages are read from binary files: open it with mode 'rb'")
        buffer[: len(block)] = block
        return len(block)


def read_lines(
    source: Source, encoding: str = "utf-8", max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Line]:
    """Yield the lines of a file one at a time, in constant memory.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file; plain or compressed.
    encoding
        Any encoding of Python. Invalid bytes affect one line; in UTF-16 and UTF-32 they stop the
        reading.
    max_line_bytes
        Maximum length of a line in bytes, at least 1. Longer lines are invalid, and skipped in
        constant memory.

    Raises
    ------
    InputError
        If the encoding is unknown, or the limit is below 1.
    DataError
        If the file cannot be opened or read, or has another encoding.
    """
    if max_line_bytes < 1:
        raise InputError(f"max_line_bytes is {max_line_bytes}; it should be at least 1")
    try:
        name = codecs.lookup(encoding).name
        single_byte_feed = "\n".encode(encoding) == b"\n" or name == "utf-8-sig"
    except (LookupError, UnicodeError) as error:
        raise InputError(f"unknown encoding {encoding!r}") from error
    if name == "utf-8-sig":
        name = "utf-8"  # the byte order mark is removed below
    with open_bytes(source) as file:
        if single_byte_feed:
            yield from _split(file, source, name, max_line_bytes)
        else:
            recoded = io.BufferedReader(_Recoded(file, source, name))
            yield from _split(recoded, source, "utf-8", max_line_bytes)


class _Recoded(io.RawIOBase):
    """A file of UTF-16 or UTF-32 as UTF-8."""

    def __init__(self, file: io.BufferedReader, source: Source, encoding: str) -> None:
        self._file, self._source, self._encoding = file, source, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._done:
            block = self._file.read1(2**16)
            self._done = not block
            try:
                text = self._decoder.decode(block, final=self._done)
            except UnicodeError as error:
                name = source_name(self._source)
                raise DataError(f"{name} is not {self._encoding}: {error}") from error
            self._ready = text.encode("utf-8", "surrogatepass")
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


def _split(file: IO[bytes], source: Source, encoding: str, max_line_bytes: int) -> Iterator[Line]:
    number = 0
    # Two more bytes for the line end.
    while raw := file.readline(max_line_bytes + 2):
        number += 1
        if number == 1 and encoding == "utf-8":
            if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise DataError(
                    f"{source_name(source)} starts like UTF-16: give the encoding, utf-16"
                )
            raw = raw.removeprefix(codecs.BOM_UTF8)
        ended = raw.endswith(b"\n")
        if ended:
            raw = raw[:-2] if raw.endswith(b"\r\n") else raw[:-1]
        if len(raw) > max_line_bytes:
            while not ended and (more := file.readline(2**16)):
                ended = more.endswith(b"\n")
            yield Line(number, raw[:_KEPT_OF_OVERLONG], "", f"longer than {max_line_bytes:,} bytes")
            continue
        try:
            yield Line(number, raw, raw.decode(encoding), None)
        except UnicodeError as error:
            reason = getattr(error, "reason", str(error))
            where = f" at byte {error.start + 1}" if isinstance(error, UnicodeDecodeError) else ""
            text = raw.decode("ascii", "surrogateescape")
            yield Line(number, raw, text, f"not {encoding}{where}: {reason}")
