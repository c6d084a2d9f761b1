"""Every kind of bad record among valid ones: each gets a decision or a dead letter."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.brokers.odd_headers import NO_VALUE, RawName, write_headers_without_values
from support.scenes.scene import Scene
from support.stepped import Stage, until

ROUNDS = 20
MANY = 10_000
FUTURE = 253_402_300_799_000  # the year 9999, in milliseconds


@pytest.fixture
def stage(broker: Broker, client: str) -> Iterator[Stage]:
    made = Stage(broker, partitions=1, client=client, join_window_age=3600.0)
    yield made
    made.close()


def poison(number: int) -> list[dict[str, Any]]:
    """Return the arguments that send one record of each kind of fault."""
    good = json.dumps({"id": f"odd{number}", "text": "win cash"}).encode()
    future = json.dumps({"id": f"future{number}", "text": "win cash"}).encode()
    return [
        {"value": good, "headers": [("none", NO_VALUE), ("some", b"1")]},
        {"value": b"no JSON", "headers": [("none", NO_VALUE), ("", b"")]},
        {"value": b"no JSON", "headers": [(RawName(b"\xff\xfe"), b"1")]},
        {"value": None, "headers": [(RawName(b"\xc3"), NO_VALUE)]},
        {"value": None, "key": b""},
        {"value": b"", "key": b"\xff\xfe"},
        {"value": future, "timestamp_ms": FUTURE},
        {"value": json.dumps({"id": f"later{number}", "label": 1}).encode()},
        {"value": b'{"id": "x", "text": "\\ud800"}'},
        {"value": b"[" * 100_000},
        {"value": b'{"id": "x", "text": NaN}'},
    ]


def test_a_poisoned_topic(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    write_headers_without_values(monkeypatch)
    topics, sent = stage.topics, 0
    producer = kafka.KafkaProducer(bootstrap_servers=stage.broker.bootstrap, linger_ms=5)
    for number in range(ROUNDS):
        value = json.dumps({"id": f"good{number}", "text": "see you at noon"}).encode()
        producer.send(topics.messages, value, b"k")
        bad = poison(number)
        for each in bad:
            producer.send(topics.messages, **{"key": b"k", **each})
        # Records without a value are tombstones, which are skipped.
        sent += 1 + sum(each["value"] is not None for each in bad)
    producer.flush()
    worker = stage.worker("a")

    def handled() -> int:
        metrics = worker.loop.metrics
        return metrics.decisions + metrics.dead_letters

    until(lambda: handled() >= sent, lambda: worker.step(0.05))
    decided = stage.decisions()
    wanted = [f"{kind}{number}" for kind in ("good", "odd", "future") for number in range(ROUNDS)]
    assert [decided[name] for name in wanted] == [1] * len(wanted)
    dead = stage.broker.read_all(topics.dead_letters)
    assert sum(decided.values()) + len(dead) == sent
    places = Counter(dict(each.headers)["offset"] for each in dead)
    assert set(places.values()) == {1}
    first = [each.headers for each in dead if each.value == b"no JSON"][:2]
    if stage.client == "confluent":  # which writes headers without values, and reads no odd names
        assert first[0][:2] == [("none", None), ("", b"")]
        assert first[1][0][0] == "error"
    else:
        assert first[0][:2] == [("none", b""), ("", b"")]
        assert first[1][0] == ("\ufffd\ufffd", b"1")
    # Messages from the future did not push others out of the window: labels find them.
    at = round(time.time() * 1000)
    for name in wanted:
        label = json.dumps({"id": name, "label": "ham"}).encode()
        producer.send(topics.feedback, label, b"k", timestamp_ms=at)
    producer.close()
    until(lambda: worker.loop.worker.learner.learned == len(wanted), lambda: worker.step(0.05))
    assert len(stage.broker.read_all(topics.dead_letters)) == len(dead)


def crafted(generator: random.Random, number: int) -> dict[str, Any]:
    """Return the arguments that send one record of an attacker."""
    name = f"crafted{number}"
    value = json.dumps({"id": name, "text": "win cash"}).encode()
    odd: list[Any] = [1, 1.5, True, None, [], {}, "", "x" * 999, -1, 10**400]
    kinds: list[dict[str, Any]] = [
        {"value": json.dumps({"id": generator.choice(odd), "text": "win"}).encode()},
        {"value": json.dumps({"id": name, "text": generator.choice(odd)}).encode()},
        {"value": json.dumps({"id": name, "text": "win", "label": generator.choice(odd)}).encode()},
        {"value": json.dumps({"text": "win", "label": "no such label"}).encode()},
        {"value": json.dumps({"label": "spam"}).encode()},  # of which message?
        {"value": value[: generator.randrange(1, len(value))]},
        {"value": value.decode().encode("utf-16")},
        {"value": generator.randbytes(generator.randrange(1, 200))},
        {"value": b'{"id": "x", "id": 1, "text": "twice"}'},
        {"value": b'{"id": 1e999, "text": "infinite"}'},
        {"value": b'{"text": "\\u0000' + b"0" * 50 + b'"}', "key": b"\x00"},
        # Fields of a dead letter, or of a training event.
        {"value": b"{", "headers": [("offset", b"7"), ("error", b"mine"), ("settings", b"{}")]},
        {"value": value, "headers": [("", b""), ("x" * 5_000, b"y" * 5_000)]},
        {"value": value, "timestamp_ms": 0},
        {"value": value, "timestamp_ms": FUTURE},
        {"value": b"[" * 20_000},
        {"value": b'{"a":' * 20_000},
    ]
    if number % 500 == 0:
        kinds = [{"value": b"x" * 900_000}, {"value": json.dumps({"text": "w " * 40_000}).encode()}]
    return generator.choice(kinds)


@pytest.mark.broker_long
def test_ten_thousand_of_them(
    broker: Broker, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose circuit breaker tolerates bad input processes each record."""
    write_headers_without_values(monkeypatch)
    generator = random.Random(7)
    settings = {
        "client": client,
        "circuit_breaker_ratio": 1.0,
        "circuit_breaker_records": 10 * MANY,
    }
    with Scene(broker, tmp_path, join_window_bytes=2**22, **settings) as scene:
        topics = scene.topics
        # Brokers reject timestamps in the future unless the topic allows them.
        admin = kafka.KafkaAdminClient(bootstrap_servers=broker.bootstrap)
        kinds = kafka.admin.ConfigResourceType
        future = {"message.timestamp.after.max.ms": str(2**62)}
        admin.alter_configs([kafka.admin.ConfigResource(kinds.TOPIC, topics.messages, future)])
        admin.close()
        worker = scene.worker("a")
        worker.wait_until_ready()
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap, linger_ms=5)
        futures, tombstones = [], 0
        for number in range(MANY):
            good = json.dumps({"id": f"good{number}", "text": "see you at noon"}).encode()
            futures.append(producer.send(topics.messages, good, b"good"))
            many = [*poison(number), crafted(generator, number)]
            bad = crafted(generator, number) if number % 2 else generator.choice(many)
            if len(bad["value"] or b"") == 100_000:
                bad["value"] = b"[" * 2_000
            futures.append(producer.send(topics.messages, **{"key": b"bad", **bad}))
            tombstones += bad["value"] is None
        # Bad records in the topics that filters write do not end a worker either.
        for topic in (topics.training, topics.join_state, topics.feedback):
            for number in range(100):
                found = crafted(generator, 1 + number)
                send = {"key": b"k", **found, "headers": [], "partition": 0, "timestamp_ms": None}
                futures.append(producer.send(topic, **send))
        producer.flush()
        places = [(each.get(0).topic, each.get(0).offset) for each in futures]
        producer.close()
        messages = sum(topic == topics.messages for topic, _ in places)
        assert messages == 2 * MANY
        handled = Counter[str]()
        deadline = time.monotonic() + 240

        def count() -> int:
            decided = broker.read_all(topics.decisions)
            dead = broker.read_all(topics.dead_letters)
            handled.clear()
            handled.update(
                dict(each.headers)["offset"].decode()
                for each in dead
                if dict(each.headers)["topic"].decode() == topics.messages
            )
            return len(decided) + len(handled)

        while count() < messages - tombstones:
            assert worker.process.poll() is None, worker.text()[-3000:]
            assert time.monotonic() < deadline, count()
            time.sleep(2.0)
        assert worker.stop() == 0, worker.text()[-3000:]
        assert count() == messages - tombstones
        decided = scene.decisions()
        assert [decided[f"good{number}"] for number in range(MANY)] == [1] * MANY
        assert max(handled.values()) == 1
        assert len(handled) > MANY // 2
