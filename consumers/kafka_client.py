"""What source and sink share of Kafka's client: how to connect, what its errors mean, topics."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Iterator
from typing import Any

from consumers import kafka_cures as cures
from consumers.cluster import Cluster, TopicLayout
from consumers.errors import AbortedError, FencedError, SettingsError
from consumers.kafka_cures import kafka

__all__ = ["check_topics", "client_settings", "create_topics", "largest_record", "translated"]

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
