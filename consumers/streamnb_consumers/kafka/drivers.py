"""Selection of the Kafka client."""

from __future__ import annotations

from streamnb_consumers.errors import needing_kafka
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.protocols import Driver

__all__ = ["open_driver"]


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
