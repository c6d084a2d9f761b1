"""The filter: read, predict, join and train each record, with one driver for files and for Kafka.

`Filter` contains the steps. `LocalFilter` drives them in a single process: it learns a training
event immediately. `SharedFilter` drives them in one of several workers: it writes training events
to a log, and learns them when they come back, so that all workers learn the same events in the
same order. `FollowingFilter` only decides, with the model of such a group.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import structs

from streamnb.active import SELF_TRAINED, confident_label
from streamnb.errors import InvalidAnswerError, StreamNBError, TeacherError
from streamnb.model.threshold import UNSURE
from streamnb.text.labels import label_names
from streamnb_consumers.errors import LOG_SET_BACK, BadRecordError, ForeignError, SettingsError
from streamnb_consumers.jsons import parse
from streamnb_consumers.pipeline.asker import Answer, Asker
from streamnb_consumers.pipeline.assumptions import Assumptions
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.identity import HEADER, Identity, model_text
from streamnb_consumers.pipeline.join import Join
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.prediction import Prediction, decide, predict
from streamnb_consumers.pipeline.reading import Content, MessageReader
from streamnb_consumers.pipeline.training import Learner, read_training_event
from streamnb_consumers.pipeline.window import CONTENT_ID, JoinWindow
from streamnb_consumers.records import (
    ASSUMED,
    TEACHER,
    Change,
    DeadLetter,
    Decision,
    Features,
    Feedback,
    Label,
    LabelResult,
    Message,
    Outputs,
    Partition,
    Question,
    Record,
    Result,
    TrainingEvent,
)

_LOG = logging.getLogger(__name__)


class Filter(ABC):
    """Steps and state that both drivers share.

    Parameters
    ----------
    model
        Any model of streamnb.
    reader
        Reads records as messages.
    options
        How to decide and to learn.

    Attributes
    ----------
    learner, join
        Trained state, and join windows.
    offsets
        Offsets that the state has reached, of the logs that it follows from.
    identity
        Settings that all workers of a group share; None until `belong` is called.
    begun
        Whether the filter may decide on messages.
    asker
        The teacher that is asked immediately; None if the answers come as feedback.
    """

    shared: ClassVar[bool]  # whether the state follows from logs that several workers share

    def __init__(self, model: Any, reader: MessageReader, options: Options | None = None) -> None:
        self.reader = reader
        self.options = options or Options()
        header = self.options.label_source_header
        self.join = Join(reader, self.options.bounds, header, self.shared)
        self.learner = Learner(model, self.options)
        self.offsets: dict[Partition, int] = {}
        self.identity: Identity | None = None
        self.begun = not self.shared
        self._assumptions: dict[int, Assumptions] = {}
        self._pruning_key = b"" if self.shared else os.urandom(16)
        self.asker: Asker | None = None
        self.protect()

    def protect(self) -> None:
        """Give the model a key that senders do not have, unless it has one.

        Workers of a group have the same key, which is derived from the id of their training log.
        """
        if self._pruning_key:
            self.learner.model.set_pruning_key(self._pruning_key, later=True)

    def begin(self) -> None:
        """Begin to decide on messages, after everything that precedes them was read."""
        self.begun = True

    def handle(self, record: Record) -> Outputs:
        """Process one record; return its outputs.

        An invalid record becomes a dead letter and changes nothing else. A record without a value
        is skipped: in a compacted topic it deletes an older one.
        """
        return self.handle_many([record])

    def handle_many(
        self,
        records: Sequence[Record],
        committed: Mapping[Partition, int] | None = None,
        note: Callable[[Partition, bool], None] = lambda place, bad: None,
        fenced: Iterable[Partition] = (),
    ) -> Outputs:
        """Process records in order; return their outputs, equal to those of single records.

        Consecutive messages are predicted with one model call.

        Parameters
        ----------
        records
            Records of any partitions.
        committed
            Offsets whose outputs are committed. Outputs of earlier records are not returned.
        note
            Called with the partition of each new input record, and whether it was invalid.
        fenced
            Further partitions whose offsets are committed with the outputs, so that only their
            owner can commit: decisions that wait for a teacher may be written.
        """
        outputs = Outputs()
        prefetch = _Prefetch(self, records)
        for at, record in enumerate(records):
            if not record.is_input:
                self._replay(record)
                continue
            if not self.begun:
                self.begin()
            before = committed is not None and record.offset < committed.get(record.partition, 0)
            if record.value is None:  # a tombstone is not invalid input
                self._advance(record)
                continue
            given = Outputs() if before else outputs
            known = len(given.dead_letters)
            self._process(record, prefetch, at, given)
            if record.role == "feedback":
                self.join.window(record.partition.number).settle(record.offset)
            self._advance(record)
            bad = given.dead_letters[known:]
            if not before:
                # Labels that exceed their rate do not mean invalid input.
                invalid = any(each.record is record and not each.refused for each in bad)
                note(record.partition, invalid)
        owned = {place.number for place in fenced}
        owned |= {record.partition.number for record in records if record.is_input}
        for number, window in self.join.windows.items():
            if number in owned:
                outputs.decisions += window.expire_waits()
            outputs.changes += [Change(number, *each) for each in window.take_changes()]
        return outputs

    def _process(self, record: Record, prefetch: _Prefetch, at: int, outputs: Outputs) -> None:
        """Predict, join and train one input record."""
        decision = own = None
        try:
            found = prefetch.read(at)
            if isinstance(found, Message):
                decision = self._decide(record, found, prefetch, at)
                if decision is not None and self._may_ask:
                    decision, own = self._ask(record, found, decision, outputs)
        except StreamNBError as error:
            outputs.dead_letters.append(DeadLetter(record, str(error)[:500]))
            return
        window = self.join.window(record.partition.number)
        labels = self.join.add(record, found, decision, outputs.dead_letters)
        if isinstance(found, Message) and self.options.assume_after is not None:
            self._assume(window, found.id, record, outputs)
        if decision is not None and decision.status == "waiting":
            self._wait(window, record, found, decision, outputs)
        elif decision is not None:
            outputs.decisions.append(decision)
        if isinstance(found, Feedback) and not labels and not outputs.refuses(record):
            outputs.results.append(_result_without_text(window, found, record.offset))
        for entry, label, source in labels:
            result = self._train(found, entry, label, source, outputs)
            if result is not None and source is record:
                outputs.results.append(result)
        self._end_wait(window, record, found, outputs)
        if own is not None and isinstance(found, Message):
            event = TrainingEvent(found.id, found.features, own, weight=SELF_TRAINED)
            self._learn_and_write(event, record, outputs)

    @property
    def _may_ask(self) -> bool:
        bounds = self.options.bounds
        return bool(bounds.consulting or bounds.questions or self.options.self_training)

    def _ask(
        self, record: Record, message: Message, decision: Decision, outputs: Outputs
    ) -> tuple[Decision, str | None]:
        """Request the label of a message if it pays; else return the label to learn by itself."""
        consults, own = self.options.bounds.consulting is not None, None
        if not self.join.is_unlabelled(record, message, decision):
            return structs.replace(decision, source="model") if consults else decision, None
        doubtful = False
        if consults:
            decision, doubtful = self.join.consult(record, message, decision)
        elif self.join.asks(record, message, decision):
            decision = structs.replace(decision, ask=True)
        if decision.ask:
            outputs.questions.append(Question(decision, message.features))
        elif self.options.self_training and not doubtful and decision.source != "teacher":
            own = confident_label(self.learner.model, decision.probabilities)
        return decision, own

    def _wait(
        self,
        window: JoinWindow,
        record: Record,
        message: Message | Feedback,
        decision: Decision,
        outputs: Outputs,
    ) -> None:
        """Write a decision that waits for the teacher, or hold it until the answer."""
        if not window.hold(decision):
            outputs.decisions.append(decision)

    def _end_wait(
        self, window: JoinWindow, record: Record, found: Message | Feedback, outputs: Outputs
    ) -> None:
        """Use a label as the answer to a message that waits for its teacher."""
        letters = [each for each in outputs.dead_letters if each.record is record]
        if not isinstance(found.label, str) or any(each.refused for each in letters):
            return  # it waits on, or is one of several labels, for which there is no teacher
        decision = window.answer(found.id, None if letters else found.label)
        if decision is not None:
            outputs.decisions.append(decision)

    def _assume(self, window: JoinWindow, name: str, record: Record, outputs: Outputs) -> None:
        """Add a message to those that wait for a correction; learn decisions that are due.

        An unsure decision leaves a message with the others, so it counts as negative.
        """
        number, after = record.partition.number, self.options.assume_after
        if after is None:
            return
        waiting = self._assumptions.get(number)
        if waiting is None or waiting.window is not window:
            waiting = self._assumptions[number] = Assumptions(window, after)
        else:
            waiting.follow(name)
        if record.role == "feedback":
            return
        for due, entry in waiting.due():
            label = self.options.negative if entry.decided == UNSURE else entry.decided
            features = parse(entry.features)
            event = TrainingEvent(due, features, label, decided=entry.decided, weight=ASSUMED)
            if self._learn_and_write(event, record, outputs):
                window.learned(due, entry, label, assumed=True)

    def _decide(
        self, record: Record, message: Message, prefetch: _Prefetch, at: int
    ) -> Decision | None:
        if record.role == "feedback":
            if message.label is None:
                raise BadRecordError("a message in the feedback topic needs a label")
            return None
        prediction = prefetch.prediction(at, message)
        return decide(record, message, self.learner, self.options, prediction)

    def _train(
        self,
        found: Message | Feedback,
        entry: WindowEntry,
        label: Label | None,
        source: Record,
        outputs: Outputs,
    ) -> LabelResult | None:
        """Train on a message and its label, unless it was learned with this label before.

        Return the result; None if the model refuses it.
        """
        by_program = any(name == TEACHER for name, _ in source.headers)
        if by_program and entry.label is not None and not entry.assumed:
            return LabelResult(source.offset, "learned_before")  # the label of a person stays
        text = None
        # Decoding the text of the window would take 5 % of the time of a mail. Messages with one
        # content id keep their first text.
        if isinstance(found, Message) and not found.id.startswith(CONTENT_ID):
            text = found.features if isinstance(found.features, str) else None
        kept = entry.label if entry.learned_text and not entry.assumed else None
        event = entry.training_event(found.id, label, source.timestamp, text)
        if event is None:
            result = _result_without_event(entry, label)
            return LabelResult(source.offset, result, kept if result == "too_old" else None)
        if not self._learn_and_write(event, source, outputs):
            return None
        self.join.window(source.partition.number).learned(found.id, entry, label)
        if label is None and source.partition.number in self._assumptions:
            self._assumptions[source.partition.number].drop(found.id)
        if entry.asked and event.corrected is None:
            outputs.answers.append(event.delay)
        if kept is not None:
            return LabelResult(source.offset, "too_old", kept)
        changed: Result = "learned" if event.corrected is None else "corrected"
        return LabelResult(source.offset, "unlearned" if label is None else changed)

    def _learn_and_write(self, event: TrainingEvent, source: Record, outputs: Outputs) -> bool:
        """Learn a new training event; return False if the model refuses it."""
        window = self.join.window(source.partition.number)
        try:
            self._check_label(event.learn)
            self._learn(event, window.bounded(source.timestamp))
        except StreamNBError as error:
            outputs.dead_letters.append(DeadLetter(source, f"not learned: {error}"[:500]))
            return False
        outputs.training.append(event)
        return True

    def _check_label(self, label: Label | None) -> None:
        """Refuse a label that would exceed the maximum number of classes."""
        if label is None or self.reader.labels:
            return
        known, most = self.learner.model.class_count_, self.options.max_classes
        new = [each for each in label_names(label) if each not in known]
        if new and len(known) + len(new) > most:
            name = new[max(0, most - len(known))]
            raise BadRecordError(f"label {name[:50]!r} would be the {most + 1:,}th (max_classes)")

    def _learn(self, event: TrainingEvent, at: int | None) -> None:
        """Learn a new training event, unless it comes back from the training log."""
        return

    def _advance(self, record: Record) -> None:
        """Record that an input was processed, unless the group commits its offset."""
        return

    @abstractmethod
    def _replay(self, record: Record) -> None:
        """Process a record of a log that filters wrote."""

    def expect(self, labels: Sequence[Record]) -> None:
        """Keep the messages of labels that were read ahead, until these labels are handled."""
        labels = [each for each in labels if each.value is not None]
        for record, found in zip(labels, self.reader.read_many(labels), strict=True):
            if not isinstance(found, StreamNBError):
                self.join.window(record.partition.number).kept.expect(found.id, record.offset)

    def forget(
        self, partitions: Iterable[int], loaded: Mapping[int, list[bytes]] | None = None
    ) -> None:
        """Drop the join windows of partitions that moved to another worker or start again.

        Those with snapshots in `loaded` start from them.
        """
        for number in partitions:
            self.join.windows.pop(number, None)
        for number, pieces in (loaded or {}).items():
            self.join.window(number).fill(pieces)

    def finish(self) -> Outputs:
        """Return the labels that still wait for their messages, at the end of the stream."""
        outputs = Outputs()
        for window in self.join.windows.values():
            outputs.dead_letters += window.finish()
        return outputs


def _result_without_event(entry: WindowEntry, label: Label | None) -> Result:
    """Return the result of a label that changes nothing."""
    if label is not None:
        return "learned_before"
    return "not_learned" if entry.label is None else "too_old"


def _result_without_text(window: JoinWindow, found: Feedback, offset: int) -> LabelResult:
    """Return the result of the label of a message that is not in the window."""
    past = window.past_label(found.id)
    if past is None:
        return LabelResult(offset, "unknown")
    if found.label == past.label and not past.assumed:
        return LabelResult(offset, "learned_before")
    return LabelResult(offset, "too_old", past.label)


def _digest(record: Record) -> str:
    return hashlib.sha256(record.value or b"").hexdigest()[:16]


class _Prefetch:
    """Contents of the records of a batch, and predictions for the next messages.

    Contents are those of the input records with a value, by their place in the batch.
    Consecutive messages are predicted with one model call. A prediction is used only while the
    model has not changed, so each message is decided on by the model of its turn.
    """

    def __init__(self, worker: Filter, records: Sequence[Record]) -> None:
        self._worker, self._learner, self._records = worker, worker.learner, records
        places = [at for at, each in enumerate(records) if each.is_input and each.value is not None]
        contents = worker.reader.read_many([records[at] for at in places])
        self._contents = dict(zip(places, contents, strict=True))
        self._predictions: dict[int, Prediction] = {}
        self._revision = -1
        # None if the model must be called for each message.
        self._predict_many = getattr(self._learner.model, "predictions_many", None)

    def read(self, at: int) -> Message | Feedback:
        """Return the content of a record; StreamNBError if it is invalid."""
        found = self._contents[at]
        if isinstance(found, StreamNBError):
            raise found
        return found

    def prediction(self, at: int, message: Message) -> Prediction:
        """Return the prediction of the current model; StreamNBError if it refuses the message."""
        if self._revision != self._learner.revision:
            self._predictions.clear()
            self._revision = self._learner.revision
        if at not in self._predictions and self._predict_many is not None:
            self._predict_from(at)
        found = self._predictions.get(at)
        return predict(self._learner.model, message.features) if found is None else found

    def _predict_from(self, first: int) -> None:
        """Predict this message and the following ones, up to where the model may change."""
        chosen: dict[int, Features] = {}
        for at in range(first, len(self._records)):
            record, found = self._records[at], self._contents.get(at)
            if record.role == "training":
                break
            if isinstance(found, Message) and record.role == "message":
                chosen[at] = found.features
            if not self._worker.shared and self._may_learn(record, found):
                break
        if len(chosen) > 1 and self._predict_many is not None:
            try:
                predictions = self._predict_many(list(chosen.values()))
            except StreamNBError:  # the model refuses one of the messages
                self._predict_many = None
            else:
                self._predictions.update(zip(chosen, predictions, strict=True))

    def _may_learn(self, record: Record, found: Content | None) -> bool:
        """Return whether a record completes a label."""
        if isinstance(found, Message):
            window = self._worker.join.window(record.partition.number)
            options = self._worker.options
            known = found.label is not None or window.awaits(found.id)
            known = known or self._worker.asker is not None
            return known or options.self_training or options.assume_after is not None
        return isinstance(found, Feedback)


class LocalFilter(Filter):
    """Driver for files and streams of one process: learns each training event immediately.

    Examples
    --------
    >>> from streamnb_consumers.pipeline.reading import SmsReader
    >>> from streamnb import MNB
    >>> worker, place = LocalFilter(MNB(), SmsReader()), Partition("sms", 0)
    >>> lines = [b'{"id": "a", "text": "win cash", "label": "spam"}', b'{"id": "b", "text": "hi"}',
    ...          b'{"id": "b", "label": "ham"}', b'{"id": "c", "text": "win"}', b"oops"]
    >>> for offset, line in enumerate(lines):
    ...     outputs = worker.handle(Record(place, offset, line))
    ...     print([each.label for each in outputs.decisions], len(outputs.dead_letters))
    [None] 0
    ['spam'] 0
    [] 0
    ['spam'] 0
    [] 1
    >>> worker.learner.learned
    2
    """

    shared = False
    _unasked: list[tuple[str, Features]] | None = None  # whose answers an earlier run has missed

    def _learn(self, event: TrainingEvent, at: int | None) -> None:
        self.learner.learn(event, at)

    def _advance(self, record: Record) -> None:
        self.offsets[record.partition] = record.offset + 1

    def _process(self, record: Record, prefetch: _Prefetch, at: int, outputs: Outputs) -> None:
        if self.asker is not None:
            self._ask_again(self.asker)
            self._take_late(self.asker, record, outputs, 0.0)
        super()._process(record, prefetch, at, outputs)

    def _wait(
        self,
        window: JoinWindow,
        record: Record,
        message: Message | Feedback,
        decision: Decision,
        outputs: Outputs,
    ) -> None:
        """Write the teacher's decision, or the model's if there is no answer in time."""
        cascade = window.cascade
        if self.asker is None or cascade is None or not isinstance(message, Message):
            super()._wait(window, record, message, decision, outputs)
            return
        cascade.hold(decision, 0)
        answer = self.asker.ask(message.id, message.features)
        if isinstance(answer, TeacherError):
            status = "invalid" if isinstance(answer, InvalidAnswerError) else "away"
            decided = cascade.fail(message.id, status)
        else:
            decided = self._learn_answer(window, answer, record, outputs)
        if decided is not None:
            outputs.decisions.append(decided)

    def _learn_answer(
        self, window: JoinWindow, answer: Answer, source: Record, outputs: Outputs
    ) -> Decision | None:
        """Learn an answer of the teacher; return the decision, if it has waited for it."""
        name, label, seconds = answer
        entry, letters, known = window.get(name), len(outputs.dead_letters), len(outputs.answers)
        if entry is not None:
            self._train(Feedback(name, label), entry, label, source, outputs)
        # The answer has no timestamp of its own: it arrived while a record was read.
        outputs.answers[known:] = [seconds] * (len(outputs.answers) - known)
        refused = len(outputs.dead_letters) > letters
        return window.answer(name, None if refused else label)

    def _ask_again(self, asker: Asker) -> None:
        """Ask for the answers that were missing when an earlier run ended."""
        if self._unasked is None:
            self._unasked = [
                (name, parse(entry.features))
                for window in self.join.windows.values()
                for name in (window.cascade.waiting if window.cascade else ())
                if (entry := window.get(name)) is not None
            ]
        while self._unasked and asker.begin(*self._unasked[0]):
            del self._unasked[0]

    def _take_late(self, asker: Asker, source: Record, outputs: Outputs, seconds: float) -> None:
        """Learn the answers that came after their decisions."""
        for answer in asker.late(seconds):
            for window in self.join.windows.values():
                if window.cascade is not None and window.cascade.waits(answer.name):
                    self._learn_answer(window, answer, source, outputs)

    def finish(self) -> Outputs:
        """Learn the answers that are still late, and return the labels without messages."""
        late = Outputs()
        places = list(self.offsets)
        if self.asker is not None and places:
            source = Record(places[0], self.offsets[places[0]], None)
            until = time.monotonic() + self.asker.seconds
            while True:
                self._ask_again(self.asker)
                left = until - time.monotonic()
                if left <= 0.0 or not self.asker.is_busy:
                    break
                self._take_late(self.asker, source, late, left)
        ended = super().finish()
        late.dead_letters += ended.dead_letters
        return late

    def _replay(self, record: Record) -> None:
        raise BadRecordError(f"a local filter reads no log, but got a record of {record.role}")


class SharedFilter(Filter):
    """Driver for Kafka: one of several workers that share the training log and join windows.

    A training event is an output. It is learned when it comes back as a record with the role
    `training`. Changes of join windows are outputs, from which the next owner of a partition
    rebuilds its window.
    """

    shared = True

    def __init__(self, model: Any, reader: MessageReader, options: Options | None = None) -> None:
        super().__init__(model, reader, options)
        self._others: bytes | None = None  # other settings of the last training events
        self.last_event: tuple[Partition, str] | None = None  # its digest

    def belong(self, log: str) -> Identity:
        """Set the id of the training log that this filter reads and writes; return its identity."""
        self.identity = Identity(
            self.reader.name,
            model_text(self.learner.model),
            tuple(sorted(self.reader.labels)),
            self.options.pos_label,
            log,
            negative=self.options.negative,
            max_fpr=self.options.max_fpr,
            drift=self.options.drift,
            max_bytes=self.reader.max_bytes,
            max_text=self.reader.max_text,
        )
        self._pruning_key = hashlib.blake2b(log.encode(), digest_size=16).digest()
        self.protect()
        return self.identity

    def begin(self) -> None:
        """Begin to decide on messages, after all existing training events were read.

        Events of other settings may precede the last one, or are accepted with `Options.adopt`.
        After this call they are errors.

        Raises
        ------
        SettingsError
            If the last training events have other settings and must not be adopted.
        """
        if not self.options.adopt:
            self._check_settings("the last training events were written")
        self._others = None
        self.begun = True

    def _read_settings(self, record: Record) -> None:
        """Note the settings in a training event, which must not differ after the start."""
        for name, value in record.headers:
            if name == HEADER and self.identity is not None:
                self._others = None if value == self.identity.header else (value or b"")
                if self.begun:
                    self._check_settings("training events are being written")

    def _check_settings(self, what: str) -> None:
        if self._others is None or self.identity is None:
            return
        differences = self.identity.differences(self._others) or "unknown settings"
        raise SettingsError(
            f"{what} by a worker with other settings ({differences}): give all workers of the "
            f"group the same settings. To change the settings, stop all workers and start them "
            f"with training_log_adopt = true (docs/how-to/change-model.md)"
        )

    def _replay(self, record: Record) -> None:
        """Learn a training event, or apply a change of a join window.

        Invalid records are logged and skipped. They stay in their log, which all workers read, so
        they do not become dead letters.

        Raises
        ------
        SettingsError
            If a worker with other settings writes training events.
        """
        if record.role == "training" and record.offset < self.offsets.get(record.partition, 0):
            self._check_last(record)
            return
        try:
            if record.role == "training":
                self._read_settings(record)
                event = read_training_event(record.value)
                self._check_features(event)
                self.learner.learn(event, record.timestamp)
            else:
                self.join.window(record.partition.number).apply(record.key or b"", record.value)
        except SettingsError:
            raise
        except StreamNBError as error:
            extra = {"at": (*record.partition, record.offset)}
            _LOG.error("skipped an invalid record of a %s log: %s", record.role, error, extra=extra)
        if record.role == "training":
            self.offsets[record.partition] = record.offset + 1
            self.last_event = record.partition, _digest(record)

    def _check_last(self, record: Record) -> None:
        """Compare the last training event of the log with the one that was learned.

        Raises
        ------
        ForeignError
            If they differ.
        """
        if self.last_event is None or record.offset + 1 != self.offsets[record.partition]:
            return
        if self.last_event != (record.partition, _digest(record)):
            raise ForeignError(
                f"{record.partition.source} has another training event at offset {record.offset:,} "
                f"than the one that this worker or its snapshot has learned: {LOG_SET_BACK}"
            )

    def _check_features(self, event: TrainingEvent) -> None:
        """Check that the log has the kind of features that the model takes.

        Raises
        ------
        SettingsError
            If not. The model would otherwise silently ignore the words of new messages.
        """
        if isinstance(event.features, str) is not self.reader.gives_texts:
            kinds = {True: "texts", False: "word counts or rows"}
            expected = self.reader.gives_texts
            raise SettingsError(
                f"the training events contain {kinds[not expected]}, but the model takes "
                f"{kinds[expected]}: set model to the one that wrote them (for mail, a model with "
                "a tokenizer takes texts, others word counts; models of tables take rows), or "
                "training_topic to a new topic"
            )


class FollowingFilter(SharedFilter):
    """Driver for a listener: decides with the shared model, and leaves joins to the group."""

    def _process(self, record: Record, prefetch: _Prefetch, at: int, outputs: Outputs) -> None:
        """Decide on one request."""
        try:
            found = prefetch.read(at)
            if isinstance(found, Message):
                decision = self._decide(record, found, prefetch, at)
                if decision is not None:
                    outputs.decisions.append(decision)
        except StreamNBError as error:
            outputs.dead_letters.append(DeadLetter(record, str(error)[:500]))
