"""The stream that `docker/` replays, and its broker's settings, on a real broker."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB
from streamnb.datasets import SyntheticSMS
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.pipeline.filter import Filter, LocalFilter
from streamnb_consumers.pipeline.mail_reading import MailReader
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import MessageReader, SmsReader
from streamnb_consumers.records import Outputs, Partition, Record
from support.broker import Broker, free_ports
from support.docker_files import compose, replaying
from support.filters import extend

REPLAY = replaying()
TOPICS = {"messages": "messages_topic", "feedback": "feedback_topic"}


def topic(kind: str, role: str) -> str:
    named: str = getattr(Settings(), TOPICS[role])
    return named.format(kind=kind)


def handled(kind: str, stream: list[Any]) -> tuple[Filter, Outputs]:
    reader: MessageReader = (
        SmsReader(("ham", "spam")) if kind == "sms" else MailReader(("ham", "spam"))
    )
    worker, outputs = LocalFilter(MNB(), reader, Options()), Outputs()
    for offset, record in enumerate(stream):
        role = "message" if record.topic == topic(kind, "messages") else "feedback"
        place = Partition(record.topic, 0)
        extend(outputs, worker.handle(Record(place, offset, record.value, record.key, role=role)))
    return worker, outputs


@pytest.mark.parametrize("kind", REPLAY.KINDS)
def test_a_filter_can_use_the_stream(kind: str) -> None:
    messages = list(SyntheticSMS(600, seed=3).messages())
    stream = list(REPLAY.records(kind, messages, "run"))
    counts = Counter(record.topic for record in stream)
    assert set(counts) == {topic(kind, "messages"), topic(kind, "feedback")}
    worker, outputs = handled(kind, stream)
    assert [each.id for each in outputs.decisions] == [f"run-{n}" for n in range(600)]
    assert worker.learner.learned == counts[topic(kind, "feedback")] == 600
    broken = [record for record in stream if record.key.startswith(b"broken-")]
    assert [letter.record.value for letter in outputs.dead_letters] == [one.value for one in broken]
    assert broken
    assert (worker.learner.accuracy() or 0) > 0.9
    assert worker.join.windows[0].waiting == 0


def test_both_streams_come_in_turn_and_end_at_the_limit() -> None:
    sent = list(REPLAY.both("run", 50, seed=1))
    counts = Counter(record.topic for record in sent if not record.key.startswith(b"broken-"))
    assert set(counts.values()) == {50}
    endless = list(itertools.islice(REPLAY.both("run", None, seed=1), 100))
    assert endless[:50] == sent[:50]


def test_labels_come_after_their_messages_with_the_same_key() -> None:
    seen = set()
    for record in REPLAY.records("sms", SyntheticSMS(300, seed=1).messages(), "run"):
        if record.topic == "sms":
            seen.add(record.key)
        else:
            assert record.key in seen
            assert json.loads(record.value)["id"].encode() == record.key


@pytest.mark.soak
@pytest.mark.usefixtures("broker")  # to skip, or to fail, where none can be run
def test_the_brokers_settings_and_the_stream_on_it(tmp_path: Path) -> None:
    """Apache Kafka starts with the settings of the compose file, on ports of this machine."""
    if os.environ.get("KAFKA_BOOTSTRAP_SERVERS"):
        pytest.skip("KAFKA_BOOTSTRAP_SERVERS names a broker with settings of its own")
    given = compose()["services"]["kafka"]["environment"]
    ports = dict(zip(("9092", "19092", "29093"), free_ports(3), strict=True))
    properties = {}
    for name, value in given.items():
        if not name.startswith("KAFKA_"):
            continue
        text = str(value).replace("kafka:", "127.0.0.1:").replace("localhost:", "127.0.0.1:")
        for inside, outside in ports.items():
            text = text.replace(f":{inside}", f":{outside}")
        properties[name.removeprefix("KAFKA_").lower().replace("_", ".")] = text
    properties["listeners"] = properties["listeners"].replace("//:", "//127.0.0.1:")
    properties["log.dirs"] = str(tmp_path / "log")
    running = Broker(properties=properties)
    running.port = ports["19092"]
    running.bootstrap = f"127.0.0.1:{running.port}"
    try:
        running.start()
        running.create_topics({topic(kind, role): 2 for kind in REPLAY.KINDS for role in TOPICS})
        flags = ["--bootstrap-servers", running.bootstrap, "--rate", "2000", "--limit", "40"]
        assert REPLAY.main(flags) == 0
        for kind in REPLAY.KINDS:
            found = {role: running.read_all(topic(kind, role)) for role in TOPICS}
            places = {record.key: record.partition for record in found["messages"]}
            assert len(found["feedback"]) == 40
            assert all(places[record.key] == record.partition for record in found["feedback"])
            assert set(places.values()) == {0, 1}
    finally:
        running.close()
