"""Topics: to make them, to find out whether they are there, and what they take."""

from __future__ import annotations

import time
from collections.abc import Collection

from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import Cluster, TopicLayout
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.protocols import Driver, Reader

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
        If the cluster can't be reached.
    RefusedError
        If it refuses.
    """
    return open_driver(cluster).create_topics(layouts, timeout)


def check_topics(reader: Reader, names: Collection[str], timeout: float) -> dict[str, int]:
    """Return how many partitions each topic has; wait for those that were made just now.

    Parameters
    ----------
    reader
        What asks.
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
            if found := reader.partitions(name):
                counts[name] = len(found)
        if len(counts) < len(set(names)):
            if time.monotonic() > deadline:
                raise SettingsError(
                    f"there is no topic {', '.join(sorted(set(names) - set(counts)))}: make it, or "
                    f"set create_topics; or this worker has no right to see it (Describe)"
                )
            time.sleep(0.1)
    return counts


def largest_record(driver: Driver, topics: Collection[str]) -> int:
    """Return the bytes of the largest record that all these topics take."""
    sizes = driver.record_sizes(topics)
    # What a batch adds to its records, and a record to its value: 100 bytes are enough.
    return min(sizes.get(name, _DEFAULT_LARGEST) for name in topics) - 100
