"""Reader for explicitly assigned partitions that uses confluent-kafka."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import operator
import time
from collections.abc import Collection
from typing import Any

import confluent_kafka
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import OffsetSpec

from streamnb_consumers.errors import AbortedError, UnreachableError
from streamnb_consumers.kafka.confluent_client.client import bounded, meaning, translated
from streamnb_consumers.kafka.protocols import Roles, Unreadable, check_read
from streamnb_consumers.records import Headers, Partition, Record

_LOG = logging.getLogger(__name__)
_HEADERS = operator.methodcaller("headers")

_ERRORS = confluent_kafka.KafkaError
# Timeout of one request, in seconds. An available broker answers within milliseconds, and the next
# poll repeats the request.
_REQUEST = 5.0
_PAUSE = 0.1  # seconds until a request is repeated
# The committed offsets are not available yet, because the group or its coordinator is changing.
_NOT_YET = (
    _ERRORS._TIMED_OUT,
    _ERRORS.REQUEST_TIMED_OUT,
    _ERRORS.STALE_MEMBER_EPOCH,
    _ERRORS.UNKNOWN_MEMBER_ID,
    _ERRORS.REBALANCE_IN_PROGRESS,
    _ERRORS.UNSTABLE_OFFSET_COMMIT,
)
# The admin client has outdated partition leaders, and does not refresh them by itself.
_MOVED = (
    _ERRORS.FENCED_LEADER_EPOCH,
    _ERRORS.UNKNOWN_LEADER_EPOCH,
    _ERRORS.NOT_LEADER_FOR_PARTITION,
    _ERRORS._NOENT,
)

# A batch that cannot be read: a wrong checksum, invalid compression, or damage that the broker
# reports.
_DAMAGED = (_ERRORS._BAD_MSG, _ERRORS._BAD_COMPRESSION, _ERRORS.INVALID_MSG)
_UNREADABLE = (*_DAMAGED, _ERRORS._UNDERFLOW, _ERRORS._NOT_IMPLEMENTED)


def topic_partition(place: Partition, *offset: Any) -> Any:
    """Return a `TopicPartition` of confluent-kafka with optional offset and metadata."""
    return confluent_kafka.TopicPartition(*place, *offset)


@dataclasses.dataclass(slots=True)
class _Search:
    """Search for the end of an unreadable batch.

    librdkafka 2.16 reports the first offset of a batch with a wrong checksum, but not its end, and
    reads the bytes after it wrongly. A fetch from an offset inside of the batch fails again, so the
    first offset from which a fetch works is the end.

    Attributes
    ----------
    first, base
        Next offset of the partition, and first offset of the batch.
    why
        Error of the client.
    inside, after
        Last offset that is known to be inside, and first one that is known to be after the batch.
    offset, again
        Offset that is tried now, and when it is tried again.
    """

    first: int
    base: int
    why: str
    inside: int
    after: int
    offset: int
    again: float = 0.0

    def note(self, is_inside: bool) -> bool:
        """Note the result of an attempt and choose the next offset; return False at the end.

        Steps double until one leaves the batch, because a batch is small compared to its log.

        Examples
        --------
        >>> search = _Search(first=5, base=5, why="", inside=5, after=1_000, offset=5)
        >>> is_inside, tried = True, []
        >>> while search.note(is_inside):  # a batch with offsets 5 to 9
        ...     tried.append(search.offset)
        ...     is_inside = search.offset < 10
        >>> tried, search.after
        ([6, 8, 12, 10, 9], 10)
        """
        if is_inside:
            step = max(1, 2 * (self.offset - self.inside))
            self.inside = self.offset
            self.offset = min(self.inside + step, (self.inside + self.after) // 2)
        else:
            self.after = self.offset
            self.offset = (self.inside + self.after) // 2
        return self.after - self.inside > 1


class ConfluentReader:
    """Reader for explicitly assigned partitions.

    The reader tracks positions itself. The positions of librdkafka do not skip aborted records and
    transaction markers, but its end-of-partition events include them.

    Parameters
    ----------
    consumer
        confluent-kafka consumer with `enable.partition.eof`.
    admin
        Admin client, for first and last offsets. A consumer that reads committed records gets only
        the offset of the first open transaction, never the end of the log.
    roles
        Role of the records of each topic.
    """

    def __init__(self, consumer: Any, admin: Any, roles: Roles) -> None:
        self._consumer, self._admin, self._roles = consumer, admin, roles
        self._group = consumer  # whose group's committed offsets are requested
        self._assigned: set[Partition] = set()
        self._positions: dict[tuple[str, int], int] = {}  # partitions with a known position
        self._paused: set[Partition] = set()
        self._stopped: set[tuple[str, int]] = set()
        self._searches: dict[tuple[str, int], _Search] = {}
        self._unreadable: list[Unreadable] = []

    def partitions(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic, or an empty list if the topic does not exist."""
        with translated("partitions"):
            known = self._consumer.list_topics(topic, timeout=_REQUEST).topics.get(topic)
        if known is None or known.error is not None:
            return []
        return [Partition(topic, number) for number in sorted(known.partitions)]

    def assign(self, places: Collection[Partition]) -> None:
        """Replace the assignment. Partitions that stay assigned keep their positions.

        Resume paused partitions before removal: librdkafka would keep them paused after the next
        assignment and never return their records.
        """
        for place in self._assigned.difference(places):
            if place in self._paused:
                self.resume(place)
            self._leave(place)
        self._assigned = set(places)

    def _leave(self, place: Partition) -> None:
        if self._positions.pop(place, None) is not None:
            self._searches.pop(place, None)
            if place in self._stopped:
                self._stopped.discard(place)
                with translated("assign"):  # else it would stay paused
                    self._consumer.resume([topic_partition(place)])
            with translated("assign"):
                self._consumer.incremental_unassign([topic_partition(place)])

    def seek(self, place: Partition, offset: int) -> None:
        """Set the next offset of a partition.

        The partition is reassigned, because librdkafka rejects a seek before the first fetch.
        """
        self._leave(place)
        with translated("seek"):
            self._consumer.incremental_assign([topic_partition(place, offset)])
        self._positions[place] = offset
        if place in self._paused:
            self.pause(place)

    def pause(self, place: Partition) -> None:
        """Pause a partition until `resume` is called."""
        self._paused.add(place)
        if place in self._positions:
            with translated("pause"):
                self._consumer.pause([topic_partition(place)])

    def resume(self, place: Partition) -> None:
        """Resume a paused partition."""
        self._paused.discard(place)
        if place in self._positions and place not in self._stopped:
            with translated("resume"):
                self._consumer.resume([topic_partition(place)])

    def stop(self, place: Partition) -> None:
        """Stop reading a partition until the next `seek`. Its position stays."""
        if place in self._positions:
            self._stopped.add(place)
            with translated("pause"):
                self._consumer.pause([topic_partition(place)])

    def take_unreadable(self) -> list[Unreadable]:
        """Return the unreadable batches since the last call; their partitions are stopped."""
        found, self._unreadable = self._unreadable, []
        return found

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Return the next records, ordered by partition; empty after the timeout."""
        check_read(self._unreadable)
        for name, search in self._searches.items():
            if time.monotonic() >= search.again:
                self._attempt(name)
        with translated("poll"):
            found = self._consumer.consume(most, 0)
            if not found and timeout > 0:
                # `consume(n)` waits for n records or for the timeout, so wait for a single record.
                found = self._consumer.consume(1, timeout)
                if found and most > 1:
                    found += self._consumer.consume(most - 1, 0)
        return self._records(found) if found else []

    def _records(self, found: list[Any]) -> list[Record]:
        records: list[Record] = []
        positions = self._positions
        places: dict[tuple[str, int], tuple[Partition, Any]] = {}
        seen: set[tuple[str, int]] = set()  # partitions whose further records are outdated
        for each in found:
            name = (each.topic(), each.partition())
            offset = each.offset()
            error = each.error()
            if error is not None:
                self._note(name, offset, error, seen)
                continue
            if positions.get(name, offset + 1) > offset or name in seen or name in self._stopped:
                continue  # fetched before the last assignment or seek
            if name in self._searches:
                self._search(name, is_inside=False, seen=seen)
                continue
            if name not in places:
                places[name] = (Partition(*name), self._roles.get(name[0], "message"))
            place, role = places[name]
            kind, milliseconds = each.timestamp()
            positions[name] = offset + 1
            records.append(
                Record(
                    place,
                    offset,
                    each.value(),
                    each.key(),
                    headers_of(each),
                    milliseconds if kind else None,
                    role,
                )
            )
        return records

    def _note(
        self, name: tuple[str, int], offset: int, error: Any, seen: set[tuple[str, int]]
    ) -> None:
        if error.code() in _UNREADABLE:
            self._damage(name, offset, error, seen)
        elif error.code() == _ERRORS._PARTITION_EOF:
            if name in self._searches:
                self._search(name, is_inside=False, seen=seen)
            elif name in self._positions and name not in self._stopped:
                self._positions[name] = max(offset, self._positions[name])
        elif name in self._searches or name in self._stopped:
            return  # after a damaged batch, librdkafka fetches from invalid offsets
        elif error.code() == _ERRORS._AUTO_OFFSET_RESET:
            raise AbortedError(
                f"poll: the next offset of {name[0]} {name[1]} does not exist: {error.str()}"
            )
        elif not error.retriable():
            raise meaning("poll", error)

    def _damage(
        self, name: tuple[str, int], base: int, error: Any, seen: set[tuple[str, int]]
    ) -> None:
        """Begin to search for the end of an unreadable batch, or continue."""
        search = self._searches.get(name)
        if search is not None:
            # Another damaged batch is after this one. Other errors come from misread bytes.
            if error.code() in _DAMAGED:
                self._search(name, search.base == base, seen)
        elif name in self._positions and name not in self._stopped and name not in seen:
            place, first = Partition(*name), self._positions[name]
            after = max(first + 1, self.log_ends([place])[place])
            why = f"{error.name()}: {error.str()}"[:300]
            self._searches[name] = _Search(first, base, why, first, after, first)
            self._search(name, is_inside=True, seen=seen)

    def _search(self, name: tuple[str, int], is_inside: bool, seen: set[tuple[str, int]]) -> None:
        """Note the result of an attempt; try the next offset, or stop the partition at the end."""
        if name in seen:
            return
        seen.add(name)
        search, place = self._searches[name], Partition(*name)
        if search.note(is_inside):
            self._attempt(name)
        else:
            del self._searches[name]
            self._unreadable.append(Unreadable(place, search.first, search.after, search.why))
            self.stop(place)

    def _attempt(self, name: tuple[str, int]) -> None:
        search, place = self._searches[name], Partition(*name)
        search.again = time.monotonic() + _REQUEST
        with translated("assign"):
            self._consumer.incremental_unassign([topic_partition(place)])
            self._consumer.incremental_assign([topic_partition(place, search.offset)])

    def position(self, place: Partition) -> int:
        """Return the offset of the next record, after any markers and aborted records."""
        try:
            return self._positions[place]
        except KeyError:
            raise AbortedError(f"{place.source} {place.number} is not assigned") from None

    def firsts(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the first available offset of each partition."""
        return self._ask(places, OffsetSpec.earliest(), IsolationLevel.READ_COMMITTED)

    def stable_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return each last stable offset: the start of the first open transaction."""
        return self._ask(places, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)

    def log_ends(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the end of the log of each partition, including open transactions."""
        return self._ask(places, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)

    def _ask(
        self, places: Collection[Partition], spec: Any, isolation: Any
    ) -> dict[Partition, int]:
        return offsets_of(self._admin, places, spec, isolation)

    def committed(
        self, places: Collection[Partition], timeout: float
    ) -> dict[Partition, int] | None:
        """Return the committed offsets of the reader's group, or None after the timeout.

        A consumer that reads committed records waits for offsets in open transactions.
        """
        try:
            found = self._group.committed([*map(topic_partition, places)], timeout=timeout)
            for each in found:
                if each.error is not None:
                    raise confluent_kafka.KafkaException(each.error)
        except confluent_kafka.KafkaException as error:
            if error.args[0].code() in _NOT_YET or error.args[0].retriable():
                return None
            raise meaning("committed offsets", error.args[0]) from error
        return {
            Partition(each.topic, each.partition): each.offset for each in found if each.offset >= 0
        }

    @property
    def outsider(self) -> object:
        """Group metadata for committing offsets without being a member."""
        return self._consumer.consumer_group_metadata()

    def close(self, timeout: float) -> None:
        """Disconnect."""
        with contextlib.suppress(UnreachableError):
            bounded("closing a consumer", timeout, self._consumer.close)


def offsets_of(
    admin: Any, places: Collection[Partition], spec: Any, isolation: Any
) -> dict[Partition, int]:
    """Return offsets that an admin client asks for.

    The leader of a new or moved partition may refuse for a moment. kafka-python repeats such
    requests by itself.
    """
    if not places:
        return {}
    end = time.monotonic() + _REQUEST
    with translated("offsets"):
        while True:
            try:
                return _asked(admin, places, spec, isolation)
            except confluent_kafka.KafkaException as error:
                if error.args[0].code() not in _MOVED or time.monotonic() > end:
                    raise
            # The client caches partition leaders and does not refresh them by itself.
            for topic in {place.source for place in places}:
                admin.list_topics(topic, timeout=_REQUEST)
            time.sleep(_PAUSE)


def _asked(
    admin: Any, places: Collection[Partition], spec: Any, isolation: Any
) -> dict[Partition, int]:
    found = admin.list_offsets(
        {topic_partition(place): spec for place in places},
        isolation_level=isolation,
        request_timeout=_REQUEST,
    )
    return {
        Partition(place.topic, place.partition): each.result(_REQUEST + 1).offset
        for place, each in found.items()
    }


def headers_of(message: Any) -> Headers:
    """Return the headers of a record, or an empty tuple if a header name is not UTF-8.

    For such names confluent-kafka returns a broken list and leaves a Python exception set. The
    interpreter detects the exception reliably only after an unspecialised call, so
    `operator.methodcaller` is used here.
    """
    try:
        return tuple(_HEADERS(message) or ())
    except (SystemError, UnicodeDecodeError):
        _LOG.warning(
            "%s %d, offset %d: a header name is not valid UTF-8, so all headers are dropped",
            *(message.topic(), message.partition(), message.offset()),
        )
        return ()
