"""Requirements on the readers of both clients; each one was violated once, or could be."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import confluent_kafka
import pytest

from streamnb_consumers.errors import AbortedError
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.confluent_client.client import client_settings
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Reader
from streamnb_consumers.records import Partition, Record
from support.broker import Broker, BrokerUnavailableError
from support.brokers.fencing import ROUND, FencingCluster
from support.stepped import until

COUNT = 20


@pytest.fixture
def place(broker: Broker) -> Partition:
    """Create a partition with this number of records."""
    name = broker.unique("read")
    topic = broker.topic("read", partitions=2)
    writer = open_driver(Cluster(broker.bootstrap, name, None, name)).writer(name, 20.0)
    writer.begin()
    writer.write(Written(topic, 0, None, b"%d" % at, []) for at in range(COUNT))
    writer.commit({}, name, 20.0)
    writer.close(5.0)
    return Partition(topic, 0)


@pytest.fixture
def reader(broker: Broker, client: str) -> Iterator[Reader]:
    name = broker.unique("reader")
    made = open_driver(Cluster(broker.bootstrap, name, None, name, client=client)).reader({})
    yield made
    made.close(1.0)


def read(reader: Reader, count: int) -> list[int]:
    """Return the offsets of the records that are read, up to this number."""
    found: list[Record] = []
    until(lambda: len(found) >= count, lambda: found.extend(reader.poll(100, 0.05)))
    return [record.offset for record in found]


def test_what_was_paused_when_it_was_left_is_read_when_it_comes_back(
    reader: Reader, place: Partition
) -> None:
    """A worker with pending labels loses a partition and gets it again.

    With librdkafka the partition stayed paused: 786 of 21,003 labels were never learned.
    """
    other = Partition(place.source, 1)
    reader.assign([place, other])
    reader.seek(other, 0)
    reader.seek(place, 0)
    assert read(reader, COUNT) == list(range(COUNT))
    reader.pause(place)
    reader.assign([other])
    reader.assign([place, other])
    reader.seek(place, 5)
    assert read(reader, COUNT - 5) == list(range(5, COUNT))


def test_what_is_paused_stays_so_where_it_is_sought(reader: Reader, place: Partition) -> None:
    reader.assign([place])
    reader.seek(place, 0)
    read(reader, COUNT)
    reader.pause(place)
    reader.seek(place, 5)
    assert [reader.poll(100, 0.1) for _ in range(10)] == [[]] * 10
    reader.resume(place)
    assert read(reader, COUNT - 5) == list(range(5, COUNT))


def test_what_is_kept_goes_on_where_it_is(reader: Reader, place: Partition) -> None:
    other = Partition(place.source, 1)
    reader.assign([place])
    reader.seek(place, 0)
    read(reader, COUNT)
    reader.assign([place, other])
    reader.seek(other, 0)
    assert [reader.poll(100, 0.1) for _ in range(10)] == [[]] * 10
    until(lambda: reader.position(place) > COUNT)  # past the marker of the transaction


@pytest.mark.broker_long
def test_a_client_that_is_told_of_no_brokers_finds_them_again() -> None:
    """A client that is told of a cluster without brokers finds the broker again.

    A controller that considers its broker dead reports no brokers. librdkafka then forgets the only
    broker. With `metadata.recovery.strategy` `none` it does not search again: a worker waited ten
    minutes beside a running broker.
    """
    try:
        cluster = FencingCluster()
    except BrokerUnavailableError as error:
        pytest.skip(str(error))
    try:
        topic = cluster.broker.topic("fenced")
        opened = Cluster(cluster.broker.bootstrap, "g", None, "t", client="confluent")
        reader: Any = open_driver(opened).reader({})
        until(lambda: found(reader, topic))
        # A client without recovery shows that clients were told so.
        strategy = {"metadata.recovery.strategy": "none"}
        other = confluent_kafka.Consumer({**client_settings(opened), "group.id": "g", **strategy})
        other.list_topics(timeout=20.0)
        until(lambda: hears_of_none(other))  # else nothing is tested
        asked = time.monotonic()
        until(lambda: time.monotonic() - asked > 2 * ROUND, lambda: found(reader, topic))
        until(lambda: found(reader, topic))
        reader.close(1.0)
        other.close()
    finally:
        cluster.close()


def found(reader: Reader, topic: str) -> bool:
    """Return whether a reader finds a topic."""
    with contextlib.suppress(AbortedError):
        return bool(reader.partitions(topic))
    return False


def hears_of_none(consumer: confluent_kafka.Consumer) -> bool:
    """Return whether a librdkafka client is told of no brokers, or has lost the only one."""
    try:
        return not consumer.list_topics(timeout=1.0).brokers
    except confluent_kafka.KafkaException:
        return True
