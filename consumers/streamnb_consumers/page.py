"""A running filter as the feed of the web page: its topics, or its listener (`serve --filter`)."""

from __future__ import annotations

import base64
import json
import logging
import os
import secrets
import threading
import time
import urllib.error
import urllib.request
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec

from streamnb.errors import InputError, StreamNBError
from streamnb.web.agreement import PAGE
from streamnb.web.board import FILTER, MOST_NAME, MOST_TEXT, Board, Feed, Item, read_mail
from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
from streamnb_consumers.daemon.settings import PREFIX, Settings, read_settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import AbortedError
from streamnb_consumers.jsons import compact
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Writer
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.pipeline.mail_reading import MailReader
from streamnb_consumers.pipeline.reading import MessageReader, SmsReader, caught
from streamnb_consumers.pipeline.training import read_training_event
from streamnb_consumers.records import (
    TEACHER,
    Feedback,
    Label,
    Message,
    Partition,
    Record,
    TrainingEvent,
)

T = TypeVar("T")

_KINDS = ("sms", "spam")
_PAUSE = 1.0  # seconds between two attempts to reach the filter
_POLL = 0.2
_TIMEOUT = 30.0
_CHECK = 30.0  # seconds between two looks at the partitions
_LOG = logging.getLogger(__name__)


def open_filter(
    address: str, environment: Mapping[str, str] | None = None, keep: int = 1000
) -> KafkaFeed | ListenerFeed:
    """Return the feed of a filter.

    Parameters
    ----------
    address
        `kafka://HOST:PORT/TOPIC`, where TOPIC has the messages. Options are `kind` (`sms` or
        `spam`; by default the name of the topic, or `sms`) and the settings of the filter, as in
        `?client=confluent&decisions_topic=x`. Or `http://HOST:PORT`, the address of a listener.
    environment
        Settings and secrets; None for those of the process.
    keep
        Number of latest messages to keep.

    Raises
    ------
    InputError
        If it is not an address of a filter.
    SettingsError
        If a setting is invalid.
    """
    environment = os.environ if environment is None else environment
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    if parts.scheme in ("http", "https") and parts.netloc and not topic:
        token = environment.get(f"{PREFIX}LISTEN_TOKEN", "")
        return ListenerFeed(address.rstrip("/"), token, Board(keep))
    if parts.scheme != "kafka" or not parts.netloc or not topic:
        raise InputError(
            f"--filter {address}: give kafka://HOST:PORT/TOPIC, where TOPIC has the messages of "
            "the filter, or http://HOST:PORT, the address of a listener"
        )
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    kind = options.pop("kind", topic if topic in _KINDS else "sms")
    if kind not in _KINDS:
        raise InputError(f"--filter {address}: kind is {kind!r}; it must be sms or spam")
    options |= {"bootstrap_servers": parts.netloc, "messages_topic": topic}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    settings = read_settings(parser(f"streamnb-{kind}").parse_args(flags), environment)
    if not settings.feedback_topic:
        raise InputError("feedback_topic is empty: the page sends labels to that topic")
    topics = make_topics(topic, settings)
    cluster = make_cluster(kind, settings, environment)
    return KafkaFeed(cluster, topics, kind, settings, Board(keep))


def _reader(kind: str, label_sets: bool = False) -> MessageReader:
    # One character more than the board keeps, so that it can report the rest.
    if kind == "spam":
        return MailReader(texts=True, max_bytes=2**25, max_text=MOST_TEXT + 1)
    return SmsReader(max_bytes=2**25, max_text=MOST_TEXT + 1, label_sets=label_sets)


def _show(board: Board, kind: str, record: Record, found: Message) -> None:
    """Add the message in a record to the board."""
    text = str(found.features)
    parts = read_mail(text) if kind == "spam" else {"text": text}
    if not parts.get("sender"):
        parts["sender"] = ", ".join(found.senders)
    given = _label(board, found.label)
    board.message(found.id, parts, record.timestamp, record.partition.number, given)


def _label(board: Board, found: Any) -> Label | None:
    """Return a label, or the labels of a message, which JSON has as an array."""
    if isinstance(found, (list, tuple)):
        board.several = True
        return tuple(found)
    return found if isinstance(found, str) else None


def _body(item: Item, label: Label | None, annotator: str, source: str) -> dict[str, Any]:
    what: dict[str, Any] = {"labels" if isinstance(label, tuple) else "label": label}
    if label is None:
        what = {"unlearn": True}
    return {"id": item.id, **what, "source": source, "annotator": annotator}


class _Word(msgspec.Struct):
    word: str
    towards: float


class _Decision(msgspec.Struct, omit_defaults=True):
    id: str
    probabilities: dict[str, float]
    score: float | None
    version: int
    label: str | None = None
    labels: list[str] | None = None
    words: list[_Word] = []
    listed: str | None = None
    ask: bool = False
    model_label: str | None = None


class _Who(msgspec.Struct):
    source: str = ""
    annotator: str = ""


def _decode(record: Record, kind: type[T]) -> T | None:
    """Return the fields of a record that the page uses; None if it is not of this kind."""
    try:
        return msgspec.json.decode(record.value or b"", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _who(record: Record) -> dict[str, Any]:
    """Return the source and the annotator in a label record."""
    found = _decode(record, _Who) or _Who()
    return {"source": found.source[:MOST_NAME], "annotator": found.annotator[:MOST_NAME]}


def _decide(board: Board, decision: Mapping[str, Any]) -> None:
    """Set a decision, as JSON has it, on the board; with both opinions if a teacher decided."""
    labels = decision.get("labels")
    board.several = labels is not None
    if labels is not None:
        decision = {**decision, "label": tuple(labels)}
    tokens = [(each["word"], each["towards"]) for each in decision.get("words") or ()]
    own = decision.get("model_label")
    if own is not None:
        answer: dict[str, Any] = {"label": decision.get("label"), "probabilities": {}}
        board.decide(decision["id"], answer, model=TEACHER)
        decision = {**decision, "label": own}
    board.decide(decision["id"], {"label": None, **decision, "tokens": tokens})


class _FilterFeed(Feed):
    """Reads until it is stopped; an error is shown on the page, and the feed tries again."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._stopped = threading.Event()

    def follow(self) -> None:
        """Write the records of the filter to the board until `stop` is called."""
        while not self._stopped.is_set():
            try:
                self._read()
            except Exception as error:
                self.board.trouble = str(error) or type(error).__name__
                if not isinstance(error, StreamNBError):
                    _LOG.exception("the filter cannot be read")
                self._stopped.wait(_PAUSE)

    @abstractmethod
    def _read(self) -> None:
        """Read records, and write them to the board."""

    def stop(self) -> None:
        """End `follow`."""
        self._stopped.set()


class KafkaFeed(_FilterFeed):
    """The topics of a filter.

    It joins no group and commits nothing. At the start it reads the last records of each topic.

    Parameters
    ----------
    cluster, topics
        The cluster and the topics of the filter.
    kind
        `"sms"` or `"spam"`.
    settings
        Settings of the filter: its labels, and the header that names the source of a label.
    board
        Receives the records.
    """

    def __init__(
        self, cluster: Cluster, topics: Topics, kind: str, settings: Settings, board: Board
    ) -> None:
        super().__init__(board)
        board.know(settings.labels)
        self.takes_new_labels = not settings.labels
        self._driver, self._topics = open_driver(cluster), topics
        self._names = [topics.messages, topics.decisions, topics.feedback]
        self._names += [topics.training, topics.dead_letters]
        self._kind = kind
        # The settings of the page may lack the model: the first decision shows whether a message
        # has several labels.
        self._readers = {several: _reader(kind, several) for several in (True, False)}
        self._kinds: Sequence[bool] = (True, False)
        self._source_header = settings.label_source_header
        self._name = f"{cluster.group}-page-{secrets.token_hex(8)}"
        self._writer: Writer | None = None
        self._sending = threading.Lock()
        self._next: dict[Partition, int] = {}

    def check(self) -> None:
        """Check that the cluster answers and has the topics.

        Raises
        ------
        SettingsError, AbortedError
            If it has not, or does not answer.
        """
        reader = self._driver.reader({})
        try:
            check_topics(reader, self._names, _PAUSE)
        finally:
            reader.close(_PAUSE)

    def _read(self) -> None:
        reader, checked = self._driver.reader({}), 0.0
        try:
            while not self._stopped.is_set():
                if time.monotonic() > checked + _CHECK:
                    places = [place for name in self._names for place in reader.partitions(name)]
                    reader.assign(places)
                    firsts, ends = reader.firsts(places), reader.stable_ends(places)
                    for place in places:
                        begin = self._next.get(place, ends[place] - self.board.keep)
                        reader.seek(place, min(max(begin, firsts[place]), ends[place]))
                    checked = time.monotonic()
                records = reader.poll(500, _POLL)
                # Messages come before their decisions and labels, as far as one poll has them.
                for record in sorted(records, key=lambda one: self._names.index(one.partition[0])):
                    self._take(record)
                    self._next[record.partition] = record.offset + 1
                self.board.trouble = ""
        finally:
            reader.close(_PAUSE)

    def _take(self, record: Record) -> None:
        board, topic, topics = self.board, record.partition.source, self._topics
        position = f"{topic} {record.partition.number}:{record.offset}"
        if topic in (topics.messages, topics.feedback):
            found = self._content(record)
            if isinstance(found, Message):
                _show(board, self._kind, record, found)
            elif found is not None:
                label, at = _label(board, found.label), record.timestamp
                board.correct(found.id, label, position, time=at, **_who(record))
        elif topic == topics.dead_letters:
            headers = {
                name: (value or b"").decode("utf-8", "replace") for name, value in record.headers
            }
            place = f"{headers.get('topic')} {headers.get('partition')}:{headers.get('offset')}"
            board.refuse(place, headers.get("error", ""))
        elif topic == topics.decisions:
            if (decision := _decode(record, _Decision)) is not None:
                _decide(board, msgspec.to_builtins(decision))
                self._kinds = (board.several,)
        else:
            event = caught(read_training_event, record.value)
            if isinstance(event, TrainingEvent) and not event.is_own:
                decided = {FILTER: _label(board, event.decided)}
                board.learn(event.id, _label(board, event.learn), position, decided)

    def _content(self, record: Record) -> Message | Feedback | None:
        """Return the content of a record; None if it is invalid."""
        for several in self._kinds:
            found = caught(self._readers[several].read, record)
            if not isinstance(found, StreamNBError):
                return found
        return None

    def send(
        self,
        labels: Sequence[tuple[Item, Label | None]],
        annotator: str,
        source: str = PAGE,
    ) -> None:
        """Write labels to the feedback topic in one transaction."""
        header = [(self._source_header, f"{PAGE}/{annotator}".encode())]
        records = [
            Written(
                self._topics.feedback,
                item.partition,
                item.id.encode(),
                compact(_body(item, label, annotator, source)),
                [*header] if self._source_header else [],
            )
            for item, label in labels
        ]
        with self._sending:
            writer = self._writer or self._driver.writer(self._name, _TIMEOUT)
            self._writer = None
            try:
                writer.begin()
                writer.write(records)
                writer.commit({}, None, _TIMEOUT)
            except StreamNBError as error:
                writer.discard()  # the next one aborts the transaction
                raise AbortedError(f"the label was not sent, try again: {error}") from error
            self._writer = writer

    def stop(self) -> None:
        """End `follow`, and disconnect."""
        super().stop()
        with self._sending:
            if self._writer is not None:
                self._writer.close(_PAUSE)


class ListenerFeed(_FilterFeed):
    """A listener (`streamnb-spam listen`), which keeps its last decisions.

    Parameters
    ----------
    address
        `http://HOST:PORT`.
    token
        Its token; empty if it is on this machine.
    board
        Receives the requests.
    """

    def __init__(self, address: str, token: str, board: Board) -> None:
        super().__init__(board)
        self._address, self._token = address, token
        self._run, self._after = "", 0

    def check(self) -> None:
        """Check that the listener answers; StreamNBError if not."""
        self._ask("/decisions")

    def _ask(self, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read(1000).decode("utf-8", "replace")
            raise AbortedError(f"{self._address}{path} answers {error.code}: {text}") from error
        except (OSError, ValueError) as error:
            raise AbortedError(f"{self._address} does not answer: {error}") from error

    def _read(self) -> None:
        found = self._ask(f"/decisions?after={self._after}")
        if found["run"] != self._run:  # it was started again, and counts from 1
            found = self._ask("/decisions?after=0")
        self._run, self._after = found["run"], found["next"]
        self.board.know(found["labels"])
        self.takes_new_labels = not found["labels"]
        self.board.readiness = found["readiness"]
        self.board.several = found["label_sets"]
        reader = _reader(found["kind"], found["label_sets"])
        for event in found["events"]:
            self._take(reader, found["kind"], event)
        self.board.trouble = ""
        self._stopped.wait(_POLL)

    def _take(self, reader: MessageReader, kind: str, event: Mapping[str, Any]) -> None:
        board, name, at = self.board, event["id"], event["time"]
        label = _label(board, event["learned"])
        value = base64.b64decode(event["value"])
        record = Record(Partition("requests", 0), 0, value, name.encode(), timestamp=at)
        content = caught(reader.read, record)
        if isinstance(content, Message):
            _show(board, kind, record, content)
        if event["decision"] is not None:
            _decide(board, event["decision"])
        if label is not None or event["unlearned"] is not None:
            position = f"{self._run} {event['number']}"
            board.correct(name, label, position, time=at, **_who(record))
            board.learn(name, label, "the listener", {FILTER: _label(board, event["decided"])})

    def send(
        self,
        labels: Sequence[tuple[Item, Label | None]],
        annotator: str,
        source: str = PAGE,
    ) -> None:
        """Send labels to the listener; its answers follow with the next decisions."""
        for item, label in labels:
            path = "/unlearn" if label is None else "/learn"
            self._ask(path, _body(item, label, annotator, source))
