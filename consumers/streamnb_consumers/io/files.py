"""Files as a source and a sink, exactly once: a crash at any moment doubles and loses nothing.

Lines are appended to the outputs first. Then a small file is replaced that says how far the input
was read and how long each output is: that is the commit. What stands behind these lengths when the
sink starts was never committed, and is cut off.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from streamnb.model.persistence import write
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.io.stdio import dead_letter_line, decision_lines
from streamnb_consumers.jsons import canonical
from streamnb_consumers.records import Outputs, Partition, Record, Role

__all__ = ["FileSink", "FileSource", "mail_records"]


class FileSource:
    """Read the lines or the mails of a file, plain or compressed, to its end.

    Empty lines are skipped.

    Parameters
    ----------
    path
        The file, or a folder of mail; `-` is standard input, for mail.
    sink
        Where the outputs go, which knows how far the input was committed; None knows nothing.
    max_bytes
        Longest line; of a longer one only the beginning is kept.
    role
        What the file holds.
    format
        `jsonl` for lines, or a format of mail.
    """

    def __init__(
        self,
        path: Path,
        sink: FileSink | None = None,
        max_bytes: int = 2**24,
        role: Role = "message",
        format: str = "jsonl",  # noqa: A002 - its usual name
    ) -> None:
        self.partition = Partition(str(path), 0)
        self._path, self._sink, self._max_bytes, self._role = path, sink, max_bytes, role
        self._format = format
        self._records: Iterator[Record] = iter(())
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the file was read to its end."""
        return self._ended

    @property
    def waiting(self) -> str:
        """Nothing is missing."""
        return ""

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read on from the line or the mail with this number, from 0."""
        self._ended = False
        first = offsets.get(self.partition, 0)
        if self._format == "jsonl":
            found = self._lines()
        else:
            source = "-" if str(self._path) == "-" else self._path
            found = mail_records(source, self._format, self.partition, self._max_bytes)
        self._records = (record for record in found if record.offset >= first)
        return {} if self._sink is None else self._sink.committed

    def _lines(self) -> Iterator[Record]:
        # Here, for a filter that reads no file need not wait for it.
        from streamnb.datasets.lines import read_lines

        for line in read_lines(self._path, max_line_bytes=self._max_bytes):
            if line.raw.strip():
                yield Record(self.partition, line.number - 1, line.raw, role=self._role)

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the next records."""
        records: list[Record] = []
        for record in self._records:
            records.append(record)
            if len(records) >= max_records:
                return Batch(records)
        self._ended = True
        return Batch(records)

    def lag(self) -> Mapping[Partition, int]:
        """Return nothing: how many lines follow is not known."""
        return {}

    def close(self, timeout: float) -> None:
        """Close the file."""
        self._records = iter(())  # a generator that nobody holds closes its file


class FileSink:
    """Append decisions to one file and dead letters to another, in transactions.

    Parameters
    ----------
    decisions
        Where decisions go.
    dead_letters
        Where dead letters go; None is the first path with `.dead` added.

    Raises
    ------
    SnapshotError
        If the file beside the decisions that says what is committed can't be read.
    """

    def __init__(self, decisions: Path, dead_letters: Path | None = None) -> None:
        dead_letters = dead_letters or decisions.with_name(decisions.name + ".dead")
        self._mark = decisions.with_name(decisions.name + ".offsets")
        self.committed: dict[Partition, int] = {}
        sizes = [0, 0]
        if self._mark.exists():
            try:
                state = json.loads(self._mark.read_bytes())
                sizes = [int(size) for size in state["sizes"]]
                self.committed = {Partition(name, n): int(at) for name, n, at in state["offsets"]}
            except (ValueError, KeyError, TypeError) as error:
                raise SnapshotError(f"{self._mark} can't be read: {error}") from error
        elif any(path.exists() and path.stat().st_size for path in (decisions, dead_letters)):
            raise SnapshotError(
                f"{decisions} is there without {self._mark.name}, which says what of it is "
                f"committed: move it away"
            )
        self._files = [_open_at(decisions, sizes[0]), _open_at(dead_letters, sizes[1])]
        self._open = Outputs()

    def start(self, timeout: float) -> None:
        """Do nothing: what was not committed was cut off when the files were opened."""

    def begin(self) -> None:
        """Begin a transaction."""
        self._open = Outputs()

    def send(self, outputs: Outputs) -> None:
        """Add outputs to the transaction."""
        self._open.add(outputs)

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Append all lines, then replace the file that says how many are committed."""
        dead_letters = b"".join(map(dead_letter_line, self._open.dead_letters))
        for file, data in zip(self._files, (decision_lines(self._open), dead_letters), strict=True):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        committed = {**self.committed, **offsets}
        state = {
            "sizes": [file.tell() for file in self._files],
            "offsets": [[*place, at] for place, at in sorted(committed.items())],
        }
        write(self._mark, canonical(state))
        self.committed = committed
        self._open = Outputs()

    def abort(self) -> None:
        """Drop the transaction."""
        self._open = Outputs()

    def close(self, timeout: float) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


def _open_at(path: Path, size: int) -> BinaryIO:
    """Open a file to append behind its first `size` bytes; cut off the rest."""
    file = path.open("r+b" if path.exists() else "w+b")
    found = file.seek(0, os.SEEK_END)
    if found < size:
        file.close()
        raise SnapshotError(f"{path} has {found:,} bytes of the {size:,} that were committed")
    file.truncate(size)
    file.seek(size)
    return file


_LOG = logging.getLogger(__name__)


def mail_records(
    source: str | Path,
    kind: str,
    place: Partition,
    max_bytes: int,
) -> Iterator[Record]:
    """Yield the mails of a file or folder as records; a label is the header `label`.

    Parameters
    ----------
    source
        A path, or `-` for standard input.
    kind
        One of `streamnb.datasets.mail.MAIL_FORMATS`.
    place
        What the records' partition is; offsets number the mails.
    max_bytes
        Longest mail; of a longer one the beginning is kept.
    """
    from streamnb.datasets.mail import read_mails

    for offset, mail in enumerate(read_mails(source, kind, max_bytes)):
        if mail.problem is not None:
            _LOG.warning("%s: mail %s %s", place.source, mail.id, mail.problem)
        headers = (("label", mail.label.encode("utf-8", "replace")),) if mail.label else ()
        value = mail.raw if mail.problem is None else None
        yield Record(place, offset, value, mail.id.encode("utf-8", "replace"), headers)
