"""Workarounds that exactly-once processing needs in the kafka-python producer.

All faults were found in kafka-python 3.0.12. `tests/kafka/test_producer_hazards.py` shows each
fault without its workaround. A test fails when its fault is fixed, so that the workaround can be
deleted. Only this module and its siblings use private parts of kafka-python.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import close_quietly, kafka

__all__ = [
    "abort",
    "begin",
    "commit",
    "discard",
    "fix_lost_requests",
    "fix_producer",
    "fix_stolen_place",
    "send_offsets",
]

# Delay before a "not ready" response, in seconds. It keeps a retrying thread from spinning.
_NOT_READY = 0.02


def fix_lost_requests(producer: Any) -> None:
    """Keep a transactional request whose connection fails.

    The sender thread drops its current request if waiting for the node raises. The caller of the
    request (offsets, commit or abort) would then wait forever. A "not ready" response makes the
    sender look up the coordinator and retry.
    """
    client = producer._sender._client
    await_ready = client.await_ready

    def not_ready(*arguments: Any, **options: Any) -> bool:
        try:
            return bool(await_ready(*arguments, **options))
        except kafka.errors.KafkaConnectionError:
            time.sleep(_NOT_READY)
            return False

    client.await_ready = not_ready


def fix_stolen_place(producer: Any) -> None:
    """Keep a fenced producer from fencing its successor.

    A producer whose epoch is outdated requests a new epoch (KIP-360). The broker rejects the
    request, but also aborts the transaction of the successor and fences it. With this patch the
    producer fails instead. It also fails for other errors that request a new epoch, such as records
    out of order; the caller then creates a new producer.
    """
    producer._transaction_manager._supports_epoch_bump = lambda: False


def fix_producer(producer: Any) -> None:
    """Apply all workarounds to a transactional producer, before `init_transactions`."""
    fix_lost_requests(producer)
    fix_stolen_place(producer)


def _wait(producer: Any, begin: Callable[[], Any], what: str, timeout: float) -> None:
    """Wait for a transactional request with a timeout; kafka-python itself waits forever."""
    with _explained(producer):
        result = begin()
        producer._sender.wakeup()
        if not result.wait(timeout_ms=timeout * 1000):
            raise kafka.errors.KafkaTimeoutError(f"{what} took more than {timeout:g} seconds")


@contextlib.contextmanager
def _explained(producer: Any) -> Iterator[None]:
    """Set the previous error of the producer as the cause of a new one.

    After a failure, each further call raises a `KafkaError` that contains the reason only as text.
    A fenced worker must detect the fence, because a new producer would fence its successor.
    """
    before = producer._transaction_manager.last_error
    try:
        yield
    except kafka.errors.KafkaError as error:
        if before is None or before is error:
            raise
        raise error from before


def begin(producer: Any) -> None:
    """Begin a transaction. If the producer has failed, the failure is the cause of the error."""
    with _explained(producer):
        producer.begin_transaction()


def send_offsets(
    producer: Any, offsets: Mapping[Any, Any], membership: Any, timeout: float
) -> None:
    """Add offsets to the transaction, with a timeout in seconds."""
    manager = producer._transaction_manager
    _wait(
        producer,
        lambda: manager.send_offsets_to_transaction(offsets, membership),
        "sending offsets",
        timeout,
    )


def commit(producer: Any, timeout: float) -> None:
    """Commit the transaction, with a timeout in seconds."""
    _wait(producer, producer._transaction_manager.begin_commit, "the commit", timeout)


def abort(producer: Any, timeout: float) -> None:
    """Abort the transaction and drop its offsets, with a timeout in seconds.

    Without that, the producer would commit rejected offsets with its next transaction.
    """
    manager = producer._transaction_manager
    try:
        _wait(producer, manager.begin_abort, "the abort", timeout)
    finally:
        manager._pending_txn_offset_commits.clear()


def discard(producer: Any) -> None:
    """Close the producer and drop its unsent records.

    A normal close flushes first. If the flush fails, the sender thread stays and keeps retrying.
    """
    producer._sender.force_close()
    close_quietly(producer, timeout=1)
