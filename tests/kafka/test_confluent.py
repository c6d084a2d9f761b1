"""Workers on confluent-kafka: each partition has one owner, and librdkafka's faults are handled."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import confluent_kafka
import pytest
from confluent_kafka import IsolationLevel
from confluent_kafka.admin import AdminClient, OffsetSpec

from streamnb_consumers.errors import (
    AbortedError,
    FencedError,
    RebalanceError,
    RefusedError,
    SettingsError,
    UnreachableError,
)
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.confluent_client.client import client_settings, meaning
from streamnb_consumers.kafka.confluent_client.driver import ConfluentDriver
from streamnb_consumers.kafka.confluent_client.member import epoch_of
from streamnb_consumers.kafka.confluent_client.reader import offsets_of
from streamnb_consumers.records import Partition
from support.broker import Broker
from support.scenes.deaths import kill_broker
from support.stepped import Stage, SteppedWorker, total, until

PHASE = 100  # messages of each partition that are sent at a time
STILL = 3.0  # seconds without a poll after which a worker is put out


@pytest.fixture(
    params=["broker", pytest.param("old_broker", marks=pytest.mark.broker_long)],
)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    made = Stage(request.getfixturevalue(request.param), partitions=2, client="confluent")
    yield made
    made.close()


def epoch(worker: SteppedWorker) -> int:
    """Return the epoch of the worker's membership."""
    return epoch_of(worker.loop.source._group._group.consumer_group_metadata())  # type: ignore[attr-defined]


def decide_all(stage: Stage, *workers: SteppedWorker) -> None:
    """Step the workers in turn until every message has a decision."""
    steps = [lambda worker=worker: worker.step(0.05) for worker in workers]
    until(lambda: total(stage.workers) >= len(stage.sent), *steps)
    assert set(stage.decisions()) == set(stage.sent)


def test_a_worker_that_stood_still_commits_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two sources holds a batch and stops polling; the other one processes everything."""
    member = ConfluentDriver.member
    stage.send(PHASE)
    with monkeypatch.context() as patch:
        patch.setattr(ConfluentDriver, "member", lambda self, poll_seconds: member(self, STILL))
        still = stage.worker("a")
    until(lambda: total([still]) == 2 * PHASE, lambda: still.step(0.05))
    # It polls while messages are sent: on a busy machine this takes longer than it may stand still.
    sending = threading.Thread(target=stage.send, args=(PHASE,))
    sending.start()
    batches = [still.loop.source.poll(50, 0.05)]
    until(lambda: batches[-1].records, lambda: batches.append(still.loop.source.poll(50, 0.05)))
    batch = batches[-1]
    sending.join()
    other = stage.worker("b")
    until(lambda: other.runs() == {0, 1}, lambda: other.step(0.05))
    decide_all(stage, other)
    # The first worker resumes, and commits its batch with its old membership.
    still.loop.sink.send(still.loop._handle(batch))
    offsets = {record.partition: record.offset + 1 for record in batch.records}
    with pytest.raises(AbortedError, match=r"UNKNOWN_MEMBER|EPOCH|GENERATION"):
        still.loop.sink.commit(offsets, batch.token, 10.0)
    still.loop.sink.abort()
    # Then it joins again and continues from the group's offsets.
    stage.send(PHASE)
    decide_all(stage, still, other)
    until(
        lambda: [len(each.runs()) for each in (still, other)] == [1, 1],
        lambda: still.step(0.05),
        lambda: other.step(0.05),
    )
    stage.send(PHASE)
    decide_all(stage, still, other)
    assert stage.twice() == 0


class Failed:
    """A consumer after a fatal error: it reports the error once, and has no membership."""

    def __init__(self, consumer: Any) -> None:
        self._consumer = consumer
        self._events = [self]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._consumer, name)

    def consume(self, most: int, timeout: float) -> list[Any]:
        events, self._events = self._events, []
        return events

    def error(self) -> Any:
        return confluent_kafka.KafkaError(
            confluent_kafka.KafkaError._FATAL, "Fatal error: Broker: The group id does not exist"
        )

    def consumer_group_metadata(self) -> bytes:
        return b"CGMDv2:" + (-1).to_bytes(4, sys.byteorder, signed=True)


def test_a_member_whose_client_failed_for_good_joins_with_another(stage: Stage) -> None:
    """After a fatal error of librdkafka, the worker joins again with a new client.

    `make campaign` found it: a restarted broker reported that the group did not exist, and
    librdkafka never joined again.
    """
    worker = stage.worker("a")
    stage.send(PHASE)
    decide_all(stage, worker)
    source: Any = worker.loop.source
    failed = source._group
    failed._group = Failed(failed._group)
    until(lambda: source._open and source._group is not failed, lambda: worker.step(0.05))
    stage.send(PHASE)
    decide_all(stage, worker)
    assert stage.twice() == 0
    assert worker.runs() == {0, 1}


def test_what_another_committed_is_not_given_again(stage: Stage) -> None:
    """After the next epoch a worker uses the group's offsets and window, whoever moved them."""
    workers = [stage.worker(name) for name in "ab"]
    worker, other = workers
    stage.send(PHASE)
    decide_all(stage, *workers)
    steps = [lambda each=each: each.step(0.05) for each in workers]
    until(lambda: [len(each.runs()) for each in workers] == [1, 1], *steps)
    (number,), before = worker.runs(), epoch(worker)
    stage.send(PHASE)
    token = worker.loop.source._group.membership().token  # type: ignore[attr-defined]
    writer = ConfluentDriver(stage._cluster("other")).writer(stage.broker.unique("other"), 10.0)
    writer.begin()
    writer.commit({Partition(stage.topics.messages, number): 2 * PHASE}, token, 10.0)
    writer.close(1.0)
    other.close()  # so the first one's epoch changes, and it has both
    until(lambda: epoch(worker) > before)
    until(lambda: total(workers) == 3 * PHASE, lambda: worker.step(0.05))
    for _ in range(20):
        worker.step(0.05)
    decided = stage.decisions()
    assert sum(decided.values()) == len(decided) == 3 * PHASE


def test_keys_choose_the_partitions_that_kafka_python_chooses(broker: Broker) -> None:
    from streamnb_consumers.kafka.encoding import Written
    from streamnb_consumers.kafka.python_client.driver import PythonDriver

    topic = broker.topic("keys", partitions=5)
    for driver in (PythonDriver, ConfluentDriver):
        name = broker.unique("keys")
        writer = driver(Cluster(broker.bootstrap, name, None, name)).writer(name, 10.0)
        writer.begin()
        writer.write(Written(topic, None, b"%d" % at, b"", []) for at in range(50))
        writer.commit({}, name, 10.0)
        writer.close(5.0)
    found = [(each.key, each.partition) for each in broker.read_all(topic)]
    assert len(found) == 100
    assert len(set(found)) == 50


class Electing:
    """An admin client whose broker does not lead the partitions yet, for three requests."""

    def __init__(self, admin: Any) -> None:
        self._admin, self.refused = admin, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._admin, name)

    def list_offsets(self, wanted: dict[Any, Any], **settings: Any) -> dict[Any, Any]:
        if self.refused == 3:
            return self._admin.list_offsets(wanted, **settings)  # type: ignore[no-any-return]
        self.refused += 1
        error = confluent_kafka.KafkaError(confluent_kafka.KafkaError.NOT_LEADER_FOR_PARTITION)
        answer: Future[Any] = Future()
        answer.set_exception(confluent_kafka.KafkaException(error))
        return dict.fromkeys(wanted, answer)


def test_offsets_are_asked_for_again_until_a_partition_has_its_leader(broker: Broker) -> None:
    """The broker of a new topic refuses for a moment; `make test` on a busy machine found it."""
    topic = broker.topic("electing", partitions=1)
    admin = Electing(AdminClient({"bootstrap.servers": broker.bootstrap}))
    place = Partition(topic, 0)
    found = offsets_of(admin, [place], OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)
    assert (found, admin.refused) == ({place: 0}, 3)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("_NOENT", UnreachableError),  # no broker leads the partition now
        ("_TRANSPORT", UnreachableError),
        ("OFFSET_NOT_AVAILABLE", UnreachableError),
        ("UNKNOWN_LEADER_EPOCH", UnreachableError),
        ("ILLEGAL_GENERATION", RebalanceError),
        ("PRODUCER_FENCED", FencedError),
        ("TOPIC_AUTHORIZATION_FAILED", RefusedError),
        ("UNSUPPORTED_VERSION", SettingsError),
    ],
)
def test_what_librdkafka_says_is_an_outage_or_not(code: str, expected: type[Exception]) -> None:
    """Only temporary errors leave the abort budget alone; other errors end a worker sooner."""
    error = confluent_kafka.KafkaError(getattr(confluent_kafka.KafkaError, code), "as it says")
    assert type(meaning("offsets", error)) is expected


def test_security_is_told_by_librdkafkas_names() -> None:
    from streamnb_consumers.daemon.kafka_settings import make_cluster
    from streamnb_consumers.daemon.settings import Settings

    settings = Settings(
        bootstrap_servers="127.0.0.1:1", client="confluent", security_protocol="SASL_SSL"
    )
    secrets = {"STREAMNB_SASL_USERNAME": "me", "STREAMNB_SASL_PASSWORD": "hush"}
    made = client_settings(make_cluster("sms", settings, secrets))
    assert made["security.protocol"] == "SASL_SSL"
    assert (made["sasl.mechanism"], made["sasl.username"]) == ("SCRAM-SHA-512", "me")
    assert made["sasl.password"] == "hush"
    confluent_kafka.admin.AdminClient(made)  # which refuses names that it does not know


@pytest.mark.broker_long
def test_a_broker_that_was_away(own_broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that polled during an outage continues when the broker returns."""
    stage: Any = Stage(own_broker, partitions=1, client="confluent")
    try:
        stage.send(PHASE)
        worker = stage.worker("a")
        decide_all(stage, worker)
        kill_broker(own_broker)
        began = time.monotonic()
        while time.monotonic() < began + 3.0:
            worker.step(0.05)
        own_broker.start()
        stage.send(PHASE)
        decide_all(stage, worker)
        assert stage.twice() == 0
    finally:
        stage.close()
