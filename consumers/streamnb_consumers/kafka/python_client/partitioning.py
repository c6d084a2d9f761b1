"""Fast version of the default Kafka partitioner.

The partitioner of kafka-python sorts the partitions for each record and hashes byte by byte. That
takes a sixth of the time for writing records.
"""

from __future__ import annotations

import struct
from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import DefaultPartitioner

__all__ = ["KeyPartitioner", "murmur2"]

_MASK = 0xFFFFFFFF
_SEED = 0x9747B28C
_FACTOR = 0x5BD1E995


def murmur2(data: bytes) -> int:
    """Return the 32-bit MurmurHash2 of a key, as used by Kafka.

    Examples
    --------
    >>> murmur2(b"21"), murmur2(b"foobar")  # as -973932308 and -790332482 in Java
    (3321034988, 3504634814)
    """
    length = len(data)
    found = _SEED ^ length
    for word in struct.unpack_from(f"<{length >> 2}I", data):
        mixed = word * _FACTOR & _MASK
        found = (found * _FACTOR & _MASK) ^ ((mixed ^ mixed >> 24) * _FACTOR & _MASK)
    if length & 3:
        found = (found ^ int.from_bytes(data[length & ~3 :], "little")) * _FACTOR & _MASK
    found = (found ^ found >> 13) * _FACTOR & _MASK
    return found ^ found >> 15


class KeyPartitioner(DefaultPartitioner):  # type: ignore[misc]
    """Partitioner that hashes keys. Records without a key use the default of kafka-python."""

    def partition(
        self,
        topic: str,
        key: Any,
        serialized_key: bytes | None,
        value: Any,
        serialized_value: bytes | None,
        cluster: Any,
    ) -> int:
        """Return the partition of a record."""
        known = cluster.partitions_for_topic(topic)
        if serialized_key is None or not known or max(known) >= len(known):
            more = (value, serialized_value, cluster)
            return int(super().partition(topic, key, serialized_key, *more))
        return (murmur2(serialized_key) & 0x7FFFFFFF) % len(known) if len(known) > 1 else 0
