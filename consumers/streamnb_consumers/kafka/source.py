"""Kafka as a source: a group shares messages out; each worker reads the logs of filters besides.

Messages (and their feedback) are shared out by partition. The log of training events is read whole
by every worker. The log of windows is read by whoever is given a partition, before its first message.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from streamnb_consumers.errors import SettingsError, SnapshotError
from streamnb_consumers.kafka import consumer_workarounds
from streamnb_consumers.kafka.client import client_settings, translated
from streamnb_consumers.kafka.client_errors import CooperativeStickyAssignor, close_quietly, kafka
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.ownership import Owned, State
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.ports.protocols import Batch
from streamnb_consumers.records import Partition, Record, Role

__all__ = ["KafkaSource"]

_LOG = logging.getLogger(__name__)

# A wait for messages is cut into steps, so that feedback and training events that come meanwhile
# are seen. Seconds.
_STEP = 0.02
# One request to a broker that is there takes milliseconds; the next poll asks again. Seconds.
_REQUEST = 5.0
# Brokers forget what a group committed of a topic that it does not subscribe to when it is not
# committed again for a week (their `offsets.retention.minutes`): feedback is such one. Seconds.
_RECOMMIT = 3600.0


class KafkaSource:
    """Records of a worker's share of the messages, in the order in which they are handled.

    Parameters
    ----------
    cluster, topics
        Where to read.
    timeout
        Longest wait for a start, in seconds.
    """

    def __init__(self, cluster: Cluster, topics: Topics, timeout: float = 60.0) -> None:
        self._cluster, self._topics, self._timeout = cluster, topics, timeout
        self._owned: dict[int, Owned] = {}
        self._dropped: set[int] = set()
        self._training_ends: dict[Any, int] | None = None
        self._recommit = time.monotonic() + _RECOMMIT
        self._member = self._asked = False
        self._side: Any = None
        self._group: Any = None

    @property
    def ended(self) -> bool:
        """A topic never ends."""
        return False

    @property
    def waiting(self) -> str:
        """What is missing before messages are given; empty if nothing is."""
        if self._training_ends is None or self._training_ends:
            return "the training events are being read"
        if not self._member or not self._asked:
            return "the group has not taken this worker in"
        behind = [n for n, owned in self._owned.items() if owned.state is not State.RUNNING]
        return f"the windows of partitions {sorted(behind)} are being restored" if behind else ""

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read training events from these offsets, all else from those that the group committed.

        Raises
        ------
        AbortedError
            If the cluster can't be reached in time.
        SettingsError
            If a topic is not there, or the partitions of topics that belong together differ.
        """
        with translated("start"):
            if self._side is None:
                self._open(timeout)
            for number, owned in self._owned.items():
                self._group.pause(self._messages(number))
                self._owned[number] = Owned(owned.number)
            training = self._partitions(self._topics.training)
            self._assign()
            first = self._side.beginning_offsets(training, timeout_ms=_REQUEST * 1000)
            ends = self._side.end_offsets(training, timeout_ms=_REQUEST * 1000)
            for place in training:
                offset = offsets.get(Partition(*place), 0)
                if offset < first[place]:
                    raise SnapshotError(
                        f"training events {offset:,} to {first[place]:,} of {place.topic} were "
                        f"deleted before this worker read them, so its model would differ from the "
                        f"others': keep that topic for ever, or begin with a newer snapshot"
                    )
                self._side.seek(place, offset)
            self._training_ends = {
                place: end for place, end in ends.items() if offsets.get(place, 0) < end
            }
        return {}

    def _open(self, timeout: float) -> None:
        settings = client_settings(self._cluster) | {
            "enable_auto_commit": False,
            "isolation_level": "read_committed",
            "fetch_max_wait_ms": 100,  # an empty fetch holds a connection for so long
            "allow_auto_create_topics": False,
        }
        side = kafka.KafkaConsumer(**settings, auto_offset_reset="none")
        consumer_workarounds.fix_consumer(side)
        try:
            self._check_topics(side, timeout)
            group = self._join(settings)
        except BaseException:
            close_quietly(side, timeout_ms=1000)
            raise
        self._side, self._group = side, group

    def _join(self, settings: Mapping[str, Any]) -> Any:
        """Return a consumer that joins the group once it subscribes."""
        consumer = kafka.KafkaConsumer(
            **settings,
            auto_offset_reset="earliest",
            group_id=self._cluster.group,
            group_instance_id=self._cluster.instance_id,
            partition_assignment_strategy=(CooperativeStickyAssignor,),
            session_timeout_ms=round(self._cluster.session_seconds * 1000),
            heartbeat_interval_ms=round(self._cluster.session_seconds * 1000 / 4),
            # A batch may wait for a commit as long as a commit may take, and for a snapshot.
            max_poll_interval_ms=round(max(300.0, 4 * self._timeout) * 1000),
        )
        consumer_workarounds.fix_consumer(consumer)
        return consumer

    def _check_topics(self, client: Any, timeout: float) -> None:
        topics = self._topics
        used = [topics.messages, topics.training, topics.windows, topics.feedback]
        counts = check_topics(client, [name for name in used if name], timeout)
        for name in filter(None, (topics.windows, topics.feedback)):
            if counts[name] != counts[topics.messages]:
                raise SettingsError(
                    f"{name} has {counts[name]} partitions and {topics.messages} has "
                    f"{counts[topics.messages]}: they belong together, one by one, so make "
                    f"{name} with {counts[topics.messages]}"
                )

    # --- partitions -----------------------------------------------------------------------------

    def _partitions(self, topic: str) -> list[Any]:
        numbers = self._side.partitions_for_topic(topic) or ()
        return [kafka.TopicPartition(topic, number) for number in sorted(numbers)]

    def _messages(self, number: int) -> Any:
        return kafka.TopicPartition(self._topics.messages, number)

    def _feedback(self, number: int) -> Any:
        return kafka.TopicPartition(self._topics.feedback, number)

    def _window(self, number: int) -> Any:
        return kafka.TopicPartition(self._topics.windows, number)

    def _assign(self) -> None:
        """Read all training events, the windows being restored, and the feedback of what runs."""
        places = self._partitions(self._topics.training)
        for number, owned in self._owned.items():
            if owned.state is State.RESTORING:
                places.append(self._window(number))
            elif owned.state is State.RUNNING and self._topics.feedback:
                places.append(self._feedback(number))
        self._side.assign(places)

    def _given(self, places: Iterable[Any]) -> None:
        self._asked = True  # the group has given out its partitions, if none to this worker
        for place in places:
            self._owned[place.partition] = Owned(place.partition)
            self._group.pause(place)  # until its window is restored

    def _taken(self, places: Iterable[Any]) -> None:
        # The batch before this poll is committed, so there is nothing of these to finish.
        for place in places:
            self._owned.pop(place.partition, None)
            self._dropped.add(place.partition)
        self._assign()

    def _restore(self, owned: Owned) -> None:
        """Begin with a partition: find where to go on, and read its window from its log.

        Offsets in a transaction that is not finished are waited for, so nobody can commit for this
        partition any more but its owner. What is in the window's log by then is its whole state.
        """
        number = owned.number
        offsets = consumer_workarounds.committed(
            self._group,
            [self._messages(number), *([self._feedback(number)] if self._topics.feedback else [])],
            timeout=_STEP * 5,
        )
        if offsets is None:
            return  # not yet; the next poll asks again
        messages = offsets.get(self._messages(number))
        if messages is None:
            self._group.seek_to_beginning(self._messages(number))
        else:
            self._group.seek(self._messages(number), messages)
        owned.feedback = offsets.get(self._feedback(number))
        place = self._window(number)
        # Behind unfinished transactions too.
        owned.window = consumer_workarounds.log_ends(self._side, [place], _REQUEST)[place]
        owned.state = State.RESTORING
        self._assign()
        self._seek_side(place, None)
        self._dropped.add(number)

    def _run(self, owned: Owned) -> None:
        """Go on with messages and feedback if the window is restored."""
        if self._side.position(self._window(owned.number)) < owned.window:
            return
        owned.state = State.RUNNING
        self._assign()
        if self._topics.feedback:
            self._seek_side(self._feedback(owned.number), owned.feedback)
        self._group.resume(self._messages(owned.number))
        _LOG.info("partition %d is restored and runs", owned.number)

    def _seek_side(self, place: Any, offset: int | None) -> None:
        first = self._side.beginning_offsets([place], timeout_ms=_REQUEST * 1000)[place]
        if offset is not None and offset < first:
            _LOG.error("%s: records %d to %d were deleted unread", place, offset, first)
        self._side.seek(place, max(offset or 0, first))

    # --- polling --------------------------------------------------------------------------------

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return training events, changes of windows, messages and feedback, in this order."""
        deadline = time.monotonic() + timeout
        while True:
            with translated("poll"):
                batch = self._poll(max_records, min(_STEP, timeout))
            if batch.records or batch.dropped or batch.offsets or time.monotonic() >= deadline:
                return batch

    def _poll(self, max_records: int, timeout: float) -> Batch:
        logs = self._side.poll(timeout_ms=0, max_records=max_records)
        training = self._records(logs, self._topics.training, "training")
        windows = self._records(logs, self._topics.windows, "window")
        if not self._at_ends():
            if not logs:
                time.sleep(timeout / 10)
            return Batch(training)
        if not self._group.subscription():
            # A member that joins before it knows the topic's partitions may wait in a rebalance
            # that never ends.
            check_topics(self._group, [self._topics.messages], self._timeout)
            self._group.subscribe(
                [self._topics.messages],
                listener=consumer_workarounds.listener(self._given, self._taken),
            )
        for owned in list(self._owned.values()):
            if owned.state is State.NEW:
                self._restore(owned)
            elif owned.state is State.RESTORING:
                self._run(owned)
        self._hold(logs)
        room = max(1, max_records - len(training) - len(windows))
        polled = self._group.poll(timeout_ms=0 if logs else timeout * 1000, max_records=room)
        membership = consumer_workarounds.membership(self._group)
        self._member = membership is not None
        if membership is None:
            # What was polled belongs to nobody now: read it again when the group is joined.
            for place, records in polled.items():
                if place in self._group.assignment():
                    self._group.seek(place, records[0].offset)
            return self._batch([*training, *windows], None)
        messages = self._records(polled, self._topics.messages, "message")
        return self._batch([*training, *windows, *messages, *self._release()], membership)

    def _at_ends(self) -> bool:
        """Tell whether the training events of the start were read: before, nothing is decided."""
        ends = self._training_ends or {}
        for place in [place for place, end in ends.items() if self._side.position(place) >= end]:
            del ends[place]
        return not ends

    def _hold(self, logs: Mapping[Any, list[Any]]) -> None:
        feedback = {p: found for p, found in logs.items() if p.topic == self._topics.feedback}
        if not feedback:
            return
        places = [self._messages(place.partition) for place in feedback]
        ends = self._group.end_offsets(places, timeout_ms=_REQUEST * 1000)
        for place, found in feedback.items():
            records = self._records({place: found}, place.topic, "feedback")
            owned = self._owned[place.partition]
            owned.hold(records, ends[self._messages(place.partition)])
            self._side.pause(place)

    def _release(self) -> list[Record]:
        released: list[Record] = []
        for owned in self._owned.values():
            if owned.held:
                found = owned.release(self._group.position(self._messages(owned.number)))
                if found:
                    owned.feedback = found[-1].offset + 1
                    self._side.resume(self._feedback(owned.number))
                released += found
        return released

    def _records(self, polled: Mapping[Any, list[Any]], topic: str, role: Role) -> list[Record]:
        return [
            Record(
                Partition(place.topic, place.partition),
                each.offset,
                each.value,
                each.key,
                tuple(each.headers),
                each.timestamp if each.timestamp >= 0 else None,
                role,
            )
            for place, records in sorted(polled.items())
            if place.topic == topic
            for each in records
        ]

    def _batch(self, records: list[Record], membership: Any) -> Batch:
        dropped, self._dropped = frozenset(self._dropped), set()
        offsets = {}
        if membership is not None and time.monotonic() >= self._recommit:
            self._recommit = time.monotonic() + _RECOMMIT
            offsets = {
                Partition(self._topics.feedback, owned.number): owned.feedback
                for owned in self._owned.values()
                if owned.state is State.RUNNING and owned.feedback is not None
            }
        return Batch(records, membership, dropped, offsets)

    def lag(self) -> Mapping[Partition, int]:
        """Return how many records are known to wait in each partition that is read."""
        lags = {}
        for consumer in (self._side, self._group):
            if consumer is None:
                continue
            for place in consumer.assignment():
                lag = consumer_workarounds.lag(consumer, place)
                if lag is not None:
                    lags[Partition(*place)] = lag
        return lags

    def close(self, timeout: float) -> None:
        """Leave the group (a static member stays in it until its session ends) and disconnect."""
        for consumer in (self._group, self._side):
            if consumer is not None:
                close_quietly(consumer, autocommit=False, timeout_ms=timeout * 500)
