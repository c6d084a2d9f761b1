"""Where logs begin and end, asked of the brokers; records that confluent-kafka can't take apart."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import confluent_kafka
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from streamnb_consumers.kafka.confluent_client.client import translated
from streamnb_consumers.records import Partition

__all__ = ["Ends", "topic_partition"]

# One request to a broker that is there takes milliseconds; the next poll asks again. Seconds.
_REQUEST = 5.0
_MOVED = (
    confluent_kafka.KafkaError.FENCED_LEADER_EPOCH,
    confluent_kafka.KafkaError.UNKNOWN_LEADER_EPOCH,
    confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION,
)


def topic_partition(place: Partition, *offset: Any) -> Any:
    """Return a partition as confluent-kafka names it, with an offset and a note where given."""
    return confluent_kafka.TopicPartition(*place, *offset)


class Ends:
    """Where logs begin and end.

    A consumer's own question is answered by its isolation level: one that reads committed records
    hears where the first open transaction begins, and never where the log ends.

    Parameters
    ----------
    admin
        confluent-kafka's client for administration.
    """

    def __init__(self, admin: Any) -> None:
        self._admin = admin

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first offset that is left of each partition."""
        return self._ask(places, OffsetSpec.earliest(), IsolationLevel.READ_COMMITTED)

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return up to where each partition can be read: to the first open transaction."""
        return self._ask(places, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return where each partition's log ends, behind open transactions too."""
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
            # The client keeps who leads a partition, and does not look again by itself.
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
