"""Kafka clients alone: move records in transactions without processing them, send, and read."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

# The records that a filter writes for a message: a decision, and a record of the join window.
DECISION = (
    b'{"id":"12345","label":"ham","probabilities":{"ham":0.9991,"spam":0.0008},'
    b'"score":-1.23456789,"version":1234}'
)
WINDOW = b'"a text of sixty bytes or so, as messages have"\n["ham",-1.2,1700000000000,null,1]'


def raw_confluent(bootstrap: str, name: str, topics: Any, count: int, batch: int) -> float:
    """Move a number of messages; return the seconds from the first to the last."""
    import confluent_kafka

    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{name}-raw",
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topics.messages])
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": f"{name}-raw",
            "linger.ms": 5,
            "batch.size": 2**17,
            "queue.buffering.max.messages": 1_000_000,
        }
    )
    producer.init_transactions(30)
    moved, begun = 0, 0.0
    while moved < count:
        found = consumer.consume(batch, 0) or consumer.consume(1, 0.1)
        if not found:
            continue
        begun = begun or time.perf_counter()
        producer.begin_transaction()
        for each in found:
            key = each.key()
            each.value()
            producer.produce(topics.decisions, DECISION, key)
            producer.produce(topics.join_state, WINDOW, key, 0)
        after = confluent_kafka.TopicPartition(topics.messages, 0, found[-1].offset() + 1)
        producer.send_offsets_to_transaction([after], consumer.consumer_group_metadata(), 30)
        producer.commit_transaction(30)
        moved += len(found)
    seconds = time.perf_counter() - begun
    consumer.close()
    producer.close()
    return seconds


def raw_python(bootstrap: str, name: str, topics: Any, count: int, batch: int) -> float:
    """Move a number of messages; return the seconds from the first to the last."""
    from streamnb_consumers.kafka.python_client.client import kafka

    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=f"{name}-raw",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    )
    consumer.partitions_for_topic(topics.messages)
    consumer.subscribe([topics.messages])
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap, transactional_id=f"{name}-raw", linger_ms=5, batch_size=2**17
    )
    producer.init_transactions()
    place = kafka.TopicPartition(topics.messages, 0)
    moved, begun = 0, 0.0
    while moved < count:
        found = consumer.poll(timeout_ms=100, max_records=batch).get(place, [])
        if not found:
            continue
        begun = begun or time.perf_counter()
        producer.begin_transaction()
        for each in found:
            producer.send(topics.decisions, DECISION, each.key)
            producer.send(topics.join_state, WINDOW, each.key, None, 0)
        after = kafka.structs.OffsetAndMetadata(found[-1].offset + 1, "", -1)
        producer.send_offsets_to_transaction({place: after}, consumer.group_metadata())
        producer.commit_transaction()
        moved += len(found)
    seconds = time.perf_counter() - begun
    consumer.close()
    producer.close()
    return seconds


def send_at(
    bootstrap: str, topic: str, records: Sequence[tuple[bytes, list[Any]]], rate: float
) -> list[float]:
    """Send values with headers at a rate, numbers as keys; return the times of sending."""
    import confluent_kafka

    producer = confluent_kafka.Producer(
        {"bootstrap.servers": bootstrap, "linger.ms": 2, "queue.buffering.max.messages": 1_000_000}
    )
    times: list[float] = []
    producer.list_topics(topic)  # the connection exists before the first message
    started = time.time()
    for at, (value, headers) in enumerate(records):
        while (wait := started + at / rate - time.time()) > 0:
            producer.poll(0)
            time.sleep(max(wait, 0.001))
        times.append(time.time())
        producer.produce(topic, value, b"%d" % at, headers=headers)
    producer.flush()
    return times


def arrivals(bootstrap: str, topic: str, count: int) -> dict[int, float]:
    """Read committed records of a partition; return the time of arrival by number."""
    import confluent_kafka

    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 5,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found: dict[int, float] = {}
    while len(found) < count:
        records = consumer.consume(1000, 0) or consumer.consume(1, 0.1)
        now = time.time()
        found.update((int(record.key()), now) for record in records)
    consumer.close()
    return found


RAW = {"confluent": raw_confluent, "kafka-python": raw_python}
