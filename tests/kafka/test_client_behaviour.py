"""Behaviour of kafka-python that the loop relies on without a workaround; defaults; warnings."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from streamnb_consumers.kafka.python_client.driver import PythonDriver
from streamnb_consumers.kafka.python_client.producer import KeyPartitioner
from streamnb_consumers.records import Partition
from support.clients import LIMIT, Clients, committed_offsets, nobody, offset, until, value_of

errors = kafka.errors


# --- 9. defaults that are too slow ---------------------------------------------------------------


def test_defaults_that_are_overridden() -> None:
    from streamnb_consumers.kafka.cluster import Cluster
    from streamnb_consumers.kafka.python_client.driver import client_settings

    ours = client_settings(Cluster("localhost:9092", "group", None, "name"))
    for client in (kafka.KafkaProducer, kafka.KafkaConsumer):
        assert client.DEFAULT_CONFIG["reconnect_backoff_max_ms"] == 30_000
        assert client.DEFAULT_CONFIG["retry_backoff_ms"] == 100
    assert ours["reconnect_backoff_max_ms"] <= 500
    assert ours["retry_backoff_ms"] <= 20


# --- partitions ---------------------------------------------------------------------------------


class Known:
    """Metadata of a topic's partitions."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = set(numbers)

    def topics(self) -> set[str]:
        return {"topic"}

    def partitions_for_topic(self, topic: str) -> set[int]:
        return set(self.numbers)

    available_partitions_for_topic = partitions_for_topic


@given(st.binary(max_size=40), st.integers(1, 70), st.booleans())
def test_keys_choose_the_partitions_that_its_own_partitioner_chooses(
    key: bytes, count: int, gap: bool
) -> None:
    known = Known(range(gap, count + gap))  # with a gap, one that is not heard of yet
    asked = ("topic", key, key, b"", b"", known)
    assert KeyPartitioner().partition(
        *asked
    ) == kafka.partitioner.default.DefaultPartitioner().partition(*asked)


def test_records_without_a_key_go_to_any_partition() -> None:
    asked = ("topic", None, None, b"", b"", Known({0, 1}))
    chosen = {KeyPartitioner().partition(*asked) for _ in range(99)}
    assert chosen == {0, 1}


# --- warnings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "imported"),
    [("kafka", False), ("streamnb_consumers.kafka.python_client.client", True)],
)
def test_import_with_warnings_as_errors(module: str, imported: bool) -> None:
    # kafka-python's protocol loader calls functions that Python 3.11 and 3.12 deprecate.
    if sys.version_info >= (3, 13) and not imported:
        pytest.skip("what kafka-python calls is no longer deprecated in this Python")
    done = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning", "-c", f"import {module}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode == 0) == imported, done.stderr


# --- what needs no workaround, and the loop relies on -------------------------------------------


def test_committed_offsets_wait_for_open_transactions(clients: Clients) -> None:
    topic, group = clients.broker.topic("stable"), clients.broker.unique("stable")
    place = kafka.TopicPartition(topic, 0)
    producer = clients.producer(group)
    committed = clients.consumer(group)
    for value, end in (
        (1, workarounds.commit),
        (2, workarounds.abort),
        (3, workarounds.commit),
    ):
        workarounds.begin(producer)
        workarounds.send_offsets(producer, {place: offset(value)}, nobody(group), LIMIT)
        begun = time.monotonic()
        assert committed_offsets(committed, [place], 0.3) is None
        assert 0.2 < time.monotonic() - begun < 2.0
        end(producer, LIMIT)
        expected = 1 if value == 2 else value
        assert committed_offsets(committed, [place], LIMIT) == {place: expected}
    never = kafka.TopicPartition(topic, 1)
    assert committed_offsets(committed, [place, never], LIMIT) == {place: 3}


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_answer_that_came_too_late(clients: Clients, fixed: bool) -> None:
    """A late response to an abandoned offset request does not answer the next request."""
    topic, group = clients.broker.topic("late"), clients.broker.unique("late")
    place = kafka.TopicPartition(topic, 0)
    producer = clients.producer(group)

    def commit(value: int) -> None:
        workarounds.begin(producer)
        workarounds.send_offsets(producer, {place: offset(value)}, nobody(group), LIMIT)
        workarounds.commit(producer, LIMIT)

    commit(1)
    consumer = clients.consumer(group)
    assert committed_offsets(consumer, [place], LIMIT) == {place: 1}
    coordinator = consumer._coordinator
    fetch, slow = coordinator._send_offset_fetch_request, threading.Event()
    slow.set()

    async def late(partitions: Any) -> Any:
        found = await fetch(partitions)
        if slow.is_set():
            slow.clear()
            await consumer._net.sleep(0.5)
        return found

    coordinator._send_offset_fetch_request = late
    assert committed_offsets(consumer, [place], 0.1) is None
    commit(2)
    time.sleep(0.6)
    if fixed:
        assert committed_offsets(consumer, [place], LIMIT) == {place: 2}
    else:
        assert consumer.committed(place, timeout_ms=1000 * LIMIT) == 1


def test_positions_and_ends_of_a_read_committed_consumer(clients: Clients) -> None:
    topic = clients.broker.topic("ends")
    place = kafka.TopicPartition(topic, 0)
    committed, other = clients.producer(topic), clients.producer(f"{topic}-2")
    reader, there = clients.consumer(), Partition(topic, 0)
    driver = PythonDriver(Cluster(clients.broker.bootstrap, "", None, ""))
    reader.assign([place])
    reader.seek(place, 0)
    assert reader.highwater(place) is None
    seen: list[bytes] = []

    def drain(position: int) -> None:
        def is_there() -> bool:
            for records in reader.poll(timeout_ms=20).values():
                seen.extend(value_of(records))
            return bool(reader.position(place) == position)

        until(is_there)

    def write(producer: Any, value: bytes) -> None:
        workarounds.begin(producer)
        producer.send(topic, value).get(timeout=LIMIT)

    write(committed, b"0")
    workarounds.commit(committed, LIMIT)  # record 0, marker 1
    drain(2)
    write(other, b"aborted")
    workarounds.abort(other, LIMIT)  # record 2, marker 3
    drain(4)
    assert seen == [b"0"]
    write(other, b"open")  # record 4
    write(committed, b"5")
    workarounds.commit(committed, LIMIT)  # record 5, marker 6
    until(lambda: driver.offsets([there])[there] == 7)
    assert reader.end_offsets([place]) == {place: 4}
    assert driver.offsets([there]) == {there: 7}
    assert reader.end_offsets([place]) == {place: 4}
    until(lambda: reader.highwater(place) == 7, reader)
    assert (reader.position(place), seen) == (4, [b"0"])
    workarounds.abort(other, LIMIT)
    drain(8)
    assert seen == [b"0", b"5"]
    assert reader.highwater(place) == 8
    # If a partition is assigned again before a fetch, `poll` does not learn its end.
    reader.assign([])
    reader.assign([place])
    reader.seek(place, 8)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 0.5, reader)
    assert reader.highwater(place) is None
    assert driver.offsets([there]) == {there: 8}
    assert driver.ends([there]) == {there: (8, 8)}
    driver.renew()
