"""Replay of dead letters: each is sent back exactly once."""

from __future__ import annotations

import fcntl
import json
import random
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.daemon.command import run
from streamnb_consumers.daemon.dead_letters_command import main
from streamnb_consumers.errors import BadRecordError, FencedError, SettingsError
from streamnb_consumers.io import dead_letter_files as replay_files
from streamnb_consumers.io.dead_letter_files import FileDeadLetters
from streamnb_consumers.io.dead_letters import (
    Selection,
    SentOffsets,
    read_line,
    read_record,
    replay,
)
from streamnb_consumers.io.stdio import dead_letter_line
from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.records import DeadLetter, Partition, Record
from support.broker import Broker


def letter(offset: int, source: str, value: bytes | None, error: str = "not JSON") -> DeadLetter:
    return DeadLetter(Record(Partition(source, 0), offset, value), error)


def write_letters(path: Path, letters: list[DeadLetter]) -> Path:
    path.write_bytes(b"".join(map(dead_letter_line, letters)))
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"a\nb\nc\n")
    return path


@pytest.fixture
def dead(tmp_path: Path, source: Path) -> Path:
    letters = [letter(n, str(source), b"bad %d" % n, "odd" if n % 2 else "even") for n in range(10)]
    return write_letters(tmp_path / "out.dead", letters)


# --- dead letters and sent offsets --------------------------------------------------------------


def test_dead_letter_survives_line_and_record() -> None:
    record = Record(
        Partition("sms", 3), 7, b"\xff\x00", b"k", (("trace", b"1"), ("error", b"another"))
    )
    found = read_line(dead_letter_line(DeadLetter(record, "broken ü")))
    assert (found.error, found.record.value, found.record.key) == ("broken ü", b"\xff\x00", b"k")
    assert (found.record.partition, found.record.offset) == (Partition("sms", 3), 7)
    headers = DeadLetter(record, "broken ü").headers()
    found = read_record(Record(Partition("dead", 0), 0, record.value, record.key, headers))
    assert found == DeadLetter(record, "broken ü")


@pytest.mark.parametrize("line", [b"{", b"3", b"{}", b'{"value": "!", "key": null}', b"\xff"])
def test_invalid_lines_are_rejected(line: bytes) -> None:
    with pytest.raises(BadRecordError, match="not a dead letter"):
        read_line(line)


def test_invalid_records_are_rejected() -> None:
    place, good = Partition("dead", 0), letter(5, "sms", b"x").headers()
    for headers in ((), good[1:], (*good[:3], ("offset", b"five"))):
        with pytest.raises(BadRecordError, match="not a dead letter"):
            read_record(Record(place, 0, b"x", None, headers))
    with pytest.raises(BadRecordError, match="too large"):
        read_record(Record(place, 0, b"x", None, (*good, ("truncated", b"9999"))))


def test_sent_offsets_equal_a_set() -> None:
    generator = random.Random(1)
    done, known = SentOffsets(), set()
    for _ in range(300):
        some = generator.sample(range(200), 3)
        if generator.random() < 0.1:
            first = generator.randrange(200)
            done.skip(first, first + 4)
            known.update(range(first, first + 4))
        done.add(some)
        known.update(some)
        done = SentOffsets.from_text(done.base, done.to_text())
        assert [n for n in range(210) if n in done] == sorted(known & set(range(210)))
        assert done.base == next(n for n in range(300) if n not in known)


def test_ten_thousand_unordered_offsets_fit_into_offset_metadata() -> None:
    done = SentOffsets()
    done.add(random.Random(1).sample(range(1, 20_000), 10_000))
    assert len(done.to_text()) <= 4096


# --- files --------------------------------------------------------------------------------------


def test_dead_letters_are_sent_once(dead: Path, source: Path, capsys: Any) -> None:
    assert main([str(dead), "--error", "odd", "--offsets", "3-", "--dry-run"]) == 0
    assert [json.loads(line)["offset"] for line in capsys.readouterr().out.splitlines()] == [
        3, 5, 7, 9,
    ]  # fmt: skip
    assert source.read_bytes() == b"a\nb\nc\n"
    assert main([str(dead), "--error", "odd", "--offsets", "3-"]) == 0
    assert "4 sent, 6 not chosen" in capsys.readouterr().err
    assert source.read_bytes() == b"a\nb\nc\nbad 3\nbad 5\nbad 7\nbad 9\n"
    assert main([str(dead), "--batch", "2"]) == 0
    assert "6 sent, 4 sent before" in capsys.readouterr().err
    assert main([str(dead)]) == 0
    lines = source.read_bytes().splitlines()
    assert sorted(lines[3:]) == [b"bad %d" % n for n in range(10)]
    with dead.open("ab") as file:  # new ones come
        file.write(dead_letter_line(letter(10, str(source), b"bad 10")) + b'{"half a')
    assert main([str(dead)]) == 0
    assert source.read_bytes().splitlines()[13:] == [b"bad 10"]


def test_crash_neither_loses_nor_duplicates(dead: Path, source: Path, monkeypatch: Any) -> None:
    generator = random.Random(2)
    write, finish = replay_files.write, replay_files._finish

    class Crash(BaseException):
        pass

    def crash_around(call: Any) -> Any:
        def maybe(*arguments: Any) -> None:
            if generator.random() < 0.3:
                raise Crash
            call(*arguments)
            if generator.random() < 0.3:
                raise Crash

        return maybe

    def torn(path: Path, start: int, payload: bytes) -> None:
        with path.open("ab") as file:
            file.write(payload[: generator.randrange(len(payload))])
        raise Crash

    def finish_or_tear(path: Path, start: int, payload: bytes) -> None:
        fresh = path.stat().st_size == start
        (torn if fresh and generator.random() < 0.3 else crash_around(finish))(path, start, payload)

    monkeypatch.setattr(replay_files, "write", crash_around(write))
    monkeypatch.setattr(replay_files, "_finish", finish_or_tear)
    crashes = 0
    while True:
        store = FileDeadLetters(dead)
        try:
            replay(store, Selection(), batch=3)
            break
        except Crash:
            crashes += 1
        finally:
            store.close(1.0)
    assert crashes
    assert source.read_bytes().splitlines()[3:] == [b"bad %d" % n for n in range(10)]


def test_other_writers_may_append(dead: Path, source: Path, monkeypatch: Any) -> None:
    finish = replay_files._finish

    def others_first(path: Path, start: int, payload: bytes) -> None:
        with path.open("ab") as file:
            file.write(b"another\n")
        finish(path, start, payload)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replay_files, "_finish", others_first)
        assert_interrupted(dead)
    assert main([str(dead)]) == 0
    expected = [b"a", b"b", b"c", b"another", *(b"bad %d" % n for n in range(10))]
    assert source.read_bytes().splitlines() == expected


def assert_interrupted(dead: Path) -> None:
    store = FileDeadLetters(dead)
    with pytest.raises(KeyboardInterrupt):
        replay(store, Selection())
    store.close(1.0)


def test_replay_to_another_file_after_an_incomplete_line(dead: Path, tmp_path: Path) -> None:
    to = tmp_path / "again.jsonl"
    to.write_bytes(b"unfinished")
    assert main([str(dead), "--to", str(to), "--offsets", "4"]) == 0
    assert to.read_bytes() == b"unfinished\nbad 4\n"


def test_unsendable_dead_letters_are_reported(dead: Path, source: Path, capsys: Any) -> None:
    write_letters(dead, [letter(0, str(source), None), letter(1, str(source), b"x\ny")])
    with dead.open("ab") as file:
        file.write(b"\nno letter\n")
    assert main([str(dead)]) == 1
    told = capsys.readouterr().err
    assert "without a value" in told
    assert "line feeds" in told
    assert "0:3: not a dead letter" in told
    assert "0 sent, 3 can't be sent" in told


@pytest.mark.parametrize(
    ("came_from", "told"),
    [("stdin", "standard input"), ("/no/such/file", "does not exist"), ("x.gz", "compressed")],
)
def test_unusable_targets_are_reported(
    tmp_path: Path, capsys: Any, came_from: str, told: str
) -> None:
    dead = write_letters(tmp_path / "dead", [letter(0, came_from, b"x")])
    assert main([str(dead)]) == 2
    assert told in capsys.readouterr().err
    assert main([str(dead), "--to", str(tmp_path / "to")]) == 0


def test_wrong_usage_is_reported(dead: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.delenv("STREAMNB_BOOTSTRAP_SERVERS", raising=False)
    assert main([str(dead), "--offsets", "x"]) == 2
    assert main(["/no/such/file"]) == 2
    assert main(["sms"]) == 2
    assert "bootstrap_servers must be set" in capsys.readouterr().err
    with dead.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert main([str(dead)]) == 2
    assert "another process" in capsys.readouterr().err
    assert main([str(dead), "--offsets", "0"]) == 0
    write_letters(dead, [letter(0, "elsewhere", b"another file")])
    assert main([str(dead)]) == 1
    assert "another file that was called" in capsys.readouterr().err
    Path(f"{dead}.replayed").write_bytes(b"{}")
    assert main([str(dead)]) == 1
    assert "cannot read" in capsys.readouterr().err


def test_filter_processes_replayed_records(tmp_path: Path) -> None:
    taken, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    taken.write_text('{"id": "a", "text": "hi"}\n{"id": "b", "text": "you", "label": "eggs"}\n')
    flags = ["--input", str(taken), "--output", str(output)]
    assert run("sms", flags) == 0
    assert [json.loads(line)["id"] for line in output.open()] == ["a"]
    assert main([f"{output}.dead"]) == 0
    assert run("sms", [*flags, "--labels", "ham,spam,eggs"]) == 0
    assert [json.loads(line)["id"] for line in output.open()] == ["a", "b"]


# --- topics -------------------------------------------------------------------------------------


def kafka_dead_letters(
    broker: Broker, group: str, topic: str, client: str = "kafka-python", **options: Any
) -> Any:
    from streamnb_consumers.kafka.dead_letters import KafkaDeadLetters

    cluster = Cluster(broker.bootstrap, group, None, "unused", client=client)
    return KafkaDeadLetters(cluster, topic, **options)


def produce(broker: Broker, topic: str, letters: list[DeadLetter], commit: bool = True) -> None:
    from streamnb_consumers.kafka.python_client.client import kafka

    producer = kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, transactional_id=broker.unique("writer")
    )
    producer.init_transactions()
    producer.begin_transaction()
    for each in letters:
        headers = list(each.headers())
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
    assert (listed.sent, listed.before, listed.others) == (4, 0, 6)
    rest = run_replay(kafka_dead_letters(broker, group, dead, client))
    assert (rest.sent, rest.before) == (6, 4)
    assert run_replay(kafka_dead_letters(broker, group, dead, client)).sent == 0
    found = broker.read_all(source)
    assert sorted(each.value for each in found) == [b"bad %d" % n for n in range(10)]
    for each in found:
        number = int(each.value.split()[1])
        assert each.partition == number % 2
        assert each.key == b"k"
        assert each.headers == [("trace", b"%d" % number)]


def test_replay_continues_after_a_crash_and_fences_the_older_one(
    broker: Broker, client: str
) -> None:
    dead, to = broker.topic("dead"), broker.topic("to")
    group = broker.unique("group")
    produce(broker, dead, [letter(n, "gone", b"bad %d" % n) for n in range(10)])
    old = kafka_dead_letters(broker, group, dead, client, to=to)
    done = dict(old.start(30.0))
    first = [old.read(record) for record in poll_some(old)]
    done[Partition(dead, 0)].add(each.record.offset for each in first)
    # Another one begins and ends while the first holds letters that it has not sent.
    assert run_replay(kafka_dead_letters(broker, group, dead, client, to=to)).sent == 10
    with pytest.raises(FencedError):
        old.commit(first, done, 30.0)
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
