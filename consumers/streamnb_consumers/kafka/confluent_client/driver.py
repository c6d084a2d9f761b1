"""Kafka driver that uses confluent-kafka."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import confluent_kafka
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, OffsetSpec, ResourceType

from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster, TopicLayout
from streamnb_consumers.kafka.confluent_client.client import LOGGER, client_settings, translated
from streamnb_consumers.kafka.confluent_client.member import ConfluentMember
from streamnb_consumers.kafka.confluent_client.producer import ConfluentProducer
from streamnb_consumers.kafka.confluent_client.reader import ConfluentReader, offsets_of
from streamnb_consumers.kafka.protocols import BATCH_BYTES, Roles, TopicFacts
from streamnb_consumers.records import Partition

_ERRORS = confluent_kafka.KafkaError
# Timeout of one request, in seconds. An available broker answers within milliseconds.
_REQUEST = 10.0


class ConfluentDriver:
    """Factory for the confluent-kafka clients of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._opened: Any = None

    @property
    def _admin(self) -> Any:
        if self._opened is None:
            self._opened = AdminClient(client_settings(self._cluster), logger=LOGGER)
        return self._opened

    def renew(self) -> None:
        """Drop the admin client. The next request creates a new one."""
        self._opened = None

    def _consumer(self, **options: Any) -> Any:
        settings = {
            **client_settings(self._cluster),
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
            "check.crcs": True,  # default: damaged bytes are records
            **{name.replace("_", "."): value for name, value in options.items()},
        }
        with translated("connect"):
            return confluent_kafka.Consumer(settings, logger=LOGGER)

    def reader(self, roles: Roles, group: str | None = None) -> ConfluentReader:
        """Return a reader for explicitly assigned partitions."""
        return ConfluentReader(self._assigned(group or self._cluster.group), self._admin, roles)

    def _assigned(self, group: str) -> Any:
        # librdkafka requires a group name, although the consumer joins no group.
        return self._consumer(group_id=group, auto_offset_reset="error", enable_partition_eof=True)

    def member(self, poll_seconds: float) -> ConfluentMember:
        """Return a member of the filter's consumer group.

        The member is dynamic: a static member that was killed could only rejoin after its session
        timeout, and its partitions would wait that long.
        """
        group = self._consumer(
            group_id=self._cluster.group,
            auto_offset_reset="earliest",
            max_poll_interval_ms=round(poll_seconds * 1000),
            **self._group_protocol(),
        )
        return ConfluentMember(group, self._assigned(self._cluster.group), self._admin)

    def _group_protocol(self) -> dict[str, Any]:
        """Return the settings of the protocol of KIP-848, or of the classic one for old brokers.

        A broker without the protocol is recognised by its settings, because librdkafka would wait
        for it silently. The first broker answers for all; without the permission to read settings,
        it counts as a new one.
        """
        classic = {
            "partition_assignment_strategy": "cooperative-sticky",
            "session_timeout_ms": round(self._cluster.session_seconds * 1000),
            "heartbeat_interval_ms": round(self._cluster.session_seconds * 1000 / 4),
        }
        with translated("settings of a broker"):
            brokers = self._admin.list_topics(timeout=_REQUEST).brokers
            asked = self._admin.describe_configs(
                [ConfigResource(ResourceType.BROKER, str(next(iter(brokers))))],
                request_timeout=_REQUEST,
            )
            for _, found in self._results(asked, 0.0, _ERRORS.CLUSTER_AUTHORIZATION_FAILED):
                protocols = found.get("group.coordinator.rebalance.protocols")
                if protocols is None or "consumer" not in protocols.value.split(","):
                    return classic
        return {"group_protocol": "consumer"}  # the broker sets the session timeout

    def writer(
        self, name: str, timeout: float, batch_bytes: int = BATCH_BYTES
    ) -> ConfluentProducer:
        """Return a transactional writer. Unfinished transactions with the same name are aborted."""
        milliseconds = round(self._cluster.transaction_seconds * 1000)
        with translated("start of transactions"):
            producer = confluent_kafka.Producer(
                {
                    **client_settings(self._cluster),
                    "transactional.id": name,
                    "transaction.timeout.ms": milliseconds,
                    "socket.timeout.ms": min(10_000, milliseconds),
                    "linger.ms": 5,  # a commit flushes at once
                    "batch.size": batch_bytes,  # topics limit batches, not records
                    "message.max.bytes": 2 * MAX_RECORD_BYTES,
                    "queue.buffering.max.messages": 1_000_000,
                    "partitioner": "murmur2_random",  # as in the Java client
                    # By default, a client that loses all brokers drops its requests to the group
                    # coordinator. The offsets of a transaction would then wait forever. Here the
                    # producer is replaced instead.
                    "metadata.recovery.strategy": "none",
                },
                logger=LOGGER,
            )
            try:
                # Without a connection librdkafka often asks for the producer id only after 500 ms.
                producer.list_topics(timeout=timeout)
                producer.init_transactions(timeout)
            except BaseException:
                producer.purge()
                raise
        return ConfluentProducer(producer, timeout)

    def create_topics(self, layouts: Collection[TopicLayout], timeout: float) -> None:
        """Create the missing topics."""
        with translated("create topics"):
            brokers = len(self._admin.list_topics(timeout=_REQUEST).brokers)
            topics = []
            for each in layouts:
                replicas, configs = each.replicated(brokers)
                topics.append(NewTopic(each.name, each.partitions, replicas, config=configs))
            asked = self._admin.create_topics(
                topics, operation_timeout=timeout, request_timeout=timeout + _REQUEST
            )
            list(self._results(asked, timeout, _ERRORS.TOPIC_ALREADY_EXISTS))

    def configs(self, topics: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the settings of each topic. Topics without permission are left out."""
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
        with translated("topics' settings"):
            asked = self._admin.describe_configs(resources, request_timeout=_REQUEST)
            found = self._results(asked, 0.0, _ERRORS.TOPIC_AUTHORIZATION_FAILED)
            return {
                each.name: {key: str(value.value) for key, value in values.items()}
                for each, values in found
            }

    def ends(self, places: Collection[Partition]) -> dict[Partition, tuple[int, int]]:
        """Return the last stable offset and the end of the log of each partition."""
        ends, stable = (
            offsets_of(self._admin, places, OffsetSpec.latest(), level)
            for level in (IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED)
        )
        return {place: (stable[place], end) for place, end in ends.items()}

    def describe(self, topics: Collection[str]) -> dict[str, TopicFacts]:
        """Return facts about the existing ones of these topics."""
        facts = {}
        with translated("topics"):
            asked = self._admin.describe_topics(
                confluent_kafka.TopicCollection(list(topics)),
                include_authorized_operations=True,
                request_timeout=_REQUEST,
            )
            described = list(self._results(asked, 0.0, _ERRORS.UNKNOWN_TOPIC_OR_PART))
            brokers = len(self._admin.list_topics(next(iter(topics)), timeout=_REQUEST).brokers)
        for name, found in described:
            # Format the id like other clients do; librdkafka uses base64.
            bits = found.topic_id
            most, least = bits.get_most_significant_bits(), bits.get_least_significant_bits()
            facts[name] = TopicFacts(
                str(uuid.UUID(int=(most % 2**64) << 64 | least % 2**64)),
                min(len(each.replicas) for each in found.partitions),
                brokers,
                frozenset(each.name for each in found.authorized_operations or ()),
            )
        return facts

    def delete_records(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the records before the given offset of each partition."""
        places = [confluent_kafka.TopicPartition(*place, at) for place, at in offsets.items()]
        with translated("deleting records"):
            asked = self._admin.delete_records(places, request_timeout=timeout)
            list(self._results(asked, timeout))

    def _results(
        self, asked: Mapping[Any, Any], timeout: float, *ignored: int
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the results of a request by name, without those that have an ignored error."""
        for name, future in asked.items():
            try:
                yield name, future.result(timeout + 2 * _REQUEST)
            except confluent_kafka.KafkaException as error:
                if error.args[0].code() not in ignored:
                    self._admin.poll(0)  # calls error_cb with a rejected password
                    raise
