"""Read a Kafka topic as lines, one per record (needs `pip install 'streamnb[kafka]'`).

This is for inspecting a stream: it joins no group and commits nothing. `streamnb_consumers` has
filters with exactly-once processing.
"""

from __future__ import annotations

import dataclasses
import os
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from streamnb.datasets.lines import Line
from streamnb.errors import DataError, InputError, MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SCHEME", "TopicAddress", "is_topic", "read_topic"]

SCHEME = "kafka"
# Allowed arguments of kafka-python's consumer; secrets come from the environment.
_SECURITY = (
    "security_protocol",
    "sasl_mechanism",
    "ssl_cafile",
    "ssl_certfile",
    "ssl_keyfile",
)
_SECRETS = {
    "sasl_plain_username": "STREAMNB_SASL_USERNAME",
    "sasl_plain_password": "STREAMNB_SASL_PASSWORD",
}
_START = 30.0  # seconds until the cluster must have answered


@dataclasses.dataclass(frozen=True)
class TopicAddress:
    """The address of a topic, and how to read it.

    Attributes
    ----------
    brokers
        Addresses (host:port), separated by commas.
    topic
        Name of the topic.
    follow
        Whether to wait for new records forever; otherwise reading stops at the end that the topic
        had at the start.
    options
        Options of the connection.
    """

    brokers: str
    topic: str
    follow: bool
    options: dict[str, str]

    @classmethod
    def parse(cls, address: str) -> TopicAddress:
        """Parse an address.

        Raises
        ------
        InputError
            If the address is invalid.

        Examples
        --------
        >>> TopicAddress.parse("kafka://one:9092,two:9092/sms?follow")
        TopicAddress(brokers='one:9092,two:9092', topic='sms', follow=True, options={})
        """
        parts = urlsplit(address)
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        follow = options.pop("follow", "0") in ("", "1", "true")
        topic = parts.path.strip("/")
        if parts.scheme != SCHEME or not parts.netloc or not topic or "/" in topic:
            raise InputError(
                f"{address!r} is not an address of a topic; use kafka://HOST:PORT/TOPIC, with "
                "?follow to wait for new records"
            )
        unknown = [name for name in options if name not in _SECURITY]
        if unknown:
            raise InputError(
                f"{address!r}: unknown option {unknown[0]!r}; known are follow, "
                f"{', '.join(_SECURITY)}"
            )
        return cls(parts.netloc, topic, follow, options)


def is_topic(source: object) -> bool:
    """Return whether a source is the address of a topic.

    Examples
    --------
    >>> is_topic("kafka://localhost:9092/sms"), is_topic("sms.jsonl")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(f"{SCHEME}://")


def read_topic(address: str, encoding: str = "utf-8") -> Iterator[Line]:
    """Yield the records of a topic from its first on, in order within each partition.

    Parameters
    ----------
    address
        `kafka://HOST:PORT/TOPIC`; `?follow` waits for new records forever. Further options are
        `security_protocol`, `sasl_mechanism`, `ssl_cafile`, `ssl_certfile` and `ssl_keyfile`. Name
        and password are read from STREAMNB_SASL_USERNAME and STREAMNB_SASL_PASSWORD.
    encoding
        Any encoding of Python. Invalid bytes affect one record.

    Raises
    ------
    InputError
        If the address is invalid.
    MissingDependencyError
        If kafka-python is not installed.
    DataError
        If the cluster cannot be reached, or has no such topic.
    """
    where = TopicAddress.parse(address)
    consumer = _consumer(where)
    try:
        places = _places(consumer, where)
        ends = dict(consumer.end_offsets(places))
        number = 0
        while where.follow or any(consumer.position(place) < ends[place] for place in places):
            for place, records in consumer.poll(timeout_ms=200).items():
                for record in records:
                    if where.follow or record.offset < ends[place]:
                        number += 1
                        yield _line(number, record.value or b"", encoding)
    finally:
        consumer.close()


def _line(number: int, raw: bytes, encoding: str) -> Line:
    try:
        return Line(number, raw, raw.decode(encoding), None)
    except UnicodeDecodeError as error:
        return Line(number, raw, "", f"not {encoding}: byte {error.start + 1}")


def _places(consumer: Any, where: TopicAddress) -> list[Any]:
    from kafka import TopicPartition

    numbers = consumer.partitions_for_topic(where.topic)
    if not numbers:
        raise DataError(f"the cluster at {where.brokers} has no topic {where.topic!r}")
    places = [TopicPartition(where.topic, number) for number in sorted(numbers)]
    consumer.assign(places)
    consumer.seek_to_beginning(*places)
    return places


def _consumer(where: TopicAddress) -> Any:
    try:
        # kafka-python imports deprecated modules.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import kafka.errors

            import kafka
    except ImportError as error:
        raise MissingDependencyError(
            "a topic of Kafka needs kafka-python: pip install 'streamnb[kafka]'"
        ) from error
    secrets = {name: os.environ[key] for name, key in _SECRETS.items() if key in os.environ}
    try:
        return kafka.KafkaConsumer(
            bootstrap_servers=where.brokers,
            group_id=None,
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            bootstrap_timeout_ms=_START * 1000,
            **where.options,
            **(secrets if "sasl_mechanism" in where.options else {}),
        )
    except (kafka.errors.KafkaError, OSError, ValueError) as error:
        raise DataError(f"cannot reach {where.brokers}: {error or type(error).__name__}") from error
