"""A topic of Kafka as lines: each record's value is one (needs `pip install 'streamnb[kafka]'`).

It is for looking at a stream: nothing is committed, and no group is joined. Filters that must lose
nothing and decide once are `streamnb_consumers`.
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
# Arguments of kafka-python's consumer that an address may hold; secrets come from the environment.
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
_START = 30.0  # seconds in which a cluster must say which partitions a topic has


@dataclasses.dataclass(frozen=True)
class TopicAddress:
    """Where a topic is, and how it is read.

    Attributes
    ----------
    brokers
        Addresses (host:port), separated by commas.
    topic
        Its name.
    follow
        Whether reading goes on at the end, for ever; else it ends where the topic did when
        reading began.
    options
        For the connection.
    """

    brokers: str
    topic: str
    follow: bool
    options: dict[str, str]

    @classmethod
    def parse(cls, address: str) -> TopicAddress:
        """Take an address apart.

        Raises
        ------
        InputError
            It is no address of a topic.

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
                f"{address!r} is no address of a topic; write kafka://HOST:PORT/TOPIC, and ?follow "
                "behind it to go on at its end"
            )
        unknown = [name for name in options if name not in _SECURITY]
        if unknown:
            raise InputError(
                f"{address!r}: unknown option {unknown[0]!r}; known are follow, "
                f"{', '.join(_SECURITY)}"
            )
        return cls(parts.netloc, topic, follow, options)


def is_topic(source: object) -> bool:
    """Tell whether a source is the address of a topic.

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
        `kafka://HOST:PORT/TOPIC`; with `?follow` reading goes on for ever at its end.
        `security_protocol`, `sasl_mechanism`, `ssl_cafile`, `ssl_certfile` and `ssl_keyfile` may
        follow; name and password are STREAMNB_SASL_USERNAME and STREAMNB_SASL_PASSWORD.
    encoding
        Any that Python knows. Bad bytes spoil one record.

    Raises
    ------
    InputError
        It is no address of a topic.
    MissingDependencyError
        kafka-python is not installed.
    DataError
        The cluster can't be reached, or has no such topic.
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
        # Importing it imports modules that say of themselves that they are deprecated.
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
