"""The programs of a guide run on a real broker and are killed; each label is learned once."""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb.datasets import SyntheticSMS
from support.broker import Broker
from support.processes.programs import PYTHON, SECONDS, changed, program, running, wait_until

KILLS = 4

pytestmark = [
    pytest.mark.broker_long,
    pytest.mark.skipif(not PYTHON.exists(), reason="make test-streams installs the clients"),
]


class Topics:
    """The topics of one run, and their messages."""

    def __init__(self, broker: Broker, partitions: int) -> None:
        self.broker = broker
        self.messages, self.decisions = (
            broker.topic("messages", partitions),
            broker.topic("decisions"),
        )
        self.partitions = partitions
        self.sent: list[dict[str, Any]] = []

    def send(self, records: list[dict[str, Any]]) -> None:
        import kafka

        producer = kafka.KafkaProducer(bootstrap_servers=self.broker.bootstrap, linger_ms=20)
        for number, record in enumerate(records, len(self.sent)):
            value = json.dumps(record).encode()
            producer.send(self.messages, value, partition=number % self.partitions)
        producer.flush(60)
        producer.close()
        self.sent += records

    def ends(self) -> dict[str, int]:
        counted = dict.fromkeys(range(self.partitions), 0)
        for number in range(len(self.sent)):
            counted[number % self.partitions] += 1
        return {f"{self.messages}-{each}": count for each, count in counted.items()}


def records() -> list[dict[str, Any]]:
    """Return messages; every third one has no label yet."""
    each = enumerate(SyntheticSMS(6_000, seed=5).messages())
    return [
        {"id": str(n), "text": one.text} | ({"label": one.label} if n % 3 else {})
        for n, one in each
    ]


@pytest.mark.parametrize(("model", "partitions"), [("OnlineNB", 1), ("MNB", 3)])
@pytest.mark.parametrize("name", ["aiokafka", "quixstreams"])
def test_kills(broker: Broker, tmp_path: Path, name: str, model: str, partitions: int) -> None:
    """The model equals one that learned each label once: with MNB in any order of partitions."""
    topics = Topics(broker, partitions)
    source, file, log = (tmp_path / each for each in ("program.py", "filter.snb", "log"))
    changes = [
        ("localhost:9092", broker.bootstrap),
        ('"messages"', f'"{topics.messages}"'),
        ("10.0", "0.2"),
        ("OnlineNB", model),
    ]
    if name == "quixstreams":
        changes += [
            ('"decisions"', f'"{topics.decisions}"'),
            ('="filter"', f'="{topics.messages}"'),
        ]
    text = changed(program(f"{name}_filter.py"), *changes)
    source.write_text(text, encoding="utf-8")
    generator, stream = random.Random(f"{name} {model}"), records()
    piece = len(stream) // (KILLS + 1)

    def state() -> dict[str, int]:
        return streamnb.load(file).loaded_state if file.exists() else {}

    resumed = 0
    for kill in range(KILLS + 1):
        topics.send(stream[kill * piece : (kill + 1) * piece])
        with running(source, log) as process:
            if kill == KILLS:
                wait_until(lambda: state() == topics.ends(), process, log)
                break
            before = state()
            wait_until(lambda: state() != before, process, log)  # noqa: B023
            time.sleep(generator.uniform(0.0, 0.3))
        resumed += bool(state())
    assert resumed == KILLS
    assert streamnb.load(file).to_bytes() == expected_model(model, topics)


def expected_model(model: str, topics: Topics) -> bytes:
    """Return the bytes of a model that learned each label once, in the order of the topic."""
    expected = getattr(streamnb, model)()
    for record in topics.sent:
        if "label" in record:
            expected.learn_one(record, record["label"])
    return bytes(expected.to_bytes())


@pytest.mark.parametrize(("model", "partitions"), [("OnlineNB", 1), ("MNB", 3)])
def test_kills_of_bytewax(broker: Broker, tmp_path: Path, model: str, partitions: int) -> None:
    topics = Topics(broker, partitions)
    source, log, snapshots = (tmp_path / each for each in ("program.py", "log", "snapshots"))
    changes = [
        ("localhost:9092", broker.bootstrap),
        ('["messages"]', f'["{topics.messages}"]'),
        ("OnlineNB", model),
    ]
    text = changed(program("bytewax_filter.py"), *changes)
    source.write_text(text, encoding="utf-8")
    snapshots.mkdir()
    subprocess.run([PYTHON, "-m", "bytewax.recovery", snapshots, "1"], check=True)
    flow = ("-m", "bytewax.run", "program:flow", "-r", str(snapshots), "-s", "1", "-b", "0")
    generator, stream = random.Random(f"bytewax {model}"), records()
    piece = len(stream) // (KILLS + 1)
    for kill in range(KILLS + 1):
        topics.send(stream[kill * piece : (kill + 1) * piece])
        if kill == KILLS:
            source.write_text(changed(text, ("tail=True", "tail=False")), encoding="utf-8")
        before = log.stat().st_size if log.exists() else 0
        with running(source, log, *flow) as process:
            if kill == KILLS:
                assert process.wait(SECONDS) == 0, log.read_text()[-3000:]
                break
            wait_until(lambda: log.stat().st_size > before, process, log)  # noqa: B023
            time.sleep(generator.uniform(0.0, 3.0))
    decided = [json.loads(line)["id"] for line in log.read_text().splitlines() if "{" in line]
    assert set(decided) == {each["id"] for each in topics.sent}
    assert decided.count("0") <= KILLS  # at least one run has continued
    assert streamnb.load(tmp_path / "filter.snb").to_bytes() == expected_model(model, topics)
