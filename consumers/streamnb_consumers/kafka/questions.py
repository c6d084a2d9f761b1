"""Questions of a filter, and their answers: each question is answered once.

Each transaction contains the answers to some questions, and the committed offsets of these
questions in a separate group. The programs of one filter share a transactional id, so a newer one
fences an older one.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from streamnb_consumers.errors import AbortedError, BadRecordError
from streamnb_consumers.jsons import compact
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Reader, Writer
from streamnb_consumers.kafka.topics import check_topics
from streamnb_consumers.records import TEACHER, Features, Partition, Record

_REQUEST = 10.0  # seconds for one request: an available broker answers within milliseconds
_LOG = logging.getLogger(__name__)


class _Fields(msgspec.Struct):
    id: str
    partition: int
    features: Features


class OpenQuestion(NamedTuple):
    """A question of a filter.

    Attributes
    ----------
    record
        Its record in the topic of questions.
    id, partition, features
        Id, partition and features of the message.
    """

    record: Record
    id: str
    partition: int
    features: Features

    @property
    def place(self) -> tuple[Partition, int]:
        """Partition and offset of the question."""
        return self.record.partition, self.record.offset

    def answered(self, topic: str, label: str, teacher: str) -> Written:
        """Return the feedback with an answer, in the partition of the message."""
        value = compact({"id": self.id, "label": label})
        header: tuple[str, bytes | None] = (TEACHER, teacher.encode())
        return Written(topic, self.partition, self.id.encode(), value, [header])


def read_question(record: Record) -> OpenQuestion:
    """Return the question in a record.

    Raises
    ------
    BadRecordError
        If it is not a question.

    Examples
    --------
    >>> value = b'{"id": "a", "partition": 3, "offset": 7, "features": "win cash"}'
    >>> read_question(Record(Partition("sms-questions", 0), 0, value)).features
    'win cash'
    """
    try:
        fields = msgspec.json.decode(record.value or b"", type=_Fields)
    except (ValueError, RecursionError) as error:
        raise BadRecordError(f"not a question: {error}") from None
    return OpenQuestion(record, fields.id, fields.partition, fields.features)


class KafkaQuestions:
    """Source of questions and sink of answers.

    Parameters
    ----------
    cluster
        Cluster. Its group with the suffix `-teacher` stores the offsets of answered questions.
    topics
        Topics of the filter.
    """

    def __init__(self, cluster: Cluster, topics: Topics) -> None:
        self._topics = topics
        self._group = f"{cluster.group}-teacher"
        self._driver = open_driver(cluster)
        self._writer: Writer | None = None
        self._reader: Reader | None = None
        self._places: list[Partition] = []

    def start(self, timeout: float) -> None:
        """Connect, fence another program, and continue after the last answered questions."""
        self.close(1.0)
        # Open the writer first: it completes or aborts the transaction of another program.
        self._writer = self._driver.writer(self._group, timeout)
        self._reader = self._driver.reader({}, self._group)
        check_topics(self._reader, [self._topics.questions, self._topics.feedback], timeout)
        self._assign()

    def _assign(self) -> None:
        reader = self._open
        places = reader.partitions(self._topics.questions)
        new = [place for place in places if place not in self._places]
        reader.assign(places)
        firsts, committed = reader.firsts(new), reader.committed(new, _REQUEST)
        if committed is None:
            raise AbortedError(
                f"no answer about the offsets of group {self._group} within {_REQUEST:g} seconds"
            )
        for place in new:
            if firsts[place] > committed.get(place, 0):
                _LOG.warning("%s %d begins at offset %d", *place, firsts[place])
            reader.seek(place, max(committed.get(place, 0), firsts[place]))
        self._places = places

    @property
    def _open(self) -> Reader:
        assert self._reader is not None, "start first"
        return self._reader

    def poll(self, most: int, timeout: float) -> list[Record]:
        """Return the next questions."""
        return self._open.poll(most, timeout)

    def look(self) -> None:
        """Read partitions that were added, too."""
        if self._open.partitions(self._topics.questions) != self._places:
            self._assign()

    def lag(self) -> int:
        """Return the number of questions that were not read yet."""
        ends = self._open.stable_ends(self._places)
        return sum(max(0, ends[place] - self._open.position(place)) for place in self._places)

    def commit(
        self,
        questions: Sequence[Record],
        answers: Mapping[tuple[Partition, int], tuple[OpenQuestion, str]],
        teacher: str,
        timeout: float,
    ) -> None:
        """Write the answers to questions and their offsets in one transaction.

        Raises
        ------
        AbortedError
            If it is unknown whether they were written: call `start`, and read the questions again.
        FencedError
            If another program has taken over.
        """
        assert self._writer is not None, "start first"
        written = [
            question.answered(self._topics.feedback, label, teacher)
            for question, label in answers.values()
        ]
        self._writer.begin()
        self._writer.write(written)
        offsets = {each.partition: each.offset + 1 for each in questions}
        self._writer.commit(offsets, self._open.outsider, timeout)

    def close(self, timeout: float) -> None:
        """Disconnect and abort an open transaction."""
        opened: list[Any] = [self._writer, self._reader]
        self._writer = self._reader = None
        self._places = []
        for each in opened:
            if each is not None:
                each.close(timeout)
