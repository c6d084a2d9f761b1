"""Selection of the Kafka client, and construction of a worker's source and sink."""

from __future__ import annotations

from streamnb.errors import needed_for
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.protocols import Driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.source import KafkaSource
from streamnb_consumers.kafka.topics import TopicIds

# The extra that installs each Kafka client.
CLIENTS = {"kafka-python": "kafka", "confluent": "confluent"}


def open_driver(cluster: Cluster) -> Driver:
    """Return the driver for the configured client. It connects at the first request.

    Raises
    ------
    MissingDependencyError
        If the client is not installed.
    """
    with needed_for(f"the client {cluster.client}", f"consumers,{CLIENTS[cluster.client]}"):
        if cluster.client == "confluent":
            from streamnb_consumers.kafka.confluent_client.driver import ConfluentDriver

            return ConfluentDriver(cluster)
        from streamnb_consumers.kafka.python_client.driver import PythonDriver

        return PythonDriver(cluster)


def open_kafka(
    cluster: Cluster, topics: Topics, timeout: float = 60.0
) -> tuple[KafkaSource, KafkaSink]:
    """Return the source, which is the training log too, and the sink of a worker.

    They connect when they are started.
    """
    driver = open_driver(cluster)
    ids = TopicIds(driver, topics)
    source = KafkaSource(driver, cluster, topics, timeout, ids)
    return source, KafkaSink(driver, cluster, topics, timeout, ids.known)
