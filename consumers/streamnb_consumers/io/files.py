"""Files as source and sink, exactly once: a crash neither duplicates nor loses a line.

A commit appends lines to the outputs, and then replaces a small file with the offset of the input
and the length of each output. At the start, the sink truncates the outputs to these lengths.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from streamnb.model.persistence import write
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.io.protocols import Batch, BufferedSink, Source, take
from streamnb_consumers.io.stdio import dead_letter_line, decision_lines
from streamnb_consumers.jsons import canonical, parse
from streamnb_consumers.records import Partition, Record

_LOG = logging.getLogger(__name__)


class FileSource(Source):
    """Read the lines or mails of a file, plain or compressed; skip empty lines.

    Parameters
    ----------
    path
        The file, or a folder of mail; `-` is standard input (mail only).
    sink
        The sink, which knows the committed offset of the input; None if there is none.
    max_bytes
        Maximum length of a line; longer lines are cut.
    format
        `jsonl` for lines, or a mail format.

    Attributes
    ----------
    ended
        Whether the whole file was read.
    """

    ended = False

    def __init__(
        self,
        path: Path,
        sink: FileSink | None = None,
        max_bytes: int = 2**24,
        format: str = "jsonl",  # noqa: A002 - its usual name
    ) -> None:
        self.partition = Partition(str(path), 0)
        self._path, self._sink, self._max_bytes = path, sink, max_bytes
        self._format = format
        self._records: Iterator[Record] = iter(())

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Start at the line or mail with this number, from 0."""
        self.ended = False
        first = offsets.get(self.partition, 0)
        if self._format == "jsonl":
            found = self._lines()
        else:
            found = mail_records(str(self._path), self._format, self.partition, self._max_bytes)
        self._records = (record for record in found if record.offset >= first)
        return {} if self._sink is None else self._sink.committed

    def _lines(self) -> Iterator[Record]:
        # A filter that reads no file does not import it.
        from streamnb.datasets.lines import read_lines

        for line in read_lines(self._path, max_line_bytes=self._max_bytes):
            if line.raw.strip():
                yield Record(self.partition, line.number - 1, line.raw)

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the next records."""
        records = take(self._records, max_records)
        self.ended = not records
        return Batch(records)

    def close(self, timeout: float) -> None:
        """Close the file."""
        self._records = iter(())  # the generator closes its file when it is deleted


class _Mark(msgspec.Struct):
    """Committed length of each output, and committed offset of each input."""

    sizes: list[int]
    offsets: list[tuple[str, int, int]]


class FileSink(BufferedSink):
    """Append decisions to one file and dead letters to another, in transactions.

    Parameters
    ----------
    decisions
        File of decisions.
    dead_letters
        File of dead letters; None adds `.dead` to the first path.

    Raises
    ------
    SnapshotError
        If the file with the committed offsets (`.offsets`) is invalid or missing.
    """

    def __init__(self, decisions: Path, dead_letters: Path | None = None) -> None:
        super().__init__()
        dead_letters = dead_letters or decisions.with_name(decisions.name + ".dead")
        self._mark = decisions.with_name(decisions.name + ".offsets")
        mark = _Mark([0, 0], [])
        if self._mark.exists():
            try:
                mark = msgspec.convert(parse(self._mark.read_bytes()), _Mark)
            except ValueError as error:
                raise SnapshotError(
                    f"cannot read the committed offsets in {self._mark}: {error}"
                ) from error
        elif any(path.exists() and path.stat().st_size for path in (decisions, dead_letters)):
            raise SnapshotError(
                f"{decisions} exists without {self._mark.name}, which contains the committed "
                f"length: move it away"
            )
        self.committed = {Partition(name, number): at for name, number, at in mark.offsets}
        self._files = [
            _open_at(path, size)
            for path, size in zip((decisions, dead_letters), mark.sizes, strict=True)
        ]

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Append all lines, then replace the file with the committed offsets."""
        dead_letters = b"".join(map(dead_letter_line, self._open.dead_letters))
        for file, data in zip(self._files, (decision_lines(self._open), dead_letters), strict=True):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        committed = {**self.committed, **offsets}
        offsets_now = [(*place, at) for place, at in sorted(committed.items())]
        mark = _Mark([file.tell() for file in self._files], offsets_now)
        write(self._mark, canonical(mark))
        self.committed = committed
        self.abort()

    def close(self, timeout: float) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


def _open_at(path: Path, size: int) -> BinaryIO:
    """Truncate a file to its first `size` bytes, and open it for appending."""
    file = path.open("r+b" if path.exists() else "w+b")
    found = file.seek(0, os.SEEK_END)
    if found < size:
        file.close()
        raise SnapshotError(f"{path} has {found:,} bytes, but {size:,} were committed")
    file.truncate(size)
    file.seek(size)
    return file


def mail_records(
    source: str | Path, kind: str, place: Partition, max_bytes: int
) -> Iterator[Record]:
    """Yield the mails of a file or folder as records, with the label as header `label`.

    Parameters
    ----------
    source
        A path, or `-` for standard input.
    kind
        Format, one of `streamnb.datasets.mail.MAIL_FORMATS`.
    place
        Partition of the records; offsets number the mails.
    max_bytes
        Maximum size of a mail; longer mails are cut.
    """
    from streamnb.datasets.mail import read_mails

    offset = -1
    for mail in read_mails(source, kind, max_bytes):
        if mail.problem is not None:
            _LOG.warning("%s: %s: %s", place.source, mail.id, mail.problem)
        if not mail.is_mail:
            continue
        offset += 1
        headers = (("label", mail.label.encode("utf-8", "replace")),) if mail.label else ()
        # An unreadable mail becomes a dead letter.
        yield Record(place, offset, mail.raw, mail.id.encode("utf-8", "replace"), headers)
