"""Kafka source and training log of a worker.

The consumer group distributes the partitions of the messages and their feedback (`partitions`).
Each worker reads the whole training log. The owner of a partition reads its join state before the
first message.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from streamnb_consumers.errors import SettingsError
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.kafka.contract import READ, WRITE
from streamnb_consumers.kafka.partitions import Partitions
from streamnb_consumers.kafka.protocols import Member, Reader, Roles
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.kafka.training_log import STEP, TrainingSource
from streamnb_consumers.records import Partition, Record


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

    @property
    def waiting(self) -> str:
        """Reason why no messages are delivered yet, or an empty string."""
        if reason := super().waiting:
            return reason
        if not self._member:  # a member without partitions is a standby
            return "this worker is not a member of the group yet"
        return self._partitions.waiting

    def _let_go(self) -> None:
        self._member = False
        super()._let_go()

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
        side = self._open_equal(roles, timeout)
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
            *(topics, side, group, self._cluster, self._ids, self.table, self._unreadable)
        )
        self._partitions.join = self.join

    def _open_equal(self, roles: Roles, timeout: float) -> Reader:
        """Return a reader, once the topics have equal numbers of partitions.

        While partitions are being added, it waits with one client after another: kafka-python keeps
        the numbers that it knows for `metadata_seconds`.
        """
        messages, deadline = self._topics.messages, time.monotonic() + timeout
        while True:
            side, counts = self._open_side(roles, [messages, *roles], timeout)
            needed = (self._topics.join_state, self._topics.feedback)
            wrong = [name for name in needed if name and counts[name] != counts[messages]]
            if not wrong:
                return side
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
        training = [record for record in logs if record.role == "training"]
        changes = (record for record in logs if record.role == "window")
        windows = [record for record in changes if not self._partitions.note(record)]
        self._partitions.go_on()
        self._partitions.skip_unreadable()
        self._check_cluster(is_idle=not logs)
        records, partitions = training + windows, self._partitions
        most = max(1, max_records - len(records))
        # The next poll may move partitions to another worker.
        partitions.receive(record for record in logs if record.role == "feedback")
        patience = 0.0 if logs or partitions.starved else timeout
        partitions.receive(self._group.poll(max(1, most - partitions.waiting_messages), patience))
        self._unreadable.note(self._group)
        membership = self._group.membership()
        self._member = membership is not None
        if membership is None or not partitions.confirm(membership):
            return partitions.batch(records, None)
        return partitions.batch(records + partitions.release(most), membership)

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

    def _positions(self) -> dict[Partition, int]:
        return super()._positions() | self._partitions.positions()

    @property
    def _patience(self) -> float:
        return STEP if self._partitions.starved else 0.0
