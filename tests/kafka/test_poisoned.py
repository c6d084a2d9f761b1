"""Bad records of every kind between good ones: each is decided on or a dead letter."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from streamnb_consumers.kafka.client_errors import kafka
from support.broker import Broker
from support.odd_headers import NO_VALUE, RawName, write_headers_without_values
from support.stepped import Stage, until

ROUNDS = 20
FUTURE = 253_402_300_799_000  # the year 9999, in milliseconds


@pytest.fixture
def stage(broker: Broker) -> Iterator[Stage]:
    made = Stage(broker, partitions=1, window_age=3600.0)
    yield made
    made.close()


def poison(number: int) -> list[dict[str, Any]]:
    """Return the arguments with which one record of each bad kind is sent."""
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
        sent += 1 + len(bad)
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
    assert first[0][:2] == [("none", b""), ("", b"")]
    assert first[1][0] == ("\ufffd\ufffd", b"1")
    # Messages from the future have not pushed the others out of the window: labels find them.
    at = round(time.time() * 1000)
    for name in wanted:
        label = json.dumps({"id": name, "label": "ham"}).encode()
        producer.send(topics.feedback, label, b"k", timestamp_ms=at)
    producer.close()
    until(lambda: worker.loop.worker.learner.learned == len(wanted), lambda: worker.step(0.05))
    assert len(stage.broker.read_all(topics.dead_letters)) == len(dead)
