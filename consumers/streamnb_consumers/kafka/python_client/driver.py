"""Kafka driver that uses kafka-python."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import kafka
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster, TokenProvider, TopicLayout
from streamnb_consumers.kafka.protocols import BATCH_BYTES, Roles, TopicFacts
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import close_quietly, translated
from streamnb_consumers.kafka.python_client.consumer import PythonConsumer
from streamnb_consumers.kafka.python_client.producer import KeyPartitioner, PythonProducer
from streamnb_consumers.records import Partition

# Timeout of one request, in milliseconds.
_REQUEST = 5_000


class _Tokens(kafka.net.sasl.oauth.AbstractTokenProvider):  # type: ignore[misc]
    def __init__(self, provide: TokenProvider) -> None:
        self._provide = provide

    def token(self) -> str:
        return self._provide()[0]


def client_settings(cluster: Cluster) -> dict[str, Any]:
    """Return the common settings of all clients of a cluster."""
    security = dict(cluster.security)
    if (provide := security.pop("sasl_token_provider", None)) is not None:
        security["sasl_oauth_token_provider"] = _Tokens(provide)
    return {
        "bootstrap_servers": cluster.bootstrap_servers.split(","),
        "reconnect_backoff_max_ms": 500,  # default: 30 s, too slow after a broker restart
        # Default: 30 s, during which the start logs nothing if the cluster is unreachable.
        "bootstrap_timeout_ms": 5_000,
        "metadata_max_age_ms": round(cluster.metadata_seconds * 1000),
        "retry_backoff_ms": 20,  # default: 100 ms; the first steps of a transaction retry
        **security,
    }


class PythonDriver:
    """Factory for the kafka-python clients of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._opened: Any = None  # the admin client
        self._using = threading.Lock()
        workarounds.fix_last_words()
        workarounds.fix_refusals()
        workarounds.fix_lost_topics()

    def _consumer(self, roles: Roles, **options: Any) -> PythonConsumer:
        with translated("connect"):
            made = kafka.KafkaConsumer(
                **client_settings(self._cluster),
                enable_auto_commit=False,
                isolation_level="read_committed",
                fetch_max_wait_ms=100,  # an empty fetch blocks its connection
                allow_auto_create_topics=False,
                **options,
            )
        workarounds.fix_consumer(made)
        return PythonConsumer(made, roles, self.offsets)

    def renew(self) -> None:
        """Close the admin client. The next request opens a new one."""
        opened, self._opened = self._opened, None
        if opened is not None:
            close_quietly(opened)

    def reader(self, roles: Roles, group: str | None = None) -> PythonConsumer:
        """Return a reader for explicitly assigned partitions."""
        return self._consumer(roles, auto_offset_reset="none", group_id=group)

    def member(self, poll_seconds: float) -> PythonConsumer:
        """Return a member of the filter's consumer group."""
        cluster = self._cluster
        return self._consumer(
            {},
            auto_offset_reset="none",  # a reset would skip or repeat records silently
            group_id=cluster.group,
            group_instance_id=cluster.instance_id,
            partition_assignment_strategy=(
                kafka.coordinator.assignors.cooperative_sticky.CooperativeStickyAssignor,
            ),
            session_timeout_ms=round(cluster.session_seconds * 1000),
            heartbeat_interval_ms=round(cluster.session_seconds * 1000 / 4),
            max_poll_interval_ms=round(poll_seconds * 1000),
        )

    def writer(self, name: str, timeout: float, batch_bytes: int = BATCH_BYTES) -> PythonProducer:
        """Return a transactional writer. Unfinished transactions with the same name are aborted."""
        milliseconds = round(self._cluster.transaction_seconds * 1000)
        with translated("start of transactions"):
            producer = kafka.KafkaProducer(
                **client_settings(self._cluster),
                transactional_id=name,
                transaction_timeout_ms=milliseconds,
                max_block_ms=round(timeout * 1000),
                max_request_size=2 * MAX_RECORD_BYTES,
                allow_auto_create_topics=False,
                partitioner=KeyPartitioner(),
                # The default of 30 s exceeds the transaction timeout.
                request_timeout_ms=10_000,
                delivery_timeout_ms=max(20_000, milliseconds),
                linger_ms=5,  # a commit flushes at once
                batch_size=batch_bytes,
            )
            try:
                workarounds.fix_producer(producer)
                producer.init_transactions()
            except BaseException:
                close_quietly(producer, timeout=1)
                raise
        return PythonProducer(producer)

    def create_topics(self, layouts: Collection[TopicLayout], timeout: float) -> None:
        """Create the missing topics."""
        with self.admin("create topics") as admin:
            brokers = len(admin.describe_cluster()["brokers"])
            for layout in layouts:
                replicas, configs = layout.replicated(brokers)
                topic = kafka.admin.NewTopic(
                    layout.name, layout.partitions, replicas, topic_configs=configs
                )
                with contextlib.suppress(kafka.errors.TopicAlreadyExistsError):
                    admin.create_topics([topic], timeout_ms=round(timeout * 1000))

    def configs(self, topics: Collection[str]) -> dict[str, dict[str, str]]:
        """Return the settings of each topic. Topics without permission are left out."""
        with self.admin("topics' settings") as admin:
            kind = kafka.admin.ConfigResourceType.TOPIC
            asked = [kafka.admin.ConfigResource(kind, name) for name in topics]
            try:
                found = admin.describe_configs(asked, config_filter="all")["topic"]
            except kafka.errors.AuthorizationError:
                found = {}
        return {
            name: {key: str(each["value"]) for key, each in settings.items()}
            for name, settings in found.items()
        }

    @contextlib.contextmanager
    def admin(self, what: str) -> Iterator[Any]:
        """Provide the admin client for requests that errors name as `what`.

        It stays open, because a new connection would need credentials that are still valid. After
        an error the next request opens a new one.
        """
        with self._using, translated(what):
            try:
                if self._opened is None:
                    self._opened = kafka.KafkaAdminClient(**client_settings(self._cluster))
                yield self._opened
            except kafka.errors.AuthorizationError:
                raise
            except BaseException:
                self.renew()
                raise

    def ends(self, places: Collection[Partition]) -> dict[Partition, tuple[int, int]]:
        """Return the last stable offset and the end of the log of each partition."""
        stable = self.offsets(places, stable=True)
        return {place: (stable[place], end) for place, end in self.offsets(places).items()}

    def offsets(
        self, places: Collection[Partition], *, first: bool = False, stable: bool = False
    ) -> dict[Partition, int]:
        """Return the end of the log of each partition, its first offset, or its last stable one.

        The admin client asks for them. A fetch without new records blocks the connection of a
        consumer, and with it all requests that follow.
        """
        if not places:
            return {}
        specs, levels = kafka.admin.OffsetSpec, kafka.protocol.consumer.IsolationLevel
        spec = specs.EARLIEST if first else specs.LATEST
        level = levels.READ_COMMITTED if stable else levels.READ_UNCOMMITTED
        with self.admin("offsets of logs") as admin:
            found = admin.list_partition_offsets(
                {kafka.TopicPartition(*place): spec for place in places},
                isolation_level=level,
                timeout_ms=_REQUEST,
            )
        return {Partition(*place): each.offset for place, each in found.items()}

    def describe(self, topics: Collection[str]) -> dict[str, TopicFacts]:
        """Return facts about the existing ones of these topics."""
        facts = {}
        with self.admin("topics") as admin:
            brokers = len(admin.describe_cluster()["brokers"])
            for found in admin.describe_topics(list(topics)):
                error = kafka.errors.for_code(found["error_code"])
                if error is kafka.errors.NoError:
                    facts[str(found["name"])] = TopicFacts(
                        str(found["topic_id"]),
                        min(
                            (len(each["replica_nodes"]) for each in found["partitions"]), default=1
                        ),
                        brokers,
                        frozenset(found.get("authorized_operations") or ()),
                    )
                elif error is not kafka.errors.UnknownTopicOrPartitionError:
                    raise error(found["name"])
        return facts

    def delete_records(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the records before the given offset of each partition."""
        with self.admin("deleting records") as admin:
            asked = {kafka.TopicPartition(*place): offset for place, offset in offsets.items()}
            admin.delete_records(asked, timeout_ms=round(timeout * 1000))
