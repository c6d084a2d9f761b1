"""Existence, sizes and identity of topics."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Collection

from streamnb_consumers.errors import LostClientError, SettingsError
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.protocols import Driver, Reader

_LOG = logging.getLogger(__name__)

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
    deadline = time.monotonic() + timeout
    while True:
        counts = {name: len(found) for name in names if (found := reader.partitions(name))}
        missing = sorted(set(names) - set(counts))
        if not missing:
            return counts
        if time.monotonic() > deadline:
            raise SettingsError(
                f"topic not found: {', '.join(missing)}. Create it, set create_topics, or grant "
                f"this worker the Describe permission"
            )
        time.sleep(0.1)


def record_limits(driver: Driver, topics: Collection[str]) -> dict[str, int]:
    """Return the maximum record size that each topic accepts, in bytes."""
    configs = driver.configs(topics)
    # Reserve 100 bytes for the overhead of batch and record.
    return {
        name: int(configs.get(name, {}).get("max.message.bytes", _DEFAULT_LARGEST)) - 100
        for name in topics
    }


class TopicIds:
    """Ids of the topics that a worker reads: a topic that is created again has a new id.

    Attributes
    ----------
    known
        Last known id of each topic.
    found, compared
        Ids at the last comparison, without deleted topics, and its time by the monotonic clock.
    """

    def __init__(self, driver: Driver, topics: Topics) -> None:
        self._driver = driver
        self._lost = {
            topics.messages: "its unread messages are lost, and it is read from its first record",
            topics.feedback: "its unread labels are lost, and it is read from its first record",
            topics.training: "the model comes from the deleted training events",
            topics.join_state: "messages that waited for a label are forgotten, and their labels "
            "become dead letters",
        }
        self._lost.pop("", None)
        self.compared = -math.inf
        self.known: dict[str, str] = {}
        self.found: dict[str, str] = {}

    def compare(self, age: float = 0.0) -> list[str]:
        """Return the topics that were created again since the last comparison, and log the loss.

        Do nothing if the last comparison is less than `age` seconds old.
        """
        if time.monotonic() < self.compared + age:
            return []
        described = self._driver.describe(list(self._lost))
        self.found = found = {name: facts.id for name, facts in described.items()}
        self.compared = time.monotonic()
        changed = [name for name, each in found.items() if self.known.get(name, each) != each]
        for name in changed:
            before, now = self.known[name], found[name]
            _LOG.error(
                "topic %s was deleted and created again (id %s, before %s): %s",
                *(name, now, before, self._lost[name]),
            )
        self.known.update(found)
        return changed

    def confirm(self, age: float = 0.0) -> None:
        """Compare as `compare` does.

        Raises
        ------
        LostClientError
            If a topic was created again. librdkafka ignores its new leaders if those of the old
            topic had moved, because leader epochs begin at 0 again.
        """
        if changed := self.compare(age):
            raise LostClientError(f"{', '.join(changed)}: created again, so this worker restarts")
