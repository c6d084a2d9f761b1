"""Kafka source and training log of a worker.

The consumer group distributes the partitions of the messages and their feedback (`partitions`).
Each worker reads the whole training log. The owner of a partition reads its join state before the
first message.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Collection, Mapping

from streamnb_consumers.errors import (
    AbortedError,
    LostClientError,
    SettingsError,
    TruncatedError,
    UnreachableError,
)
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.kafka.cluster import TopicLayout, Topics
from streamnb_consumers.kafka.partitions import Partitions
from streamnb_consumers.kafka.protocols import Driver, Member, Membership, Reader, Roles
from streamnb_consumers.kafka.topics import TopicIds, check_topics
from streamnb_consumers.records import Partition, Record

__all__ = ["KafkaSource"]

_LOG = logging.getLogger(__name__)

# A wait for messages consists of steps of this length, in seconds. New feedback and training events
# are read in between.
_STEP = 0.02
# Interval for committing the feedback offsets again, in seconds. Brokers delete the offsets of
# topics without subscription after `offsets.retention.minutes` (default: a week), and the group
# does not subscribe to the feedback.
_RECOMMIT = 3600.0
# Interval of requests that detect unreachable brokers, in seconds. An idle client may need minutes
# to notice.
_ASK = 1.0
# Interval of comparisons of topic ids, in seconds. A topic that is created again is read from an
# outdated offset until the next one.
_IDS = 5.0
# Time without a response until the clients are replaced, in seconds. librdkafka 2.16 may drop a
# single broker that was restarted and never look for it again, regardless of
# `metadata.recovery.strategy`.
_RENEW = 60.0


class KafkaSource:
    """Records for one worker, in processing order.

    Parameters
    ----------
    driver, topics, ids
        Kafka client driver, topics of the filter, and their ids.
    timeout
        Maximum wait for the topics at the start, in seconds.
    undecided, name, skip_missing
        See `Partitions`.
    layouts
        Topics to create if they are missing.
    """

    _side: Reader
    _group: Member
    _partitions: Partitions

    def __init__(
        self,
        driver: Driver,
        topics: Topics,
        timeout: float,
        undecided: float,
        name: str,
        ids: TopicIds,
        skip_missing: bool,
        layouts: Collection[TopicLayout] = (),
    ) -> None:
        self._driver, self._topics, self._timeout = driver, topics, timeout
        self._undecided, self._name, self._ids = undecided, name, ids
        self._skip_missing = skip_missing
        self._layouts = layouts
        self._training_ends: dict[Partition, int] | None = None
        self._recommit = time.monotonic() + _RECOMMIT
        self._ask = 0.0
        self._away: float | None = None  # start of the current outage
        self._member = self._open = False

    @property
    def ended(self) -> bool:
        """Always False: a topic never ends."""
        return False

    @property
    def waiting(self) -> str:
        """Reason why no messages are delivered yet, or an empty string."""
        if self._training_ends is None or self._training_ends:
            return "the training events are being read"
        if not self._member:  # a member without partitions is a standby
            return "this worker is not a member of the group yet"
        return self._partitions.waiting

    def identity(self, timeout: float) -> str:
        """Create missing topics if the settings ask for it, and return the id of the training log.

        Raises
        ------
        SettingsError
            If the topic does not exist.
        """
        if self._layouts:
            self._driver.create_topics(self._layouts, timeout)
            self._layouts = ()
        topic, deadline = self._topics.training, time.monotonic() + timeout
        self._ids.compare()
        while topic not in self._ids.found:
            if time.monotonic() > deadline:
                raise SettingsError(f"topic not found: {topic}. Create it or set create_topics")
            time.sleep(0.1)
            self._ids.compare()
        return self._ids.found[topic]

    def truncate(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the training events before the given offsets."""
        mine = {place: at for place, at in offsets.items() if place.source == self._topics.training}
        self._driver.delete_records(mine, timeout)

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read training events from the given offsets and other topics from the committed offsets.

        Raises
        ------
        AbortedError
            If the cluster does not answer in time.
        TruncatedError
            If training events were deleted before this worker read them.
        SettingsError
            If a topic does not exist or related topics have different numbers of partitions.
        """
        try:
            self._begin(offsets, timeout)
        except UnreachableError:
            self._renew()
            raise
        except LostClientError as error:
            self._lose(error)
            raise
        self._away = None
        return {}

    def _renew(self) -> None:
        """Drop the clients if the cluster has not answered for too long."""
        now = time.monotonic()
        self._away = now if self._away is None else self._away
        if self._open and now >= self._away + _RENEW:
            _LOG.warning("no answer from the cluster for %.0f s, reconnecting", now - self._away)
            self._let_go()

    def _lose(self, error: LostClientError) -> None:
        """Drop the clients after a permanent failure of one of them."""
        if self._open:
            _LOG.warning("reconnecting: %s", error)
            self._let_go()

    def _let_go(self) -> None:
        """Close the clients. The next start creates new ones."""
        self._open = self._member = False
        self._away = None
        self._driver.renew()
        for each in (self._group, self._side):
            with contextlib.suppress(AbortedError):
                each.close(1.0)

    def _begin(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        if not self._open:
            self._connect(timeout)
        self._ids.compare(_IDS)
        self._partitions.begin_all()
        training = self._side.partitions(self._topics.training)
        self._partitions.assign()
        first, ends = self._side.firsts(training), self._side.stable_ends(training)
        for place in training:
            offset = offsets.get(place, 0)
            if offset < first[place]:
                raise TruncatedError(
                    f"training events {offset:,} to {first[place]:,} of {place.source} were "
                    f"deleted before this worker read them, so its model would be incomplete: "
                    f"start from a newer snapshot (shared_snapshots), or set unlimited "
                    f"retention for that topic"
                )
            self._side.seek(place, offset)
        self._training_ends = {
            place: end for place, end in ends.items() if offsets.get(place, 0) < end
        }

    def _connect(self, timeout: float) -> None:
        topics = self._topics
        roles: Roles = {topics.training: "training", topics.join_state: "window"}
        if topics.feedback:
            roles = {**roles, topics.feedback: "feedback"}
        side = self._driver.reader(roles)
        try:
            self._check_topics(side, timeout)
            # The interval between two polls includes a commit and possibly a snapshot.
            group = self._driver.member({}, max(300.0, 4 * self._timeout))
        except BaseException:
            side.close(1.0)
            raise
        self._side, self._group = side, group
        self._partitions = Partitions(
            topics, side, group, self._undecided, self._name, self._ids, self._skip_missing
        )
        self._open = True

    def _check_topics(self, reader: Reader, timeout: float) -> None:
        topics = self._topics
        used = [topics.messages, topics.training, topics.join_state, topics.feedback]
        counts = check_topics(reader, [name for name in used if name], timeout)
        for name in filter(None, (topics.join_state, topics.feedback)):
            if counts[name] != counts[topics.messages]:
                raise SettingsError(
                    f"{name} has {counts[name]} partitions and {topics.messages} has "
                    f"{counts[topics.messages]}, but the numbers must be equal: create {name} "
                    f"with {counts[topics.messages]} partitions"
                )

    # --- polling ----------------------------------------------------------------------------------

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return training events, join-state changes, messages and feedback, in this order.

        The wait ends with the first record or with a change of `waiting`. Otherwise each step of a
        start would take a whole poll.
        """
        deadline, missing = time.monotonic() + timeout, self.waiting
        while True:
            try:
                batch = self._poll(max_records, min(_STEP, timeout))
            except LostClientError as error:
                self._lose(error)
                raise
            came = batch.records or batch.dropped or batch.offsets or self.waiting != missing
            if came or time.monotonic() >= deadline:
                return batch

    def _poll(self, max_records: int, timeout: float) -> Batch:
        logs = self._side.poll(max_records, 0.0)
        training = [record for record in logs if record.role == "training"]
        if not self._at_ends():
            if not logs:
                time.sleep(timeout / 10)
            return Batch(training)
        if not self._group.joined:
            check_topics(self._group, [self._topics.messages], self._timeout)
            self._group.join(self._topics.messages, self._partitions.given, self._partitions.taken)
        windows = [
            record
            for record in logs
            if record.role == "window" and not self._partitions.note(record)
        ]
        self._partitions.go_on()
        if time.monotonic() >= self._ask:
            self._side.stable_ends(self._side.partitions(self._topics.training))
            self._ids.confirm(_IDS)
            self._ask = time.monotonic() + _ASK
        self._partitions.hold(record for record in logs if record.role == "feedback")
        records = training + windows
        messages = self._group.poll(max(1, max_records - len(records)), 0.0 if logs else timeout)
        membership = self._group.membership()
        self._member = membership is not None
        if membership is None or not self._partitions.confirm(membership):
            # The membership is not confirmed, so read these records again later.
            self._partitions.give_back(messages)
            return self._batch(records, None)
        self._partitions.give(messages)
        return self._batch([*records, *messages, *self._partitions.release()], membership)

    def _at_ends(self) -> bool:
        """Return whether all training events from before the start were read."""
        ends = self._training_ends or {}
        for place in [place for place, end in ends.items() if self._side.position(place) >= end]:
            del ends[place]
        return not ends

    def _batch(self, records: list[Record], membership: Membership | None) -> Batch:
        offsets: dict[Partition, int] = {}
        if membership is not None and time.monotonic() >= self._recommit:
            self._recommit = time.monotonic() + _RECOMMIT
            offsets = self._partitions.feedback_offsets()
        token, dropped = membership and membership.token, self._partitions.take_dropped()
        if membership is not None:
            offsets |= self._partitions.take_starts()
        return Batch(records, token, dropped, offsets, self._partitions.take_missing())

    def lag(self) -> Mapping[Partition, int]:
        """Return the known lag of each assigned partition, in records."""
        if not self._open:
            return {}
        return {**self._side.lag(), **self._group.lag(), **self._partitions.lag()}

    def close(self, timeout: float) -> None:
        """Disconnect; a static member stays in the group until its session ends."""
        if self._open:
            self._group.close(timeout / 2)
            self._side.close(timeout / 2)
