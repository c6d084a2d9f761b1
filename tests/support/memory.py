"""A source and a sink in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from streamnb_consumers.io.protocols import Batch, BufferedSink, Source
from streamnb_consumers.records import Outputs, Partition, Record


class MemoryLog:
    """State that survives a crash: records, committed outputs and committed offsets.

    Parameters
    ----------
    records
        Records in the order of delivery; offsets must be 0, 1, 2 … in each partition.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.records = list(records)
        self.outputs = Outputs()
        self.committed: dict[Partition, int] = {}


class MemorySink(BufferedSink):
    """Commit outputs to a log.

    Parameters
    ----------
    log
        The log.
    fail
        Called before each commit with its number from 0; its exceptions fail the commit.
    """

    def __init__(self, log: MemoryLog, fail: Callable[[int], None] = lambda number: None) -> None:
        super().__init__()
        self.log = log
        self._fail = fail
        self._commits = 0

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Make outputs and offsets visible."""
        number, self._commits = self._commits, self._commits + 1
        self._fail(number)
        for field in dataclasses.fields(Outputs):
            if isinstance(found := getattr(self._open, field.name), list):
                getattr(self.log.outputs, field.name).extend(found)
        self.log.committed.update(offsets)
        self.abort()


class MemorySource(Source):
    """Read a log from given offsets, in the order in which it was written."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        self._next = 0
        self._offsets: dict[Partition, int] = {}

    @property
    def ended(self) -> bool:
        """Whether all records were read."""
        return self._next >= len(self.log.records)

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Start at these offsets."""
        self._next, self._offsets = 0, dict(offsets)
        return dict(self.log.committed)

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the next records."""
        records: list[Record] = []
        while len(records) < max_records and not self.ended:
            record = self.log.records[self._next]
            self._next += 1
            if record.offset >= self._offsets.get(record.partition, 0):
                records.append(record)
        return Batch(records)
