"""Kafka as a source: a group shares messages out; each worker reads the logs of filters besides.

Messages (and their feedback) are shared out by partition (`partitions`). The log of training events
is read whole by every worker. The log of windows is read by whoever is given a partition, before
its first message.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from streamnb_consumers.errors import SettingsError, SnapshotError
from streamnb_consumers.kafka import consumer_workarounds
from streamnb_consumers.kafka.client import client_settings, translated
from streamnb_consumers.kafka.client_errors import CooperativeStickyAssignor, close_quietly, kafka
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.partitions import REQUEST_SECONDS, Partitions
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.ports.protocols import Batch
from streamnb_consumers.records import Partition, Record, Role

__all__ = ["KafkaSource"]

_LOG = logging.getLogger(__name__)

# A wait for messages is cut into steps, so that feedback and training events that come meanwhile
# are seen. Seconds.
_STEP = 0.02
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
        self._training_ends: dict[Any, int] | None = None
        self._recommit = time.monotonic() + _RECOMMIT
        self._member = False
        self._side: Any = None
        self._group: Any = None
        self._partitions: Any = None

    @property
    def ended(self) -> bool:
        """A topic never ends."""
        return False

    @property
    def waiting(self) -> str:
        """What is missing before messages are given; empty if nothing is."""
        if self._training_ends is None or self._training_ends:
            return "the training events are being read"
        if not self._member or not self._partitions.asked:
            return "the group has not taken this worker in"
        behind = self._partitions.behind
        return f"the windows of partitions {behind} are being restored" if behind else ""

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
            self._partitions.begin_all()
            training = self._partitions.of(self._topics.training)
            self._partitions.assign()
            first = self._side.beginning_offsets(training, timeout_ms=REQUEST_SECONDS * 1000)
            ends = self._side.end_offsets(training, timeout_ms=REQUEST_SECONDS * 1000)
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
        self._partitions = Partitions(self._topics, side, group)

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
            self._group.subscribe([self._topics.messages], listener=self._partitions.listener())
        self._partitions.go_on()
        self._partitions.hold(self._feedback(logs))
        room = max(1, max_records - len(training) - len(windows))
        polled = self._group.poll(timeout_ms=0 if logs else timeout * 1000, max_records=room)
        membership = consumer_workarounds.membership(self._group)
        self._member = membership is not None
        if membership is None or not self._partitions.confirm(membership):
            # What was polled belongs to nobody now: it is read again when that is known.
            for place, records in polled.items():
                if place in self._group.assignment():
                    self._group.seek(place, records[0].offset)
            return self._batch([*training, *windows], None)
        messages = self._records(polled, self._topics.messages, "message")
        self._partitions.give(messages)
        feedback = self._partitions.release()
        return self._batch([*training, *windows, *messages, *feedback], membership)

    def _at_ends(self) -> bool:
        """Tell whether the training events of the start were read: before, nothing is decided."""
        ends = self._training_ends or {}
        for place in [place for place, end in ends.items() if self._side.position(place) >= end]:
            del ends[place]
        return not ends

    def _feedback(self, logs: Mapping[Any, list[Any]]) -> dict[int, list[Record]]:
        """Return the feedback among what was read, by partition number."""
        topic = self._topics.feedback
        return {
            place.partition: self._records({place: found}, topic, "feedback")
            for place, found in logs.items()
            if place.topic == topic
        }

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
        offsets: dict[Partition, int] = {}
        if membership is not None and time.monotonic() >= self._recommit:
            self._recommit = time.monotonic() + _RECOMMIT
            offsets = self._partitions.feedback_offsets()
        return Batch(records, membership, self._partitions.take_dropped(), offsets)

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
