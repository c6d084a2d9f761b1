"""Detection of transactions that stay open: readers of their partitions do not advance."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from streamnb_consumers.errors import AbortedError, RefusedError
from streamnb_consumers.io.partition_table import PartitionTable, Reason
from streamnb_consumers.kafka.protocols import Driver
from streamnb_consumers.records import Partition

_LOG = logging.getLogger(__name__)
# Interval of the requests, in seconds.
_LOOK = 5.0


class OpenTransactions:
    """Watch the last stable offsets of partitions.

    A partition is behind an open transaction if its last stable offset has not moved for some time,
    although there are later records. The rule is the same for all topics, whoever writes them.

    Parameters
    ----------
    driver
        Driver that asks for the offsets.
    table
        Table that gets the partitions.
    seconds
        Time after which each transaction of a worker has ended.
    """

    def __init__(self, driver: Driver, table: PartitionTable, seconds: float) -> None:
        self._driver, self._table, self._seconds = driver, table, seconds
        self._looked = 0.0
        self._behind: dict[Partition, tuple[int, float]] = {}  # stable offset, and since when

    def look(self, places: Collection[Partition]) -> None:
        """Compare the offsets, if the last comparison is some seconds old.

        A failure is repeated later, because it must not stop the partitions.
        """
        now = time.monotonic()
        if now < self._looked + _LOOK:
            return
        self._looked = now
        try:
            ends = self._driver.ends(places)
        except (AbortedError, RefusedError) as error:
            _LOG.debug("the last stable offsets are unknown: %s", error)
            return
        for place in set(self._behind).difference(places):
            self._running(place)
        for place, (offset, end) in ends.items():
            known, since = self._behind.get(place, (-1, now))
            if offset >= end:
                self._running(place)
            elif offset != known:
                self._running(place)
                self._behind[place] = offset, now
            elif now >= since + self._seconds:
                self._table.hold(
                    place,
                    Reason.OPEN,
                    "a transaction is open for longer than transaction_seconds, and later records "
                    "are not visible to its readers",
                    f"end the producer (kafka-transactions.sh describe-producers --topic "
                    f"{place.source} --partition {place.number}), or abort the transaction: "
                    f"docs/how-to/recover-transactions.md",
                    offset,
                )

    def _running(self, place: Partition) -> None:
        if self._behind.pop(place, None) is not None:
            self._table.free(place, Reason.OPEN)
