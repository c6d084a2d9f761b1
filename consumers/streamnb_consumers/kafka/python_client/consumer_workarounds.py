"""What kafka-python's consumer needs to be exactly once: workarounds, each naming what it repairs.

All were seen in kafka-python 3.0.12. `tests/kafka/test_consumer_hazards.py` shows each fault
without its workaround and fails when the fault is gone, so that the workaround can go too. What
reaches into private parts of kafka-python is here and in `producer_workarounds`, and nowhere else.

What needs no workaround, seen with the same version and tested there:

- a read_committed consumer asks for stable offsets (`require_stable`), so `committed()` and the
  first poll wait while another producer's transaction holds offsets of that partition;
- its `position()` goes past markers and aborted records, so that it reaches the high watermark when
  no transaction is open; it stops at the first record of one that is open;
- its `end_offsets()` is that last stable offset, not the end of the log (`log_ends`).
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import kafka

__all__ = [
    "committed",
    "fix_consumer",
    "fix_false_claim",
    "fix_forgotten_join",
    "fix_header_names",
    "fix_lost_answer",
    "fix_parked_records",
    "fix_silent_loss",
    "lag",
    "listener",
    "log_ends",
    "membership",
]

_LOG = logging.getLogger(__name__)


def membership(consumer: Any) -> Any:
    """Return the consumer's membership of its group as it is now; None if it is no member.

    Asked for at the commit, it could be that of nobody (generation −1), with which a broker commits
    offsets without asking whose they are. It must be taken right after the poll, and what was
    polled while there is none must be thrown away.

    A member that joins again is none until it has taken the answer: its generation is that of the
    answer as soon as this comes, so a broker commits with it, while the partitions are still those
    of before.
    """
    found = consumer.group_metadata()
    coordinator = consumer._coordinator
    joined = found.state == kafka.structs.MemberState.STABLE and not coordinator.rejoining
    # Who has heard nothing for a whole session may have been put out, or its broker is away.
    silent = coordinator.heartbeat.session_timeout_expired()
    return found if joined and not silent and found.generation_id >= 0 else None


def committed(
    consumer: Any, places: Sequence[Any], timeout: float
) -> dict[Any, tuple[int, str]] | None:
    """Return the offsets that the group committed, with notes; None if not known in time.

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
    return {
        place: (each.offset, each.metadata or "")
        for place, each in found.items()
        if each.offset >= 0
    }


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


def fix_silent_loss(consumer: Any) -> None:
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


def fix_forgotten_join(consumer: Any) -> None:
    """Wait for a join that outlasts a poll, though its reason is gone.

    A leader that joins because topics changed notes their state when it assigns them: if the poll
    ends before the join does, the next poll sees no reason to join and never takes the answer. The
    member then stays in the rebalance and sends no heartbeats. It happens above all if the first
    join comes before the topic's metadata. As in the Java client, a pending join is a reason.
    """
    coordinator = consumer._coordinator
    need_rejoin = coordinator.need_rejoin
    coordinator.need_rejoin = lambda: coordinator.rejoining or need_rejoin()


def fix_false_claim(consumer: Any) -> None:
    """Claim the partitions that the consumer has, when it joins, and no others.

    The assignor claims what it was last assigned, which it never forgets: a member that was put out
    of its group and comes back claims partitions that others have by now. The leader believes the
    last one who claims a partition, and may give it to that member while its owner still runs.
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
    """A finished join whose answer nobody has taken; kafka-python drops one that is done."""

    is_done = False

    def __init__(self, join: Any) -> None:
        self._join = join

    def __getattr__(self, name: str) -> Any:
        return getattr(self._join, name)

    def __await__(self) -> Any:
        return self._join.__await__()


def fix_lost_answer(consumer: Any) -> None:
    """Keep the answer of a join that finishes between two polls for the next poll.

    It is thrown away, and another join is sent: the member never hears which partitions were taken
    from it meanwhile, and with short polls it joins for ever. An answer is not kept for a member
    that lost its place after it came.
    """
    coordinator = consumer._coordinator
    join_group = coordinator.join_group_async

    async def join(*arguments: Any, **options: Any) -> Any:
        task = coordinator._join_task
        waiting = task is not None and task.is_done and coordinator.rejoining
        if waiting and coordinator.state == kafka.structs.MemberState.REBALANCING:
            coordinator._join_task = _Unread(task)
        return await join_group(*arguments, **options)

    coordinator.join_group_async = join


def fix_parked_records(consumer: Any) -> None:
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


class _LenientBytes(bytes):
    """Bytes that decode to text whatever they are: those that are no UTF-8 as U+FFFD."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return _LenientBytes(found) if isinstance(key, slice) else found

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return super().decode(encoding, "replace")


def fix_header_names() -> None:
    """Read records whose headers have names that are no UTF-8; for all consumers of the process.

    Kafka takes any bytes as a header's name. Such a record makes a poll raise, so that its
    partition is never read past it. Bytes that are no UTF-8 are read as U+FFFD instead, and a
    warning is logged.
    """
    batch = kafka.record.default_records.DefaultRecordBatch
    read = batch._read_msg
    if hasattr(read, "upstream"):
        return

    def lenient(self: Any) -> Any:
        try:
            return read(self)
        except UnicodeDecodeError:
            _LOG.warning("headers have names that are no UTF-8 near offset %d", self.base_offset)
            self._buffer = _LenientBytes(self._buffer)
            return read(self)

    lenient.upstream = read  # type: ignore[attr-defined]
    batch._read_msg = lenient


def fix_consumer(consumer: Any) -> None:
    """Apply the workarounds of a consumer that pauses or is in a group, before it subscribes."""
    fix_header_names()
    fix_parked_records(consumer)
    if consumer.config["group_id"] is not None:
        fix_silent_loss(consumer)
        fix_forgotten_join(consumer)
        fix_false_claim(consumer)
        fix_lost_answer(consumer)


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
