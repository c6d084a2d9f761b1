"""The command `streamnb-teacher`: answers the questions of a filter on Kafka.

It reads the topic of questions, asks the teacher, and writes the answers as feedback. So the
workers never wait for the network.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from streamnb.errors import InvalidAnswerError, TeacherError
from streamnb_consumers.daemon.command import run_command
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import AbortedError, BadRecordError, RefusedError, SettingsError

if TYPE_CHECKING:
    from streamnb.teachers import Teacher
    from streamnb_consumers.daemon.metrics import TeacherMetrics
    from streamnb_consumers.kafka.questions import KafkaQuestions, OpenQuestion
    from streamnb_consumers.records import Partition, Record

PROGRAM = "streamnb-teacher"
_SETTINGS = (
    *("bootstrap_servers", "client", "group", "questions_topic", "feedback_topic", "labels"),
    *("teacher_url", "teacher_model", "teacher_prompt", "teacher_structured", "teacher_redact"),
    *("teacher_longest", "teacher_timeout_seconds", "teacher_retries", "teacher_parallel"),
    *("teacher_input_price", "teacher_output_price", "teacher_function"),
    *("poll_seconds", "commit_seconds", "transaction_seconds", "http_port", "http_host"),
    *("security_protocol", "sasl_mechanism", "sasl_token_provider"),
    *("tls_ca_file", "tls_cert_file", "tls_key_file", "log_level", "log_format"),
)
_PAUSE = 1.0  # seconds between two attempts to reach the teacher or the cluster
_LOOK = 5.0  # seconds between two looks at the partitions and the number of open questions
_LOG = logging.getLogger(__name__)


def teacher_parser() -> argparse.ArgumentParser:
    """Return the parser of `streamnb-teacher`."""
    made = parser(
        PROGRAM,
        "Answer the questions of a filter on Kafka: read questions_topic, ask the teacher, and "
        "write each answer once to feedback_topic. Run one for each filter; a newer one takes "
        "over from an older one.",
        _SETTINGS,
    )
    made.add_argument("filter", choices=("sms", "spam"), help="the filter")
    return made


def run_teacher(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-teacher` until SIGTERM; return the exit status.

    0: stopped. 2: a setting is invalid, or the teacher or the cluster refuses it. 3: another one
    has taken over. 70: the cluster does not answer at the start, try again.
    """
    return run_command(teacher_parser(), arguments, _run)


def _run(flags: argparse.Namespace, settings: Settings) -> int:
    if not settings.bootstrap_servers or not settings.questions_topic:
        raise SettingsError(
            "bootstrap_servers and questions_topic must be set: a filter on files asks its teacher "
            "itself"
        )
    from streamnb_consumers.daemon.health import Health, HealthServer
    from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
    from streamnb_consumers.daemon.metrics import TeacherMetrics
    from streamnb_consumers.daemon.teacher_settings import make_teacher
    from streamnb_consumers.kafka.questions import KafkaQuestions

    teacher = make_teacher(settings, os.environ)
    cluster = make_cluster(flags.filter, settings, os.environ)
    topics = make_topics(flags.filter, settings)
    metrics = TeacherMetrics(flags.filter) if settings.http_port else None
    attempts = settings.teacher_retries + 1
    health = Health(60.0 + attempts * (60.0 + settings.teacher_timeout_seconds))
    desk = TeacherDesk(KafkaQuestions(cluster, topics), teacher, settings, health.beat, metrics)
    with contextlib.ExitStack() as stack:
        if metrics is not None:
            where = settings.http_host, settings.http_port
            stack.enter_context(contextlib.closing(HealthServer(*where, health, metrics.text)))
        stack.enter_context(_stopping(desk))
        desk.run(health.ready)
    return 0


@contextlib.contextmanager
def _stopping(desk: TeacherDesk) -> Iterator[None]:
    """Let SIGTERM and SIGINT end a desk after the current requests."""
    before = {
        number: signal.signal(number, lambda *_: desk.stopped.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class TeacherDesk:
    """Takes questions, asks the teacher, and commits the answers with the offsets of the questions.

    At most `teacher_parallel` questions are open at a time, so a kill repeats at most so many
    requests. While the teacher or the cluster is away, it tries again; an answer that was received
    is kept meanwhile.

    Parameters
    ----------
    store
        The topics.
    teacher
        The teacher.
    settings
        Timeouts and the number of parallel requests.
    beat
        Called after each step.
    metrics
        Counts the answers; None for none.

    Attributes
    ----------
    stopped
        Set it to end `run` after the current requests.
    """

    def __init__(
        self,
        store: KafkaQuestions,
        teacher: Teacher,
        settings: Settings,
        beat: Callable[[], None] = lambda: None,
        metrics: TeacherMetrics | None = None,
    ) -> None:
        self._store, self._teacher, self._settings = store, teacher, settings
        self._beat, self._metrics = beat, metrics
        self._name = settings.teacher_model or settings.teacher_function
        self.stopped = threading.Event()
        self._worked = False  # whether the cluster has answered
        # Answers that are not committed, by the place of their question; None for an invalid one.
        self._answers: dict[tuple[Partition, int], str | None] = {}

    def run(self, ready: Callable[[str], None] = lambda problem: None) -> None:
        """Answer questions until `stopped` is set.

        Raises
        ------
        AbortedError
            If the cluster does not answer at the start.
        FencedError
            If another program has taken over.
        """
        started, looked = False, 0.0
        try:
            while not self.stopped.is_set():
                try:
                    if not started:
                        self._store.start(self._settings.commit_seconds)
                        started = True
                        ready("")
                    if time.monotonic() >= looked + _LOOK:
                        looked = time.monotonic()
                        self._store.look()
                        if self._metrics is not None:
                            self._metrics.waiting(self._store.lag())
                    self._step(ready)
                except RefusedError:
                    raise
                except AbortedError as error:
                    if not started and not self._worked:
                        raise
                    started = False
                    _LOG.warning("the cluster does not answer, trying again: %s", error)
                    ready(str(error))
                    self.stopped.wait(_PAUSE)
                self._worked = self._worked or started
                self._beat()
        finally:
            self._store.close(self._settings.stop_seconds)

    def _step(self, ready: Callable[[str], None]) -> None:
        """Answer the next questions, and commit them."""
        records = self._store.poll(self._settings.teacher_parallel, self._settings.poll_seconds)
        if not records:
            return
        questions = [each for each in map(_read, records) if each is not None]
        self._ask(questions, ready)
        # Without an answer, a question is read again by the next program.
        done = self._answered(records, questions)
        answers = {
            each.place: (each, label)
            for each in questions
            if each.record in done and (label := self._answers.get(each.place)) is not None
        }
        if done:
            self._store.commit(done, answers, self._name, self._settings.commit_seconds)
        for record in done:
            self._answers.pop((record.partition, record.offset), None)
        if self._metrics is not None:
            self._metrics.committed(len(answers))

    def _ask(self, questions: Sequence[OpenQuestion], ready: Callable[[str], None]) -> None:
        """Ask until each question has an answer, or until `stopped` is set."""
        while open_ones := [each for each in questions if each.place not in self._answers]:
            found = self._teacher.answer_many([each.features for each in open_ones])
            away: TeacherError | None = None
            for question, answer in zip(open_ones, found, strict=True):
                if isinstance(answer, InvalidAnswerError):
                    _LOG.warning("the answer to message %s is invalid: %s", question.id, answer)
                    self._answers[question.place] = None
                elif isinstance(answer, TeacherError):
                    away = answer
                else:
                    self._answers[question.place] = str(answer)
            if self._metrics is not None:
                self._metrics.asked(found, float(getattr(self._teacher, "cost", 0.0)))
            self._beat()
            if away is not None:
                ready(str(away))
                if self.stopped.wait(_PAUSE):
                    return
        ready("")

    def _answered(
        self, records: Sequence[Record], questions: Sequence[OpenQuestion]
    ) -> list[Record]:
        """Return the records before the first question of their partition without an answer."""
        open_ones = {each.record for each in questions if each.place not in self._answers}
        blocked: set[Partition] = set()
        done = []
        for record in records:
            if record in open_ones:
                blocked.add(record.partition)
            if record.partition not in blocked:
                done.append(record)
        return done


def _read(record: Record) -> OpenQuestion | None:
    from streamnb_consumers.kafka.questions import read_question

    try:
        return read_question(record)
    except BadRecordError as error:
        _LOG.error("%s %d:%d: %s", *record.partition, record.offset, error)
        return None
