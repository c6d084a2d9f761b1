"""Repair of hanging transactions of a filter.

A single broker that is killed between a commit and its markers can restart without knowing the
transaction. Its records then stay undecided, and part of its markers may already be written. The
repair aborts the rest, and sets the offsets of the group to those that the join state has.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import kafka
from streamnb_consumers.errors import AbortedError, SettingsError
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.encoding import Progress
from streamnb_consumers.kafka.python_client.driver import PythonDriver
from streamnb_consumers.records import Partition

_OFFSETS = "__consumer_offsets"
# Wait for committed offsets, in seconds.
_COMMITTED = 5.0
_OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence")


class Hanging(NamedTuple):
    """A transaction in a partition that its coordinator does not know."""

    place: Partition
    producer_id: int
    producer_epoch: int
    first: int  # offset of its first record


class Repair(NamedTuple):
    """The transactions to abort, and the offsets to set: before and after, None for the start."""

    hanging: list[Hanging]
    offsets: dict[Partition, tuple[int | None, int]]


def find(cluster: Cluster, topics: Topics, timeout: float) -> Repair:
    """Return the hanging transactions of a filter, and the offsets that fit after their abort.

    Raises
    ------
    SettingsError
        If a topic does not exist.
    AbortedError
        If the offsets cannot be determined: outputs hang, but not the join state of their batch.
    """
    driver = PythonDriver(cluster)
    reader = driver.reader({}, cluster.group)
    try:
        written = (topics.decisions, topics.training, topics.join_state, topics.dead_letters)
        ours = [place for topic in (*written, _OFFSETS) for place in reader.partitions(topic)]
        with driver.admin("transactions") as admin:
            listed = admin.list_transactions().values()
            known = {each.producer_id for some in listed for each in some if each.state in _OPEN}
            states = admin.describe_producers([kafka.TopicPartition(*place) for place in ours])
        found = [
            Hanging(
                Partition(*place),
                each.producer_id,
                each.producer_epoch,
                each.current_transaction_start_offset,
            )
            for place, state in states.items()
            for each in state.active_producers
            if each.current_transaction_start_offset >= 0 and each.producer_id not in known
        ]
        windows = {each.place: each for each in found if each.place.source == topics.join_state}
        outputs = {each.producer_id for each in found if each.place.source != _OFFSETS}
        # Other applications have offsets of their own in the internal topic.
        hanging = [each for each in found if each.producer_id in outputs]
        if outputs - {each.producer_id for each in windows.values()}:
            raise AbortedError(
                "a transaction hangs in decisions, training events or dead letters, but not in "
                "the join state, so the offsets of its batch are unknown: see "
                "docs/how-to/recover-transactions.md"
            )
        offsets: dict[Partition, tuple[int | None, int]] = {}
        for window in windows:
            resume = _resume(reader, topics, cluster.group, window, timeout)
            # They may be undecided because of the same transaction.
            before = reader.committed(list(resume), min(timeout, _COMMITTED)) or {}
            for place, after in resume.items():
                if before.get(place) != after:
                    offsets[place] = (before.get(place), after)
        return Repair(sorted(hanging), offsets)
    finally:
        reader.close(1.0)
        driver.renew()


def _resume(
    reader: Any, topics: Topics, group: str, window: Partition, timeout: float
) -> dict[Partition, int]:
    """Return the last decided offsets in a partition of the join state."""
    messages = Partition(topics.messages, window.number)
    resume: dict[Partition, int] = dict(reader.firsts([messages]))
    reader.assign([window])
    reader.seek(window, reader.firsts([window])[window])
    end = reader.stable_ends([window])[window]
    deadline = time.monotonic() + timeout
    while reader.position(window) < end:
        if time.monotonic() > deadline:
            raise AbortedError(f"{window.source} {window.number} was not read within {timeout:g} s")
        for record in reader.poll(5_000, 0.5):
            noted = Progress.read(record)
            if noted is not None and noted.group == group:
                resume[Partition(noted.topic, window.number)] = noted.offset
    return resume


def repair(cluster: Cluster, plan: Repair) -> None:
    """Set the offsets, then abort the transactions; a repetition after a failure is harmless.

    Raises
    ------
    SettingsError
        If a worker of the group is running.
    AbortedError
        If the cluster rejects a request.
    """
    driver = PythonDriver(cluster)
    try:
        _repair(driver, cluster.group, plan)
    finally:
        driver.renew()


def _repair(driver: PythonDriver, group: str, plan: Repair) -> None:
    with driver.admin("transactions") as admin:
        positions = {
            kafka.TopicPartition(*place): kafka.structs.OffsetAndMetadata(after, "", -1)
            for place, (_, after) in plan.offsets.items()
        }
        if positions:
            done = admin.alter_group_offsets(group, positions)
            failed = {error for error in done.values() if error is not kafka.errors.NoError}
            for error in failed:
                if issubclass(error, kafka.errors.RetriableError):
                    raise error
            if failed:
                names = ", ".join(sorted(error.__name__ for error in failed))
                raise SettingsError(
                    f"the offsets of group {group} can't be set ({names}): stop all "
                    f"workers of the group, wait for the end of their sessions, and repeat"
                )
        for each in plan.hanging:
            admin.abort_transaction(
                kafka.admin.AbortTransactionSpec(
                    kafka.TopicPartition(*each.place), each.producer_id, each.producer_epoch
                )
            )
