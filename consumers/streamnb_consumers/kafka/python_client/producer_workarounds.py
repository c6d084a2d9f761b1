"""What kafka-python's producer needs to be exactly once: workarounds, each naming what it repairs.

All were seen in kafka-python 3.0.12. `tests/kafka/test_producer_hazards.py` shows each fault
without its workaround and fails when the fault is gone, so that the workaround can go too. What
reaches into private parts of kafka-python is here and in `consumer_workarounds`, and nowhere else.
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

# Between two answers "not ready", so that a thread that asks again at once does not spin. Seconds.
_NOT_READY = 0.02


def fix_lost_requests(producer: Any) -> None:
    """Keep a transactional request whose connection fails.

    The sender's thread drops the request it is about to send when waiting for its node raises:
    whoever waits for it (offsets, commit, abort) then waits for ever. An answer "not ready" makes
    it look for the coordinator and try again.
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
    """Keep a fenced producer from fencing the one that took its place.

    Told at a record that its epoch is over, it asks by itself for a new epoch (KIP-360): the broker
    refuses, but aborts the transaction of its successor and fences that too. So it fails instead.
    Other errors that it would answer thus (out of order records) also make it fail: a new producer
    is made then.
    """
    producer._transaction_manager._supports_epoch_bump = lambda: False


def fix_producer(producer: Any) -> None:
    """Apply the workarounds of a transactional producer, before `init_transactions`."""
    fix_lost_requests(producer)
    fix_stolen_place(producer)


def _wait(producer: Any, begin: Callable[[], Any], what: str, timeout: float) -> None:
    """Wait for a transactional request; kafka-python's own methods wait without a limit."""
    with _explained(producer):
        result = begin()
        producer._sender.wakeup()
        if not result.wait(timeout_ms=timeout * 1000):
            raise kafka.errors.KafkaTimeoutError(f"{what} took more than {timeout:g} seconds")


@contextlib.contextmanager
def _explained(producer: Any) -> Iterator[None]:
    """Give an error the one before as its cause.

    A producer that has failed answers every further call with a `KafkaError`, whose text alone says
    why. Who is fenced must learn it: with a new producer it would take the place of the other.
    """
    before = producer._transaction_manager.last_error
    try:
        yield
    except kafka.errors.KafkaError as error:
        if before is None or before is error:
            raise
        raise error from before


def begin(producer: Any) -> None:
    """Begin a transaction; if the producer has failed, the error has the failure as its cause."""
    with _explained(producer):
        producer.begin_transaction()


def send_offsets(
    producer: Any, offsets: Mapping[Any, Any], membership: Any, timeout: float
) -> None:
    """Add offsets to the transaction, in at most so many seconds."""
    manager = producer._transaction_manager
    _wait(
        producer,
        lambda: manager.send_offsets_to_transaction(offsets, membership),
        "sending offsets",
        timeout,
    )


def commit(producer: Any, timeout: float) -> None:
    """Commit the transaction, in at most so many seconds."""
    _wait(producer, producer._transaction_manager.begin_commit, "the commit", timeout)


def abort(producer: Any, timeout: float) -> None:
    """Abort the transaction, in at most so many seconds, and forget the offsets in it.

    Offsets that were refused stay with the producer after the abort, and would be committed with
    its next transaction.
    """
    manager = producer._transaction_manager
    try:
        _wait(producer, manager.begin_abort, "the abort", timeout)
    finally:
        manager._pending_txn_offset_commits.clear()


def discard(producer: Any) -> None:
    """Close a producer without sending what it holds.

    Closing flushes first, and where that fails the sender's thread stays and goes on trying.
    """
    producer._sender.force_close()
    close_quietly(producer, timeout=1)
