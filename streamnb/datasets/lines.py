"""Read lines: compression, encodings, line ends, long lines and invalid ones.

Lines end at a line feed only, or at a CR in files without line feeds. Other characters that
`str.splitlines` would split at (vertical tab, U+0085, U+2028 ...) belong to the text of a message.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple, TypeAlias, cast

from streamnb.errors import DataError, InputError
from streamnb.model.compression import zstd_module
from streamnb.parameters import check_bound

zstd: Any = zstd_module()
Source: TypeAlias = str | os.PathLike[str] | BinaryIO

MAX_LINE_BYTES = 2**24
_KEPT_OF_OVERLONG = 1000
_OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b\x08": gzip.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"BZh": bz2.open,
    b"\x28\xb5\x2f\xfd": zstd.open,
}
_PANDAS = "python -c \"import pandas; pandas.{read}({name!r}).to_csv({name!r} + '.csv')\""
# Files of other programs by their first bytes: their name, and the command that converts them.
_BINARY = {
    b"PAR1\x15": ("Parquet", _PANDAS.replace("{read}", "read_parquet")),
    b"ARROW1": ("Arrow (Feather)", _PANDAS.replace("{read}", "read_feather")),
    b"PK\x03\x04": ("a ZIP archive or a spreadsheet", "unzip, or export it as CSV"),
    b"SQLite format 3": ("an SQLite database", "sqlite3 -header -csv {name} 'SELECT * FROM ...'"),
}
_READ_ERRORS = (OSError, EOFError, lzma.LZMAError, zlib.error, zstd.ZstdError)
_BOMS = {  # longer ones first
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


class Line(NamedTuple):
    """One line: its number, bytes, text, and the problem if it is invalid.

    Undecodable bytes become lone surrogates in the text, so that quotes and separators can still be
    found.
    """

    number: int
    raw: bytes
    text: str
    problem: str | None


class Lines:
    """Lines that can be put back, to be read in another way."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self._lines = lines
        self._ahead: list[Line] = []  # the next one last

    def __iter__(self) -> Iterator[Line]:
        return self

    def __next__(self) -> Line:
        return self._ahead.pop() if self._ahead else next(self._lines)

    def put_back(self, lines: list[Line]) -> None:
        """Make these lines the next ones."""
        self._ahead += reversed(lines)

    def peek(self) -> Line | None:
        """Return the next line that is not blank, which stays the next one; None at the end."""
        for line in self:
            if line.problem is not None or line.text.strip():
                self.put_back([line])
                return line
        return None


def with_advice(problem: str) -> str:
    """Return a problem of a line, with the remedy if the encoding is wrong."""
    if not problem.startswith("not utf-8"):
        return problem
    return f"{problem}; give the encoding, such as latin-1 (--encoding latin-1)"


def source_name(source: Source) -> str:
    """Return the name of a source for messages to the user."""
    if isinstance(source, (str, os.PathLike)):
        return "standard input" if source == "-" else os.fspath(source)
    return str(getattr(source, "name", "the given file"))


def no_such_file(source: Source) -> str:
    """Return the error message for a path that does not exist; it shows how to read a URL."""
    name = source_name(source)
    if "://" not in name:
        return f"no such file: {name}"
    return (
        f"no such file: {name} is a URL: a program passes read_messages(fsspec.open({name!r})"
        f".open(), format='jsonl'), and a command reads standard input: curl -s {name} | "
        "streamnb learn - --format jsonl"
    )


@contextmanager
def open_bytes(source: Source) -> Iterator[io.BufferedReader]:
    """Open a path, `-` (standard input) or a binary file, and decompress it.

    The first bytes determine the compression. File objects and standard input are not closed.
    """
    with ExitStack() as ours:
        try:
            if source == "-":
                raw: BinaryIO = sys.stdin.buffer
            elif isinstance(source, (str, os.PathLike)):
                raw = ours.enter_context(Path(source).open("rb"))
            else:
                raw = source
        except OSError as error:
            raise DataError(f"cannot open {source_name(source)}: {error.strerror}") from error
        try:
            reader = raw if isinstance(raw, io.BufferedReader) else _buffered(raw.read)
            start = reader.peek(10)
            for magic, opener in _OPENERS.items():
                if start.startswith(magic):
                    reader = cast("io.BufferedReader", opener(reader, "rb"))
                    break
            yield reader
        except _READ_ERRORS as error:
            raise DataError(f"cannot read {source_name(source)}: {error}") from error


class _Converted(io.RawIOBase):
    """A raw file of converted blocks; closing it leaves the file under it open."""

    def __init__(self, read: Callable[[int], object], convert: Callable[[bytes], bytes]) -> None:
        self._read, self._convert = read, convert
        self._ready = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._done:
            block = self._read(len(buffer))
            if not isinstance(block, bytes):
                raise InputError("messages are read from binary files: open it with mode 'rb'")
            self._done = not block
            self._ready = self._convert(block)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def _buffered(
    read: Callable[[int], object], convert: Callable[[bytes], bytes] = bytes
) -> io.BufferedReader:
    return io.BufferedReader(_Converted(read, convert))


def with_line_feeds(file: io.BufferedReader) -> io.BufferedReader:
    """Return a file in which lone CR end lines as one with LF; other files stay as they are."""
    start = file.peek(2**16)
    if b"\n" in start or b"\r" not in start[:-1]:
        return file
    return _buffered(file.read1, lambda block: block.replace(b"\r", b"\n"))


def _refuse_binary(reader: io.BufferedReader, source: Source) -> None:
    for magic, (kind, command) in _BINARY.items():
        if reader.peek(16).startswith(magic):
            name = source_name(source)
            raise DataError(
                f"{name} is {kind}, and messages are read from text: convert it with "
                f"{command.format(name=name)}, or read it in Python and pass the data frame to "
                f"learn_many"
            )


def read_lines(
    source: Source, encoding: str = "utf-8", max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Line]:
    """Yield the lines of a file one at a time, in constant memory.

    Parameters
    ----------
    source
        A path, `-` for standard input, or a binary file; plain or compressed.
    encoding
        Any encoding of Python. A byte order mark of UTF-16 or UTF-32 takes precedence over UTF-8.
        Invalid bytes affect one line; in UTF-16 and UTF-32 they stop the reading.
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
    max_line_bytes = check_bound("max_line_bytes", max_line_bytes, 1)
    try:
        name = codecs.lookup(encoding).name
        single_byte_feed = "\n".encode(encoding) == b"\n" or name == "utf-8-sig"
    except (LookupError, UnicodeError) as error:
        raise InputError(f"unknown encoding {encoding!r}") from error
    if name == "utf-8-sig":
        name = "utf-8"  # the byte order mark is removed below
    with open_bytes(source) as file:
        _refuse_binary(file, source)
        start = file.peek(4)
        for mark, known in _BOMS.items():
            if name == "utf-8" and start.startswith(mark):
                name, single_byte_feed = known, False
        if not single_byte_feed:
            file, name = _recoded(file, source, name), "utf-8"
        yield from _split(with_line_feeds(file), name, max_line_bytes)


def _recoded(file: io.BufferedReader, source: Source, encoding: str) -> io.BufferedReader:
    """Return a file of UTF-16 or UTF-32 as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()

    def convert(block: bytes) -> bytes:
        try:
            return decoder.decode(block, final=not block).encode("utf-8", "surrogatepass")
        except UnicodeError as error:
            raise DataError(f"{source_name(source)} is not {encoding}: {error}") from error

    return _buffered(file.read1, convert)


def _split(file: IO[bytes], encoding: str, max_line_bytes: int) -> Iterator[Line]:
    number = 0
    # Two more bytes for the line end.
    while raw := file.readline(max_line_bytes + 2):
        number += 1
        if number == 1 and encoding == "utf-8":
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
