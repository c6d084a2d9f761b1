"""What the loop asks of the places that records come from and outputs go to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

from streamnb_consumers.records import Outputs, Partition, Record

__all__ = ["Batch", "Sink", "Source", "TrainingLog"]


@dataclasses.dataclass(frozen=True, slots=True)
class Batch:
    """Records polled together.

    Attributes
    ----------
    records
        In the order in which they are handled.
    token
        What the sink needs to commit exactly these, such as the membership of a group under which
        they were polled; the loop only carries it.
    dropped
        Numbers of partitions whose join windows are forgotten before the records are handled:
        they went to another worker, or begin anew from their log.
    offsets
        Offsets to commit besides those of the records.
    """

    records: list[Record]
    token: object = None
    dropped: frozenset[int] = frozenset()
    offsets: Mapping[Partition, int] = dataclasses.field(default_factory=dict)


class Source(Protocol):
    """Where records come from. No method waits longer than its timeout, in seconds."""

    @property
    def ended(self) -> bool:
        """Whether there will never be another record."""

    @property
    def waiting(self) -> str:
        """What is missing before messages are given; empty if nothing is."""

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read on from the offsets of a snapshot; return the committed offsets.

        Called again after an aborted transaction. Records between the two are replayed: they
        rebuild the filter's state, and what follows from them was committed before. The source
        gives all of these before any later record that may be joined to them.
        """

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the next records, in order within each partition; none if none came in time."""

    def lag(self) -> Mapping[Partition, int]:
        """Return how many records are known to wait in each partition; costs no request."""

    def close(self, timeout: float) -> None:
        """Let go of everything; called once."""


class Sink(Protocol):
    """Where outputs go. No method waits longer than its timeout, in seconds."""

    def start(self, timeout: float) -> None:
        """Get ready, before the source: what was left unfinished under this name is dropped.

        Called again after an aborted transaction.
        """

    def begin(self) -> None:
        """Begin a transaction."""

    def send(self, outputs: Outputs) -> None:
        """Add outputs to the transaction."""

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Make the outputs and the offsets of the records behind them visible, all or nothing.

        Parameters
        ----------
        offsets
            For each partition of the batch, the offset after its last record.
        token
            The batch's.
        timeout
            In seconds.

        Raises
        ------
        AbortedError
            If nothing was committed and it may be tried again.
        FencedError
            If another process has taken over.
        """

    def abort(self) -> None:
        """Drop the transaction, if there is one."""

    def close(self, timeout: float) -> None:
        """Let go of everything; called once."""


class TrainingLog(Protocol):
    """The log of training events, besides its reading: what it is, and where it begins."""

    def identity(self, timeout: float) -> str:
        """Return what names this log, and not another one made anew under its name.

        Raises
        ------
        AbortedError
            If the cluster can't be asked.
        """

    def truncate(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the training events before these offsets.

        Raises
        ------
        AbortedError
            If the cluster does not do it.
        """
