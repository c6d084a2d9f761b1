"""Selection of the Kafka client, and construction of a worker's source and sink."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamnb.errors import MissingDependencyError
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.protocols import Driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.kafka.source import KafkaSource
from streamnb_consumers.kafka.topics import TopicIds

# Package of each Kafka client, and the extra that installs it.
CLIENTS = {
    "kafka-python": ("kafka-python", "kafka"),
    "confluent": ("confluent-kafka", "confluent"),
}


@contextmanager
def needing_kafka(client: str = "kafka-python") -> Iterator[None]:
    """Name the missing package if an import in the body needs a Kafka client."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("streamnb_consumers"):
            raise
        package, extra = CLIENTS[client]
        raise MissingDependencyError(
            f"bootstrap_servers needs {package}: pip install 'streamnb[consumers,{extra}]'"
        ) from error


def open_driver(cluster: Cluster) -> Driver:
    """Return the driver for the configured client. It connects at the first request.

    Raises
    ------
    MissingDependencyError
        If the client is not installed.
    """
    with needing_kafka(cluster.client):
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
