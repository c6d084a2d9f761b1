"""Faults of kafka-python's consumer that break "exactly once", with and without the workaround.

A test of a fault fails when kafka-python mends it. Then delete the workaround in
`workarounds` and the test.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import is_fenced, is_replaced, kafka
from support.brokers.odd_headers import NO_VALUE, RawName, write_headers_without_values
from support.clients import HANGS, LIMIT, Clients, committed_offsets, joined, offset, places, until

errors = kafka.errors


# --- 3. a commit that nobody checks -----------------------------------------------------------


def test_membership_is_that_of_the_poll_or_none(clients: Clients) -> None:
    topic, group = clients.broker.topic("member"), clients.broker.unique("member")
    place = kafka.TopicPartition(topic, 0)
    consumer = clients.member(group, topic, session_timeout_ms=3_000)
    assert workarounds.membership(consumer) is None
    # Not until it has an assignment: a join that outlasts a poll is followed by another one, during
    # which the consumer is not a member although the first join has set its assignment.
    until(lambda: joined(consumer), consumer)
    taken = workarounds.membership(consumer)
    assert (taken.generation_id >= 1, bool(taken.member_id)) == (True, True)
    producer = clients.producer(group)
    workarounds.begin(producer)
    workarounds.send_offsets(producer, {place: offset(1)}, taken, LIMIT)
    workarounds.commit(producer, LIMIT)

    consumer._coordinator.reset_generation()  # what a heartbeat does that finds the group gone on
    assert workarounds.membership(consumer) is None
    live = consumer.group_metadata()
    assert (live.generation_id, live.member_id) == (-1, "")
    consumer.close()
    other = clients.member(group, topic)
    until(other.assignment, other)
    workarounds.begin(producer)
    with pytest.raises(errors.CommitFailedError):
        workarounds.send_offsets(producer, {place: offset(2)}, taken, LIMIT)
    workarounds.abort(producer, LIMIT)
    # The fault: the commit is accepted, although another member owns the partition.
    workarounds.begin(producer)
    workarounds.send_offsets(producer, {place: offset(3)}, live, LIMIT)
    workarounds.commit(producer, LIMIT)
    assert committed_offsets(other, [place], LIMIT) == {place: 3}


# --- 4. a join that nobody waits for ------------------------------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_join_that_outlasts_a_poll(clients: Clients, fixed: bool) -> None:
    topic = clients.broker.topic("join", 2)
    member = clients.member(clients.broker.unique("join"), topic)
    until(lambda: joined(member), member)
    coordinator = member._coordinator
    if not fixed:
        del coordinator.need_rejoin  # the workaround, which each member has
    join = coordinator._do_join_and_sync_async

    async def slowly() -> Any:
        found = await join()
        await member._net.sleep(0.3)
        return found

    before = workarounds.membership(member)
    coordinator._do_join_and_sync_async = slowly
    coordinator._assignment_snapshot = {}  # as if the topic's partitions were others
    until(lambda: member.group_metadata().generation_id > before.generation_id, member)
    if fixed:
        until(lambda: member.group_metadata().state == "<stable>", member)
    else:
        begun = time.monotonic()
        until(lambda: time.monotonic() > begun + 1.5, member)
        assert member.group_metadata().state == "<rebalancing>"


def test_members_with_short_polls_join_at_once(clients: Clients) -> None:
    topic = clients.broker.topic("join", 2)
    for _ in range(5):
        consumer = clients.consumer(clients.broker.unique("join"))
        workarounds.fix_consumer(consumer)
        refresh = consumer._cluster._do_refresh_metadata
        consumer._cluster._do_refresh_metadata = late(consumer, refresh, 0.2)
        consumer.subscribe([topic])
        begun = time.monotonic()
        while not consumer.assignment():
            assert time.monotonic() < begun + LIMIT
            consumer.poll(timeout_ms=5)
        assert workarounds.membership(consumer) is not None
        consumer.close()


def late(consumer: Any, call: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    async def delayed(*arguments: Any) -> Any:
        await consumer._net.sleep(seconds)
        return await call(*arguments)

    return delayed


# --- 6 and 7. static members -------------------------------------------------------------------


def test_fenced_static_member_learns_it_from_its_commit(clients: Clients) -> None:
    topic, group = clients.broker.topic("static"), clients.broker.unique("static")
    old = clients.member(group, topic, group_instance_id="one", heartbeat_interval_ms=5_000)
    until(lambda: joined(old), old)
    taken = workarounds.membership(old)
    new = clients.member(group, topic, group_instance_id="one")
    until(lambda: joined(new), new)
    with contextlib.suppress(errors.FencedInstanceIdError):  # only if it has to join again
        assert old.poll(timeout_ms=50) == {}
    producer = clients.producer(group)
    workarounds.begin(producer)
    with pytest.raises(errors.FencedInstanceIdError) as fenced:
        workarounds.send_offsets(
            producer, {kafka.TopicPartition(topic, 0): offset(1)}, taken, LIMIT
        )
    assert is_replaced(fenced.value)
    assert not is_fenced(fenced.value)  # the transactions decide who stops


def test_fenced_static_member_learns_it_from_its_poll(clients: Clients) -> None:
    topic, group = clients.broker.topic("silent"), clients.broker.unique("silent")
    old = {
        fixed: clients.member(group + str(fixed), topic, group_instance_id="one")
        for fixed in (False, True)
    }
    workarounds.fix_silent_fence(old[True])
    for fixed, member in old.items():
        until(lambda member=member: joined(member), member)
        new = clients.member(group + str(fixed), topic, group_instance_id="one")
        until(lambda new=new: joined(new), new)
    begun = time.monotonic()
    with pytest.raises(errors.FencedInstanceIdError):
        until(lambda: False, old[True])
    while time.monotonic() < begun + 1.0:  # the fault: several heartbeats, and no error
        assert old[False].poll(timeout_ms=50) == {}


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


# --- 8. rebalances ------------------------------------------------------------------------------


class Heard:
    """The calls of a rebalance listener, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, set[Any]]] = []
        self.listener = workarounds.listener(self._note("given"), self._note("taken"))

    def _note(self, what: str) -> Callable[[Any], None]:
        return lambda partitions: self.events.append((what, set(partitions)))


def test_partitions_are_taken_inside_a_poll_only(clients: Clients) -> None:
    """Partitions are revoked only within a poll, so a commit before a poll is early enough."""
    topic, group = clients.broker.topic("revoked", 2), clients.broker.unique("revoked")
    both, heard = set(places(topic, 2)), Heard()
    first, second = clients.member(group, topic, heard.listener), clients.member(group, topic)
    for each in (first, second):
        workarounds.fix_consumer(each)  # two that are polled in turn may join for ever
    until(lambda: joined(first) and first.assignment() == both, first)
    taken = workarounds.membership(first)
    begun = time.monotonic()
    until(lambda: time.monotonic() > begun + 1.0, second)  # heartbeats say: rejoin
    assert heard.events == [("given", both)]
    producer = clients.producer(group)
    workarounds.begin(producer)
    workarounds.send_offsets(producer, {place: offset(4) for place in both}, taken, LIMIT)
    workarounds.commit(producer, LIMIT)
    until(lambda: second.assignment() and workarounds.membership(first), first, second)
    assert heard.events[1:] == [("taken", second.assignment())]
    assert committed_offsets(second, sorted(second.assignment()), LIMIT) == dict.fromkeys(
        second.assignment(), 4
    )


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_member_put_out_while_it_rejoins(clients: Clients, fixed: bool) -> None:
    topic, group = clients.broker.topic("silent"), clients.broker.unique("silent")
    place, heard = kafka.TopicPartition(topic, 0), Heard()
    member = clients.member(group, topic, heard.listener, session_timeout_ms=3_000)
    if fixed:
        workarounds.fix_silent_loss(member)
    until(lambda: joined(member), member)
    coordinator = member._coordinator
    join = coordinator._do_join_and_sync_async

    async def put_out() -> Any:
        coordinator._do_join_and_sync_async = join
        coordinator.reset_generation()  # as at the answer that the member is unknown
        raise errors.UnknownMemberIdError

    coordinator._do_join_and_sync_async = put_out
    before = workarounds.membership(member)
    coordinator.request_rejoin()
    until(lambda: workarounds.membership(member) not in (None, before), member)
    until(lambda: joined(member), member)
    again = [("taken", {place}), ("given", {place})] if fixed else []
    assert heard.events == [("given", {place}), *again]


# --- a partition that was paused with records waiting -------------------------------------------


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
        workarounds.fix_parked_records(reader)
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


# --- topics that are added while metadata is requested -------------------------------------------


@pytest.mark.parametrize("fixed", [False, True])
def test_topic_added_during_a_request_for_metadata(
    clients: Clients, fixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = kafka.TopicPartition(clients.broker.topic("added"), 0)
    producer = clients.producer(clients.broker.unique("producer"))
    producer.begin_transaction()
    producer.send(place.topic, b"0", partition=0)
    producer.commit_transaction()
    reader = clients.consumer()
    workarounds.fix_lost_topics()
    if not fixed:
        update = kafka.cluster.ClusterMetadata.update_metadata.upstream
        monkeypatch.setattr(kafka.cluster.ClusterMetadata, "update_metadata", update)
    manager = reader._cluster._manager
    send, requested, added = manager.send, threading.Event(), threading.Event()

    async def slowly(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(manager, "send", send)
        requested.set()
        while not added.is_set():
            await reader._net.sleep(0.01)
        return await send(*arguments, **options)

    monkeypatch.setattr(manager, "send", slowly)
    reader._cluster.request_update()
    assert requested.wait(LIMIT)
    reader.subscribe([place.topic])
    added.set()
    assert [each.value for each in taken(reader, 1)] == ([b"0"] if fixed else [])


def taken(reader: Any, count: int) -> list[Any]:
    """Return a number of records, one per poll; fewer if no more arrive within a while."""
    found: list[Any] = []
    deadline = time.monotonic() + HANGS * 2
    while len(found) < count and time.monotonic() < deadline:
        for records in reader.poll(timeout_ms=50, max_records=1).values():
            found += records
    return found


# --- 11. a claim of what a member had before it was put out --------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_member_that_was_put_out_claims_what_it_had(clients: Clients, fixed: bool) -> None:
    topic, group = clients.broker.topic("claim"), clients.broker.unique("claim")
    member = clients.member(group, topic)
    if fixed:
        workarounds.fix_false_claim(member)
    until(lambda: joined(member), member)
    coordinator = member._coordinator
    protocols, claims = coordinator.group_protocols, []

    def noted() -> Any:
        ((name, metadata),) = protocols()
        claims.append([(each.topic, each.partitions) for each in metadata.owned_partitions])
        return [(name, metadata)]

    coordinator.group_protocols = noted
    coordinator.request_rejoin()  # it has the partition, and claims it
    until(lambda: coordinator.stable() and claims, member)
    assert claims[0] == [(topic, [0])]
    claims.clear()
    coordinator.reset_generation()  # what a heartbeat does that finds the member put out
    until(lambda: coordinator.stable() and member.assignment(), member)
    assert claims[0] == ([] if fixed else [(topic, [0])])


# --- 12. an answer that nobody reads -------------------------------------------------------------


def join_between_polls(member: Any) -> None:
    """Join again, and let the answer come when nobody polls.

    A poll without time may return before it joins, find an earlier join under way, or complete one
    on a busy machine.
    """
    coordinator, deadline = member._coordinator, time.monotonic() + LIMIT
    before = coordinator._join_task
    coordinator.request_rejoin()
    while coordinator._join_task in (before, None):
        assert time.monotonic() < deadline, "the member does not join"
        if not coordinator.need_rejoin():
            coordinator.request_rejoin()
        member.poll(timeout_ms=0)
    until(lambda: coordinator._join_task.is_done)


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_join_that_finishes_between_two_polls(clients: Clients, fixed: bool) -> None:
    topic = clients.broker.topic("answer")
    member = clients.member(clients.broker.unique("answer"), topic)
    if fixed:
        workarounds.fix_lost_answer(member)
    until(lambda: joined(member), member)
    coordinator, joins = member._coordinator, []
    join = coordinator._do_join_and_sync_async

    async def counted() -> Any:
        joins.append(1)
        return await join()

    coordinator._do_join_and_sync_async = counted
    join_between_polls(member)
    assert workarounds.membership(member) is None  # its generation is new already
    member.poll(timeout_ms=0)
    time.sleep(0.2)
    assert len(joins) == (1 if fixed else 2)
    assert (workarounds.membership(member) is not None) == fixed


def test_answer_is_not_kept_for_a_member_that_lost_its_place(clients: Clients) -> None:
    topic = clients.broker.topic("answer")
    member = clients.member(clients.broker.unique("answer"), topic)
    workarounds.fix_consumer(member)
    until(lambda: joined(member), member)
    coordinator = member._coordinator
    join_between_polls(member)
    answered = coordinator._join_task
    coordinator.reset_generation()
    member.poll(timeout_ms=0)
    assert coordinator._join_task is not answered
    until(lambda: workarounds.membership(member), member)


# --- 13. headers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("fixed", [False, True], ids=["upstream", "fixed"])
def test_header_whose_name_is_no_utf_8(
    clients: Clients, fixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = clients.broker.topic("names")
    producer = kafka.KafkaProducer(bootstrap_servers=clients.broker.bootstrap)
    for number in range(3):
        headers = [(RawName(b"\xff\xfename"), b"1"), ("plain", b"2")] if number == 1 else []
        producer.send(topic, b"%d" % number, headers=headers)
    producer.close()
    batch = kafka.record.default_records.DefaultRecordBatch
    if fixed:
        workarounds.fix_header_names()
    else:
        records = kafka.consumer.fetcher.Fetcher.PartitionRecords
        for owner, name in ((batch, "_read_msg"), (records, "take")):
            method = getattr(owner, name)
            monkeypatch.setattr(owner, name, getattr(method, "upstream", method))
    reader = clients.consumer()
    (place,) = places(topic, 1)
    reader.assign([place])
    if not fixed:
        with pytest.raises(errors.CorruptRecordError):
            taken(reader, 3)
        return
    found = taken(reader, 3)
    assert [record.value for record in found] == [b"0", b"1", b"2"]
    assert found[1].headers == [("\ufffd\ufffdname", b"1"), ("plain", b"2")]


def test_header_without_a_value(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a header is read. Writing it is refused (`kafka.encoding.present`)."""
    topic = clients.broker.topic("null")
    producer = kafka.KafkaProducer(bootstrap_servers=clients.broker.bootstrap)
    with pytest.raises(TypeError, match="headers"):
        producer.send(topic, b"0", headers=[("none", None)])
    write_headers_without_values(monkeypatch)
    producer.send(topic, b"0", headers=[("none", NO_VALUE)])
    producer.close()
    reader = clients.consumer()
    reader.assign(places(topic, 1))
    assert [record.headers for record in taken(reader, 1)] == [[("none", None)]]
