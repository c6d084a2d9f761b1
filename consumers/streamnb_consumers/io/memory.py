"""Source and sink in memory with transactions, for tests, dry runs and other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from streamnb_consumers.io.protocols import BufferedSink
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
        self.log.outputs.add(self._open)
        self.log.committed.update(offsets)
        self.abort()
