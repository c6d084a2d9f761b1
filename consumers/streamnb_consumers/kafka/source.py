"""Kafka source and training log of a worker.

The consumer group distributes the partitions of the messages and their feedback (`partitions`).
Each worker reads the whole training log. The owner of a partition reads its join state before the
first message.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Mapping

from streamnb_consumers.errors import AbortedError, SettingsError
from streamnb_consumers.io.protocols import Batch, WindowMark
from streamnb_consumers.kafka.contract import READ, WRITE
from streamnb_consumers.kafka.partitions import Partitions
from streamnb_consumers.kafka.protocols import Member, Reader, Roles
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.kafka.training_log import STEP, TrainingSource
from streamnb_consumers.records import Partition, Record

# Maximum wait of a new member for its assignment, in seconds. A standby gets none.
_ASSIGNMENT = 3.0


class KafkaSource(TrainingSource):
    """Records for one worker, in processing order.

    A batch has training events, join-state changes, messages and feedback, in this order.

    Parameters
    ----------
    driver, cluster, topics, timeout, ids
        See `TrainingSource`.
    """

    _group: Member
    _partitions: Partitions
    _written: list[Partition]  # partitions of the outputs that it does not read

    _member = False
    _since = 0.0  # when it became a member

    @property
    def waiting(self) -> str:
        """Reason why no messages are delivered yet, or an empty string."""
        if reason := super().waiting:
            return reason
        if not self._member:
            return "this worker is not a member of the group yet"
        # A member without partitions is a standby. Its assignment follows its membership.
        if not self._partitions.is_assigned and time.monotonic() < self._since + _ASSIGNMENT:
            return "the group has not assigned partitions to this worker yet"
        return self._partitions.waiting

    def _let_go(self, seconds: float = 1.0) -> None:
        self._member = False
        super()._let_go(seconds)

    def _clients(self) -> Iterable[Reader]:
        return self._group, self._side

    def _assign(self, training: Collection[Partition]) -> None:
        self._partitions.begin_all()
        self.partitions = len(self._side.partitions(self._topics.messages)) or self.partitions
        self._partitions.assign()

    def _connect(self, timeout: float) -> None:
        topics = self._topics
        roles: Roles = {topics.training: "training", topics.join_state: "window"}
        if topics.feedback:
            roles = {**roles, topics.feedback: "feedback"}
        side, count = self._open_equal(roles, timeout)
        try:
            # The interval between two polls includes a commit and possibly a snapshot.
            group = self._driver.member(max(300.0, 4 * self._timeout))
        except BaseException:
            side.close(1.0)
            raise
        self._side, self._group = side, group
        self._contract.check()
        written = (topics.decisions, topics.dead_letters, topics.questions)
        self._written = [place for each in written if each for place in side.partitions(each)]
        self._partitions = Partitions(
            *(topics, side, group, self._cluster, self._ids, self.table, self._unreadable, count)
        )
        self._partitions.delivery.join, self._partitions.windows = self.join, self.windows

    def _open_equal(self, roles: Roles, timeout: float) -> tuple[Reader, int]:
        """Return a reader, once the topics have equal numbers of partitions, and this number.

        While partitions are being added, it waits with one client after another: kafka-python keeps
        the numbers that it knows for `metadata_seconds`.
        """
        messages, deadline = self._topics.messages, time.monotonic() + timeout
        while True:
            side, counts = self._open_side(roles, [messages, *roles], timeout)
            needed = (self._topics.join_state, self._topics.feedback)
            wrong = [name for name in needed if name and counts[name] != counts[messages]]
            if not wrong:
                return side, counts[messages]
            side.close(1.0)
            if time.monotonic() > deadline:
                raise SettingsError(
                    f"{wrong[0]} has {counts[wrong[0]]} partitions and {messages} has "
                    f"{counts[messages]}, but the numbers must be equal: create {wrong[0]} "
                    f"with {counts[messages]} partitions"
                )
            time.sleep(0.5)

    def _more(self, logs: list[Record], max_records: int, timeout: float) -> Batch:
        if not self._group.joined:
            check_topics(self._group, [self._topics.messages], self._timeout)
            self._group.join(self._topics.messages, self._partitions.given, self._partitions.taken)
        partitions, delivery = self._partitions, self._partitions.delivery
        # Each step below may move partitions to another worker, or skip the records that follow.
        delivery.receive(record for record in logs if record.role == "feedback")
        training = [record for record in logs if record.role == "training"]
        changes = (record for record in logs if record.role == "window")
        windows = [record for record in changes if not partitions.note(record)]
        partitions.go_on()
        partitions.skip_unreadable()
        self._check_cluster()
        records = training + windows
        most = max(1, max_records - len(records))
        patience = 0.0 if logs or delivery.starved else timeout
        delivery.receive(self._group.poll(max(1, most - delivery.waiting_messages), patience))
        self._unreadable.note(self._group)
        membership = self._group.membership()
        if membership is not None and not self._member:
            self._since = time.monotonic()
        self._member = membership is not None
        if membership is None or not partitions.confirm(membership):
            return partitions.batch(records, None)
        return partitions.batch(records + delivery.release(most), membership)

    def _needs(self) -> dict[str, set[str]]:
        topics, needs = self._topics, dict[str, set[str]]()
        outputs = (topics.decisions, topics.dead_letters, topics.questions)
        inputs = (topics.messages, topics.feedback, topics.training, topics.join_state)
        for name in filter(None, inputs):
            needs.setdefault(name, set()).update(READ)
        for name in filter(None, (*outputs, topics.training, topics.join_state)):
            if not self._cluster.reads_only:
                needs.setdefault(name, set()).update(WRITE)
        return needs

    def _places(self) -> list[Partition]:
        return [*super()._places(), *self._partitions.places(), *self._written]

    def block(self, place: Partition, why: str) -> None:
        """Stop reading a partition with too many invalid records for some minutes."""
        self._partitions.block(place, why)

    def window_marks(self) -> Mapping[int, WindowMark]:
        """Return how far the join windows follow their logs; empty during an outage."""
        with contextlib.suppress(AbortedError):
            return self._partitions.marks() if self._open else {}
        return {}

    def _positions(self) -> dict[Partition, int]:
        return super()._positions() | self._partitions.positions()

    @property
    def _patience(self) -> float:
        return STEP if self._partitions.delivery.starved else 0.0
