"""Connection settings, commits and error mapping for all kafka-python clients."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamnb_consumers.errors import AbortedError, UnreachableError, fenced, refused
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster
from streamnb_consumers.kafka.python_client import connection_workarounds, producer_workarounds
from streamnb_consumers.kafka.python_client.client_errors import (
    close_quietly,
    is_away,
    is_fenced,
    is_refused,
    kafka,
)
from streamnb_consumers.kafka.python_client.partitioning import KeyPartitioner

__all__ = [
    "client_settings",
    "commit_transaction",
    "open_producer",
    "translated",
]


def client_settings(cluster: Cluster) -> dict[str, Any]:
    """Return the common settings of all clients of a cluster."""
    connection_workarounds.fix_last_words()
    connection_workarounds.fix_refusals()
    return {
        "bootstrap_servers": cluster.bootstrap_servers.split(","),
        "reconnect_backoff_max_ms": 500,  # default: 30 s, too slow after a broker restart
        # Default: 30 s, during which the start logs nothing if the cluster is unreachable.
        "bootstrap_timeout_ms": 5_000,
        "retry_backoff_ms": 20,  # default: 100 ms; the first steps of a transaction retry
        **cluster.security,
    }


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Convert exceptions of kafka-python into exceptions of this library.

    Raises
    ------
    FencedError
        If another process has replaced this one. This process must not take over again.
    RefusedError
        If the cluster rejects the credentials or a permission is missing.
    UnreachableError
        If the cluster does not answer or is not ready yet.
    AbortedError
        For all other errors.
    """
    try:
        yield
    except (kafka.errors.KafkaError, TimeoutError) as error:
        text = f"{what}: {type(error).__name__}: {error}"[:500]
        if is_fenced(error):
            raise fenced(text) from error
        if is_refused(error):
            raise refused(text) from error
        if is_away(error):
            raise UnreachableError(text) from error
        raise AbortedError(text) from error


def open_producer(cluster: Cluster, name: str, timeout: float, **settings: Any) -> Any:
    """Return a transactional producer. Unfinished transactions with the same name are aborted.

    Parameters
    ----------
    cluster
        Cluster to connect to.
    name
        Transactional id.
    timeout
        Maximum wait for metadata or buffer space, in seconds.
    settings
        Further settings of the producer.
    """
    producer = kafka.KafkaProducer(
        **client_settings(cluster),
        transactional_id=name,
        transaction_timeout_ms=round(cluster.transaction_seconds * 1000),
        max_block_ms=round(timeout * 1000),
        max_request_size=2 * MAX_RECORD_BYTES,
        allow_auto_create_topics=False,
        partitioner=KeyPartitioner(),
        **settings,
    )
    try:
        producer_workarounds.fix_producer(producer)
        producer.init_transactions()
    except BaseException:
        close_quietly(producer, timeout=1)
        raise
    return producer


def commit_transaction(
    producer: Any,
    sent: Iterable[Any],
    offsets: Mapping[Any, Any],
    membership: Any,
    timeout: float,
) -> None:
    """Flush the records, then commit the transaction with the offsets.

    Parameters
    ----------
    producer
        Producer with an open transaction.
    sent
        Futures of the sent records.
    offsets
        Next offsets by partition.
    membership
        Group membership for the offsets, or the group name.
    timeout
        Maximum time for all steps, in seconds.
    """
    deadline = time.monotonic() + timeout

    def left() -> float:
        return max(0.01, deadline - time.monotonic())  # finished futures return at once

    producer.flush(timeout=timeout)
    for future in sent:
        if not future.is_done or future.exception is not None:
            future.get(timeout=left())
    if offsets:
        producer_workarounds.send_offsets(producer, offsets, membership, left())
    producer_workarounds.commit(producer, left())
