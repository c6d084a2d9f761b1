"""A source of records in memory."""

from __future__ import annotations

from collections.abc import Mapping

from streamnb_consumers.io.protocols import Batch, MemoryLog, Source
from streamnb_consumers.records import Partition, Record


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
