"""Batches that no client can read: they block their partition, or are skipped."""

from __future__ import annotations

import time
from collections.abc import Callable

from streamnb_consumers.io.partition_table import PartitionTable, Reason
from streamnb_consumers.kafka.protocols import Reader, Unreadable
from streamnb_consumers.records import Partition

# Interval of attempts to read a batch again, in seconds. Another replica may have a good copy.
_AGAIN = 60.0
_SKIP = (
    "restore the partition from a good replica, or set unreadable_batches = skip and restart, "
    "which loses these records"
)
_TRAINING = (
    "restore the partition from a good replica, or start from a newer snapshot of another worker "
    "(shared_snapshots); training events are never skipped, because models would differ"
)


class UnreadableBatches:
    """The unreadable batches of a worker's partitions.

    Parameters
    ----------
    table
        Table that gets the blocked partitions.
    skip
        Whether batches are skipped, except training events.
    training
        Topic of the training events.
    """

    def __init__(self, table: PartitionTable, skip: bool, training: str) -> None:
        self._table, self._skip, self._training = table, skip, training
        self._skipped: dict[Partition, Unreadable] = {}
        # Reader, batch, and time of the next attempt.
        self._blocked: dict[Partition, tuple[Reader, Unreadable, float]] = {}

    def note(self, reader: Reader) -> None:
        """Note the batches that a reader has found; it has stopped their partitions."""
        for batch in reader.take_unreadable():
            place, first, after, why = batch
            if self._skip and place.source != self._training:
                self._skipped[place] = batch
                continue
            self._blocked[place] = reader, batch, time.monotonic() + _AGAIN
            self._table.hold(
                place,
                Reason.UNREADABLE,
                f"offsets {first} to {after - 1}: {why}",
                _TRAINING if place.source == self._training else _SKIP,
                first,
            )

    def try_again(self) -> None:
        """Read blocked partitions again from time to time."""
        now = time.monotonic()
        for place, (reader, batch, again) in list(self._blocked.items()):
            if reader.position(place) > batch.first:
                del self._blocked[place]
                self._table.free(place, Reason.UNREADABLE)
            elif now >= again:
                self._blocked[place] = reader, batch, now + _AGAIN
                reader.seek(place, batch.first)

    def take_skipped(self, is_due: Callable[[Partition], bool]) -> list[Unreadable]:
        """Return the batches to skip, of the partitions for which `is_due` is true."""
        due = [batch for place, batch in self._skipped.items() if is_due(place)]
        for batch in due:
            del self._skipped[batch.place]
        return due

    def has(self, place: Partition) -> bool:
        """Return whether an unreadable batch of a partition is the next one."""
        return place in self._skipped or place in self._blocked

    def forget(self, place: Partition | None = None) -> None:
        """Forget the batches of a partition, which is read from another offset; None: all."""
        for each in [*self._skipped, *self._blocked] if place is None else [place]:
            self._skipped.pop(each, None)
            self._blocked.pop(each, None)
