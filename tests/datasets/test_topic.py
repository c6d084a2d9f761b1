"""A topic of Kafka as a stream of messages, on a real broker."""

from __future__ import annotations

import itertools
import json
import os

import pytest

from streamnb import datasets
from streamnb.cli import main
from streamnb.datasets.topic import TopicAddress
from streamnb.errors import DataError, InputError


@pytest.fixture
def topic(broker):
    """A topic of six messages over two partitions, one of them no JSON."""
    import kafka

    name = broker.topic("looked-at", partitions=2)
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
    for at in range(5):
        value = {"id": f"m{at}", "text": f"win {at}", "label": "spam" if at % 2 else "ham"}
        producer.send(name, json.dumps(value).encode(), partition=at % 2)
    producer.send(name, b"\xff no text", partition=0)
    producer.flush()
    producer.close()
    return f"kafka://{broker.bootstrap}/{name}"


def test_a_topic_ends_where_it_did_when_reading_began(topic):
    bad = []
    found = list(datasets.read_messages(topic, report=bad.append))
    assert sorted(message.id for message in found) == ["m0", "m1", "m2", "m3", "m4"]
    assert [message.id for message in found if message.label == "spam"] == ["m1", "m3"]
    assert [(each.reason, each.raw) for each in bad] == [("not utf-8: byte 1", b"\xff no text")]


def test_it_is_followed_where_asked(topic, broker):
    import kafka

    reading = datasets.read_messages(f"{topic}?follow", report=lambda bad: None)
    assert len(list(itertools.islice(reading, 5))) == 5
    producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
    producer.send(topic.rpartition("/")[2], b'{"text": "later", "label": "ham"}', partition=1)
    producer.flush()
    producer.close()
    assert next(reading).text == "later"
    reading.close()


def test_commands_read_it(topic, capsys):
    assert main(["evaluate", topic, "--model", "MNB", "--json"]) == 3  # a sixth is unreadable
    found = json.loads(capsys.readouterr().out)
    assert found["stream"]["n_messages"] == 5
    assert found["bad_lines"]["count"] == 1


def test_there_must_be_such_a_topic(broker):
    address = f"kafka://{broker.bootstrap}/nowhere-{os.getpid()}"
    with pytest.raises(DataError, match="no topic 'nowhere"):
        list(datasets.read_messages(address))


def test_and_a_cluster(monkeypatch):
    monkeypatch.setattr("streamnb.datasets.topic._START", 1.0)
    with pytest.raises(DataError, match="cannot reach 127"):
        list(datasets.read_messages("kafka://127.0.0.1:1/sms"))


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("kafka://localhost:9092", "is not an address of a topic"),
        ("kafka://localhost:9092/", "is not an address of a topic"),
        ("kafka://localhost:9092/a/b", "is not an address of a topic"),
        ("kafka:///sms", "is not an address of a topic"),
        ("kafka://localhost:9092/sms?group=x", "unknown option 'group'; known are follow, sec"),
    ],
)
def test_invalid_addresses_are_refused(address, says):
    with pytest.raises(InputError, match=says):
        TopicAddress.parse(address)


def test_secrets_are_no_part_of_an_address():
    address = TopicAddress.parse("kafka://a:1/t?security_protocol=SSL&ssl_cafile=ca.pem&follow=0")
    assert address.options == {"security_protocol": "SSL", "ssl_cafile": "ca.pem"}
    assert not address.follow
