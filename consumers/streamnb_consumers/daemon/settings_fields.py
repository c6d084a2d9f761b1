"""The fields of the settings: of each its default, what it may be, and what it means."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from streamnb.model.drift import DETECTORS, NO_DETECTOR
from streamnb.model.threshold import UNSURE

# With another name, for a setting may have theirs.
from streamnb_consumers.daemon.settings_values import flag as _flag
from streamnb_consumers.daemon.settings_values import header as _header
from streamnb_consumers.daemon.settings_values import labels as _labels
from streamnb_consumers.daemon.settings_values import name as _name
from streamnb_consumers.daemon.settings_values import number as _number
from streamnb_consumers.daemon.settings_values import one_of as _one_of
from streamnb_consumers.daemon.settings_values import optional as _optional
from streamnb_consumers.daemon.settings_values import text as _text
from streamnb_consumers.daemon.settings_values import topic as _topic
from streamnb_consumers.daemon.settings_values import whole as _whole
from streamnb_consumers.errors import SettingsError

__all__ = ["AUTO", "CLIENTS", "FORMATS", "MECHANISMS", "PROTOCOLS", "SECRETS", "Settings"]

AUTO = "auto"
CLIENTS = ("kafka-python", "confluent")
FORMATS = ("auto", "jsonl", "mail", "mbox", "maildir", "eml")
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
SECRETS = ("sasl_username", "sasl_password", "tls_key_password")  # of the environment alone


def _or_auto(read: Callable[[Any], float]) -> Callable[[Any], float | str]:
    return lambda value: AUTO if value == AUTO else read(value)


def _key(default: Any, read: Callable[[Any], Any], meaning: str, former: str = "") -> Any:
    """Return a field; `former` is the name that it had before, which is still read."""
    metadata = {"read": read, "help": meaning, "former": former}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that can be set; the help of each field says what it means."""

    model: str = _key(
        "",
        _text,
        "the model, as `streamnb evaluate --model` writes it; empty: the kind's own; `Challenger`: "
        "the same, and at an alarm of drift a fresh one challenges it",
    )
    labels: tuple[str, ...] = _key(
        ("ham", "spam"), _labels, "labels that are learned, others are bad input; empty: any"
    )
    pos_label: str = _key("spam", _text, "the label that scores are the log odds of")
    negative: str = _key("ham", _text, "what is decided where `ham_target` forbids the positive")
    ham_target: float | str = _key(
        AUTO,
        _or_auto(_number(0.0, 0.5)),
        "share of negative messages that may be lost; 0: no bound; auto: 0.01 where probabilities "
        "are calibrated and `spam_cutoff` is 0, else no bound",
    )
    spam_cutoff: float = _key(
        0.0,
        _number(0.0, 1.0),
        "probability of `pos_label` from which it is decided; 0: as the model decides",
    )
    ham_cutoff: float = _key(
        0.0,
        _number(0.0, 1.0),
        "probability of `pos_label` up to which it is not; between the cuts: `unsure`; 0: never",
    )
    allow_senders: str = _key(
        "", _text, "file of senders that are never `pos_label`: addresses or domains, one a line"
    )
    deny_senders: str = _key("", _text, "file of senders that always are")
    status_header: str = _key(
        "X-Spam-Status", _header, "header that `-p` writes, and that no mail is read with"
    )
    drift: str = _key(
        NO_DETECTOR,
        _one_of(*DETECTORS, NO_DETECTOR),
        "detector of river's that watches whether decisions go wrong more often than they did: "
        "`adwin`, `ddm` or `none`; it adds a second to the start",
    )
    top_words: int = _key(0, _whole(0, 1000), "loudest words that a decision names")
    max_bytes: int = _key(
        0, _whole(0, 2**30), "longest message in bytes; 0: the kind's own (SMS 65,536, mail 2^24)"
    )
    max_text: int = _key(
        0,
        _whole(0, 2**30),
        "characters of a message's text that are read, the rest is ignored; 0: the kind's own (SMS "
        "4,096; mail 8,192 for a model with a tokenizer, else 262,144)",
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
    label_rate: float = _key(
        1000.0,
        _number(0.0, 1e9),
        "labels that one source, which `label_source` names, may give in an hour, and at once, in "
        "each partition: those beyond it are dead letters; 0: no bound",
    )
    label_source: str = _key(
        "labelled-by",
        _optional(_header),
        "header of a record that says who gave its label; one without it has no bound",
    )
    window_bytes: int = _key(2**27, _whole(1), "bytes that they take, in each partition")
    input: str = _key("-", _text, "a file, or a folder of mail; `-`: standard input")
    format: str = _key(
        "auto",
        _one_of(*FORMATS),
        "of the input: jsonl, for mail also mail, mbox, maildir or eml; auto: what it looks like",
    )
    output: str = _key("-", _text, "where decisions go: a file, exactly once; `-`: standard output")
    dead_letters: str = _key(
        "", _text, "file of bad records; empty: standard error, or the output's name and `.dead`"
    )
    snapshots: str = _key("", _text, "folder of snapshots; empty: none are kept")
    shared_snapshots: str = _key(
        "",
        _text,
        "folder or fsspec URL of snapshots that all workers of a group share; empty: none",
    )
    shared_snapshot_seconds: float = _key(
        300.0, _number(0.0, 1e6), "seconds between shared snapshots, whichever worker writes them"
    )
    training_log_truncate: bool = _key(
        False,
        _flag,
        "delete training events that are in the oldest shared snapshot that is kept: true or false",
    )
    training_log_adopt: bool = _key(
        False,
        _flag,
        "learn training events that were written under other settings before: true or false",
    )
    snapshots_kept: int = _key(3, _whole(1, 1000), "snapshots kept")
    snapshot_bytes: int = _key(2**33, _whole(1), "largest snapshot that is read or written")
    snapshot_seconds: float = _key(60.0, _number(0.0, 1e6), "seconds between snapshots")
    batch: int = _key(2000, _whole(1, 100_000), "records of one transaction at most")
    batch_seconds: float = _key(
        0.02,
        _number(0.0, 10.0),
        "seconds from one transaction that was not full to the next, of topics: fewer and larger "
        "ones cost less, later decisions come with them",
    )
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
    client: str = _key(
        "kafka-python",
        _one_of(*CLIENTS),
        "what Kafka is reached with: `kafka-python`, or `confluent`, which is faster and needs "
        "brokers of Kafka 4.0 or later",
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
            for name in ("pos_label", "negative"):
                if getattr(self, name) not in self.labels:
                    raise SettingsError(f"{name} is {getattr(self, name)!r}, none of the labels")
        if self.pos_label == self.negative:
            raise SettingsError("positive and negative are the same label")
        if self.ham_cutoff and not self.ham_cutoff < self.spam_cutoff:
            raise SettingsError(
                f"ham_cutoff is {self.ham_cutoff:g}, which must be below spam_cutoff, "
                f"{self.spam_cutoff:g}"
            )
        if self.ham_cutoff and (not self.labels or UNSURE in self.labels):
            raise SettingsError(f"with ham_cutoff there must be labels, none of them {UNSURE!r}")
        if self.output != "-" and self.input == "-":
            raise SettingsError(
                "output to a file is exactly once, for which input must be a file too; "
                "with standard input use > for the output"
            )
        for name in ("shared_snapshots", "training_log_truncate", "training_log_adopt"):
            if getattr(self, name) and not self.bootstrap_servers:
                raise SettingsError(f"{name} is set without bootstrap_servers: it is of topics")
        if self.training_log_truncate and not self.shared_snapshots:
            raise SettingsError(
                "training_log_truncate is set without shared_snapshots: new workers would have no "
                "model"
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
        places = (("input", "-"), ("output", "-"), ("dead_letters", ""), ("format", "auto"))
        for name, place in places:
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
