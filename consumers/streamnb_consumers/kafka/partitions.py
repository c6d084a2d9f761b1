"""Management of assigned partitions: their offsets and join windows.

A new partition first restores its join window from the log while its messages wait. Then it runs.
After each change of the group generation, the committed offsets are compared, because another
worker may have owned the partition in between.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import math
import time
from collections.abc import Hashable, Iterable
from enum import Enum

from streamnb_consumers.errors import AbortedError
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.encoding import Progress
from streamnb_consumers.kafka.protocols import Member, Membership, Reader
from streamnb_consumers.kafka.topics import TopicIds
from streamnb_consumers.records import Partition, Record

_LOG = logging.getLogger(__name__)

# Maximum wait for committed offsets per poll, in seconds. Offsets of a new partition may be part of
# an open transaction of the previous owner. Offsets of running partitions were committed by this
# worker.
_NEW_SECONDS = 0.1
_RUNNING_SECONDS = 1.0
# Margin for the detection of expired transactions, in seconds. By default, brokers check every 10 s
# (`transaction.abort.timed.out.transaction.cleanup.interval.ms`).
_ENDED = 30.0
# Intervals in seconds: between log lines about a partition that waits, and between the requests for
# the partitions of other topics and for its lag. A normal start ends before its lag is measured.
_TELL = 60.0
_LOOK = 2.0
_MEASURE_AFTER = 2.0
# Interval for committing the feedback offsets again, in seconds. Brokers delete the offsets of
# topics without subscription after `offsets.retention.minutes` (default: a week), and the group
# does not subscribe to the feedback.
_RECOMMIT = 3600.0


class State(Enum):
    """Progress of a worker with an assigned partition."""

    NEW = "new"
    RESTORING = "restoring"
    BLOCKED = "blocked"
    RUNNING = "running"


@dataclasses.dataclass(slots=True)
class Owned:
    """An assigned partition number, with the state of its messages, feedback and join window.

    Attributes
    ----------
    number
        Partition number.
    state
        New: the offsets are unknown. Restoring: the join window is read from its log while the
        messages wait. Blocked: records are missing. Running: messages and feedback are read.
    window
        End of the join-state log at the assignment. The window is restored up to this offset.
    messages, feedback
        Next offsets, as committed by the group. None means the beginning. Each batch is committed
        before the next poll, so these offsets advance with it.
    held
        Feedback that waits for earlier messages.
    barrier
        Message offset at which the held feedback is released.
    since
        Time of the assignment, by the monotonic clock.
    told, looked
        Times of the last log line, and of the last requests about the waiting partition.
    lag
        Messages that wait while the partition does not run.
    noted
        Last offsets of the group in the join state, by topic.
    blocked
        Why the partition waits although its join window is restored.
    """

    number: int
    state: State = State.NEW
    window: int = 0
    messages: int | None = None
    feedback: int | None = None
    held: list[Record] = dataclasses.field(default_factory=list)
    barrier: int = 0
    since: float = dataclasses.field(default_factory=time.monotonic)
    told: float = -math.inf
    looked: float = -math.inf
    lag: int = 0
    noted: dict[str, Progress] = dataclasses.field(default_factory=dict)
    blocked: str = ""

    def hold(self, records: list[Record], barrier: int) -> None:
        """Hold feedback until the messages before an offset were delivered.

        A user labels a message after reading it, so the message was in its log before the label.
        Messages that existed when the label was read are therefore delivered first. Labels then
        always find their messages, and training events keep the order of the labels, even if one
        log is read faster.
        """
        self.held += records
        self.barrier = max(barrier, self.barrier)

    def release(self, position: int) -> list[Record]:
        """Return all held feedback if its messages were delivered, else an empty list.

        Examples
        --------
        >>> from streamnb_consumers.records import Partition
        >>> owned = Owned(0)
        >>> owned.hold([Record(Partition("labels", 0), 0, b"{}")], barrier=7)
        >>> len(owned.release(position=6)), len(owned.release(position=7)), owned.held
        (0, 1, [])
        """
        if position < self.barrier:
            return []
        released, self.held = self.held, []
        return released


class Partitions:
    """The partitions that are assigned to a worker, by number.

    Parameters
    ----------
    topics
        Topics of the filter.
    side
        Reader for training events, join state and feedback.
    group
        Group member for the messages.
    cluster
        The names of the worker in the cluster, and the bounds of its transactions.
    ids
        Ids of the topics, by topic.
    """

    def __init__(
        self, topics: Topics, side: Reader, group: Member, cluster: Cluster, ids: TopicIds
    ) -> None:
        self._topics, self._side, self._group = topics, side, group
        self._cluster, self._ids = cluster, ids
        # After this time no transaction with offsets of the group can still be open.
        self._undecided = cluster.transaction_seconds + _ENDED
        # Offsets that differ from the committed ones, and these.
        self._starts: dict[Partition, tuple[int, int | None]] = {}
        self._missing: dict[Partition, int] = {}
        self._owned: dict[int, Owned] = {}
        self._dropped: set[int] = set()
        self._confirmed: Hashable = None
        self._training = side.partitions(topics.training)
        self._recommit = time.monotonic() + _RECOMMIT

    def _messages(self, number: int) -> Partition:
        return Partition(self._topics.messages, number)

    def _feedback(self, number: int) -> Partition:
        return Partition(self._topics.feedback, number)

    def _window(self, number: int) -> Partition:
        return Partition(self._topics.join_state, number)

    def _running(self) -> list[Owned]:
        return [owned for owned in self._owned.values() if owned.state is State.RUNNING]

    @property
    def waiting(self) -> str:
        """Reason why partitions are not running yet, or an empty string if all are running."""
        new, behind = self._in(State.NEW), self._in(State.RESTORING)
        for owned in self._owned.values():
            if owned.blocked:
                return owned.blocked
        if new:
            return f"the committed offsets of partitions {new} are unknown or undecided"
        return f"the join windows of partitions {behind} are being restored" if behind else ""

    def _in(self, state: State) -> list[int]:
        return sorted(n for n, owned in self._owned.items() if owned.state is state)

    def batch(self, records: list[Record], membership: Membership | None) -> Batch:
        """Return records with everything that has changed since the last batch.

        The offsets to commit are starts that differ from the committed ones, and every hour those
        of the feedback.
        """
        offsets: dict[Partition, int] = {}
        if membership is not None:
            if self._topics.feedback and time.monotonic() >= self._recommit:
                self._recommit = time.monotonic() + _RECOMMIT
                for owned in self._running():
                    if owned.feedback is not None:
                        offsets[self._feedback(owned.number)] = owned.feedback
            for place, (at, _) in self._starts.items():
                if place.number in self._owned:
                    offsets[place] = at
            self._starts.clear()
        token = membership and membership.token
        made = Batch(records, token, frozenset(self._dropped), offsets, self._missing)
        self._dropped, self._missing = set(), {}
        return made

    # --- assignment and start ---------------------------------------------------------------------

    def given(self, numbers: Iterable[int]) -> None:
        """Register new partitions; they stay paused until their join state is restored."""
        for number in numbers:
            self._owned[number] = Owned(number)

    def taken(self, numbers: Iterable[int]) -> None:
        """Remove revoked partitions.

        The last batch is already committed, so no work is pending.
        """
        for number in numbers:
            self._owned.pop(number, None)
            self._dropped.add(number)
        self.assign()

    def _begin(self, number: int) -> None:
        self._owned[number] = Owned(number)
        self._group.pause(self._messages(number))  # until its window is restored

    def begin_all(self) -> None:
        """Reset all partitions, because the last batch was not committed."""
        for number in self._owned:
            self._begin(number)

    def assign(self) -> None:
        """Assign the side logs.

        These are the training log, the join state of restoring partitions, and the feedback of
        running ones.
        """
        places = list(self._training)
        for number, owned in self._owned.items():
            if owned.state is State.RESTORING:
                places.append(self._window(number))
            elif owned.state is State.RUNNING and self._topics.feedback:
                places.append(self._feedback(number))
        self._side.assign(places)

    def go_on(self) -> None:
        """Advance each partition that is not running by one step."""
        for owned in list(self._owned.values()):
            if owned.state is not State.RUNNING and time.monotonic() >= owned.looked + _LOOK:
                owned.looked = time.monotonic()
                self._look(owned)
            if owned.state is State.NEW and not owned.blocked:
                self._restore(owned)
            elif owned.state is State.RESTORING:
                self._run(owned)

    def _look(self, owned: Owned) -> None:
        """Find out why a partition does not run, and how many messages wait; log it each minute.

        Partitions may be added to the messages before those of the join state and the feedback. The
        other partitions continue.
        """
        if owned.state is State.NEW:
            needed = filter(None, (self._topics.join_state, self._topics.feedback))
            absent = [
                topic
                for topic in needed
                if Partition(topic, owned.number) not in self._side.partitions(topic)
            ]
            owned.blocked = f"{', '.join(absent)}: no partition {owned.number}" if absent else ""
        waited = owned.looked - owned.since
        if waited >= self._undecided and owned.looked >= owned.told + _TELL:
            owned.told = owned.looked
            _LOG.warning(
                "partition %d is assigned to this worker and waits for %.0f s: %s",
                *(owned.number, waited, self._reason(owned)),
            )
        if waited >= _MEASURE_AFTER:
            self._measure(owned)

    def _measure(self, owned: Owned) -> None:
        """Measure how many messages wait in a partition that does not run.

        A failed measurement is repeated later, because it must not stop other partitions.
        """
        place = self._messages(owned.number)
        with contextlib.suppress(AbortedError):
            first = self._group.firsts([place])[place]
            next_offset = first if owned.messages is None else max(owned.messages, first)
            owned.lag = max(0, self._group.log_ends([place])[place] - next_offset)

    def lag(self) -> dict[Partition, int]:
        """Return the lag of the partitions that do not run, as of their last measurement."""
        return {
            self._messages(owned.number): owned.lag
            for owned in self._owned.values()
            if owned.state is not State.RUNNING
        }

    def _committed(self, numbers: Iterable[int], timeout: float) -> dict[Partition, int] | None:
        """Return the committed offsets of messages and feedback, or None after the timeout."""
        topics = [self._messages, *([self._feedback] if self._topics.feedback else [])]
        places = [place(number) for number in numbers for place in topics]
        return self._group.committed(places, timeout)

    def _restore(self, owned: Owned) -> None:
        """Determine the offsets of a partition and start restoring its window.

        The request waits for open transactions. After it, only this owner can commit for the
        partition, so the join-state log contains the complete window.
        """
        number = owned.number
        offsets = self._committed([number], _NEW_SECONDS)
        if offsets is None:
            return  # the next poll asks again
        owned.messages = offsets.get(self._messages(number))
        owned.feedback = offsets.get(self._feedback(number))
        place = self._window(number)
        owned.window = self._side.log_ends([place])[place]  # including open transactions
        owned.state = State.RESTORING
        self.assign()
        self._side.seek(place, self._side.firsts([place])[place])
        self._dropped.add(number)

    def _reason(self, owned: Owned) -> str:
        if owned.blocked:
            return owned.blocked
        if owned.state is State.NEW:
            what = "its committed offsets are undecided"
        else:
            place = self._window(owned.number)
            position = self._side.position(place)
            what = f"{place.source} is read up to offset {position} of {owned.window}"
        return (
            f"{what}. If this continues, a killed single broker may have left a hanging "
            f"transaction: see docs/how-to/recover-transactions.md"
        )

    def note(self, record: Record) -> bool:
        """Note an offset in the join state; return False for records of join windows."""
        found = Progress.read(record)
        owned = self._owned.get(record.partition.number)
        if found is not None and owned is not None and found.group == self._cluster.group:
            owned.noted[found.topic] = found
        return found is not None

    def _run(self, owned: Owned) -> None:
        """Start the messages and the feedback if the window is restored."""
        if self._side.position(self._window(owned.number)) < owned.window:
            return
        messages, feedback = self._messages(owned.number), self._feedback(owned.number)
        owned.messages, start = self._start(self._group, owned, messages, owned.messages)
        after = 0
        if self._topics.feedback:
            owned.feedback, after = self._start(self._side, owned, feedback, owned.feedback)
        if owned.state is State.BLOCKED:
            return
        owned.state = State.RUNNING
        self.assign()
        if self._topics.feedback:
            self._side.seek(feedback, after)
        self._group.seek(messages, start)
        self._group.resume(messages)
        _LOG.info("partition %d is restored and running", owned.number)

    def _start(
        self, reader: Reader, owned: Owned, place: Partition, committed: int | None
    ) -> tuple[int | None, int]:
        """Return the next offset of a partition, None for the beginning, and where to read on.

        The join state has the offset as well, with the id of the topic. It is used if the committed
        offsets have expired or lie beyond the end, and it shows that the topic was created again.
        The nearest offset inside would skip messages that came in the meantime. Another offset
        outside of the partition is replaced by the nearest one inside.
        """
        noted = owned.noted.get(place.source)
        offset = committed
        first, end = reader.firsts([place])[place], reader.log_ends([place])[place]
        if committed is None or not first <= committed <= end:
            self._ids.confirm()  # its deletion also deletes committed offsets
        if noted is not None and noted.topic_id != self._ids.known.get(
            place.source, noted.topic_id
        ):
            offset = None if committed == noted.offset else committed
        elif noted is not None and (committed is None or committed > end >= noted.offset):
            _LOG.warning(
                "%s %d: the committed %s, continuing at offset %d of the join state",
                *place,
                "offsets have expired"
                if committed is None
                else f"offset {committed} lies beyond the end {end}",
                noted.offset,
            )
            offset = noted.offset
        if offset is None:
            if committed is not None:
                self._starts[place] = first, committed
            return None if committed is None else first, first
        start = min(max(offset, first), end)
        if start != offset:
            self._lose(owned, place, offset, start)
        if start != committed:
            self._starts[place] = start, committed
        return start, start

    def _lose(self, owned: Owned, place: Partition, offset: int, start: int) -> None:
        """Log and count records that were deleted before they were read."""
        count = abs(start - offset)
        self._missing[place] = self._missing.get(place, 0) + count
        _LOG.error(
            "%s %d: %d records, offsets %d to %d, %s. %s",
            *(*place, count, min(start, offset), max(start, offset) - 1),
            "were deleted before they were read (retention)"
            if offset < start
            else "were read and do not exist any more (lost by the brokers, or the offset was set)",
            f"Continuing at offset {start}"
            if self._cluster.skip_missing
            else "The partition waits (missing_records = wait): set the offset of the group, or "
            "set missing_records to skip, and restart",
        )
        if not self._cluster.skip_missing:
            owned.state = State.BLOCKED
            owned.blocked = f"offset {offset} of {place.source} {place.number} does not exist"

    # --- generation changes -----------------------------------------------------------------------

    def confirm(self, membership: Membership) -> bool:
        """Return whether the running partitions are still at the offsets of the group.

        A worker can lose a partition and get it back without a notification. In between, another
        worker may have advanced it, so position and window would be outdated. After each change of
        the generation, the committed offsets are therefore requested before any message is
        delivered. Partitions with other offsets than this worker committed are reset.
        """
        if membership.generation == self._confirmed:
            return True
        running = self._running()
        if running:
            offsets = self._committed([owned.number for owned in running], _RUNNING_SECONDS)
            if offsets is None:
                return False  # the next poll asks again
            mine = [(self._messages(owned.number), owned.messages) for owned in running]
            mine += [(self._feedback(owned.number), owned.feedback) for owned in running]
            moved = {
                place.number
                for place, offset in mine
                # A start that is not committed yet is compared with the committed offset.
                if self._starts.get(place, (None, offset))[1] != offsets.get(place)
            }
            for number in moved:
                _LOG.warning("another worker has advanced partition %d, resetting it", number)
                self._begin(number)
                self._dropped.add(number)
            if moved:
                self.assign()
                return False
        self._confirmed = membership.generation
        return True

    # --- delivery ---------------------------------------------------------------------------------

    def give(self, messages: Iterable[Record]) -> None:
        """Record the messages as delivered. They are committed before the next poll."""
        for record in messages:
            self._owned[record.partition.number].messages = record.offset + 1

    def give_back(self, messages: Iterable[Record]) -> None:
        """Rewind to the first of the given messages, which were just polled."""
        first: dict[Partition, int] = {}
        for record in messages:
            first.setdefault(record.partition, record.offset)
        for place, offset in first.items():
            if place.number in self._owned:
                self._group.seek(place, offset)

    def hold(self, feedback: Iterable[Record]) -> None:
        """Hold feedback until all currently available messages were delivered."""
        found: dict[int, list[Record]] = {}
        for record in feedback:
            found.setdefault(record.partition.number, []).append(record)
        if not found:
            return
        ends = self._group.stable_ends([self._messages(number) for number in found])
        for number, records in found.items():
            self._owned[number].hold(records, ends[self._messages(number)])
            self._side.pause(self._feedback(number))

    def release(self) -> list[Record]:
        """Return the feedback of all partitions whose messages were delivered."""
        released: list[Record] = []
        for owned in self._owned.values():
            if owned.held:
                found = owned.release(self._group.position(self._messages(owned.number)))
                if found:
                    owned.feedback = found[-1].offset + 1
                    self._side.resume(self._feedback(owned.number))
                released += found
        return released
