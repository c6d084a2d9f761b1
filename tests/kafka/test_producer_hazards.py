"""Faults of kafka-python's producer that break "exactly once", with and without the workaround.

A test of a fault fails when kafka-python mends it. Then delete the workaround in
`workarounds` and the test.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import (
    close_quietly,
    is_fenced,
    is_stale,
    kafka,
)
from support.broker import Broker
from support.clients import (
    HANGS,
    LIMIT,
    Clients,
    committed_offsets,
    nobody,
    offset,
    places,
    until,
    value_of,
)
from support.scenes.deaths import kill_broker

errors = kafka.errors


# --- 1. a request lost for ever -----------------------------------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_request_whose_connection_fails(clients: Clients, fixed: bool) -> None:
    producer = clients.producer(clients.broker.unique("lost"), init=False)
    client, armed = producer._sender._client, threading.Event()
    await_ready = client.await_ready

    def failing(*arguments: Any, **options: Any) -> Any:
        if armed.is_set():
            armed.clear()
            raise errors.KafkaConnectionError("the node is gone")
        return await_ready(*arguments, **options)

    client.await_ready = failing
    if fixed:
        workarounds.fix_lost_requests(producer)
    producer.init_transactions()
    topic = clients.broker.topic("lost")
    producer.begin_transaction()
    producer.send(topic, b"1").get(timeout=LIMIT)
    armed.set()
    result = producer._transaction_manager.begin_commit()
    producer._sender.wakeup()
    assert result.wait(timeout_ms=1000 * (LIMIT if fixed else HANGS)) == fixed


def test_calls_of_a_transaction_do_not_wait_for_ever(clients: Clients) -> None:
    producer = clients.producer(clients.broker.unique("waits"))
    producer._sender._client.await_ready = lambda *_, **__: time.sleep(0.02)
    producer.begin_transaction()
    place = kafka.TopicPartition(clients.broker.topic("waits"), 0)
    for call in (
        lambda: workarounds.send_offsets(producer, {place: offset(1)}, nobody("waits"), 0.2),
        lambda: workarounds.commit(producer, 0.2),
    ):
        with pytest.raises(errors.KafkaTimeoutError, match=r"more than 0\.2 seconds"):
            call()


@pytest.mark.broker_long
def test_broker_restarts_lose_and_double_nothing(own_broker: Broker) -> None:
    """Read, write and commit offsets while the broker is killed."""
    clients = Clients(own_broker)
    source, sink = own_broker.topic("source"), own_broker.topic("sink")
    group = own_broker.unique("group")
    place, wanted, kills = kafka.TopicPartition(source, 0), 400, 2
    feeder = kafka.KafkaProducer(bootstrap_servers=own_broker.bootstrap)
    for number in range(wanted):
        feeder.send(source, b"%d" % number)
    feeder.close()
    consumer = clients.consumer(group)
    consumer.assign([place])
    name = own_broker.unique("restarts")
    done, failed = 0, 0
    producer = clients.producer(name)

    deciding = threading.Lock()

    def restarts() -> None:
        for _ in range(kills):
            time.sleep(0.7)
            with deciding:
                kill_broker(own_broker, quiet=0.1)
            own_broker.start()

    killer = threading.Thread(target=restarts)
    killer.start()
    deadline = time.monotonic() + 90.0
    try:
        while done < wanted or killer.is_alive():
            assert time.monotonic() < deadline, f"{done} of {wanted} after {failed} failures"
            try:
                if producer is None:
                    with deciding:
                        producer = clients.producer(name)
                if failed and consumer.position(place, timeout_ms=100) != done:
                    known = committed_offsets(consumer, [place], 5.0)
                    if known is None:
                        continue
                    done = known.get(place, 0)
                    consumer.seek(place, done)
                records = consumer.poll(timeout_ms=50, max_records=10).get(place, [])
                workarounds.begin(producer)
                sent = [producer.send(sink, record.value) for record in records]
                for each in sent:
                    each.get(timeout=5.0)
                if records:
                    after = {place: offset(records[-1].offset + 1)}
                    workarounds.send_offsets(producer, after, nobody(group), 5.0)
                with deciding:
                    workarounds.commit(producer, 5.0)
                done += len(records)
            except errors.KafkaError:
                failed, done = failed + 1, -1  # ask what was committed
                try:
                    with deciding:
                        workarounds.abort(producer, 5.0)
                except (errors.KafkaError, AttributeError):
                    if producer is not None:
                        close_quietly(producer, timeout=0)
                    producer = None
        killer.join()
        found = Counter(value_of(own_broker.read_all(sink)))
        assert found == Counter(b"%d" % number for number in range(wanted))
    finally:
        killer.join()
        clients.close()


# --- 2. offsets that leak into the next transaction ---------------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_offsets_of_an_aborted_transaction(clients: Clients, fixed: bool) -> None:
    first, second = places(clients.broker.topic("leak", 2), 2)
    group = clients.broker.unique("leak")
    producer = clients.producer(group)
    workarounds.begin(producer)
    unknown = kafka.structs.ConsumerGroupMetadata(group, 7, "nobody", None)
    with pytest.raises(errors.CommitFailedError) as stale:
        workarounds.send_offsets(producer, {first: offset(5)}, unknown, LIMIT)
    assert is_stale(stale.value)
    assert not is_fenced(stale.value)
    if fixed:
        workarounds.abort(producer, LIMIT)
    else:
        producer.abort_transaction()
    workarounds.begin(producer)
    workarounds.send_offsets(producer, {second: offset(6)}, nobody(group), LIMIT)
    workarounds.commit(producer, LIMIT)
    found = committed_offsets(clients.consumer(group), [first, second], LIMIT)
    assert found == ({second: 6} if fixed else {first: 5, second: 6})


# --- 5. what a fenced producer says --------------------------------------------------------------


def fence(clients: Clients, fixed: bool) -> tuple[Any, Any, dict[str, Exception]]:
    """Return a fenced producer that writes on, its successor, and the errors of the first one."""
    topic, name = clients.broker.topic("fenced"), clients.broker.unique("fenced")
    place = kafka.TopicPartition(topic, 0)
    told: dict[str, Exception] = {}

    def attempt(what: str, call: Callable[[], Any]) -> None:
        try:
            call()
        except errors.KafkaError as error:
            told[what] = error

    old = clients.producer(name, init=fixed)
    old.init_transactions()
    workarounds.begin(old)
    old.send(topic, b"old").get(timeout=LIMIT)
    new = clients.producer(name)
    workarounds.begin(new)
    new.send(topic, b"new").get(timeout=LIMIT)
    attempt("record", lambda: old.send(topic, b"late").get(timeout=LIMIT))
    until(old._transaction_manager.has_fatal_error)
    attempt("next record", lambda: old.send(topic, b"later"))
    attempt(
        "offsets",
        lambda: workarounds.send_offsets(old, {place: offset(1)}, nobody(name), LIMIT),
    )
    attempt("commit", lambda: workarounds.commit(old, LIMIT))
    attempt("abort", lambda: workarounds.abort(old, LIMIT))
    attempt("begin", lambda: workarounds.begin(old))
    return new, topic, told


def test_fenced_producer(clients: Clients) -> None:
    new, topic, told = fence(clients, fixed=True)
    assert list(told) == ["record", "next record", "offsets", "commit", "abort", "begin"]
    assert isinstance(told["record"], errors.InvalidProducerEpochError)
    assert [what for what, error in told.items() if not is_fenced(error)] == []
    workarounds.commit(new, LIMIT)
    assert value_of(clients.broker.read_all(topic)) == [b"new"]


def test_fenced_producer_fences_the_one_that_took_its_place(clients: Clients) -> None:
    new, topic, _ = fence(clients, fixed=False)
    with pytest.raises(errors.ProducerFencedError):
        workarounds.commit(new, LIMIT)
    assert clients.broker.read_all(topic) == []


def test_fenced_at_the_commit(clients: Clients) -> None:
    topic, name = clients.broker.topic("fenced"), clients.broker.unique("fenced")
    old = clients.producer(name)
    workarounds.begin(old)
    old.send(topic, b"old").get(timeout=LIMIT)
    clients.producer(name)
    with pytest.raises(errors.ProducerFencedError):
        workarounds.commit(old, LIMIT)
    with pytest.raises(errors.KafkaError) as second:
        old.send(topic, b"again")
    assert not isinstance(second.value, errors.ProducerFencedError)
    assert is_fenced(second.value)


# --- topics that are not there ------------------------------------------------------------------


def test_unknown_topic_blocks_a_send(clients: Clients) -> None:
    producer = clients.producer(clients.broker.unique("unknown"), max_block_ms=1_000)
    producer.begin_transaction()
    begun = time.monotonic()
    with pytest.raises(errors.KafkaTimeoutError):
        producer.send(clients.broker.unique("unknown"), b"")
    assert time.monotonic() - begun > 0.9
