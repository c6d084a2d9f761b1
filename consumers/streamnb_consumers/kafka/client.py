"""What source and sink share of Kafka's client: how to connect, what its errors mean, topics."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from streamnb_consumers.errors import AbortedError, FencedError, SettingsError
from streamnb_consumers.kafka import workarounds as cures
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster, TopicLayout
from streamnb_consumers.kafka.workarounds import kafka

__all__ = [
    "check_topics",
    "client_settings",
    "commit_transaction",
    "create_topics",
    "largest_record",
    "open_producer",
    "translated",
]

# What a broker takes where nothing else is said (`message.max.bytes`).
_DEFAULT_LARGEST = 1_048_588


def client_settings(cluster: Cluster) -> dict[str, Any]:
    """Return what all clients of a cluster are made with."""
    return {
        "bootstrap_servers": cluster.bootstrap_servers.split(","),
        "reconnect_backoff_max_ms": 500,  # 30 s by default: a broker that is back is not noticed
        "retry_backoff_ms": 20,  # 100 ms by default: a transaction's first steps retry
        **cluster.security,
    }


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise what kafka-python raises as the errors that a loop knows.

    Raises
    ------
    FencedError
        If another process has taken this one's place; this one must not take it back.
    AbortedError
        For everything else.
    """
    try:
        yield
    except (kafka.errors.KafkaError, TimeoutError) as error:
        text = f"{what}: {type(error).__name__}: {error}"[:500]
        if cures.is_fenced(error):
            raise FencedError(
                f"{text}. Another worker has this worker's transactional_id or instance_id, or "
                f"this one or its broker stood still for longer than transaction_seconds; it ends "
                f"here, and nothing of its last batch is visible"
            ) from error
        raise AbortedError(text) from error


def open_producer(cluster: Cluster, name: str, timeout: float, **settings: Any) -> Any:
    """Return a producer of transactions; what one of the same name left unfinished is aborted.

    Parameters
    ----------
    cluster
        Where.
    name
        Of its transactions.
    timeout
        Longest wait for a topic or for room, in seconds.
    settings
        What it is made with besides.
    """
    producer = kafka.KafkaProducer(
        **client_settings(cluster),
        transactional_id=name,
        transaction_timeout_ms=round(cluster.transaction_seconds * 1000),
        max_block_ms=round(timeout * 1000),
        max_request_size=2 * MAX_RECORD_BYTES,
        allow_auto_create_topics=False,
        **settings,
    )
    try:
        cures.cure_producer(producer)
        producer.init_transactions()
    except BaseException:
        cures.close_quietly(producer, timeout=1)
        raise
    return producer


def commit_transaction(
    producer: Any,
    sent: Iterable[Any],
    offsets: Mapping[Any, Any],
    membership: Any,
    timeout: float,
) -> None:
    """Commit what was sent, once all of it is written, and offsets, in at most so many seconds.

    Parameters
    ----------
    producer
        In a transaction.
    sent
        What sending each record returned.
    offsets
        Of the records behind what was sent, by partition.
    membership
        Of the group whose offsets they are, or the group's name.
    timeout
        In seconds.
    """
    deadline = time.monotonic() + timeout

    def left() -> float:
        return max(0.01, deadline - time.monotonic())  # what is there is taken all the same

    producer.flush(timeout=timeout)
    for future in sent:
        future.get(timeout=left())
    if offsets:
        cures.send_offsets(producer, offsets, membership, left())
    cures.commit(producer, left())


def create_topics(
    cluster: Cluster, layouts: Collection[TopicLayout], timeout: float = 60.0
) -> list[str]:
    """Make the topics that are not there yet; return their names.

    Raises
    ------
    AbortedError
        If the cluster refuses, or can't be reached.
    """
    made = []
    with translated("create topics"):
        admin = kafka.KafkaAdminClient(**client_settings(cluster))
        try:
            for layout in layouts:
                topic = kafka.admin.NewTopic(
                    layout.name, layout.partitions, -1, topic_configs=dict(layout.configs)
                )
                with contextlib.suppress(kafka.errors.TopicAlreadyExistsError):
                    admin.create_topics([topic], timeout_ms=round(timeout * 1000))
                    made.append(layout.name)
        finally:
            admin.close()
    return made


def check_topics(client: Any, names: Collection[str], timeout: float) -> dict[str, int]:
    """Return how many partitions each topic has; wait for those that were made just now.

    Parameters
    ----------
    client
        A consumer.
    names
        Of the topics.
    timeout
        In seconds.

    Raises
    ------
    SettingsError
        If one is not there.
    """
    counts: dict[str, int] = {}
    deadline = time.monotonic() + timeout
    while missing := [name for name in names if name not in counts]:
        for name in missing:
            if found := client.partitions_for_topic(name):
                counts[name] = len(found)
        if len(counts) < len(set(names)):
            if time.monotonic() > deadline:
                raise SettingsError(
                    f"there is no topic {', '.join(sorted(set(names) - set(counts)))}: make it, or "
                    f"set create_topics"
                )
            time.sleep(0.1)
    return counts


def largest_record(cluster: Cluster, topics: Collection[str]) -> int:
    """Return the bytes of the largest record that all these topics take."""
    with translated("topics' settings"):
        admin = kafka.KafkaAdminClient(**client_settings(cluster))
        try:
            asked = [
                kafka.admin.ConfigResource(kafka.admin.ConfigResourceType.TOPIC, name)
                for name in topics
            ]
            try:
                found = admin.describe_configs(asked, config_filter="all")["topic"]
            except kafka.errors.AuthorizationError:
                found = {}
        finally:
            admin.close()
    sizes = [found.get(name, {}).get("max.message.bytes", {}).get("value") for name in topics]
    # What a batch adds to its records, and a record to its value: 100 bytes are enough.
    return min(int(size or _DEFAULT_LARGEST) for size in sizes) - 100
