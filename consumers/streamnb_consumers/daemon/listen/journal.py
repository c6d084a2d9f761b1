"""Requests of clients as source and sink, through a journal on disk.

A commit appends the records of a batch to the journal, and then the clients get their answers. The
state of the filter is a fold over the journal: after a crash, the newest snapshot is restored and
later records are read again. So a label that was acknowledged is learned exactly once.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from streamnb_consumers.daemon.listen.requests import PLACE, Requests
from streamnb_consumers.daemon.snapshots.local import make_private, private, sync_folder
from streamnb_consumers.errors import AbortedError, SnapshotError
from streamnb_consumers.io.protocols import Batch, BufferedSink, Source, take
from streamnb_consumers.io.stdio import dead_letter_line
from streamnb_consumers.records import Outputs, Partition, Record

_LOG = logging.getLogger(__name__)
_SKIPPED = b'{"skipped":'  # begins a line that stands for records that were left out
_SEGMENT = re.compile(r"journal-(\d{16})\.jsonl")


class Journal:
    """A log of records in a folder, in segments that are named by their first offset.

    Parameters
    ----------
    folder
        The folder; created if missing.
    keep
        Number of segments to keep when another one begins, 1 or more.
    largest
        Bytes of a segment from which a snapshot is due.

    Attributes
    ----------
    length
        Number of records, including those of deleted segments and those that did not fit on the
        disk.

    Raises
    ------
    SnapshotError
        If a segment is missing or damaged.
    """

    def __init__(self, folder: Path, keep: int, largest: int = 2**28) -> None:
        self._folder, self._keep, self._largest = folder, keep, largest
        self._skipped = 0  # records since the last line
        make_private(folder)
        self.length = 0
        segments = self._segments()
        for path in segments:
            first = _first(path)
            if self.length and first != self.length:
                raise SnapshotError(f"{path} begins at {first}, but {self.length} was expected")
            self.length = first
            whole = 0
            with path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        self.length += _records(line)
                        whole += len(line)
                size = file.tell()
            # A killed process may leave part of a line, which nobody has acknowledged.
            if whole < size:
                os.truncate(path, whole)
        self._open(segments[-1] if segments else self._path())

    def _segments(self) -> list[Path]:
        return sorted(path for path in self._folder.iterdir() if _SEGMENT.fullmatch(path.name))

    def _path(self) -> Path:
        return self._folder / f"journal-{self.length:016d}.jsonl"

    def _open(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._descriptor).st_size
        sync_folder(self._folder)

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from an offset on.

        Raises
        ------
        SnapshotError
            If they were deleted, or a line is damaged.
        """
        paths = self._segments()
        if first > self.length or (paths and first < _first(paths[0])):
            raise SnapshotError(
                f"the journal in {self._folder} has the records {_first(paths[0])} to "
                f"{self.length}, but the snapshot ends at {first}: restore both from one backup"
            )
        for path in paths:
            with path.open("rb") as file:
                offset = _first(path)
                for line in file:
                    try:
                        if offset >= first and not line.startswith(_SKIPPED):
                            record = msgspec.json.decode(line, type=Record)
                            if record.value is not None:  # of a refused request
                                yield record._replace(offset=offset)
                        offset += _records(line)
                    except (msgspec.MsgspecError, ValueError) as error:
                        raise SnapshotError(f"{path}: record {offset} is damaged") from error

    def append(self, records: Sequence[Record], durable: bool) -> None:
        """Append records; if they must be durable, they survive a crash of the machine.

        Raises
        ------
        AbortedError
            If they cannot be written. Nothing is appended then.
        """
        lines = [msgspec.json.encode(record) for record in records]
        if self._skipped:
            lines.insert(0, _SKIPPED + b"%d}" % self._skipped)
        data = b"".join(line + b"\n" for line in lines)
        try:
            waiting = memoryview(data)
            while waiting:
                waiting = waiting[os.write(self._descriptor, waiting) :]
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise AbortedError(f"cannot write the journal in {self._folder}: {error}") from error
        self._size += len(data)
        self.length += len(records)
        self._skipped = 0

    def skip(self, n_records: int) -> None:
        """Leave out records: their decisions are not repeated after a crash."""
        self._skipped += n_records
        self.length += n_records

    @property
    def is_due(self) -> bool:
        """Whether a snapshot is due, so that a new segment begins."""
        return self._size >= self._largest

    def rotate(self) -> None:
        """Begin a new segment after a snapshot, and delete those that no snapshot needs."""
        if self._skipped:
            self.append([], durable=False)
        if not self._size:
            return
        os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._open(self._path())
        for path in self._segments()[: -self._keep - 1]:
            path.unlink()

    def close(self) -> None:
        """Close the journal."""
        if self._skipped:
            with contextlib.suppress(AbortedError):
                self.append([], durable=False)
        os.close(self._descriptor)


def _records(line: bytes) -> int:
    """Return the number of records that a line stands for."""
    return int(line[len(_SKIPPED) : -2]) if line.startswith(_SKIPPED) else 1


def _first(path: Path) -> int:
    return int(path.name[len("journal-") :].partition(".")[0])


class JournalSource(Source):
    """Records of the journal, and after them new requests.

    Parameters
    ----------
    journal
        The journal.
    requests
        Requests of clients.
    """

    ended = False  # clients may send more

    def __init__(self, journal: Journal, requests: Requests) -> None:
        self._journal, self._requests = journal, requests
        self._replay: Iterator[Record] | None = None

    @property
    def waiting(self) -> str:
        """Whether the journal is still read."""
        return "" if self._replay is None else "the journal is being read"

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read the journal from the offset of the snapshot on."""
        self._requests.refuse("the journal could not be written: try again later")
        self._replay = self._journal.read(offsets.get(PLACE, 0))
        return {PLACE: self._journal.length}

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return records of the journal; after them, wait for a first request."""
        if self._replay is not None:
            if replayed := take(self._replay, max_records):
                return Batch(replayed)
            self._replay = None  # only now all of it was learned
        return Batch(self._requests.take(max_records, timeout, self._journal.length))

    def lag(self) -> Mapping[Partition, int]:
        """Return the number of waiting requests."""
        return {PLACE: self._requests.waiting}

    def close(self, timeout: float) -> None:
        """Refuse the requests that wait."""
        self._requests.close("the filter stops: try again later")


class JournalSink(BufferedSink):
    """Write the journal, then answer the requests of the batch.

    Parameters
    ----------
    journal
        The journal.
    requests
        Requests of clients.
    dead_letters
        File of refused requests; None for none. Their clients get the error anyway.
    """

    def __init__(
        self, journal: Journal, requests: Requests, dead_letters: Path | None = None
    ) -> None:
        super().__init__()
        self._journal, self._requests = journal, requests
        self._file = open(dead_letters or os.devnull, "ab", opener=private)  # noqa: SIM115

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Append the requests to the journal, then answer them."""
        outputs = self._open
        refused = {each.record.offset for each in outputs.dead_letters}
        records = [
            # A refused request has no effect; its place in the journal stays.
            request.record._replace(value=None, key=None, headers=())
            if request.record.offset in refused
            else request.record
            for request in self._requests.batch
        ]
        feedback = any(record.role == "feedback" for record in records)
        labelled = not all(event.is_own for event in outputs.training)
        try:
            self._journal.append(records, durable=feedback or labelled)
        except AbortedError as error:
            # A label that is not on disk must not be acknowledged; a decision needs no disk.
            if feedback or labelled:
                self._requests.refuse_labels(f"{error}: labels are refused until there is space")
                raise
            _LOG.warning("%s: decisions go on, and labels are refused", error)
            self._journal.skip(len(records))
        self._requests.answer(outputs)
        self._open = Outputs()
        try:
            self._file.write(b"".join(map(dead_letter_line, outputs.dead_letters)))
            self._file.flush()
        except OSError as error:
            _LOG.warning("cannot write the dead letters: %s", error)

    def close(self, timeout: float) -> None:
        """Close the journal and the file of dead letters."""
        self._journal.close()
        self._file.close()
