"""First and last offsets of partitions, requested from the brokers with the admin client."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import confluent_kafka
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from streamnb_consumers.kafka.confluent_client.client import translated
from streamnb_consumers.records import Partition

__all__ = ["Ends", "topic_partition"]

# Timeout of one request, in seconds. An available broker answers within milliseconds, and the next
# poll repeats the request.
_REQUEST = 5.0
_MOVED = (
    confluent_kafka.KafkaError.FENCED_LEADER_EPOCH,
    confluent_kafka.KafkaError.UNKNOWN_LEADER_EPOCH,
    confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION,
)


def topic_partition(place: Partition, *offset: Any) -> Any:
    """Return a `TopicPartition` of confluent-kafka with optional offset and metadata."""
    return confluent_kafka.TopicPartition(*place, *offset)


class Ends:
    """First and last offsets of partitions.

    The admin client allows any isolation level. A consumer that reads committed records gets only
    the offset of the first open transaction, never the end of the log.

    Parameters
    ----------
    admin
        Admin client of confluent-kafka.
    """

    def __init__(self, admin: Any) -> None:
        self._admin = admin

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first available offset of each partition."""
        return self._ask(places, OffsetSpec.earliest(), IsolationLevel.READ_COMMITTED)

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return each last stable offset: the start of the first open transaction."""
        return self._ask(places, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the end of the log of each partition, including open transactions."""
        return self._ask(places, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)

    def _ask(
        self, places: Collection[Partition], spec: Any, isolation: Any
    ) -> dict[Partition, int]:
        if not places:
            return {}
        with translated("offsets"):
            try:
                return self._asked(places, spec, isolation)
            except confluent_kafka.KafkaException as error:
                if error.args[0].code() not in _MOVED:
                    raise
            # The client caches partition leaders and does not refresh them by itself.
            for topic in {place.source for place in places}:
                self._admin.list_topics(topic, timeout=_REQUEST)
            return self._asked(places, spec, isolation)

    def _asked(
        self, places: Collection[Partition], spec: Any, isolation: Any
    ) -> dict[Partition, int]:
        found = self._admin.list_offsets(
            {topic_partition(place): spec for place in places},
            isolation_level=isolation,
            request_timeout=_REQUEST,
        )
        return {
            Partition(place.topic, place.partition): each.result(_REQUEST + 1).offset
            for place, each in found.items()
        }
