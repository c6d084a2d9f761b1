"""Topics: to make them, to find out whether they are there, and what they take."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection
from typing import Any

from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.client import client_settings, translated
from streamnb_consumers.kafka.client_errors import kafka
from streamnb_consumers.kafka.cluster import Cluster, TopicLayout

__all__ = ["check_topics", "create_topics", "largest_record"]

# What a broker takes where nothing else is said (`message.max.bytes`).
_DEFAULT_LARGEST = 1_048_588


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
