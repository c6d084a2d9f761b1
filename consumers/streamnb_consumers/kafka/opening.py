"""Kafka: source and sink of a worker, made from names and addresses."""

from __future__ import annotations

from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.source import KafkaSource

__all__ = ["open_kafka"]


def open_kafka(
    cluster: Cluster, topics: Topics, timeout: float = 60.0
) -> tuple[KafkaSource, KafkaSink]:
    """Return the source and the sink of one worker; they connect when they are started."""
    return KafkaSource(cluster, topics, timeout), KafkaSink(cluster, topics, timeout)
