"""Checks of topics."""

from __future__ import annotations

import time
from collections.abc import Collection

from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.protocols import Driver, Reader

__all__ = ["check_topics", "largest_record"]

# Default record limit of brokers (`message.max.bytes`), in bytes.
_DEFAULT_LARGEST = 1_048_588


def check_topics(reader: Reader, names: Collection[str], timeout: float) -> dict[str, int]:
    """Wait for the topics and return their numbers of partitions.

    Parameters
    ----------
    reader
        Reader that requests the metadata.
    names
        Topic names.
    timeout
        Maximum wait for new topics, in seconds.

    Raises
    ------
    SettingsError
        If a topic does not exist.
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
                    f"topic not found: {', '.join(sorted(set(names) - set(counts)))}. Create it, "
                    f"set create_topics, or grant this worker the Describe permission"
                )
            time.sleep(0.1)
    return counts


def largest_record(driver: Driver, topics: Collection[str]) -> int:
    """Return the maximum record size that all these topics accept, in bytes."""
    sizes = driver.record_sizes(topics)
    # Reserve 100 bytes for the overhead of batch and record.
    return min(sizes.get(name, _DEFAULT_LARGEST) for name in topics) - 100
