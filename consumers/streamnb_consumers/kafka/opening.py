"""Construction of the Kafka source, sink and training log of a worker."""

from __future__ import annotations

from collections.abc import Collection

from streamnb_consumers.kafka.cluster import Cluster, TopicLayout, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.source import KafkaSource
from streamnb_consumers.kafka.training_log import KafkaTrainingLog

__all__ = ["open_kafka", "open_training_log"]

# Margin for the detection of expired transactions, in seconds. By default, brokers check every 10 s
# (`transaction.abort.timed.out.transaction.cleanup.interval.ms`).
_ENDED = 30.0


def open_kafka(
    cluster: Cluster, topics: Topics, timeout: float = 60.0
) -> tuple[KafkaSource, KafkaSink]:
    """Return the source and the sink of a worker. They connect when they are started."""
    driver = open_driver(cluster)
    source = KafkaSource(driver, topics, timeout, cluster.transaction_seconds + _ENDED)
    return source, KafkaSink(driver, cluster, topics, timeout)


def open_training_log(
    cluster: Cluster, topics: Topics, layouts: Collection[TopicLayout] = ()
) -> KafkaTrainingLog:
    """Return the training log. Its first call connects and creates the given topics."""
    return KafkaTrainingLog(open_driver(cluster), topics.training, layouts)
