"""Management of assigned partitions: their offsets and join windows.

A new partition first restores its join window from the log while its messages wait. Then it runs.
After each change of the group generation, the committed offsets are compared, because another
worker may have owned the partition in between.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterable, Mapping

from streamnb_consumers.io.partition_table import PartitionTable, Reason
from streamnb_consumers.io.protocols import Batch, WindowMark, WindowReader
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.delivery import Delivery, Owned, State
from streamnb_consumers.kafka.encoding import Progress
from streamnb_consumers.kafka.protocols import Member, Membership, Reader, Unreadable
from streamnb_consumers.kafka.topics import TopicIds
from streamnb_consumers.kafka.unreadable import UnreadableBatches
from streamnb_consumers.records import DeadLetter, Partition, Record

_LOG = logging.getLogger(__name__)

# Maximum wait for committed offsets per poll, in seconds. Offsets of a new partition may be part of
# an open transaction of the previous owner. Offsets of running partitions were committed by this
# worker.
_NEW_SECONDS = 0.1
_RUNNING_SECONDS = 1.0
# Interval in seconds between the requests for the partitions of other topics, and the time after
# which the lag of a partition counts although its offsets are unknown.
_LOOK = 2.0
_MEASURE_AFTER = 2.0
# Interval for committing the feedback offsets again, in seconds. Brokers delete the offsets of
# topics without subscription after `offsets.retention.minutes` (default: a week), and the group
# does not subscribe to the feedback.
_RECOMMIT = 3600.0
# Time for which a partition with too many invalid records is not read, in seconds. After it, the
# circuit breaker lets as many records pass as it needs to open again.
_INVALID = 300.0
_HANGING = (
    "none, if it ends within a minute; else a killed single broker may have left a hanging "
    "transaction: docs/how-to/recover-transactions.md"
)


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
    table
        Table that gets the partitions that do not advance.
    unreadable
        Unreadable batches of these partitions.
    count
        Number of partitions that messages, feedback and join state had at the start.
    """

    def __init__(
        self,
        topics: Topics,
        side: Reader,
        group: Member,
        cluster: Cluster,
        ids: TopicIds,
        table: PartitionTable,
        unreadable: UnreadableBatches,
        count: int,
    ) -> None:
        self._count = count
        self._topics, self._side, self._group = topics, side, group
        self._cluster, self._ids = cluster, ids
        self._table, self._unreadable = table, unreadable
        # Offsets that differ from the committed ones, and these.
        self._starts: dict[Partition, tuple[int, int | None]] = {}
        self._missing: dict[Partition, int] = {}
        self._skipped: list[DeadLetter] = []
        # Partitions with too many invalid records: when they are read again, and from where.
        self._invalid: dict[Partition, tuple[float, int]] = {}
        self._owned: dict[int, Owned] = {}
        self._dropped: set[int] = set()
        self._confirmed: Hashable = None
        self.delivery = Delivery(topics, side, group, self._owned, self._is_stopped)
        self.is_assigned = False  # whether the group has assigned partitions, or none of them
        self.windows: WindowReader | None = None
        self._loaded: dict[int, list[bytes]] = {}
        self._training = side.partitions(topics.training)
        self._recommit = time.monotonic() + _RECOMMIT

    def _messages(self, number: int) -> Partition:
        return Partition(self._topics.messages, number)

    def _feedback(self, number: int) -> Partition:
        return Partition(self._topics.feedback, number)

    def _window(self, number: int) -> Partition:
        return Partition(self._topics.join_state, number)

    def _reader(self, place: Partition) -> Reader:
        return self._group if place.source == self._topics.messages else self._side

    def _is_stopped(self, place: Partition) -> bool:
        return place in self._invalid or self._unreadable.has(place)

    def _running(self) -> list[Owned]:
        return [owned for owned in self._owned.values() if owned.state is State.RUNNING]

    @property
    def waiting(self) -> str:
        """Reason why partitions are not running yet, or an empty string if all are running."""
        new, behind = self._in(State.NEW), self._in(State.RESTORING)
        if new:
            return f"the committed offsets of partitions {new} are unknown or undecided"
        return f"the join windows of partitions {behind} are being restored" if behind else ""

    def _in(self, state: State) -> list[int]:
        return sorted(n for n, owned in self._owned.items() if owned.state is state)

    def batch(self, records: list[Record], membership: Membership | None) -> Batch:
        """Return records with everything that has changed since the last batch.

        The offsets to commit are starts that differ from the committed ones, those of partitions
        whose decisions have waited long enough for a teacher, and every hour those of the feedback.
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
            offsets |= self._due(records)
        token = membership and membership.token
        made = Batch(records, token, frozenset(self._dropped), offsets, self._missing)
        made.ahead.extend(each for owned in self._running() for each in owned.merge.take_new())
        if membership is not None:
            made.skipped.extend(each for each in self._skipped if each.record.partition in offsets)
            self._skipped.clear()
        made.windows.update(self._loaded)
        self._dropped, self._missing, self._loaded = set(), {}, {}
        return made

    def _due(self, records: list[Record]) -> dict[Partition, int]:
        """Return the offsets of idle partitions with decisions that have waited long enough.

        Committing these offsets again proves that this worker still owns the partitions.
        """
        join = self.delivery.join
        if join is None:
            return {}
        busy = {record.partition.number for record in records if record.is_input}
        return {
            self._messages(owned.number): owned.messages
            for owned in self._running()
            if owned.number not in busy and owned.messages is not None
            if join.window(owned.number).is_due()
        }

    def places(self) -> list[Partition]:
        """Return the partitions of messages, feedback and join state that are assigned."""
        return [place for number in self._owned for place in self._places(number)]

    def _places(self, number: int) -> list[Partition]:
        feedback = [self._feedback(number)] if self._topics.feedback else []
        return [self._messages(number), *feedback, self._window(number)]

    # --- assignment and start ---------------------------------------------------------------------

    def given(self, numbers: Iterable[int]) -> None:
        """Register new partitions; they stay paused until their join state is restored."""
        numbers, self.is_assigned = sorted(numbers), True
        if numbers:
            _LOG.info("partitions of %s assigned: %s", self._topics.messages, numbers)
        for number in numbers:
            self._owned[number] = Owned(number)

    def taken(self, numbers: Iterable[int]) -> None:
        """Remove revoked partitions.

        The last batch is already committed, so no work is pending.
        """
        numbers = sorted(numbers)
        if numbers:
            _LOG.info("partitions of %s revoked: %s", self._topics.messages, numbers)
        for number in numbers:
            self._owned.pop(number, None)
            self._dropped.add(number)
            self._forget(number)
        self.assign()

    def _forget(self, number: int) -> None:
        for place in self._places(number):
            self._table.drop(place)
            self._unreadable.forget(place)
            self._invalid.pop(place, None)

    def _begin(self, number: int) -> None:
        self._forget(number)
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
            if owned.state is State.NEW and not owned.absent:
                self._restore(owned)
            elif owned.state is State.RESTORING:
                self._run(owned)
            self._tell(owned)
        self._read_again()

    def _tell(self, owned: Owned) -> None:
        """Enter a partition that does not run yet into the table."""
        place, table = self._messages(owned.number), self._table
        table.free(
            place,
            *(() if owned.absent else (Reason.ABSENT,)),
            *(() if owned.state is State.NEW and not owned.absent else (Reason.UNDECIDED,)),
            *(() if owned.state is State.RESTORING else (Reason.RESTORING,)),
        )
        if owned.absent:
            table.hold(place, Reason.ABSENT, owned.absent, "add the partition to these topics")
        elif owned.state is State.NEW:
            table.hold(place, Reason.UNDECIDED, "its committed offsets are undecided", _HANGING)
        elif owned.state is State.RESTORING:
            window = self._window(owned.number)
            read = f"{window.source} is read up to offset {self._side.position(window)}"
            table.hold(place, Reason.RESTORING, f"{read} of {owned.window}", _HANGING)

    def _look(self, owned: Owned) -> None:
        """Find out whether a partition can run.

        Partitions may be added to the messages before those of the join state and the feedback. The
        other partitions continue. The request may wait behind a fetch, so a start does without it.
        """
        if owned.state is State.NEW and owned.number >= self._count:
            needed = filter(None, (self._topics.join_state, self._topics.feedback))
            absent = [
                topic
                for topic in needed
                if Partition(topic, owned.number) not in self._side.partitions(topic)
            ]
            owned.absent = f"{', '.join(absent)}: no partition {owned.number}" if absent else ""

    def positions(self) -> dict[Partition, int]:
        """Return the next offsets of the group, of messages and feedback, as far as known.

        Records that were read and not delivered are not committed either, so they count as unread.
        """
        places: dict[Partition, int] = {}
        begin: list[Partition] = []
        for owned in self._owned.values():
            if owned.state is State.NEW and time.monotonic() < owned.since + _MEASURE_AFTER:
                continue  # a normal start knows the offsets soon
            inputs = [(self._messages(owned.number), owned.messages)]
            if self._topics.feedback and not owned.absent:
                inputs.append((self._feedback(owned.number), owned.feedback))
            for place, offset in inputs:
                if offset is None:
                    begin.append(place)
                else:
                    places[place] = offset
            if owned.state is State.RESTORING:
                window = self._window(owned.number)
                places[window] = self._side.position(window)
        return places | (self._group.firsts(begin) if begin else {})

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
        start = self._load(owned, self._side.firsts([place])[place])
        _LOG.info("partition %d: reading its join window from offset %d", number, start)
        self._side.seek(place, start)
        self._dropped.add(number)

    def _load(self, owned: Owned, first: int) -> int:
        """Load the window from a snapshot, if possible; return the offset of later changes."""
        log = self._ids.known.get(self._topics.join_state)
        found = None
        if self.windows is not None and log is not None:
            found = self.windows.load(owned.number, log)
        if found is None or not first <= found[0].offset <= owned.window:
            return first
        mark, self._loaded[owned.number] = found
        owned.noted = {
            topic: Progress(self._cluster.group, topic, topic_id, offset)
            for topic, topic_id, offset in mark.progress
        }
        return mark.offset

    def marks(self) -> dict[int, WindowMark]:
        """Return how far the windows of running partitions follow their logs.

        All changes before a last stable offset are decided. If another worker had written some of
        them, it would have committed other offsets in the same transactions.
        """
        running, ids = self._running(), self._ids.known
        log = ids.get(self._topics.join_state)
        if not running or log is None:
            return {}
        ends = self._side.stable_ends([self._window(owned.number) for owned in running])
        offsets = self._committed([owned.number for owned in running], _RUNNING_SECONDS)
        if offsets is None:
            return {}
        moved = self._moved(running, offsets)
        return {
            owned.number: WindowMark(
                log,
                ends[self._window(owned.number)],
                [
                    (place.source, ids[place.source], offsets[place])
                    for place in self._places(owned.number)
                    if place in offsets and place.source in ids
                ],
            )
            for owned in running
            if owned.number not in moved
        }

    def _moved(self, running: list[Owned], offsets: Mapping[Partition, int]) -> set[int]:
        """Return the partitions whose committed offsets are not those of this worker."""
        mine = [(self._messages(owned.number), owned.messages) for owned in running]
        mine += [(self._feedback(owned.number), owned.feedback) for owned in running]
        return {
            place.number
            for place, offset in mine
            # A start that is not committed yet is compared with the committed offset.
            if self._starts.get(place, (None, offset))[1] != offsets.get(place)
        }

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
        _LOG.debug("partition %d is restored and running", owned.number)

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
            self._table.hold(
                self._messages(owned.number),
                Reason.MISSING,
                f"offset {offset} of {place.source} {place.number} does not exist",
                "set the offset of the group, or set missing_records = skip, and restart",
                offset,
            )

    # --- unreadable and invalid records -----------------------------------------------------------

    def skip_unreadable(self) -> None:
        """Skip unreadable batches, if the settings ask for it.

        Their offsets are committed with a dead letter. Records that were read before them come
        first, because their offsets are committed later.
        """

        def is_due(place: Partition) -> bool:
            owned = self._owned.get(place.number)
            if owned is None or place.source == self._topics.join_state:
                return owned is not None
            is_feedback = place.source == self._topics.feedback
            held = owned.merge.labels if is_feedback else owned.merge.messages
            return owned.state is State.RUNNING and not held

        for batch in self._unreadable.take_skipped(is_due):
            self._skip(batch)

    def _skip(self, batch: Unreadable) -> None:
        place, first, after, why = batch
        owned = self._owned[place.number]
        reader = self._reader(place)
        after = min(after, max(first + 1, reader.log_ends([place])[place]))
        text = f"offsets {first} to {after - 1} are unreadable and skipped: {why}"
        _LOG.error("%s %d: %s", *place, text)
        reader.seek(place, after)
        self._missing[place] = self._missing.get(place, 0) + after - first
        if place.source == self._topics.join_state:
            return
        committed = owned.messages if place.source == self._topics.messages else owned.feedback
        self._starts[place] = after, committed
        if place.source == self._topics.messages:
            owned.messages = after
        else:
            owned.feedback = after
        self._skipped.append(DeadLetter.unreadable(place, first, after, text))

    def block(self, place: Partition, why: str) -> None:
        """Stop reading a partition with too many invalid records for some minutes."""
        owned = self._owned.get(place.number)
        if owned is None or owned.state is not State.RUNNING or place in self._invalid:
            return
        if owned.parked:
            return  # it is read again soon, and then blocked
        reader = self._reader(place)
        offset = reader.position(place)
        reader.stop(place)
        self._invalid[place] = time.monotonic() + _INVALID, offset
        self._table.hold(
            place,
            Reason.INVALID,
            why,
            f"find out what writes them (streamnb-dead-letters lists them); the partition is read "
            f"again after {_INVALID:.0f} s, or with circuit_breaker_ratio = 1 after a restart",
            offset,
        )

    def _read_again(self) -> None:
        """Read partitions with too many invalid records again after some minutes."""
        for place, (until, offset) in list(self._invalid.items()):
            if time.monotonic() >= until:
                del self._invalid[place]
                self._reader(place).seek(place, offset)
                self._table.free(place, Reason.INVALID)

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
            moved = self._moved(running, offsets)
            for number in moved:
                _LOG.warning("another worker has advanced partition %d, resetting it", number)
                self._begin(number)
                self._dropped.add(number)
            if moved:
                self.assign()
                return False
        self._confirmed = membership.generation
        return True
