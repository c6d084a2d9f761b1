"""The training log of a group as a source, which each worker reads completely."""

from __future__ import annotations

import contextlib
import logging
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping

from streamnb_consumers.errors import (
    LOG_SET_BACK,
    AbortedError,
    ForeignError,
    LostClientError,
    RefusedError,
    SettingsError,
    TruncatedError,
    UnreachableError,
)
from streamnb_consumers.io.partition_table import PartitionTable
from streamnb_consumers.io.protocols import Batch, Source
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.contract import Contract
from streamnb_consumers.kafka.open_transactions import OpenTransactions
from streamnb_consumers.kafka.protocols import Driver, Reader, Roles
from streamnb_consumers.kafka.topics import TopicIds, check_topics
from streamnb_consumers.kafka.unreadable import UnreadableBatches
from streamnb_consumers.records import Partition, Record

_LOG = logging.getLogger(__name__)

# A wait for messages consists of steps. New feedback and training events are read in between. The
# steps of a worker that is idle for some seconds are longer, up to twice the wait. Seconds.
STEP = 0.02
_IDLE_STEP = 0.8
# Interval of requests for the ends of logs, in seconds. They give the lags, and detect unreachable
# brokers. An idle client may need minutes to notice.
_ASK, _IDLE_ASK = 1.0, 3.0
# Interval of comparisons of topic ids, in seconds. A topic that is created again is read from an
# outdated offset until the next one.
_IDS = 5.0
# Interval of updates of the table of partitions, in seconds.
_WATCH = 1.0
# Interval of comparisons of the topics with the needs of the filter, in seconds.
_CONTRACT = 60.0
# Time without a response until the clients are replaced, in seconds. librdkafka 2.16 may drop a
# single broker that was restarted and never look for it again, regardless of
# `metadata.recovery.strategy`.
_RENEW = 60.0


class TrainingSource(Source):
    """Base of the sources of workers: follows the training log, through outages.

    Parameters
    ----------
    driver, cluster
        Kafka client driver, and the names of the worker in the cluster.
    topics, ids
        Topics of the filter, and their ids.
    timeout
        Maximum wait for the topics at the start, in seconds.

    Attributes
    ----------
    partitions
        Number of partitions of the messages.
    table
        Partitions that the worker reads or writes, with the reasons why they do not advance.
    """

    _side: Reader
    _training: list[Partition]  # partitions of the training log
    partitions = 1
    ended = False  # a topic never ends

    def __init__(
        self, driver: Driver, cluster: Cluster, topics: Topics, timeout: float, ids: TopicIds
    ) -> None:
        self._driver, self._cluster, self._topics = driver, cluster, topics
        self._timeout, self._ids = timeout, ids
        self._created = not cluster.create_topics
        self._training_ends: dict[Partition, int] | None = None
        self._ask = 0.0
        self._away: float | None = None  # start of the current outage
        self._open = False
        self._lag: dict[Partition, int] = {}
        self._busy = time.monotonic()  # when records were read
        self.table = PartitionTable()
        self._unreadable = UnreadableBatches(self.table, cluster.skip_unreadable, topics.training)
        self._transactions = OpenTransactions(driver, self.table, cluster.transaction_seconds)
        self._contract = Contract(driver, cluster, topics, self._needs())
        self._watched = 0.0
        self._checked = time.monotonic()  # the contract

    @property
    def waiting(self) -> str:
        """Reason why no messages are delivered yet, or an empty string."""
        if self._training_ends is None or self._training_ends:
            return "the training events are being read"
        return ""

    def identity(self, timeout: float) -> str:
        """Create missing topics if the settings ask for it, and return the id of the training log.

        Raises
        ------
        SettingsError
            If the topic does not exist.
        """
        if not self._created:
            layouts = self._topics.layouts(self._cluster.create_topics)
            self._driver.create_topics(layouts, timeout)
            self._created = True
        topic, deadline = self._topics.training, time.monotonic() + timeout
        try:
            self._ids.confirm()
        except LostClientError as error:
            self._lose(error)
        except RefusedError as error:
            self._lose(error)
            raise
        while topic not in self._ids.found:
            if time.monotonic() > deadline:
                raise SettingsError(f"topic not found: {topic}. Create it or set create_topics")
            time.sleep(0.1)
            self._ids.compare()
        return self._ids.found[topic]

    def truncate(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the training events before the given offsets."""
        mine = {place: at for place, at in offsets.items() if place.source == self._topics.training}
        self._driver.delete_records(mine, timeout)

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Read training events from the given offsets and other topics from the committed offsets.

        Raises
        ------
        AbortedError
            If the cluster does not answer in time.
        ForeignError
            If the log ends before the events that this worker has learned.
        TruncatedError
            If training events were deleted before this worker read them.
        SettingsError
            If a topic does not exist or related topics have different numbers of partitions.
        """
        try:
            self._begin(offsets, timeout)
        except UnreachableError:
            self._renew()
            raise
        except (LostClientError, RefusedError) as error:
            self._lose(error)
            raise
        self._away = None
        return {}

    def _renew(self) -> None:
        """Drop the clients if the cluster has not answered for too long."""
        now = time.monotonic()
        self._away = now if self._away is None else self._away
        if self._open and now >= self._away + _RENEW:
            _LOG.warning("no answer from the cluster for %.0f s, reconnecting", now - self._away)
            self._let_go()

    def _lose(self, error: LostClientError | RefusedError) -> None:
        """Drop the clients after a permanent failure or a refusal of one of them."""
        if self._open:
            _LOG.warning("reconnecting: %s", error)
        self._let_go()

    def _let_go(self, seconds: float = 1.0) -> None:
        """Close what is open. New clients, of the next start, read renewed certificates."""
        self._driver.renew()
        if not self._open:
            return
        self._open, self._away = False, None
        for each in self._clients():
            with contextlib.suppress(AbortedError, RefusedError):
                each.close(seconds)

    def _clients(self) -> Iterable[Reader]:
        """Return the clients, in the order in which they are closed."""
        return [self._side]

    def _open_side(
        self, roles: Roles, names: Collection[str], timeout: float
    ) -> tuple[Reader, dict[str, int]]:
        """Return a reader, and the numbers of partitions of the topics, once all exist."""
        side = self._driver.reader(roles)
        try:
            return side, check_topics(side, names, timeout)
        except BaseException:
            side.close(1.0)
            raise

    @abstractmethod
    def _connect(self, timeout: float) -> None:
        """Create the clients, and check the topics."""

    def _begin(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        if not self._open:
            self._connect(timeout)
            self._open = True
        self._ids.confirm(_IDS)
        self._training = training = self._side.partitions(self._topics.training)
        self._unreadable.forget()
        for place in training:
            self.table.drop(place)
        self._assign(training)
        first, ends = self._side.firsts(training), self._side.stable_ends(training)
        last = self._side.log_ends(training)
        self._training_ends = {}
        for place in training:
            offset = offsets.get(place, 0)
            if offset < first[place]:
                raise TruncatedError(
                    f"training events {offset:,} to {first[place]:,} of {place.source} were "
                    f"deleted before this worker read them, so its model would be incomplete: "
                    f"start from a newer snapshot (shared_snapshots), or set unlimited "
                    f"retention for that topic"
                )
            if offset > last[place]:
                raise ForeignError(
                    f"{place.source} ends at offset {last[place]:,}, and this worker or its "
                    f"snapshot has learned the events before {offset:,}: {LOG_SET_BACK}"
                )
            # The filter compares the last event that it has learned, if it is still there.
            offset = max(first[place], offset - 1)
            self._side.seek(place, offset)
            if offset < ends[place]:
                self._training_ends[place] = ends[place]

    def _assign(self, training: Collection[Partition]) -> None:
        self._side.assign(training)

    # --- polling ----------------------------------------------------------------------------------

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return training events before all other records.

        The wait ends with the first record or with a change of `waiting`. Otherwise each step of a
        start would take a whole poll.
        """
        deadline, missing = time.monotonic() + timeout, self.waiting
        if missing:  # the filter may have restored a join window since the last poll
            self._busy = time.monotonic()
        while True:
            try:
                batch = self._poll(max_records, min(self._step(), 2 * timeout))
            except (LostClientError, RefusedError) as error:
                self._lose(error)
                raise
            came = any((batch.records, batch.dropped, batch.offsets, batch.ahead, batch.missing))
            if came or self.waiting:
                self._busy = time.monotonic()
            if came or self.waiting != missing or time.monotonic() >= deadline:
                return batch

    def _step(self) -> float:
        """Return the length of the next wait, in seconds."""
        return max(STEP, min(_IDLE_STEP, (time.monotonic() - self._busy) / 8))

    def _poll(self, max_records: int, timeout: float) -> Batch:
        logs = self._side.poll(max_records, self._patience if self._at_ends() else 0.0)
        self._unreadable.note(self._side)
        self._unreadable.try_again()
        self._watch()
        if self._at_ends():
            return self._more(logs, max_records, timeout)
        if not logs:
            time.sleep(timeout / 10)
        return Batch([record for record in logs if record.role == "training"])

    def _watch(self) -> None:
        """Keep the table of partitions, and look for open transactions."""
        if time.monotonic() >= self._watched + _WATCH:
            self._watched = time.monotonic()
            places = self._places()
            self.table.watch(places)
            self._transactions.look(places)
            self.table.tell()
        if time.monotonic() >= self._checked + _CONTRACT:
            self._checked = time.monotonic()
            self._contract.check_again()

    @property
    def differences(self) -> int:
        """Number of differences between the topics and the needs of the filter."""
        return len(self._contract.differences)

    @abstractmethod
    def _needs(self) -> Mapping[str, Collection[str]]:
        """Return the operations that this worker needs, by topic."""

    def _places(self) -> list[Partition]:
        """Return the partitions that this worker reads or writes."""
        return self._training

    @property
    def _patience(self) -> float:
        """Seconds that a poll waits for the logs."""
        return 0.0

    @abstractmethod
    def _more(self, logs: list[Record], max_records: int, timeout: float) -> Batch:
        """Return a batch of records from the logs, and others, after all events were read."""

    def _at_ends(self) -> bool:
        """Return whether all training events from before the start were read."""
        ends = self._training_ends or {}
        for place in [place for place, end in ends.items() if self._side.position(place) >= end]:
            del ends[place]
        return not ends

    def _check_cluster(self) -> None:
        """Check periodically that the cluster answers and has the same topics; update the lags."""
        if time.monotonic() >= self._ask:
            try:
                positions = self._positions()
                ends = self._side.log_ends(list(positions))
                self._lag = {place: max(0, ends[place] - at) for place, at in positions.items()}
            except AbortedError:  # some partitions may have no leader, which must not stop others
                self._side.stable_ends(self._training)
            self._ask = time.monotonic() + max(_ASK, min(_IDLE_ASK, time.monotonic() - self._busy))
        self._ids.confirm(_IDS)

    def lag(self) -> Mapping[Partition, int]:
        """Return the number of unread records of each assigned partition, up to a second ago."""
        return self._lag if self._open else {}

    def _positions(self) -> dict[Partition, int]:
        """Return the next offset of each partition that this worker reads."""
        return {place: self._side.position(place) for place in self._training}

    def close(self, timeout: float) -> None:
        """Disconnect; a static member stays in the group until its session ends."""
        self._let_go(timeout / 2)
