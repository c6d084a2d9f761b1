"""The partitions of the messages that a worker was given: where to go on, and their windows.

A partition is new, then its window is restored from its log while its messages wait, then it runs.
What another worker may have done with it meanwhile is looked for at each change of generation.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable, Iterable

from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.ownership import Owned, State
from streamnb_consumers.kafka.protocols import Member, Membership, Reader
from streamnb_consumers.records import Partition, Record

__all__ = ["Partitions"]

_LOG = logging.getLogger(__name__)

# So long a poll waits for the committed offsets of a partition that is new, which an open
# transaction of the owner before may hold; and for those of what runs, which it committed itself.
# Seconds.
_NEW_SECONDS = 0.1
_RUNNING_SECONDS = 1.0


class Partitions:
    """What a worker was given, by partition number.

    Parameters
    ----------
    topics
        Those of the filter.
    side
        What reads training events, windows and feedback.
    group
        The member of the group that shares out the messages.
    undecided
        Seconds after which no transaction that holds offsets can still be open.
    """

    def __init__(self, topics: Topics, side: Reader, group: Member, undecided: float) -> None:
        self._topics, self._side, self._group = topics, side, group
        self._undecided = undecided
        self._owned: dict[int, Owned] = {}
        self._dropped: set[int] = set()
        self._confirmed: Hashable = None
        self._training = side.partitions(topics.training)

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
        """What those wait for that do not run yet; empty if all run."""
        new, behind = self._in(State.NEW), self._in(State.RESTORING)
        if new:
            return f"the offsets of partitions {new} are not known or not decided"
        return f"the windows of partitions {behind} are being restored" if behind else ""

    def _in(self, state: State) -> list[int]:
        return sorted(n for n, owned in self._owned.items() if owned.state is state)

    def take_dropped(self) -> frozenset[int]:
        """Return the numbers of partitions whose windows are forgotten since the last call."""
        dropped, self._dropped = frozenset(self._dropped), set()
        return dropped

    # --- from the group to running --------------------------------------------------------------

    def given(self, numbers: Iterable[int]) -> None:
        """Begin with what the group gives, which is paused until its window is restored."""
        for number in numbers:
            self._owned[number] = Owned(number)

    def taken(self, numbers: Iterable[int]) -> None:
        """Forget what the group takes.

        The batch before this poll is committed, so there is nothing of these to finish.
        """
        for number in numbers:
            self._owned.pop(number, None)
            self._dropped.add(number)
        self.assign()

    def _begin(self, number: int) -> None:
        self._owned[number] = Owned(number)
        self._group.pause(self._messages(number))  # until its window is restored

    def begin_all(self) -> None:
        """Begin anew with all partitions: what was given last was not committed."""
        for number in self._owned:
            self._begin(number)

    def assign(self) -> None:
        """Read all training events, the windows being restored, and the feedback of what runs."""
        places = list(self._training)
        for number, owned in self._owned.items():
            if owned.state is State.RESTORING:
                places.append(self._window(number))
            elif owned.state is State.RUNNING and self._topics.feedback:
                places.append(self._feedback(number))
        self._side.assign(places)

    def go_on(self) -> None:
        """Take each partition that does not run one step further."""
        for owned in list(self._owned.values()):
            if owned.state is State.NEW:
                self._restore(owned)
            elif owned.state is State.RESTORING:
                self._run(owned)

    def _committed(self, numbers: Iterable[int], timeout: float) -> dict[Partition, int] | None:
        """Return what the group committed of messages and feedback; None: not known in time."""
        topics = [self._messages, *([self._feedback] if self._topics.feedback else [])]
        places = [place(number) for number in numbers for place in topics]
        found = self._group.committed(places, timeout)
        return None if found is None else {place: each.offset for place, each in found.items()}

    def _restore(self, owned: Owned) -> None:
        """Begin with a partition: find where to go on, and read its window from its log.

        Offsets in a transaction that is not finished are waited for, so nobody can commit for this
        partition any more but its owner. What is in the window's log by then is its whole state.
        """
        number = owned.number
        offsets = self._committed([number], _NEW_SECONDS)
        if offsets is None:
            self._tell(owned)
            return  # not yet; the next poll asks again
        owned.messages = offsets.get(self._messages(number))
        owned.feedback = offsets.get(self._feedback(number))
        if owned.messages is None:
            self._group.restart(self._messages(number))
        else:
            self._group.seek(self._messages(number), owned.messages)
        place = self._window(number)
        owned.window = self._side.log_ends([place])[place]  # behind unfinished transactions too
        owned.state = State.RESTORING
        self.assign()
        self._seek_side(place, None)
        self._dropped.add(number)

    def _tell(self, owned: Owned) -> None:
        """Say once what may be wrong where offsets are not known for longer than is right."""
        waited = time.monotonic() - owned.since
        if waited < self._undecided or owned.told:
            return
        owned.told = True
        _LOG.warning(
            "the offsets of partition %d are undecided for %.0f s, longer than a transaction of "
            "this group may take: a broker that is alone and was killed may have left one without "
            "its end; `kafka-transactions.sh find-hanging` shows it and `abort` ends it "
            "(docs/how-to/recover-transactions.md)",
            owned.number,
            waited,
        )

    def _run(self, owned: Owned) -> None:
        """Go on with messages and feedback if the window is restored."""
        if self._side.position(self._window(owned.number)) < owned.window:
            return
        owned.state = State.RUNNING
        self.assign()
        if self._topics.feedback:
            self._seek_side(self._feedback(owned.number), owned.feedback)
        self._group.resume(self._messages(owned.number))
        _LOG.info("partition %d is restored and runs", owned.number)

    def _seek_side(self, place: Partition, offset: int | None) -> None:
        first = self._side.firsts([place])[place]
        if offset is not None and offset < first:
            _LOG.error("%s: records %d to %d were deleted unread", place, offset, first)
        self._side.seek(place, max(offset or 0, first))

    # --- changes of generation ------------------------------------------------------------------

    def confirm(self, membership: Membership) -> bool:
        """Tell whether what runs is where the group left it, as far as this worker knows.

        A worker may lose a partition and have it again without being told: another one has then
        gone on with it, and this one's position and window are those of before. So at each change
        of generation the committed offsets are asked for, before anything is given under it.
        Where they are not those that this worker committed, the partition begins anew.
        """
        if membership.generation == self._confirmed:
            return True
        running = self._running()
        if running:
            offsets = self._committed([owned.number for owned in running], _RUNNING_SECONDS)
            if offsets is None:
                return False  # not known yet; the next poll asks again
            moved = [
                owned.number
                for owned in running
                if owned.messages != offsets.get(self._messages(owned.number))
                or owned.feedback != offsets.get(self._feedback(owned.number))
            ]
            for number in moved:
                _LOG.warning("partition %d was another worker's meanwhile: begun anew", number)
                self._begin(number)
                self._dropped.add(number)
            if moved:
                self.assign()
                return False
        self._confirmed = membership.generation
        return True

    # --- what is given --------------------------------------------------------------------------

    def give(self, messages: Iterable[Record]) -> None:
        """Note messages as given, which are committed before the next poll."""
        for record in messages:
            self._owned[record.partition.number].messages = record.offset + 1

    def hold(self, feedback: Iterable[Record]) -> None:
        """Keep feedback until the messages that are there now were given."""
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
        """Return the feedback whose messages were given, of all partitions."""
        released: list[Record] = []
        for owned in self._owned.values():
            if owned.held:
                found = owned.release(self._group.position(self._messages(owned.number)))
                if found:
                    owned.feedback = found[-1].offset + 1
                    self._side.resume(self._feedback(owned.number))
                released += found
        return released

    def feedback_offsets(self) -> dict[Partition, int]:
        """Return how far the feedback of what runs was given."""
        return {
            Partition(self._topics.feedback, owned.number): owned.feedback
            for owned in self._running()
            if owned.feedback is not None
        }
