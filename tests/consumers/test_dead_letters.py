"""Replay of dead letters: each is sent back exactly once."""

from __future__ import annotations

from typing import Any

import pytest

from streamnb_consumers.daemon.topic_commands import replay_dead_letters as main
from streamnb_consumers.errors import BadRecordError, FencedError, SettingsError
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.dead_letters import Selection, read_record, replay
from streamnb_consumers.records import DeadLetter, Partition, Record
from support.broker import Broker


def letter(offset: int, source: str, value: bytes | None, error: str = "not JSON") -> DeadLetter:
    return DeadLetter(Record(Partition(source, 0), offset, value), error)


# --- dead letters -------------------------------------------------------------------------------


def test_dead_letter_survives_its_record() -> None:
    record = Record(
        Partition("sms", 3), 7, b"\xff\x00", b"k", (("trace", b"1"), ("error", b"another"))
    )
    headers = DeadLetter(record, "broken ü").headers()
    found = read_record(Record(Partition("dead", 0), 0, record.value, record.key, headers))
    assert found == DeadLetter(record, "broken ü")


def test_invalid_records_are_rejected() -> None:
    place, good = Partition("dead", 0), letter(5, "sms", b"x").headers()
    for headers in ((), good[1:], (*good[:3], ("offset", b"five"))):
        with pytest.raises(BadRecordError, match="not a dead letter"):
            read_record(Record(place, 0, b"x", None, headers))
    with pytest.raises(BadRecordError, match="too large"):
        read_record(Record(place, 0, b"x", None, (*good, ("truncated", b"9999"))))


def test_wrong_usage_is_reported(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("STREAMNB_BOOTSTRAP_SERVERS", raising=False)
    assert main(["sms", "--offsets", "x"]) == 2
    assert main(["sms"]) == 2
    assert "bootstrap_servers must be set" in capsys.readouterr().err


# --- topics -------------------------------------------------------------------------------------


def kafka_dead_letters(
    broker: Broker, group: str, topic: str, client: str = "kafka-python", **options: Any
) -> Any:
    from streamnb_consumers.kafka.dead_letters import KafkaDeadLetters

    cluster = Cluster(broker.bootstrap, group, None, "unused", client=client)
    return KafkaDeadLetters(cluster, topic, **options)


def produce(
    broker: Broker,
    topic: str,
    letters: list[DeadLetter],
    commit: bool = True,
    own_headers: bool = True,
) -> None:
    from streamnb_consumers.kafka.python_client.client import kafka

    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, transactional_id=broker.unique("writer")
    )
    producer.init_transactions()
    producer.begin_transaction()
    for each in letters:
        headers = list(each.headers() if own_headers else each.record.headers)
        producer.send(topic, each.record.value, each.record.key, headers, partition=0)
    producer.commit_transaction() if commit else producer.abort_transaction()
    producer.close()


def run_replay(store: Any, **options: Any) -> Any:
    try:
        return replay(store, Selection(**options), batch=3, timeout=30.0)
    finally:
        store.close(5.0)


def test_dead_letters_of_a_topic_are_sent_once_to_their_partitions(
    broker: Broker, client: str
) -> None:
    source, dead = broker.topic("sms", partitions=2), broker.topic("dead")
    group = broker.unique("group")
    letters = [
        DeadLetter(
            Record(Partition(source, n % 2), n, b"bad %d" % n, b"k", (("trace", b"%d" % n),)),
            "odd" if n % 2 else "even",
        )
        for n in range(10)
    ]
    produce(broker, dead, letters[:5])
    produce(broker, dead, [letters[0]] * 3, commit=False)
    produce(broker, dead, letters[5:])
    listed = run_replay(kafka_dead_letters(broker, group, dead, client), error="odd", first=3)
    assert (listed.sent, listed.others) == (4, 6)
    kept = run_replay(kafka_dead_letters(broker, group, dead, client), error="none of them")
    assert (kept.sent, kept.others) == (0, 6)
    rest = run_replay(kafka_dead_letters(broker, group, dead, client))
    assert (rest.sent, rest.others) == (6, 0)
    assert run_replay(kafka_dead_letters(broker, group, dead, client)).sent == 0
    found = broker.read_all(source)
    assert sorted(each.value for each in found) == [b"bad %d" % n for n in range(10)]
    for each in found:
        number = int(each.value.split()[1])
        assert each.partition == number % 2
        assert each.key == b"k"
        assert each.headers == [("trace", b"%d" % number)]


def test_records_that_cannot_be_sent_stay_in_the_topic(broker: Broker, client: str) -> None:
    source, dead = broker.topic("sms"), broker.topic("dead")
    group = broker.unique("group")
    cut = DeadLetter(Record(Partition(source, 0), 4, b"long", b"k"), "broken")
    headers = (*cut.headers(), ("truncated", b"9"))
    cut = DeadLetter(cut.record._replace(headers=headers), "broken")
    produce(broker, dead, [letter(0, source, b"first"), letter(1, source, b"last")])
    produce(broker, dead, [cut], own_headers=False)
    for sent in (2, 0, 0):
        report = run_replay(kafka_dead_letters(broker, group, dead, client))
        assert (report.sent, report.others, report.unusable) == (sent, 0, 1)
    *_, moved = broker.read_all(dead)
    assert (moved.key, moved.value, tuple(moved.headers)) == (b"k", b"long", headers)
    assert [each.value for each in broker.read_all(source)] == [b"first", b"last"]


def test_replay_continues_after_a_crash_and_fences_the_older_one(
    broker: Broker, client: str
) -> None:
    dead, to = broker.topic("dead"), broker.topic("to")
    group = broker.unique("group")
    produce(broker, dead, [letter(n, "gone", b"bad %d" % n) for n in range(10)])
    old = kafka_dead_letters(broker, group, dead, client, to=to)
    old.start(30.0)
    first = [read_record(record).record for record in poll_some(old)]
    # Another one begins and ends while the first holds letters that it has not sent.
    assert run_replay(kafka_dead_letters(broker, group, dead, client, to=to)).sent == 10
    with pytest.raises(FencedError):
        old.commit(first, [], 30.0)
    old.close(5.0)
    assert sorted(each.value for each in broker.read_all(to)) == [b"bad %d" % n for n in range(10)]


def poll_some(store: Any) -> list[Record]:
    while not (found := store.poll(5, 0.5)):
        pass
    return list(found)


def test_command_lists_and_sends_dead_letters_of_a_topic(
    broker: Broker, client: str, capsys: Any, monkeypatch: Any
) -> None:
    source, dead = broker.topic("sms"), broker.topic("dead")
    produce(broker, dead, [letter(n, source, b"bad %d" % n) for n in range(3)])
    monkeypatch.setenv("STREAMNB_BOOTSTRAP_SERVERS", broker.bootstrap)
    monkeypatch.setenv("STREAMNB_GROUP", broker.unique("group"))
    monkeypatch.setenv("STREAMNB_CLIENT", client)
    flags = ["sms", "--dead-letters-topic", dead]
    assert main([*flags, "--dry-run"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main([*flags, "--offsets", "1-1"]) == 0
    assert main(flags) == 0
    assert sorted(each.value for each in broker.read_all(source)) == [b"bad 0", b"bad 1", b"bad 2"]
    assert main(["sms", "--dead-letters-topic", broker.unique("none")]) == 2
    assert "topic not found" in capsys.readouterr().err


def test_missing_partition_is_reported(broker: Broker, client: str) -> None:
    dead = broker.topic("dead")
    produce(broker, dead, [letter(0, broker.unique("gone"), b"x")])
    with pytest.raises(SettingsError, match="any more: use --to"):
        run_replay(kafka_dead_letters(broker, broker.unique("group"), dead, client))
