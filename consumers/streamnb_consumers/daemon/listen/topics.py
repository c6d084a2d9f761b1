"""Requests to a listener on Kafka: it follows the training log, and writes to the input topics.

The group's workers decide on the messages again, join them with their labels and train. So labels
by id find their messages, and each acknowledged label is learned exactly once.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping

from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
from streamnb_consumers.daemon.listen.requests import PLACE, Requests
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import AbortedError, SettingsError
from streamnb_consumers.io.protocols import Batch
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.contract import READ, WRITE
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.topics import TopicIds
from streamnb_consumers.kafka.training_log import TrainingSource
from streamnb_consumers.records import DeadLetter, Outputs, Partition, Record

_LOG = logging.getLogger(__name__)
_AWAY = "the Kafka cluster does not answer: try again later"


def open_topics(
    kind: str, settings: Settings, requests: Requests, environment: Mapping[str, str]
) -> tuple[FollowingSource, TopicSink]:
    """Return the source, which is the training log too, and the sink of a listener.

    Raises
    ------
    SettingsError
        If there is no feedback topic.
    """
    cluster, topics = make_cluster(kind, settings, environment), make_topics(kind, settings)
    if not topics.feedback:
        raise SettingsError("feedback_topic is empty: listen writes labels to it, so set a topic")
    # A worker with the same settings would otherwise be fenced.
    name = f"{cluster.transactional_id}-listen"
    cluster = dataclasses.replace(cluster, transactional_id=name)
    driver = open_driver(cluster)
    source = FollowingSource(driver, cluster, topics, settings.commit_seconds, requests)
    return source, TopicSink(driver, cluster, topics, settings.commit_seconds, requests)


class FollowingSource(TrainingSource):
    """Training events, and after them requests.

    Parameters
    ----------
    driver, cluster, topics, timeout
        See `TrainingSource`.
    requests
        Requests of clients.
    """

    def __init__(
        self, driver: Driver, cluster: Cluster, topics: Topics, timeout: float, requests: Requests
    ) -> None:
        super().__init__(driver, cluster, topics, timeout, TopicIds(driver, topics))
        self._requests = requests
        requests.close(_AWAY)

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read training events from the given offsets; accept requests from now on."""
        found = super().start(offsets, timeout)
        self._requests.open()
        return found

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return training events and requests; refuse requests from the start of an outage on."""
        try:
            return super().poll(max_records, timeout)
        except AbortedError:
            self._requests.close(_AWAY)
            raise

    def _connect(self, timeout: float) -> None:
        topics = self._topics
        names = [topics.messages, topics.feedback, topics.training]
        self._side, _ = self._open_side({topics.training: "training"}, names, timeout)
        self._contract.check()

    def _needs(self) -> dict[str, tuple[str, ...]]:
        topics = self._topics
        return {topics.training: READ, topics.messages: WRITE, topics.feedback: WRITE}

    def _more(self, logs: list[Record], max_records: int, timeout: float) -> Batch:
        self._check_cluster()
        most = max(1, max_records - len(logs))
        return Batch(logs + self._requests.take(most, 0.0 if logs else timeout, 0))

    def lag(self) -> Mapping[Partition, int]:
        """Return the lag of the training log, and the number of waiting requests."""
        return {**super().lag(), PLACE: self._requests.waiting}

    def close(self, timeout: float) -> None:
        """Refuse the requests that wait, and disconnect."""
        self._requests.close("the filter stops: try again later")
        super().close(timeout)


class TopicSink(KafkaSink):
    """Write messages and labels of clients in transactions, then answer.

    Parameters
    ----------
    driver, cluster, topics, timeout
        See `KafkaSink`.
    requests
        Requests of clients.
    """

    def __init__(
        self, driver: Driver, cluster: Cluster, topics: Topics, timeout: float, requests: Requests
    ) -> None:
        super().__init__(driver, cluster, topics, timeout)
        self._requests, self._outputs = requests, Outputs()
        self._written = (topics.messages, topics.feedback)

    def send(self, outputs: Outputs) -> None:
        """Keep the decisions and errors of a batch until it is committed."""
        self._outputs = outputs

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Commit the batch to the topics of messages and feedback, then answer it."""
        outputs, self._outputs = self._outputs, Outputs()
        try:
            self._write(outputs, timeout)
        except AbortedError:
            self._requests.close(_AWAY)
            raise
        self._requests.answer(outputs, accepted=True)

    def _write(self, outputs: Outputs, timeout: float) -> None:
        with self._own_fence():
            self._open()
            if written := self._encode(outputs):
                writer = self._begin()
                writer.write(written)
                writer.commit({}, None, timeout)
                self._end()

    def _encode(self, outputs: Outputs) -> list[Written]:
        """Return the records of the batch; too large labels become dead letters of the outputs."""
        refused = {each.record.offset for each in outputs.dead_letters}
        written = []
        for record, *_ in self._requests.batch:
            if record.offset in refused:
                continue
            topic = self._topics.feedback if record.role == "feedback" else self._topics.messages
            headers = [each for each in record.headers if each[0] != "explain"]
            found = Written(topic, None, record.key, record.value, headers)
            if found.size <= self._limits[topic]:
                written.append(found)
                continue
            why = (
                f"the record has {found.size:,} bytes, but max.message.bytes of {topic} allows "
                f"{self._limits[topic]:,}"
            )
            _LOG.error("%s", why)
            if record.role == "feedback":
                outputs.dead_letters.append(DeadLetter(record, why))
        return written
