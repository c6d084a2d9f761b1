"""What all of kafka-python's clients share: how to connect, commit, what their errors mean."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from streamnb_consumers.errors import AbortedError, UnreachableError
from streamnb_consumers.kafka.cluster import MAX_RECORD_BYTES, Cluster
from streamnb_consumers.kafka.fencing import fenced, refused
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
    """Return what all clients of a cluster are made with."""
    connection_workarounds.fix_last_words()
    connection_workarounds.fix_refusals()
    return {
        "bootstrap_servers": cluster.bootstrap_servers.split(","),
        "reconnect_backoff_max_ms": 500,  # 30 s by default: a broker that is back is not noticed
        # 30 s by default: so long a start is silent while the cluster is away.
        "bootstrap_timeout_ms": 5_000,
        "retry_backoff_ms": 20,  # 100 ms by default: a transaction's first steps retry
        **cluster.security,
    }


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise what kafka-python raises as the errors that a loop knows.

    Raises
    ------
    FencedError
        If another process has taken this one's place; this one must not take it back.
    RefusedError
        If the cluster does not take this worker's password, or a right is missing.
    UnreachableError
        If the cluster does not answer, or can't yet.
    AbortedError
        For everything else.
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
    """Return a producer of transactions; what one of the same name left unfinished is aborted.

    Parameters
    ----------
    cluster
        Where.
    name
        Of its transactions.
    timeout
        Longest wait for a topic or for room, in seconds.
    settings
        What it is made with besides.
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
    """Commit what was sent, once all of it is written, and offsets, in at most so many seconds.

    Parameters
    ----------
    producer
        In a transaction.
    sent
        What sending each record returned.
    offsets
        Of the records behind what was sent, by partition.
    membership
        Of the group whose offsets they are, or the group's name.
    timeout
        In seconds.
    """
    deadline = time.monotonic() + timeout

    def left() -> float:
        return max(0.01, deadline - time.monotonic())  # what is there is taken all the same

    producer.flush(timeout=timeout)
    for future in sent:
        if not future.is_done or future.exception is not None:
            future.get(timeout=left())
    if offsets:
        producer_workarounds.send_offsets(producer, offsets, membership, left())
    producer_workarounds.commit(producer, left())
