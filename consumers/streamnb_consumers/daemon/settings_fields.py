"""The fields of the settings: of each its default, what it may be, and what it means."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from streamnb_consumers.errors import SettingsError

__all__ = ["MECHANISMS", "PROTOCOLS", "Settings"]

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _topic(value: Any) -> str:
    """Read the name of a topic, by Kafka's rules; `{kind}` stands for sms or spam."""
    name = _text(value)
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name.replace("{kind}", "spam")):
        raise ValueError("must be 1 to 249 letters, digits, dots, underscores or hyphens")
    if name in (".", ".."):
        raise ValueError("must be more than dots")
    return name


def _name(value: Any) -> str:
    name = _text(value)
    if not name.strip() or not name.isprintable():
        raise ValueError("must be a name")
    return name


def _optional(read: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "" if value == "" else read(value)


def _one_of(*choices: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return str(value)

    return read


def _labels(value: Any) -> tuple[str, ...]:
    found = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
        raise ValueError("must be labels, separated by commas")
    return tuple(one for one in found if one)


def _whole(least: int, most: int = 2**53) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}")
        return number

    return read


def _number(least: float, most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value) if isinstance(value, (str, int)) else value
        if not isinstance(number, float) or isinstance(value, bool) or not least <= number <= most:
            raise ValueError(f"must be a number from {least:g} to {most:g}")
        return number

    return read


def _key(default: Any, read: Callable[[Any], Any], meaning: str, former: str = "") -> Any:
    """Return a field; `former` is the name that it had before, which is still read."""
    metadata = {"read": read, "help": meaning, "former": former}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that can be set; the help of each field says what it means."""

    model: str = _key(
        "", _text, "the model, as `streamnb evaluate --model` writes it; empty: the kind's own"
    )
    labels: tuple[str, ...] = _key(
        ("ham", "spam"), _labels, "labels that are learned, others are bad input; empty: any"
    )
    positive: str = _key("spam", _text, "the label that scores are the log odds of")
    negative: str = _key("ham", _text, "what is decided where `ham_target` forbids the positive")
    ham_target: float = _key(
        0.0, _number(0.0, 0.5), "share of negative messages that may be lost; 0: no bound"
    )
    top_words: int = _key(0, _whole(0, 1000), "loudest words that a decision names")
    max_bytes: int = _key(
        0, _whole(0, 2**30), "longest message in bytes; 0: the kind's own (SMS 65,536, mail 2^24)"
    )
    window_count: int = _key(
        100_000, _whole(1), "messages that wait for a label, in each partition"
    )
    window_age: float = _key(0.0, _number(0.0, 1e9), "seconds for which they wait; 0: no bound")
    window_future: float = _key(
        60.0,
        _number(0.0, 1e9),
        "seconds that a timestamp may lie in the future and be believed; 0: no bound",
    )
    window_bytes: int = _key(2**27, _whole(1), "bytes that they take, in each partition")
    input: str = _key("-", _text, "a file of JSON lines; `-`: standard input")
    output: str = _key("-", _text, "where decisions go: a file, exactly once; `-`: standard output")
    dead_letters: str = _key(
        "", _text, "file of bad records; empty: standard error, or the output's name and `.dead`"
    )
    snapshots: str = _key("", _text, "folder of snapshots; empty: none are kept")
    snapshots_kept: int = _key(3, _whole(1, 1000), "snapshots kept")
    snapshot_bytes: int = _key(2**33, _whole(1), "largest snapshot that is read or written")
    snapshot_seconds: float = _key(60.0, _number(0.0, 1e6), "seconds between snapshots")
    batch: int = _key(500, _whole(1, 100_000), "records of one transaction at most")
    poll_seconds: float = _key(0.5, _number(0.001, 60.0), "longest wait for records")
    commit_seconds: float = _key(60.0, _number(0.1, 3600.0), "longest wait for a commit")
    stop_seconds: float = _key(10.0, _number(0.1, 3600.0), "longest time for closing at the end")
    breaker_share: float = _key(
        0.8, _number(0.01, 1.0), "share of bad records at which the filter stops"
    )
    breaker_records: int = _key(1000, _whole(1), "records that this share is taken of")
    http_port: int = _key(
        0, _whole(0, 65_535), "port of `/livez`, `/readyz` and `/metrics`; 0: none"
    )
    http_host: str = _key("127.0.0.1", _text, "address that they are served on")
    bootstrap_servers: str = _key(
        "", _text, "Kafka's brokers, `host:port` separated by commas; empty: `input` and `output`"
    )
    messages_topic: str = _key("{kind}", _topic, "topic of messages, with labels or without")
    feedback_topic: str = _key(
        "{kind}-feedback",
        _optional(_topic),
        "topic of labels, keyed and partitioned as the messages; empty: none",
    )
    decisions_topic: str = _key("{kind}-decisions", _topic, "topic that decisions go to")
    training_topic: str = _key(
        "{kind}-lessons",
        _topic,
        "topic of training events: labelled messages, the log that the model is made of",
        former="lessons_topic",
    )
    windows_topic: str = _key(
        "{kind}-windows", _topic, "topic that keeps the join windows: compacted, as many partitions"
    )
    dead_letters_topic: str = _key(
        "{kind}-dead-letters", _topic, "topic of records that could not be used"
    )
    group: str = _key("streamnb-{kind}", _name, "the consumer group that shares out the messages")
    instance_id: str = _key(
        "", _optional(_name), "this worker's lasting name in the group; empty: a new one each time"
    )
    transactional_id: str = _key(
        "",
        _optional(_name),
        "name of this worker's transactions; empty: the group and `instance_id`, or a random one",
    )
    session_seconds: float = _key(
        10.0, _number(1.0, 1800.0), "silence after which the group gives up on a worker"
    )
    transaction_seconds: float = _key(
        30.0, _number(1.0, 900.0), "time after which Kafka aborts a dead worker's transaction"
    )
    create_topics: int = _key(
        0, _whole(0, 10_000), "partitions of the topics to make where missing; 0: none are made"
    )
    security_protocol: str = _key(
        "PLAINTEXT", _one_of(*PROTOCOLS), "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"
    )
    sasl_mechanism: str = _key(
        "SCRAM-SHA-512", _one_of(*MECHANISMS), "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
    )
    tls_ca_file: str = _key("", _text, "certificates to trust, PEM; empty: those of the system")
    tls_cert_file: str = _key("", _text, "this client's certificate, PEM; empty: none")
    tls_key_file: str = _key("", _text, "its key, PEM; empty: in the certificate's file")
    log_level: str = _key(
        "WARNING", _one_of("DEBUG", "INFO", "WARNING", "ERROR"), "DEBUG, INFO, WARNING or ERROR"
    )
    log_format: str = _key("json", _one_of("json", "text"), "json, or text")

    def __post_init__(self) -> None:
        if self.labels:
            for name in ("positive", "negative"):
                if getattr(self, name) not in self.labels:
                    raise SettingsError(f"{name} is {getattr(self, name)!r}, none of the labels")
        if self.positive == self.negative:
            raise SettingsError("positive and negative are the same label")
        if self.output != "-" and self.input == "-":
            raise SettingsError(
                "output to a file is exactly once, for which input must be a file too; "
                "with standard input use > for the output"
            )
        if self.bootstrap_servers:
            self._check_kafka()

    def _check_kafka(self) -> None:
        for each in self.bootstrap_servers.split(","):
            _, colon, port = each.strip().rpartition(":")
            if not colon or not port.isdecimal() or not 0 < int(port) < 65_536:
                raise SettingsError(
                    f"bootstrap_servers must be host:port, separated by commas, not {each!r}"
                )
        for name, place in (("input", "-"), ("output", "-"), ("dead_letters", "")):
            if getattr(self, name) != place:
                raise SettingsError(f"{name} and bootstrap_servers are both set: choose one")
        names = [name for name in vars(self) if name.endswith("_topic") and getattr(self, name)]
        topics: dict[str, str] = {}
        for name in names:
            other = topics.setdefault(getattr(self, name), name)
            if other != name:
                raise SettingsError(f"{name} and {other} are the same topic")
        encrypted = self.security_protocol.endswith("SSL")
        for name in ("tls_ca_file", "tls_cert_file", "tls_key_file"):
            if getattr(self, name) and not encrypted:
                raise SettingsError(
                    f"{name} is set, but security_protocol is {self.security_protocol}: "
                    f"nothing would be encrypted"
                )
        if self.tls_key_file and not self.tls_cert_file:
            raise SettingsError("tls_key_file is set without tls_cert_file")
