"""What kafka-python needs to be exactly once: each cure names the behaviour that it mends.

All were seen in kafka-python 3.0.12. `tests/test_kafka_hazards.py` shows each fault without its
cure and fails when the fault is gone, so that the cure can go too. What reaches into private parts
of kafka-python is here and nowhere else.

What needs no cure, seen with the same version and tested there:

- a read_committed consumer asks for stable offsets (`require_stable`), so `committed()` and the
  first poll wait while another producer's transaction holds offsets of that partition;
- its `position()` goes past markers and aborted records, so that it reaches the high watermark when
  no transaction is open; it stops at the first record of one that is open;
- its `end_offsets()` is that last stable offset, not the end of the log (`log_ends`).
"""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamnb_consumers.kafka.client_errors import (
    CooperativeStickyAssignor,
    is_fenced,
    is_stale,
    kafka,
)

__all__ = [
    "CooperativeStickyAssignor",
    "abort",
    "begin",
    "close_quietly",
    "commit",
    "committed",
    "cure_consumer",
    "cure_forgotten_join",
    "cure_lost_requests",
    "cure_parked_records",
    "cure_producer",
    "cure_silent_loss",
    "cure_stolen_place",
    "discard",
    "is_fenced",
    "is_stale",
    "kafka",
    "lag",
    "listener",
    "log_ends",
    "membership",
    "send_offsets",
]

# Between two answers "not ready", so that a thread that asks again at once does not spin. Seconds.
_NOT_READY = 0.02


# --- the producer -------------------------------------------------------------------------------


def cure_lost_requests(producer: Any) -> None:
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


def cure_stolen_place(producer: Any) -> None:
    """Keep a fenced producer from fencing the one that took its place.

    Told at a record that its epoch is over, it asks by itself for a new epoch (KIP-360): the broker
    refuses, but aborts the transaction of its successor and fences that too. So it fails instead.
    Other errors that it would answer thus (out of order records) also make it fail: a new producer
    is made then.
    """
    producer._transaction_manager._supports_epoch_bump = lambda: False


def cure_producer(producer: Any) -> None:
    """Apply the cures of a transactional producer; to be called before `init_transactions`."""
    cure_lost_requests(producer)
    cure_stolen_place(producer)


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


# --- the consumer -------------------------------------------------------------------------------


def membership(consumer: Any) -> Any:
    """Return the consumer's membership of its group as it is now; None if it is no member.

    Asked for at the commit, it could be that of nobody (generation −1), with which a broker commits
    offsets without asking whose they are. It must be taken right after the poll, and what was
    polled while there is none must be thrown away.
    """
    found = consumer.group_metadata()
    return found if found.generation_id >= 0 else None


def committed(consumer: Any, places: Sequence[Any], timeout: float) -> dict[Any, int] | None:
    """Return the offsets that the group committed; None if they are not known in time.

    Offsets in a transaction that is still open are waited for: a read_committed consumer asks for
    stable ones only. All places are asked for in one request.

    A request that is given up is kept, and the next one for the same places, however late, takes
    its answer: what was committed in between would be read again. So each time it is forgotten.
    """
    coordinator = consumer._coordinator
    coordinator._offset_fetch_futures.clear()
    try:
        found = coordinator.fetch_committed_offsets(list(places), timeout_ms=timeout * 1000)
    except kafka.errors.KafkaTimeoutError:
        return None
    return {place: each.offset for place, each in found.items() if each.offset >= 0}


def log_ends(consumer: Any, places: Sequence[Any], timeout: float) -> dict[Any, int]:
    """Return where logs end (their high watermarks), behind open transactions too.

    `end_offsets()` of a read_committed consumer is the first offset of an open transaction, and its
    `highwater()` comes with a fetch: for a partition that is assigned again before another fetch
    was sent, brokers see nothing new to answer, and it stays None until a record comes.
    """
    fetcher = copy.copy(consumer._fetcher)
    fetcher._isolation_level = kafka.protocol.consumer.IsolationLevel.READ_UNCOMMITTED
    found: dict[Any, int] = fetcher.end_offsets(list(places), timeout_ms=timeout * 1000)
    return found


def cure_silent_loss(consumer: Any) -> None:
    """Tell the listener that partitions are lost when the member is put out while it rejoins.

    The listener is asked once a rebalance, at its beginning. A member that the group drops after
    that joins as a new one and keeps its partitions and positions, which others may have had and
    committed meanwhile. As in the Java client, who loses the generation prepares to join again.
    """
    coordinator = consumer._coordinator
    reset_generation = coordinator.reset_generation

    def reset(*arguments: Any, **options: Any) -> None:
        reset_generation(*arguments, **options)
        coordinator.rejoining = False

    coordinator.reset_generation = reset


def cure_forgotten_join(consumer: Any) -> None:
    """Wait for a join that outlasts a poll, though its reason is gone.

    A leader that joins because topics changed notes their state when it assigns them: if the poll
    ends before the join does, the next poll sees no reason to join and never takes the answer. The
    member then stays in the rebalance and sends no heartbeats. It happens above all if the first
    join comes before the topic's metadata. As in the Java client, a pending join is a reason.
    """
    coordinator = consumer._coordinator
    need_rejoin = coordinator.need_rejoin
    coordinator.need_rejoin = lambda: coordinator.rejoining or need_rejoin()


def cure_parked_records(consumer: Any) -> None:
    """Go on with records that were fetched before their partition was paused, once it is resumed.

    They are parked, and taken up again only while no other fetch is in line; but one that was read
    to its end stays in line. Until another partition is paused, the resumed one gives nothing, and
    as it has records waiting, nothing is fetched for it either.
    """
    fetcher = consumer._fetcher
    fetched_records = fetcher.fetched_records

    def fetched(*arguments: Any, **options: Any) -> Any:
        if not fetcher._next_partition_records:
            fetcher._next_partition_records = None
        return fetched_records(*arguments, **options)

    fetcher.fetched_records = fetched


def cure_consumer(consumer: Any) -> None:
    """Apply the cures of a consumer that pauses, and may be in a group, before it subscribes."""
    cure_parked_records(consumer)
    cure_silent_loss(consumer)
    cure_forgotten_join(consumer)


def lag(consumer: Any, place: Any) -> int | None:
    """Return how many records wait in a partition, as of the last fetch; costs no request."""
    state = consumer._subscription.assignment.get(place)
    if state is None or state.position is None or state.highwater is None:
        return None
    return max(0, int(state.highwater - state.position.offset))


def listener(given: Callable[[Iterable[Any]], None], taken: Callable[[Iterable[Any]], None]) -> Any:
    """Return a listener of rebalances that calls two functions."""

    class Listener(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
            given(assigned)

        def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
            taken(revoked)

        def on_partitions_lost(self, lost: Iterable[Any]) -> None:
            taken(lost)

    return Listener()


def close_quietly(client: Any, **options: Any) -> None:
    """Close a client that may be past its end."""
    with contextlib.suppress(kafka.errors.KafkaError, TimeoutError):
        client.close(**options)


def discard(producer: Any) -> None:
    """Close a producer without sending what it holds.

    Closing flushes first, and where that fails the sender's thread stays and goes on trying.
    """
    producer._sender.force_close()
    close_quietly(producer, timeout=1)
