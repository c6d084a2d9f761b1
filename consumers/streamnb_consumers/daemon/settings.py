"""Settings and their sources: defaults < TOML file < environment < command line.

`Settings` declares type, range, default and description of each setting once, in the order of the
tables; msgspec converts and checks the values, and `--help` shows the descriptions by table.
Secrets are not settings: they come from the environment only (`SECRETS`), so no file and no process
list contains them.
"""

from __future__ import annotations

import argparse
import difflib
import ipaddress
import itertools
import os
import tomllib
import typing
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from streamnb.errors import needed_for
from streamnb.model.threshold import UNSURE
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline.assumptions import AssumeAfter

with needed_for("a filter", "consumers"):
    import msgspec
    from msgspec import Meta, structs

PREFIX = "STREAMNB_"
SECRETS = ("listen_token", "sasl_username", "sasl_password", "teacher_key", "tls_key_password")
AUTO = "auto"

# The title of a type completes the sentence "NAME must be ...".
_TOPIC = Meta(
    pattern=r"^(?!\.{1,2}\Z)([A-Za-z0-9._-]|\{kind\}){1,249}\Z",
    title="1 to 249 letters, digits, dots, underscores or hyphens, and not only dots",
)
_TOPIC_OR_EMPTY = Meta(pattern=rf"^\Z|{_TOPIC.pattern}", title=f"empty, or {_TOPIC.title}")
_CONTROL = r"\x00-\x1f\x7f-\x9f"
_NAME = Meta(
    pattern=rf"^(?=.*\S)[^{_CONTROL}]+\Z", title="a name that is not blank, without control codes"
)
_NAME_OR_EMPTY = Meta(pattern=rf"^\Z|{_NAME.pattern}", title=f"empty, or {_NAME.title}")
_HEADER = Meta(
    pattern=r"^[A-Za-z][A-Za-z0-9-]{0,75}\Z",
    title="a header name: letters, digits and hyphens, a letter first",
)
_HEADER_OR_EMPTY = Meta(pattern=rf"^\Z|{_HEADER.pattern}", title=f"empty, or {_HEADER.title}")

_ANY_COUNT = Meta(ge=1, le=2**53)
_SIZE = Meta(ge=0, le=2**30)
_SHARE = Meta(ge=0.0, le=1.0)
_SECONDS = Meta(ge=0.0, le=1e6)
_TIMEOUT = Meta(ge=0.1, le=3600.0)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of a filter, with the text of their help.

    Raises
    ------
    SettingsError
        If two settings contradict each other.

    Attributes
    ----------
    model
        model, in the notation of `streamnb evaluate --model`; empty: the default of the filter;
        `Challenger(model=…)`: after a drift alarm a fresh model challenges this one
    fields
        fields whose values the model reads as well, as in `user,sender`: keys of a JSON record,
        else record headers
    per_field
        one of `fields`: the model also learns the words for each of its values
    numbers
        those of `fields` whose values are quantities, as in `price`
    hashed_words
        the model contains keyed hashes instead of words; the key is `STREAMNB_WORD_KEY`
    categories
        for models of tables: attributes whose numbers are names, as in `postcode`
    labels
        labels to learn; records with other labels are dead letters; empty: any label
    max_classes
        maximum number of different labels if `labels` is empty; further ones are dead letters
    pos_label
        positive label; scores are its log odds
    negative
        label to decide where `max_fpr` forbids the positive label
    max_fpr
        maximum false-positive rate; 0: no bound; auto: 0.01 for models with calibrated
        probabilities if `spam_cutoff` is 0, else no bound
    spam_cutoff
        decide `pos_label` from this probability on; 0: the threshold of the model applies
    ham_cutoff
        decide `negative` up to this probability of `pos_label`, and `unsure` between both cutoffs;
        0: never `unsure`
    ready_after
        messages of each of two labels before which every decision is `unsure`; 0: no wait; auto: 10
        for `listen`, else 0
    min_evidence
        strength of evidence (docs/how-to/unsure.md) below which a message is `unsure` instead of
        `pos_label`; 0: no minimum; auto: 2.8 for `listen`, mail and models with calibrated
        probabilities, else 0
    assume_after
        a decision that nobody corrects counts as a weak label after this number of later messages,
        or this time, as in 12h or 3d; 0: never; auto: 100 for `listen` without topics, else 0
    allow_senders
        file of senders that are never `pos_label`: one address or domain per line
    deny_senders
        file of senders that are always `pos_label`
    status_header
        header that `-p` writes; it is removed from mails before reading
    drift
        drift detector of river for the errors of decisions: `adwin`, `ddm` or `none`; adds a second
        to the start
    explain_top_k
        number of top contributing words in a decision
    max_bytes
        maximum message size in bytes; 0: default of the filter (SMS 65,536, mail 2^24)
    max_text
        maximum characters of text to read per message; the rest is ignored; 0: default of the
        filter (SMS 4,096; mail 8,192 for models with a tokenizer, else 262,144)
    join_window_count
        maximum messages that wait for a label, per partition
    join_window_age
        maximum seconds they wait; 0: no bound
    join_window_future
        maximum seconds a timestamp may lie in the future; later ones are replaced by this limit; 0:
        no bound
    join_window_bytes
        maximum bytes of waiting messages, per partition
    past_label_days
        days for which `listen` without topics keeps the labels of messages whose texts have left
        the join window, to recognise repeated and changed labels; 0: none
    labels_per_hour
        maximum labels per source, hour and partition, all at once or spread; further labels are
        dead letters; 0: no bound
    label_source_header
        record header that names the source of a label; without it there is no bound
    ask_per_day
        number of decisions per day with `"ask": true`, which request a label; all workers of a
        group share it; 0: none
    self_training
        learn confident decisions on messages without a label, with a tenth of the weight
    teacher_agreement
        share of decisions that shall equal the teacher's (docs/how-to/ask-a-teacher.md); 0: no such
        goal
    teacher_budget
        maximum share of messages that the teacher receives; 0: no such goal
    teacher_calls_per_day
        maximum number of messages per day that the teacher receives; all workers of a group share
        it; 0: no such goal
    teacher_call_price
        price of a call, with `teacher_error_price`; 0: no such goal
    teacher_error_price
        price of a decision that differs from the teacher's
    teacher_error
        share of the teacher's answers that are wrong at random
    teacher_audit_share
        minimum share of the confident decisions that the teacher receives as an audit
    teacher_wait_seconds
        maximum seconds that a decision waits for the teacher; 0 with topics: never
    teacher_url
        base of an endpoint with the OpenAI chat protocol, as in http://localhost:11434/v1; empty:
        the answers come as labels. The key is STREAMNB_TEACHER_KEY
    teacher_model
        name of the language model
    teacher_prompt
        system prompt, in which `{labels}` stands for the labels; empty: the default
    teacher_structured
        request JSON by a schema of the labels: true or false
    teacher_redact
        fields that the teacher does not receive
    teacher_longest
        maximum characters of a message that the teacher receives
    teacher_timeout_seconds
        maximum seconds of a request
    teacher_retries
        repetitions of a request that fails, with growing pauses
    teacher_parallel
        maximum number of requests at the same time
    teacher_answers_kept
        number of latest answers on disk, for a filter on files; the file holds at most twice as
        many. A message with an older answer is asked again if it is read again
    teacher_input_price
        price of a million tokens that the teacher reads
    teacher_output_price
        price of a million tokens that it writes
    teacher_function
        `module:function` in place of an endpoint: receives a message and returns its label
    input
        input file or folder of mail; `-`: standard input
    format
        input format; SMS: only jsonl; auto: detect it
    output
        output file for decisions, written exactly once; `-`: standard output
    dead_letters
        file of dead letters; empty: standard error, or the output file with `.dead`
    snapshots
        folder of snapshots; empty: no snapshots
    snapshots_kept
        number of snapshots to keep
    snapshot_bytes
        maximum size of a snapshot in bytes
    snapshot_seconds
        seconds between snapshots
    batch
        maximum records per transaction
    poll_seconds
        maximum wait for records in seconds
    commit_seconds
        maximum wait for a commit or a start in seconds
    stop_seconds
        maximum seconds for a shutdown
    circuit_breaker_ratio
        at this ratio of invalid records, stop reading the partition for 5 minutes, or the file
    circuit_breaker_records
        number of recent records of a partition for this ratio
    http_port
        port of `/livez`, `/readyz` and `/metrics`; 0: none
    http_host
        address of this HTTP server
    host
        address of `listen`
    port
        port of `listen`, for the spamd protocol and HTTP
    socket
        path of a Unix socket for `listen`, in place of a port
    socket_mode
        mode of the Unix socket: 660 lets its group in, 666 every user of this machine
    socket_group
        group of the Unix socket; empty: the group of the filter
    connections
        maximum open connections of `listen`; another machine may have a quarter of them
    request_seconds
        maximum seconds of a request to `listen`
    spamd_clients
        networks of other machines that may use the spamd protocol, as 10.0.0.0/8
    journal_bytes
        bytes on disk of the journal of `listen`: a snapshot is written before it has more
    bootstrap_servers
        Kafka brokers, `host:port` separated by commas; empty: use `input` and `output`
    client
        Kafka client: `kafka-python`, or the faster `confluent`; `auto`: `confluent` if it is
        installed
    messages_topic
        topic of messages, labelled or not
    feedback_topic
        topic of labels, with the keys and partitions of the messages; empty: none
    decisions_topic
        topic of decisions
    training_topic
        topic of training events (labelled messages): the log that builds the model
    join_state_topic
        compacted topic of the join windows, with the partitions of the messages
    dead_letters_topic
        topic of invalid records
    questions_topic
        topic of messages whose labels are requested; empty: none
    group
        consumer group of the workers
    missing_records
        after records that were deleted unread: `skip` them, or `wait`; both log an error
    unreadable_batches
        after a damaged batch: `wait`, so that its partition is blocked, or `skip` it with a dead
        letter that names its offsets
    instance_id
        static name of this worker in the group; empty: a new member at each start
    transactional_id
        name of this worker's transactions; empty: `group` with `instance_id` or a random id
    session_seconds
        seconds without a heartbeat until the group reassigns a worker's partitions
    transaction_seconds
        seconds until Kafka aborts the transaction of a dead worker
    authorization_seconds
        seconds for which the cluster may refuse a worker that it has accepted before
    create_topics
        number of partitions for missing topics; 0: create no topics
    linger_seconds
        minimum seconds between transactions that are not full (topics only): fewer, larger
        transactions cost less and delay decisions
    shared_snapshots
        folder or fsspec URL of snapshots shared by all workers of a group; empty: none
    shared_snapshot_seconds
        seconds between shared snapshots of the group
    training_log_truncate
        delete training events that the oldest shared snapshot contains: true or false
    training_log_adopt
        accept training events and snapshots of other settings: true or false
    security_protocol
        PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
    sasl_mechanism
        PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER
    sasl_token_provider
        `module:function`: returns a token and its end in milliseconds since 1970
    tls_ca_file
        PEM file of trusted certificates; empty: those of the system
    tls_cert_file
        PEM file of the client certificate; empty: none
    tls_key_file
        PEM file of its key; empty: the key is in `tls_cert_file`
    log_level
        DEBUG, INFO, WARNING or ERROR; auto: INFO with topics, else WARNING
    log_format
        json or text
    """

    model: str = ""
    fields: tuple[str, ...] = ()
    per_field: str = ""
    numbers: tuple[str, ...] = ()
    hashed_words: bool = False
    categories: tuple[str, ...] = ()
    labels: tuple[str, ...] = ("ham", "spam")
    max_classes: Annotated[int, Meta(ge=2, le=1_000_000)] = 1000
    pos_label: str = "spam"
    negative: str = "ham"
    max_fpr: Annotated[float, Meta(ge=0.0, le=0.5)] | Literal["auto"] = "auto"
    spam_cutoff: Annotated[float, _SHARE] = 0.0
    ham_cutoff: Annotated[float, _SHARE] = 0.0
    ready_after: Annotated[float, Meta(ge=0.0, le=1e9)] | Literal["auto"] = "auto"
    min_evidence: Annotated[float, Meta(ge=0.0, le=1e9)] | Literal["auto"] = "auto"
    assume_after: str = AUTO
    allow_senders: str = ""
    deny_senders: str = ""
    status_header: Annotated[str, _HEADER] = "X-Spam-Status"
    drift: Literal["adwin", "ddm", "none"] = "none"
    explain_top_k: Annotated[int, Meta(ge=0, le=1000)] = 0
    max_bytes: Annotated[int, _SIZE] = 0
    max_text: Annotated[int, _SIZE] = 0
    join_window_count: Annotated[int, _ANY_COUNT] = 100_000
    join_window_age: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    join_window_future: Annotated[float, Meta(ge=0.0, le=1e9)] = 60.0
    join_window_bytes: Annotated[int, _ANY_COUNT] = 2**26
    past_label_days: Annotated[float, Meta(ge=0.0, le=36_500.0)] = 30.0
    labels_per_hour: Annotated[float, Meta(ge=0.0, le=1e9)] = 1000.0
    label_source_header: Annotated[str, _HEADER_OR_EMPTY] = "labelled-by"
    ask_per_day: Annotated[float, Meta(ge=0.0, le=1e6)] = 0.0
    self_training: bool = False
    teacher_agreement: Annotated[float, Meta(ge=0.0, le=0.9999)] = 0.0
    teacher_budget: Annotated[float, _SHARE] = 0.0
    teacher_calls_per_day: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    teacher_call_price: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    teacher_error_price: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    teacher_error: Annotated[float, Meta(ge=0.0, le=0.49)] = 0.0
    teacher_audit_share: Annotated[float, Meta(ge=0.0001, le=0.5)] = 0.003
    teacher_wait_seconds: Annotated[float, Meta(ge=0.0, le=86_400.0)] = 10.0
    teacher_url: str = ""
    teacher_model: str = ""
    teacher_prompt: str = ""
    teacher_structured: bool = True
    teacher_redact: tuple[str, ...] = ()
    teacher_longest: Annotated[int, _ANY_COUNT] = 20_000
    teacher_timeout_seconds: Annotated[float, _TIMEOUT] = 30.0
    teacher_retries: Annotated[int, Meta(ge=0, le=100)] = 3
    teacher_parallel: Annotated[int, Meta(ge=1, le=1000)] = 4
    teacher_answers_kept: Annotated[int, _ANY_COUNT] = 100_000
    teacher_input_price: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    teacher_output_price: Annotated[float, Meta(ge=0.0, le=1e9)] = 0.0
    teacher_function: str = ""
    input: str = "-"
    format: Literal["auto", "jsonl", "mail", "mbox", "maildir", "eml"] = "auto"
    output: str = "-"
    dead_letters: str = ""
    snapshots: str = ""
    snapshots_kept: Annotated[int, Meta(ge=1, le=1000)] = 3
    snapshot_bytes: Annotated[int, _ANY_COUNT] = 2**33
    snapshot_seconds: Annotated[float, _SECONDS] = 60.0
    batch: Annotated[int, Meta(ge=1, le=100_000)] = 2000
    poll_seconds: Annotated[float, Meta(ge=0.001, le=60.0)] = 0.5
    commit_seconds: Annotated[float, _TIMEOUT] = 60.0
    stop_seconds: Annotated[float, _TIMEOUT] = 10.0
    circuit_breaker_ratio: Annotated[float, Meta(ge=0.01, le=1.0)] = 0.8
    circuit_breaker_records: Annotated[int, _ANY_COUNT] = 1000
    http_port: Annotated[int, Meta(ge=0, le=65_535)] = 0
    http_host: str = "127.0.0.1"
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65_535)] = 7830
    socket: str = ""
    socket_mode: Annotated[str, Meta(pattern="^[0-7]{3}$")] = "600"
    socket_group: str = ""
    connections: Annotated[int, Meta(ge=1, le=100_000)] = 500
    request_seconds: Annotated[float, _TIMEOUT] = 30.0
    spamd_clients: tuple[str, ...] = ()
    journal_bytes: Annotated[int, _ANY_COUNT] = 2**30
    bootstrap_servers: str = ""
    client: Literal["kafka-python", "confluent", "auto"] = "kafka-python"
    messages_topic: Annotated[str, _TOPIC] = "{kind}"
    feedback_topic: Annotated[str, _TOPIC_OR_EMPTY] = "{kind}-feedback"
    decisions_topic: Annotated[str, _TOPIC] = "{kind}-decisions"
    training_topic: Annotated[str, _TOPIC] = "{kind}-training"
    join_state_topic: Annotated[str, _TOPIC] = "{kind}-join-state"
    dead_letters_topic: Annotated[str, _TOPIC] = "{kind}-dead-letters"
    questions_topic: Annotated[str, _TOPIC_OR_EMPTY] = ""
    group: Annotated[str, _NAME] = "streamnb-{kind}"
    missing_records: Literal["skip", "wait"] = "skip"
    unreadable_batches: Literal["wait", "skip"] = "wait"
    instance_id: Annotated[str, _NAME_OR_EMPTY] = ""
    transactional_id: Annotated[str, _NAME_OR_EMPTY] = ""
    session_seconds: Annotated[float, Meta(ge=1.0, le=1800.0)] = 10.0
    transaction_seconds: Annotated[float, Meta(ge=1.0, le=900.0)] = 30.0
    authorization_seconds: Annotated[float, _SECONDS] = 600.0
    create_topics: Annotated[int, Meta(ge=0, le=10_000)] = 0
    linger_seconds: Annotated[float, Meta(ge=0.0, le=10.0)] = 0.02
    shared_snapshots: str = ""
    shared_snapshot_seconds: Annotated[float, _SECONDS] = 300.0
    training_log_truncate: bool = False
    training_log_adopt: bool = False
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"] = (
        "SCRAM-SHA-512"
    )
    sasl_token_provider: str = ""
    tls_ca_file: str = ""
    tls_cert_file: str = ""
    tls_key_file: str = ""
    log_level: Literal["auto", "DEBUG", "INFO", "WARNING", "ERROR"] = "auto"
    log_format: Literal["json", "text"] = "json"

    def __post_init__(self) -> None:
        for problem in itertools.chain(
            self._wrong_decisions(),
            self._wrong_teacher(),
            self._wrong_files(),
            self._wrong_topics() if self.bootstrap_servers else (),
        ):
            raise SettingsError(problem)

    def _wrong_decisions(self) -> Iterator[str]:
        for name in ("pos_label", "negative") if self.labels else ():
            if (label := getattr(self, name)) not in self.labels:
                yield f"{name} must be one of the labels {', '.join(self.labels)}, not {label!r}"
        if self.pos_label == self.negative:
            yield f"pos_label and negative are the same label {self.negative!r}: they must differ"
        if self.assume_after not in (AUTO, "0"):
            if self.bootstrap_servers:
                yield "assume_after and bootstrap_servers are both set: topics need labels"
            AssumeAfter.read(self.assume_after)
        if self.ham_cutoff and not self.ham_cutoff < self.spam_cutoff:
            yield (
                f"ham_cutoff must be below spam_cutoff, {self.spam_cutoff:g}, not "
                f"{self.ham_cutoff:g}"
            )
        if self.ham_cutoff and (not self.labels or UNSURE in self.labels):
            yield f"ham_cutoff needs labels that do not contain {UNSURE!r}"

    def _wrong_teacher(self) -> Iterator[str]:
        prices = (self.teacher_call_price > 0.0, self.teacher_error_price > 0.0)
        if any(prices) and not all(prices):
            yield "teacher_call_price and teacher_error_price are one goal: set both"
        found = [each for each in goals(self) if each != "error_price"]
        if len(found) > 1:
            yield f"the teacher has {len(found)} goals, {', '.join(found)}: choose one"
        named = (self.teacher_url, self.teacher_model, self.teacher_function)
        if not found:
            if any(named) and not self.bootstrap_servers:
                yield "the teacher has no goal: set one, as teacher_agreement = 0.99"
            return
        if self.teacher_url and self.teacher_function:
            yield "teacher_url and teacher_function are both set: choose one"
        if bool(self.teacher_url) != bool(self.teacher_model):
            yield "teacher_url and teacher_model name one teacher: set both"
        if self.teacher_url and len(self.labels) < 2:
            yield "teacher_url needs two or more labels, among which the teacher chooses"
        for name in ("max_fpr", "ready_after", "min_evidence", "spam_cutoff", "ask_per_day"):
            if getattr(self, name) not in (FIELDS[name].default, 0.0):
                yield f"{name} and the goal of the teacher are both set: choose one"
        if self.assume_after not in (AUTO, "0"):
            yield "assume_after and the goal of the teacher are both set: choose one"
        if self.bootstrap_servers and not (self.questions_topic and self.feedback_topic):
            yield (
                "the teacher needs questions_topic and feedback_topic: streamnb-teacher reads the "
                "questions and writes the answers"
            )

    def _wrong_files(self) -> Iterator[str]:
        for each in self.spamd_clients:
            try:
                ipaddress.ip_network(each)
            except ValueError as error:
                yield f"spamd_clients must be networks such as 10.0.0.0/8, not {each!r}: {error}"
        if self.output != "-" and self.input == "-":
            yield (
                "output is a file and input is standard input: an output file is written exactly "
                "once, which needs an input file; set input, or redirect the output with >"
            )
        for name in () if self.bootstrap_servers else TABLES["kafka"]:
            if getattr(self, name) != FIELDS[name].default:
                yield f"{name} is set without bootstrap_servers: it applies to topics only"
        if self.training_log_truncate and not self.shared_snapshots:
            yield (
                "training_log_truncate is set without shared_snapshots: new workers would have no "
                "model; set shared_snapshots"
            )

    def _wrong_topics(self) -> Iterator[str]:
        for each in self.bootstrap_servers.split(","):
            _, colon, port = each.strip().rpartition(":")
            if not colon or not port.isdecimal() or not 0 < int(port) < 65_536:
                yield f"bootstrap_servers must be host:port, separated by commas, not {each!r}"
        for name in (*TABLES["files"], "dead_letters"):
            if getattr(self, name) != FIELDS[name].default:
                yield f"{name} and bootstrap_servers are both set: choose one"
        topics: dict[str, str] = {}
        for name in FIELDS:
            topic = getattr(self, name) if name.endswith("_topic") else ""
            if topic and (other := topics.setdefault(topic, name)) != name:
                yield f"{name} and {other} are the same topic {topic}"
        encrypted = self.security_protocol.endswith("SSL")
        for name in ("tls_ca_file", "tls_cert_file", "tls_key_file"):
            if getattr(self, name) and not encrypted:
                yield (
                    f"{name} is set, but security_protocol {self.security_protocol} encrypts "
                    "nothing: set it to SSL or SASL_SSL"
                )
        oauth = "SASL_" in self.security_protocol and self.sasl_mechanism == "OAUTHBEARER"
        if oauth != bool(self.sasl_token_provider):
            yield (
                f"sasl_token_provider is {self.sasl_token_provider or 'empty'}, but sasl_mechanism "
                f"is {self.sasl_mechanism}: only OAUTHBEARER with SASL needs a token provider"
            )
        if self.tls_key_file and not self.tls_cert_file:
            yield "tls_key_file is set without tls_cert_file: set both"


FIELDS = {field.name: field for field in structs.fields(Settings)}

# First setting of each table; the next ones of `Settings` follow in their order.
_FIRST = {
    "model": "model", "labels": "filter", "teacher_agreement": "teacher", "input": "files",
    "dead_letters": "state", "batch": "loop", "http_port": "health", "host": "listen",
    "bootstrap_servers": "kafka", "log_level": "log",
}  # fmt: skip


def _tables() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    table = ""
    for name in FIELDS:
        table = _FIRST.get(name, table)
        found[table] = (*found.get(table, ()), name)
    return found


TABLES = _tables()
"""The settings of each table."""
TABLE_OF = {name: table for table, names in TABLES.items() for name in names}
"""The table of each setting."""
FOREIGN = {"listen": ("files", "health"), "": ("listen",)}
"""The tables that do not apply to `listen`, and to the other filters."""


def goals(settings: Settings) -> dict[str, float]:
    """Return the goal of the teacher, as parameters of `Cascade`; empty without a teacher.

    Examples
    --------
    >>> goals(Settings(teacher_budget=0.05)), goals(Settings())
    ({'budget': 0.05}, {})
    """
    names = ("agreement", "budget", "calls_per_day", "call_price", "error_price")
    values = {name: float(getattr(settings, f"teacher_{name}")) for name in names}
    return {name: value for name, value in values.items() if value}


def flag_of(name: str) -> str:
    """Return the command-line flag of a setting."""
    return f"--{name.replace('_', '-')}"


# --- sources ------------------------------------------------------------------------------------


def read_settings(
    flags: argparse.Namespace, environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings from file, environment and command line.

    Raises
    ------
    SettingsError
        If a setting is unknown, invalid or contradicts another; the error names its source.

    Examples
    --------
    >>> from streamnb_consumers.daemon.settings_text import parser
    >>> flags = parser("streamnb-sms").parse_args(["--batch", "10"])
    >>> found = read_settings(flags, {"STREAMNB_BATCH": "20", "STREAMNB_EXPLAIN_TOP_K": "3"})
    >>> found.batch, found.explain_top_k
    (10, 3)
    """
    environment = os.environ if environment is None else environment
    foreign = getattr(flags, "foreign", ())
    path = flags.config or environment.get(f"{PREFIX}CONFIG")
    values = {
        name: _convert(path, name, value) for name, value in _flat(path, _read_toml(path), foreign)
    }
    _check_variables(environment)
    for name in FIELDS:
        variable, flag = PREFIX + name.upper(), getattr(flags, name, None)
        if variable in environment:
            values[name] = _convert(variable, name, environment[variable], strict=False)
        if flag is not None:
            values[name] = _convert(flag_of(name), name, flag, strict=False)
    return Settings(**values)


def _flat(
    path: str | None, read: Mapping[str, Any], foreign: Collection[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the settings of a file, in tables or before them.

    A table of another program may be there. In `[teacher]`, names may lack `teacher_`.
    """
    for name, value in read.items():
        if name in TABLES and isinstance(value, dict):
            for each, found in value.items():
                long = f"{name}_{each}"
                known = long if name == "teacher" and long in FIELDS else each
                if TABLE_OF.get(known, name) != name:
                    raise SettingsError(
                        f"{path}: {each} is in the table [{name}]; move it to [{TABLE_OF[known]}]"
                    )
                yield known, found
        elif TABLE_OF.get(name) in foreign:
            raise SettingsError(
                f"{path}: {name} does not apply to this program: leave it out, or move it to the "
                f"table [{TABLE_OF[name]}]"
            )
        else:
            yield name, value


def _convert(source: str | None, name: str, value: Any, strict: bool = True) -> Any:
    """Return a value in the type of its setting; text converts to numbers unless strict."""
    if name in SECRETS:
        raise SettingsError(
            f"{source}: {name} is a secret: set it in the environment, as {PREFIX}{name.upper()}"
        )
    if name not in FIELDS:
        raise SettingsError(
            f"{source}: there is no setting {name!r}; the settings are {', '.join(FIELDS)}"
        )
    given = value
    if isinstance(FIELDS[name].default, tuple):
        given = value.split(",") if isinstance(value, str) else value
        if isinstance(given, list):
            given = [each.strip() if isinstance(each, str) else each for each in given]
            given = [each for each in given if each != ""]
    try:
        return msgspec.convert(given, FIELDS[name].type, strict=strict)
    except msgspec.ValidationError:
        raise SettingsError(f"{source}: {name} must be {_allowed(name)}, not {value!r}") from None


def _allowed(name: str) -> str:
    """Return the values that a setting may have, in words."""
    kind = FIELDS[name].type
    base, *metas = typing.get_args(kind) if typing.get_origin(kind) is Annotated else (kind,)
    if name == "max_fpr":
        return "a number from 0 to 0.5, or auto"
    if name in ("ready_after", "min_evidence"):
        return "a number from 0 to 1e9, or auto"
    if typing.get_origin(base) is Literal:
        return f"one of {', '.join(typing.get_args(base))}"
    if base in (int, float):
        meta = next(meta for meta in metas if meta.ge is not None)
        if base is int:
            return f"a whole number from {meta.ge:,} to {meta.le:,}"
        return f"a number from {meta.ge:g} to {meta.le:g}"
    titles: list[str] = [meta.title for meta in metas if meta.title is not None]
    other = {bool: "true or false", str: "a string"}.get(base, "values, separated by commas")
    return titles[0] if titles else other


def _check_variables(environment: Mapping[str, str]) -> None:
    """Refuse variables that resemble a setting; others may belong to other programs."""
    known = [*(PREFIX + name.upper() for name in (*FIELDS, *SECRETS)), f"{PREFIX}CONFIG"]
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known:
            similar = difflib.get_close_matches(variable, known, n=1, cutoff=0.93)
            if similar:
                raise SettingsError(f"{variable} is not a setting: did you mean {similar[0]}?")


def _read_toml(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} can't be read: {error}") from error
