"""Dead letters in a file, which are sent back to the files they came from.

Appending to a file with other writers is not atomic. So the lines are first written to a file next
to the dead letters, then appended, then deleted from that file. After a crash, the lines are
searched in the target from the offset where they must begin, and completed if necessary.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from streamnb.model.persistence import write
from streamnb_consumers.errors import BadRecordError, SettingsError, SnapshotError
from streamnb_consumers.io.dead_letters import SentOffsets, read_line
from streamnb_consumers.jsons import canonical, parse
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = ["FileDeadLetters"]

_COMPRESSED = (".gz", ".xz", ".bz2")


class _Mark(msgspec.Struct):
    """Record of the sent dead letters.

    Attributes
    ----------
    first
        Hash of the first line, which identifies the file.
    base, more
        Offsets that were sent (`SentOffsets`).
    pending
        Path, offset and lines of each target of a commit that is not complete.
    """

    first: str
    base: int
    more: str
    pending: list[tuple[str, int, bytes]]


class FileDeadLetters:
    """Dead letters as lines of a file.

    Parameters
    ----------
    path
        The file.
    to
        File to send all of them to; None sends each to the file it came from.
    keep
        Whether to record sent dead letters; False for a dry run.
    """

    def __init__(self, path: Path, to: Path | None = None, keep: bool = True) -> None:
        self._path, self._to, self._keep = path, to, keep
        self._mark = path.with_name(path.name + ".replayed")
        self._file: BinaryIO | None = None
        self._lines: Iterator[bytes] = iter(())
        self._next = 0
        self._first = ""
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether the whole file was read."""
        return self._ended

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Lock the file, complete an interrupted commit, and return the offsets that were sent.

        Raises
        ------
        SettingsError
            If the file is missing, or another process sends its dead letters.
        SnapshotError
            If the record of sent dead letters is invalid.
        """
        try:
            self._file = self._path.open("rb")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SettingsError(
                f"another process is sending the dead letters of {self._path}"
            ) from None
        except OSError as error:
            raise SettingsError(f"cannot read the dead letters in {self._path}: {error}") from error
        self._first = hashlib.sha256(self._file.readline()).hexdigest()
        self._file.seek(0)
        self._lines = iter(self._file)
        done = SentOffsets()
        if self._mark.exists():
            mark = self._read_mark()
            done = SentOffsets.from_text(mark.base, mark.more)
            if self._keep and mark.pending:
                self._append(done, mark.pending)
        return {Partition(str(self._path), 0): done}

    def _read_mark(self) -> _Mark:
        try:
            mark = msgspec.convert(parse(self._mark.read_bytes()), _Mark)
        except ValueError as error:
            raise SnapshotError(f"cannot read {self._mark}: {error!r}") from error
        if mark.first != self._first:
            raise SnapshotError(
                f"{self._mark} belongs to another file that was called {self._path.name}: "
                f"move it away"
            )
        return mark

    def _write_mark(self, done: SentOffsets, pending: list[tuple[str, int, bytes]]) -> None:
        mark = _Mark(self._first, done.base, done.to_text(), pending)
        write(self._mark, canonical(msgspec.to_builtins(mark)))

    def _append(self, done: SentOffsets, pending: list[tuple[str, int, bytes]]) -> None:
        """Append the pending lines to their files."""
        for name, start, lines in pending:
            _finish(Path(name), start, lines)
        self._write_mark(done, [])

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next complete lines."""
        records: list[Record] = []
        place = Partition(str(self._path), 0)
        for line in self._lines:
            if line.endswith(b"\n"):
                if line.strip():
                    records.append(Record(place, self._next, line))
                self._next += 1
            if len(records) >= max_records:
                return records
        self._ended = True
        return records

    def read(self, record: Record) -> DeadLetter:
        """Return the dead letter of a line.

        Raises
        ------
        BadRecordError
            If it is invalid, or its value does not fit into a line.
        """
        dead_letter = read_line(record.value or b"")
        value = dead_letter.record.value
        if value is None or b"\n" in value:
            raise BadRecordError(
                "a dead letter without a value cannot be sent to a file"
                if value is None
                else "a dead letter with line feeds cannot be sent to a file"
            )
        return dead_letter

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Append the dead letters to their files.

        Raises
        ------
        SettingsError
            If a target file is missing or cannot be appended to.
        """
        payloads: dict[Path, bytearray] = {}
        for dead_letter in dead_letters:
            payloads.setdefault(self._target(dead_letter), bytearray()).extend(
                (dead_letter.record.value or b"") + b"\n"
            )
        pending = []
        for path, payload in payloads.items():
            start, whole = _end(path)
            lines = bytes(payload) if whole else b"\n" + payload
            pending.append((str(path.absolute()), start, lines))
        state = done[Partition(str(self._path), 0)]
        self._write_mark(state, pending)
        self._append(state, pending)

    def _target(self, dead_letter: DeadLetter) -> Path:
        if self._to is not None:
            return self._to
        name = dead_letter.record.partition.source
        path = Path(name)
        if name == "stdin":
            raise SettingsError("these dead letters came from standard input: add --to FILE")
        if path.suffix in _COMPRESSED:
            raise SettingsError(f"{path} is compressed and cannot be appended to: add --to FILE")
        if not path.is_file():
            raise SettingsError(
                f"{path}, the source of these dead letters, does not exist: add --to FILE"
            )
        return path

    def close(self, timeout: float) -> None:
        """Close the file, which unlocks it."""
        if self._file is not None:
            self._file.close()


def _end(path: Path) -> tuple[int, bool]:
    """Return the length of a file, and whether its last line is complete."""
    if not path.exists():
        return 0, True
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return 0, True
        file.seek(size - 1)
        return size, file.read(1) == b"\n"


def _finish(path: Path, start: int, payload: bytes) -> None:
    """Append the missing part of a payload that begins at `start`, or later after other writers."""
    with path.open("a+b") as file:
        file.seek(start)
        there = file.read()
        if payload in there:
            return
        # A process that was killed during a write may have written a prefix.
        file.write(payload[len(there) :] if payload.startswith(there) else payload)
        file.flush()
        os.fsync(file.fileno())
