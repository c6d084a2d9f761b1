"""Kafka: source and sink of a worker, made from names and addresses."""

from __future__ import annotations

from collections.abc import Collection

from streamnb_consumers.kafka.cluster import Cluster, TopicLayout, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.source import KafkaSource
from streamnb_consumers.kafka.training_log import KafkaTrainingLog

__all__ = ["open_kafka", "open_training_log"]


def open_kafka(
    cluster: Cluster, topics: Topics, timeout: float = 60.0
) -> tuple[KafkaSource, KafkaSink]:
    """Return the source and the sink of one worker; they connect when they are started."""
    driver = open_driver(cluster)
    return KafkaSource(driver, topics, timeout), KafkaSink(driver, cluster, topics, timeout)


def open_training_log(
    cluster: Cluster, topics: Topics, layouts: Collection[TopicLayout] = ()
) -> KafkaTrainingLog:
    """Return the log of training events; it connects when it is asked, and makes topics first."""
    return KafkaTrainingLog(open_driver(cluster), topics.training, layouts)
