"""What kafka-python does that breaks "exactly once", each with its workaround and without it.

A test of a fault fails when kafka-python no longer has it: then the workaround in
`consumers/kafka_cures.py` can go, and the test with it.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamnb_consumers.kafka import consumer_workarounds, producer_workarounds
from streamnb_consumers.kafka.client_errors import (
    CooperativeStickyAssignor,
    close_quietly,
    is_fenced,
    is_stale,
    kafka,
)
from support.broker import Broker

errors = kafka.errors

LIMIT = 20.0  # seconds: for what takes milliseconds on an idle machine
HANGS = 2.0  # seconds after which something is taken to hang


class Clients:
    """Makes clients of one broker and closes them all."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self._made: list[Any] = []
        self._settings: dict[str, Any] = {
            "bootstrap_servers": broker.bootstrap,
            "reconnect_backoff_max_ms": 500,
            "retry_backoff_ms": 20,
        }

    def producer(self, name: str, init: bool = True, **options: Any) -> Any:
        made = kafka.KafkaProducer(
            **self._settings | {"transactional_id": name, "max_block_ms": 10_000} | options
        )
        self._made.append(made)
        if init:
            producer_workarounds.fix_producer(made)
            made.init_transactions()
        return made

    def consumer(self, group: str | None = None, **options: Any) -> Any:
        made = kafka.KafkaConsumer(
            **self._settings
            | {
                "group_id": group,
                "enable_auto_commit": False,
                "isolation_level": "read_committed",
                "auto_offset_reset": "earliest",
                "fetch_max_wait_ms": 50,
                "session_timeout_ms": 6_000,
                "heartbeat_interval_ms": 200,
                "partition_assignment_strategy": (CooperativeStickyAssignor,),
            }
            | options
        )
        self._made.append(made)
        return made

    def member(self, group: str, topic: str, listener: Any = None, **options: Any) -> Any:
        """A consumer that subscribes, after it has asked for the topic."""
        made = self.consumer(group, **options)
        assert made.partitions_for_topic(topic)
        made.subscribe([topic], listener=listener)
        return made

    def close(self) -> None:
        for each in self._made:
            each.close(timeout=0) if hasattr(each, "send") else each.close(timeout_ms=500)


@pytest.fixture
def clients(broker: Broker) -> Iterator[Clients]:
    made = Clients(broker)
    yield made
    made.close()


def until(condition: Callable[[], Any], *polled: Any, seconds: float = LIMIT) -> float:
    """Poll consumers until a condition holds; the seconds that it took."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() < begun + seconds, "waited in vain"
        for each in polled:
            each.poll(timeout_ms=20)
        if not polled:
            time.sleep(0.02)
    return time.monotonic() - begun


def offset(value: int) -> Any:
    return kafka.structs.OffsetAndMetadata(value, "", -1)


def nobody(group: str) -> Any:
    """The membership of someone who is in no group: generation −1, no member."""
    return kafka.structs.ConsumerGroupMetadata(group_id=group)


def places(topic: str, count: int) -> list[Any]:
    return [kafka.TopicPartition(topic, number) for number in range(count)]


def value_of(records: list[Any]) -> list[bytes]:
    return [record.value for record in records]


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
        producer_workarounds.fix_lost_requests(producer)
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
        lambda: producer_workarounds.send_offsets(
            producer, {place: offset(1)}, nobody("waits"), 0.2
        ),
        lambda: producer_workarounds.commit(producer, 0.2),
    ):
        with pytest.raises(errors.KafkaTimeoutError, match=r"more than 0\.2 seconds"):
            call()


def test_broker_restarts_lose_and_double_nothing(own_broker: Broker) -> None:
    """Read, write and commit offsets through kills of the broker."""
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

    def restarts() -> None:
        for _ in range(kills):
            time.sleep(0.7)
            own_broker.restart()

    killer = threading.Thread(target=restarts)
    killer.start()
    deadline = time.monotonic() + 90.0
    try:
        while done < wanted or killer.is_alive():
            assert time.monotonic() < deadline, f"{done} of {wanted} after {failed} failures"
            try:
                if producer is None:
                    producer = clients.producer(name)
                if failed and consumer.position(place, timeout_ms=100) != done:
                    known = consumer_workarounds.committed(consumer, [place], 5.0)
                    if known is None:
                        continue
                    done = known.get(place, 0)
                    consumer.seek(place, done)
                records = consumer.poll(timeout_ms=50, max_records=10).get(place, [])
                producer_workarounds.begin(producer)
                sent = [producer.send(sink, record.value) for record in records]
                for each in sent:
                    each.get(timeout=5.0)
                if records:
                    after = {place: offset(records[-1].offset + 1)}
                    producer_workarounds.send_offsets(producer, after, nobody(group), 5.0)
                producer_workarounds.commit(producer, 5.0)
                done += len(records)
            except errors.KafkaError:
                failed, done = failed + 1, -1  # ask what was committed
                try:
                    producer_workarounds.abort(producer, 5.0)
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
    producer_workarounds.begin(producer)
    unknown = kafka.structs.ConsumerGroupMetadata(group, 7, "nobody", None)
    with pytest.raises(errors.CommitFailedError) as stale:
        producer_workarounds.send_offsets(producer, {first: offset(5)}, unknown, LIMIT)
    assert is_stale(stale.value)
    assert not is_fenced(stale.value)
    if fixed:
        producer_workarounds.abort(producer, LIMIT)
    else:
        producer.abort_transaction()
    producer_workarounds.begin(producer)
    producer_workarounds.send_offsets(producer, {second: offset(6)}, nobody(group), LIMIT)
    producer_workarounds.commit(producer, LIMIT)
    found = consumer_workarounds.committed(clients.consumer(group), [first, second], LIMIT)
    assert found == ({second: 6} if fixed else {first: 5, second: 6})


# --- 3. a commit that nobody checks -------------------------------------------------------------


def test_membership_is_that_of_the_poll_or_none(clients: Clients) -> None:
    topic, group = clients.broker.topic("member"), clients.broker.unique("member")
    place = kafka.TopicPartition(topic, 0)
    consumer = clients.member(group, topic, session_timeout_ms=3_000)
    assert consumer_workarounds.membership(consumer) is None
    until(consumer.assignment, consumer)
    taken = consumer_workarounds.membership(consumer)
    assert (taken.generation_id >= 1, bool(taken.member_id)) == (True, True)
    producer = clients.producer(group)
    producer_workarounds.begin(producer)
    producer_workarounds.send_offsets(producer, {place: offset(1)}, taken, LIMIT)
    producer_workarounds.commit(producer, LIMIT)

    consumer._coordinator.reset_generation()  # what a heartbeat does that finds the group gone on
    assert consumer_workarounds.membership(consumer) is None
    live = consumer.group_metadata()
    assert (live.generation_id, live.member_id) == (-1, "")
    consumer.close()
    other = clients.member(group, topic)
    until(other.assignment, other)
    producer_workarounds.begin(producer)
    with pytest.raises(errors.CommitFailedError):
        producer_workarounds.send_offsets(producer, {place: offset(2)}, taken, LIMIT)
    producer_workarounds.abort(producer, LIMIT)
    # The fault: asked for at the commit it is accepted, though the partition is another's.
    producer_workarounds.begin(producer)
    producer_workarounds.send_offsets(producer, {place: offset(3)}, live, LIMIT)
    producer_workarounds.commit(producer, LIMIT)
    assert consumer_workarounds.committed(other, [place], LIMIT) == {place: 3}


# --- 4. a join that nobody waits for --------------------------------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_join_that_outlasts_a_poll(clients: Clients, fixed: bool) -> None:
    topic = clients.broker.topic("join", 2)
    member = clients.member(clients.broker.unique("join"), topic)
    until(member.assignment, member)
    if fixed:
        consumer_workarounds.fix_forgotten_join(member)
    coordinator = member._coordinator
    join = coordinator._do_join_and_sync_async

    async def slowly() -> Any:
        found = await join()
        await member._net.sleep(0.3)
        return found

    coordinator._do_join_and_sync_async = slowly
    coordinator._assignment_snapshot = {}  # as if the topic's partitions were others
    before = consumer_workarounds.membership(member)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 1.5, member)
    after = consumer_workarounds.membership(member)
    assert after.generation_id > before.generation_id
    assert after.state == ("<stable>" if fixed else "<rebalancing>")


def test_members_with_short_polls_join_at_once(clients: Clients) -> None:
    topic = clients.broker.topic("join", 2)
    for _ in range(5):
        consumer = clients.consumer(clients.broker.unique("join"))
        consumer_workarounds.fix_consumer(consumer)
        refresh = consumer._cluster._do_refresh_metadata
        consumer._cluster._do_refresh_metadata = late(consumer, refresh, 0.2)
        consumer.subscribe([topic])
        begun = time.monotonic()
        while not consumer.assignment():
            assert time.monotonic() < begun + LIMIT
            consumer.poll(timeout_ms=5)
        assert consumer_workarounds.membership(consumer) is not None
        consumer.close()


def late(consumer: Any, call: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    async def delayed(*arguments: Any) -> Any:
        await consumer._net.sleep(seconds)
        return await call(*arguments)

    return delayed


# --- 5. what a fenced producer says --------------------------------------------------------------


def fence(clients: Clients, fixed: bool) -> tuple[Any, Any, dict[str, Exception]]:
    """A producer that writes on after another took its place; that one; what the first was told."""
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
    producer_workarounds.begin(old)
    old.send(topic, b"old").get(timeout=LIMIT)
    new = clients.producer(name)
    producer_workarounds.begin(new)
    new.send(topic, b"new").get(timeout=LIMIT)
    attempt("record", lambda: old.send(topic, b"late").get(timeout=LIMIT))
    until(old._transaction_manager.has_fatal_error)
    attempt("next record", lambda: old.send(topic, b"later"))
    attempt(
        "offsets",
        lambda: producer_workarounds.send_offsets(old, {place: offset(1)}, nobody(name), LIMIT),
    )
    attempt("commit", lambda: producer_workarounds.commit(old, LIMIT))
    attempt("abort", lambda: producer_workarounds.abort(old, LIMIT))
    attempt("begin", lambda: producer_workarounds.begin(old))
    return new, topic, told


def test_fenced_producer(clients: Clients) -> None:
    new, topic, told = fence(clients, fixed=True)
    assert list(told) == ["record", "next record", "offsets", "commit", "abort", "begin"]
    assert isinstance(told["record"], errors.InvalidProducerEpochError)
    assert [what for what, error in told.items() if not is_fenced(error)] == []
    producer_workarounds.commit(new, LIMIT)
    assert value_of(clients.broker.read_all(topic)) == [b"new"]


def test_fenced_producer_fences_the_one_that_took_its_place(clients: Clients) -> None:
    new, topic, _ = fence(clients, fixed=False)
    with pytest.raises(errors.ProducerFencedError):
        producer_workarounds.commit(new, LIMIT)
    assert clients.broker.read_all(topic) == []


def test_fenced_at_the_commit(clients: Clients) -> None:
    topic, name = clients.broker.topic("fenced"), clients.broker.unique("fenced")
    old = clients.producer(name)
    producer_workarounds.begin(old)
    old.send(topic, b"old").get(timeout=LIMIT)
    clients.producer(name)
    with pytest.raises(errors.ProducerFencedError):
        producer_workarounds.commit(old, LIMIT)
    with pytest.raises(errors.KafkaError) as second:
        old.send(topic, b"again")
    assert not isinstance(second.value, errors.ProducerFencedError)
    assert is_fenced(second.value)


# --- 6 and 7. static members ---------------------------------------------------------------------


def test_fenced_static_member_learns_it_from_its_commit(clients: Clients) -> None:
    topic, group = clients.broker.topic("static"), clients.broker.unique("static")
    old = clients.member(group, topic, group_instance_id="one", heartbeat_interval_ms=5_000)
    until(old.assignment, old)
    taken = consumer_workarounds.membership(old)
    new = clients.member(group, topic, group_instance_id="one")
    until(new.assignment, new)
    with contextlib.suppress(errors.FencedInstanceIdError):  # only if it has to join again
        assert old.poll(timeout_ms=50) == {}
    producer = clients.producer(group)
    producer_workarounds.begin(producer)
    with pytest.raises(errors.FencedInstanceIdError) as fenced:
        producer_workarounds.send_offsets(
            producer, {kafka.TopicPartition(topic, 0): offset(1)}, taken, LIMIT
        )
    assert is_fenced(fenced.value)


def test_static_members_keep_their_partitions_for_a_session(clients: Clients) -> None:
    topic, group = clients.broker.topic("stays"), clients.broker.unique("stays")
    options = {"session_timeout_ms": 2_000}
    first = clients.member(group, topic, group_instance_id="one", **options)
    until(first.assignment, first)
    first.close()
    again = clients.member(group, topic, group_instance_id="one", **options)
    assert until(again.assignment, again) < 1.5
    again.close()
    other = clients.member(group, topic, group_instance_id="two", **options)
    assert until(other.assignment, other) > 0.5


# --- 8. rebalances --------------------------------------------------------------------------------


class Heard:
    """What a listener was told, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, set[Any]]] = []
        self.listener = consumer_workarounds.listener(self._note("given"), self._note("taken"))

    def _note(self, what: str) -> Callable[[Any], None]:
        return lambda partitions: self.events.append((what, set(partitions)))


def test_partitions_are_taken_inside_a_poll_only(clients: Clients) -> None:
    """So what was committed before a poll needs no commit when partitions are revoked."""
    topic, group = clients.broker.topic("revoked", 2), clients.broker.unique("revoked")
    both, heard = set(places(topic, 2)), Heard()
    first = clients.member(group, topic, heard.listener)
    until(lambda: first.assignment() == both, first)
    taken = consumer_workarounds.membership(first)
    second = clients.member(group, topic)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 1.0, second)  # heartbeats say: rejoin
    assert heard.events == [("given", both)]
    producer = clients.producer(group)
    producer_workarounds.begin(producer)
    producer_workarounds.send_offsets(producer, {place: offset(4) for place in both}, taken, LIMIT)
    producer_workarounds.commit(producer, LIMIT)
    until(lambda: second.assignment() and consumer_workarounds.membership(first), first, second)
    assert heard.events[1:] == [("taken", second.assignment())]
    assert consumer_workarounds.committed(
        second, sorted(second.assignment()), LIMIT
    ) == dict.fromkeys(second.assignment(), 4)


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_member_put_out_while_it_rejoins(clients: Clients, fixed: bool) -> None:
    topic, group = clients.broker.topic("silent"), clients.broker.unique("silent")
    place, heard = kafka.TopicPartition(topic, 0), Heard()
    member = clients.member(group, topic, heard.listener, session_timeout_ms=3_000)
    if fixed:
        consumer_workarounds.fix_silent_loss(member)
    until(member.assignment, member)
    coordinator = member._coordinator
    join = coordinator._do_join_and_sync_async

    async def put_out() -> Any:
        coordinator._do_join_and_sync_async = join
        coordinator.reset_generation()  # as at the answer that the member is unknown
        raise errors.UnknownMemberIdError

    coordinator._do_join_and_sync_async = put_out
    before = consumer_workarounds.membership(member)
    coordinator.request_rejoin()
    until(lambda: consumer_workarounds.membership(member) not in (None, before), member)
    until(member.assignment, member)
    again = [("taken", {place}), ("given", {place})] if fixed else []
    assert heard.events == [("given", {place}), *again]


# --- a partition that was paused with records waiting ---------------------------------------------


@pytest.mark.parametrize("fixed", [False, True])
def test_resumed_partition_gives_what_waited(clients: Clients, fixed: bool) -> None:
    one, other = (kafka.TopicPartition(clients.broker.topic(name), 0) for name in ("one", "other"))
    producer = clients.producer(clients.broker.unique("producer"))
    producer.begin_transaction()
    for number in range(4):
        producer.send(one.topic, b"%d" % number, partition=0)
    producer.commit_transaction()
    reader = clients.consumer()
    if fixed:
        consumer_workarounds.fix_parked_records(reader)
    reader.assign([one, other])
    reader.seek(one, 0)
    reader.seek(other, 0)
    assert [each.value for each in taken(reader, 1)] == [b"0"]
    reader.pause(one)
    producer.begin_transaction()
    producer.send(other.topic, b"x", partition=0)
    producer.commit_transaction()
    assert [each.value for each in taken(reader, 1)] == [b"x"]
    reader.resume(one)
    assert [each.value for each in taken(reader, 3)] == ([b"1", b"2", b"3"] if fixed else [])


def taken(reader: Any, count: int) -> list[Any]:
    """So many records, one a poll; what there is after a while if there are fewer."""
    found: list[Any] = []
    deadline = time.monotonic() + HANGS * 2
    while len(found) < count and time.monotonic() < deadline:
        for records in reader.poll(timeout_ms=50, max_records=1).values():
            found += records
    return found


# --- 9. defaults that are too slow ----------------------------------------------------------------


def test_defaults_that_are_overridden() -> None:
    from streamnb_consumers.kafka.client import client_settings
    from streamnb_consumers.kafka.cluster import Cluster

    ours = client_settings(Cluster("localhost:9092", "group", None, "name"))
    for client in (kafka.KafkaProducer, kafka.KafkaConsumer):
        assert client.DEFAULT_CONFIG["reconnect_backoff_max_ms"] == 30_000
        assert client.DEFAULT_CONFIG["retry_backoff_ms"] == 100
    assert ours["reconnect_backoff_max_ms"] <= 500
    assert ours["retry_backoff_ms"] <= 20


# --- 10. topics that are not there, markers, warnings ---------------------------------------------


def test_unknown_topic_blocks_a_send(clients: Clients) -> None:
    producer = clients.producer(clients.broker.unique("unknown"), max_block_ms=1_000)
    producer.begin_transaction()
    begun = time.monotonic()
    with pytest.raises(errors.KafkaTimeoutError):
        producer.send(clients.broker.unique("unknown"), b"")
    assert time.monotonic() - begun > 0.9


@pytest.mark.parametrize(
    ("module", "imported"), [("kafka", False), ("streamnb_consumers.kafka.client_errors", True)]
)
def test_import_with_warnings_as_errors(module: str, imported: bool) -> None:
    # The loader of kafka-python's protocol calls what Python 3.11 and 3.12 call deprecated.
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
        (1, producer_workarounds.commit),
        (2, producer_workarounds.abort),
        (3, producer_workarounds.commit),
    ):
        producer_workarounds.begin(producer)
        producer_workarounds.send_offsets(producer, {place: offset(value)}, nobody(group), LIMIT)
        begun = time.monotonic()
        assert consumer_workarounds.committed(committed, [place], 0.3) is None
        assert 0.2 < time.monotonic() - begun < 2.0
        end(producer, LIMIT)
        expected = 1 if value == 2 else value
        assert consumer_workarounds.committed(committed, [place], LIMIT) == {place: expected}
    never = kafka.TopicPartition(topic, 1)
    assert consumer_workarounds.committed(committed, [place, never], LIMIT) == {place: 3}


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_answer_that_came_too_late(clients: Clients, fixed: bool) -> None:
    """A request for committed offsets that was given up must not answer the next one."""
    topic, group = clients.broker.topic("late"), clients.broker.unique("late")
    place = kafka.TopicPartition(topic, 0)
    producer = clients.producer(group)

    def commit(value: int) -> None:
        producer_workarounds.begin(producer)
        producer_workarounds.send_offsets(producer, {place: offset(value)}, nobody(group), LIMIT)
        producer_workarounds.commit(producer, LIMIT)

    commit(1)
    consumer = clients.consumer(group)
    assert consumer_workarounds.committed(consumer, [place], LIMIT) == {place: 1}
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
    assert consumer_workarounds.committed(consumer, [place], 0.1) is None
    commit(2)
    time.sleep(0.6)
    if fixed:
        assert consumer_workarounds.committed(consumer, [place], LIMIT) == {place: 2}
    else:
        assert consumer.committed(place, timeout_ms=1000 * LIMIT) == 1


def test_positions_and_ends_of_a_read_committed_consumer(clients: Clients) -> None:
    topic = clients.broker.topic("ends")
    place = kafka.TopicPartition(topic, 0)
    committed, other = clients.producer(topic), clients.producer(f"{topic}-2")
    reader = clients.consumer()
    reader.assign([place])
    reader.seek(place, 0)
    assert reader.highwater(place) is None
    seen: list[bytes] = []

    def drain(position: int) -> None:
        def there() -> bool:
            for records in reader.poll(timeout_ms=20).values():
                seen.extend(value_of(records))
            return bool(reader.position(place) == position)

        until(there)

    def write(producer: Any, value: bytes) -> None:
        producer_workarounds.begin(producer)
        producer.send(topic, value).get(timeout=LIMIT)

    write(committed, b"0")
    producer_workarounds.commit(committed, LIMIT)  # record 0, marker 1
    drain(2)
    write(other, b"aborted")
    producer_workarounds.abort(other, LIMIT)  # record 2, marker 3
    drain(4)
    assert seen == [b"0"]
    write(other, b"open")  # record 4
    write(committed, b"5")
    producer_workarounds.commit(committed, LIMIT)  # record 5, marker 6
    until(lambda: consumer_workarounds.log_ends(reader, [place], LIMIT)[place] == 7)
    assert reader.end_offsets([place]) == {place: 4}
    assert consumer_workarounds.log_ends(reader, [place], LIMIT) == {place: 7}
    assert reader.end_offsets([place]) == {place: 4}
    until(lambda: reader.highwater(place) == 7, reader)
    assert (reader.position(place), seen) == (4, [b"0"])
    producer_workarounds.abort(other, LIMIT)
    drain(8)
    assert seen == [b"0", b"5"]
    assert reader.highwater(place) == 8
    assert consumer_workarounds.lag(reader, place) == 0
    # Assigned again before another fetch, it has no end though it is polled.
    reader.assign([])
    reader.assign([place])
    reader.seek(place, 8)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 0.5, reader)
    assert reader.highwater(place) is None
    assert consumer_workarounds.log_ends(reader, [place], LIMIT) == {place: 8}
