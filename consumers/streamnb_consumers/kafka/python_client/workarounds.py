"""Workarounds for faults of kafka-python 3.0.12 that exactly-once processing needs.

`tests/kafka/test_consumer_hazards.py` and `test_producer_hazards.py` show each fault without its
workaround. A test fails when its fault is fixed, so that the workaround can be deleted. Only this
module uses private parts of kafka-python.

The same tests confirm behaviour that needs no workaround:

- A read_committed consumer requests stable offsets (`require_stable`). `committed()` and the
  first poll therefore wait while the transaction of another producer holds such offsets.
- Its `position()` skips markers and aborted records. It reaches the high watermark if no
  transaction is open, and stops at the first record of an open transaction.
- Its `end_offsets()` returns this last stable offset, not the end of the log.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import kafka
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.kafka.protocols import Unreadable
from streamnb_consumers.kafka.python_client.client import close_quietly, is_refused
from streamnb_consumers.records import Partition

# --- consumer -------------------------------------------------------------------------------------


def membership(consumer: Any) -> Any:
    """Return the current group membership of the consumer, or None if it is not a member.

    Call it right after the poll, and drop the polled records if the result is None. At the commit,
    the generation could be −1 (no member), and brokers accept such commits without checking the
    owner.

    A member that is rejoining is not valid until it has processed the response. The response sets
    the new generation immediately, so a broker would accept a commit for the old partitions.
    """
    found = consumer.group_metadata()
    coordinator = consumer._coordinator
    joined = found.state == kafka.structs.MemberState.STABLE and not coordinator.rejoining
    # After a session without a heartbeat response, the member may have been removed, or the broker
    # is unreachable.
    silent = coordinator.heartbeat.session_timeout_expired()
    return found if joined and not silent and found.generation_id >= 0 else None


def fix_silent_fence(consumer: Any) -> None:
    """Raise the fence of a named member from the next poll.

    A newer member with its name has replaced it. kafka-python stops its heartbeats and reports
    nothing, so an idle member would stay out of the group forever.
    """
    coordinator = consumer._coordinator
    fences: list[BaseException] = []

    def handle(handle: Any, *arguments: Any) -> None:
        try:
            handle(*arguments)
        except kafka.errors.FencedInstanceIdError as error:
            fences.append(error)
            raise

    def poll(poll: Any, *arguments: Any, **options: Any) -> Any:
        if fences:
            raise fences[0]
        return poll(*arguments, **options)

    _patch(coordinator, "_handle_heartbeat_response", handle)
    _patch(consumer, "poll", poll)


def committed(consumer: Any, places: Sequence[Any], timeout: float) -> dict[Any, int] | None:
    """Return the committed offsets of the group, or None after the timeout.

    The request covers all partitions and waits for offsets in open transactions, because a
    read_committed consumer requests stable offsets.

    kafka-python reuses the response of an abandoned request for the same partitions at any later
    time. Such offsets can be outdated, and records would be read again. So drop abandoned requests
    first.
    """
    coordinator = consumer._coordinator
    coordinator._offset_fetch_futures.clear()
    try:
        found = coordinator.fetch_committed_offsets(list(places), timeout_ms=timeout * 1000)
    except kafka.errors.KafkaTimeoutError:
        return None
    return {place: each.offset for place, each in found.items() if each.offset >= 0}


def set_fetch_wait(consumer: Any, seconds: float) -> None:
    """Set how long the broker waits for records before it answers a fetch.

    kafka-python takes this setting only at the creation of a consumer.
    """
    consumer._fetcher.config["fetch_max_wait_ms"] = round(seconds * 1000)


def fix_silent_loss(consumer: Any) -> None:
    """Report lost partitions when a member is removed from the group during a rejoin.

    kafka-python calls the listener once per rebalance, at its beginning. A member that is removed
    later joins as a new member but keeps its partitions and positions, although others may have
    advanced them. As in the Java client, losing the generation starts a new join.
    """
    coordinator = consumer._coordinator

    def reset(reset_generation: Any, *arguments: Any, **options: Any) -> None:
        reset_generation(*arguments, **options)
        coordinator.rejoining = False

    _patch(coordinator, "reset_generation", reset)


def fix_forgotten_join(consumer: Any) -> None:
    """Continue a join that takes longer than one poll, even if its reason has disappeared.

    A leader that joins because of changed topics stores their state when it assigns partitions. If
    the poll ends before the join, the next poll sees no reason to join and never processes the
    response. The member then stays in the rebalance and sends no heartbeats. This happens most
    often if the first join precedes the metadata of the topic. As in the Java client, a pending
    join is a reason to continue.
    """
    coordinator = consumer._coordinator
    _patch(coordinator, "need_rejoin", lambda needs: coordinator.rejoining or needs())


def fix_false_claim(consumer: Any) -> None:
    """Claim only the currently assigned partitions in a join.

    The assignor claims its last assignment forever. A member that was removed and rejoins would
    claim partitions that others own by now. The leader trusts the last claim, so it could assign a
    partition while its owner is still running.
    """
    coordinator, subscription = consumer._coordinator, consumer._subscription

    def claiming(assignor: Any) -> Callable[[Any], Any]:
        metadata = assignor.metadata

        def claim(topics: Any) -> Any:
            assignor.member_assignment = sorted(subscription.assigned_partitions())
            return metadata(topics)

        return claim

    for assignor in coordinator._assignors.values():
        assignor.metadata = claiming(assignor)


class _Unread:
    """A finished join with an unprocessed response. kafka-python would drop a join that is done."""

    is_done = False

    def __init__(self, join: Any) -> None:
        self._join = join

    def __getattr__(self, name: str) -> Any:
        return getattr(self._join, name)

    def __await__(self) -> Any:
        return self._join.__await__()


def fix_lost_answer(consumer: Any) -> None:
    """Keep the response of a join that finishes between two polls.

    kafka-python drops it and sends another join. The member then misses revoked partitions, and
    with short polls it joins forever. The response is not kept if the member has lost its
    membership afterwards.
    """
    coordinator = consumer._coordinator

    async def join(join_group: Any, *arguments: Any, **options: Any) -> Any:
        task = coordinator._join_task
        waiting = task is not None and task.is_done and coordinator.rejoining
        if waiting and coordinator.state == kafka.structs.MemberState.REBALANCING:
            coordinator._join_task = _Unread(task)
        return await join_group(*arguments, **options)

    _patch(coordinator, "join_group_async", join)


def fix_parked_records(consumer: Any) -> None:
    """Return the records of a paused partition after it is resumed.

    kafka-python parks records that were fetched before the pause. It returns them only while no
    other fetch is current, but a completely read fetch stays current. The resumed partition then
    returns nothing until another partition is paused. It also sends no new fetch, because it has
    parked records.
    """
    fetcher = consumer._fetcher

    def fetched(fetched_records: Any, *arguments: Any, **options: Any) -> Any:
        if not fetcher._next_partition_records:
            fetcher._next_partition_records = None
        return fetched_records(*arguments, **options)

    _patch(fetcher, "fetched_records", fetched)


class UnreadableBatchError(AbortedError):
    """A batch is damaged."""

    def __init__(self, batch: Unreadable) -> None:
        super().__init__(batch.why)
        self.batch = batch


def fix_endless_poll() -> None:
    """Report the offsets of a damaged batch. The patch is process-wide.

    kafka-python raises an error without offsets. Then it keeps the partition as the next one to
    read, although its iterator has ended, and the next poll never returns.
    """

    def take(take: Any, self: Any, n: Any = None) -> Any:
        try:
            return take(self, n)
        except kafka.errors.UnsupportedCodecError:
            raise
        except Exception as error:
            self.drain()
            raise _unreadable(self.topic_partition, self.next_fetch_offset, error) from error

    def parse(parse: Any, self: Any, fetch: Any) -> Any:
        try:
            return parse(self, fetch)
        except kafka.errors.CorruptRecordError as error:  # the broker cannot read it
            raise _unreadable(fetch.topic_partition, fetch.fetched_offset, error) from error

    _patch(kafka.consumer.fetcher.Fetcher.PartitionRecords, "take", take)
    _patch(kafka.consumer.fetcher.Fetcher, "_parse_fetched_data", parse)


def _unreadable(place: Any, first: int, error: BaseException) -> UnreadableBatchError:
    """Return the error for the batch at an offset; a local variable of the client has its end."""
    after = first + 1
    for frame, _ in traceback.walk_tb(error.__traceback__):
        batch = frame.f_locals.get("batch")
        if batch is not None and getattr(batch, "magic", 0) == 2:
            after = max(after, batch.next_offset)
    why = f"{type(error).__name__}: {error}"[:300]
    return UnreadableBatchError(Unreadable(Partition(*place), first, after, why))


def _patch(owner: Any, name: str, call: Callable[..., Any]) -> None:
    """Replace a method of an object, or of a class for the whole process, once.

    `call` gets the original method before its arguments.
    """
    upstream = getattr(owner, name)
    if not hasattr(upstream, "upstream"):

        def patched(*arguments: Any, **options: Any) -> Any:
            return call(upstream, *arguments, **options)

        patched.upstream = upstream  # type: ignore[attr-defined]
        setattr(owner, name, patched)


class _LenientBytes(bytes):
    """Bytes whose decoding never fails: bytes that are not UTF-8 become U+FFFD."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return _LenientBytes(found) if isinstance(key, slice) else found

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return super().decode(encoding, "replace")


def fix_header_names() -> None:
    """Read records with header names that are not UTF-8. The patch is process-wide.

    Kafka allows any bytes in header names. In kafka-python such a record makes every poll raise, so
    its partition is blocked. This patch replaces the invalid bytes by U+FFFD.
    """

    def lenient(read: Any, self: Any) -> Any:
        try:
            return read(self)
        except UnicodeDecodeError:
            self._buffer = _LenientBytes(self._buffer)
            return read(self)

    _patch(kafka.record.default_records.DefaultRecordBatch, "_read_msg", lenient)


def fix_lost_topics() -> None:
    """Request topics that are added while other metadata is requested. The patch is process-wide.

    kafka-python takes the response for an answer to all requests. A consumer that subscribes while
    the client requests its first metadata then reads nothing for `metadata_max_age_ms`, by default
    five minutes. Assigned partitions request metadata again by themselves.
    """

    def request(metadata_request: Any, self: Any) -> Any:
        self._requested = set(self._topics)
        return metadata_request(self)

    def update(update_metadata: Any, self: Any, found: Any) -> None:
        update_metadata(self, found)
        # A request that was sent before this patch has no record of its topics.
        if self._topics - getattr(self, "_requested", self._topics):
            self.request_update()

    _patch(kafka.cluster.ClusterMetadata, "metadata_request", request)
    _patch(kafka.cluster.ClusterMetadata, "update_metadata", update)


def fix_consumer(consumer: Any) -> None:
    """Apply all workarounds to a new consumer, before it subscribes."""
    fix_header_names()
    fix_endless_poll()
    fix_parked_records(consumer)
    if consumer.config["group_id"] is not None:
        fix_silent_loss(consumer)
        fix_forgotten_join(consumer)
        fix_false_claim(consumer)
        fix_lost_answer(consumer)
        fix_silent_fence(consumer)


def listener(given: Callable[[Iterable[Any]], None], taken: Callable[[Iterable[Any]], None]) -> Any:
    """Return a rebalance listener that calls two functions."""

    class Listener(kafka.ConsumerRebalanceListener):  # type: ignore[misc]
        def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
            given(assigned)

        def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
            taken(revoked)

        on_partitions_lost = on_partitions_revoked

    return Listener()


# --- producer -------------------------------------------------------------------------------------

# Delay before a "not ready" response, in seconds. It keeps a retrying thread from spinning.
_NOT_READY = 0.02
# Maximum wait for new metadata, in seconds.
_METADATA = 10.0


def fix_lost_requests(producer: Any) -> None:
    """Keep a transactional request whose connection fails.

    The sender thread drops its current request if waiting for the node raises. The caller of the
    request (offsets, commit or abort) would then wait forever. A "not ready" response makes the
    sender look up the coordinator and retry.
    """

    def not_ready(await_ready: Any, *arguments: Any, **options: Any) -> bool:
        try:
            return bool(await_ready(*arguments, **options))
        except kafka.errors.KafkaConnectionError:
            time.sleep(_NOT_READY)
            return False

    _patch(producer._sender._client, "await_ready", not_ready)


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

    def send() -> Any:
        return producer._transaction_manager.send_offsets_to_transaction(offsets, membership)

    _wait(producer, send, "sending offsets", timeout)


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


def refresh_metadata(producer: Any, topic: str, partition: int) -> None:
    """Wait until the producer sees a partition that was added after its last metadata.

    `send` raises a ValueError for such a partition and does not refresh the metadata.
    """
    deadline = time.monotonic() + _METADATA
    while partition not in producer.partitions_for(topic):
        if time.monotonic() > deadline:
            raise kafka.errors.KafkaTimeoutError(f"{topic} has no partition {partition}")
        producer._metadata.request_update()
        time.sleep(_NOT_READY)


def discard(producer: Any) -> None:
    """Close the producer and drop its unsent records.

    A normal close flushes first. If the flush fails, the sender thread stays and keeps retrying.
    """
    producer._sender.force_close()
    close_quietly(producer, timeout=1)


# --- connections ----------------------------------------------------------------------------------


def fix_refusals() -> None:
    """Raise the broker's rejection of a password or certificate. The patch is process-wide.

    kafka-python stores such failures to raise them when the node is used next, but it clears them
    after each handshake, even a failed one. Its clients then retry until the timeout and report an
    unreachable cluster.
    """

    def get(get_connection: Any, self: Any, node_id: Any, *arguments: Any, **options: Any) -> Any:
        refusals: dict[Any, BaseException] = self.__dict__.setdefault("_refusals", {})
        if node_id in refusals:
            raise refusals.pop(node_id)
        made = get_connection(self, node_id, *arguments, **options)

        def note(error: BaseException) -> None:
            if is_refused(error):
                refusals[node_id] = error

        if not made.init_future.is_done:
            made.init_future.add_errback(note)
        return made

    _patch(kafka.net.manager.KafkaConnectionManager, "get_connection", get)


def fix_last_words() -> None:
    """Read the data that arrives together with the end of a connection. The patch is process-wide.

    kafka-python drops such data. A broker that rejects a password sends the reason and closes the
    connection at once, so the reason would be lost.
    """

    def received(receive: Any, self: Any) -> Any:
        data, error = receive(self)
        return data, None if data else error  # the next read reports the end again

    for name in ("KafkaTCPTransport", "KafkaSSLTransport"):
        _patch(getattr(kafka.net.transport, name), "_sock_recv", received)
