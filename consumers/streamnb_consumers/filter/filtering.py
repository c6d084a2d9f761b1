"""The filter: one record in, at most one decision out, and every label learned once."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

from streamnb.errors import StreamNBError
from streamnb.evaluation import log_odds
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.filter import window as joining
from streamnb_consumers.filter.bound import HamBound, Tally
from streamnb_consumers.filter.options import Model, Options
from streamnb_consumers.messages.reading import Format, read_lesson
from streamnb_consumers.records import (
    Change,
    DeadLetter,
    Decision,
    Features,
    Feedback,
    Lesson,
    Message,
    Outputs,
    Partition,
    Record,
    canonical,
)

__all__ = ["Filter"]

_LOG = logging.getLogger(__name__)


class Filter:
    """Decide on messages, join labels to them, learn.

    Parameters
    ----------
    model
        Any model of streamnb.
    reader
        What a message is.
    options
        How to decide and to learn.

    Examples
    --------
    >>> from streamnb_consumers.messages.sms import Sms
    >>> from streamnb import MNB
    >>> worker, place = Filter(MNB(), Sms()), Partition("sms", 0)
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
    >>> worker.counters["lessons"]
    2
    """

    def __init__(self, model: Model, reader: Format, options: Options | None = None) -> None:
        self.model = model
        self.reader = reader
        self.options = options or Options()
        self.windows: dict[int, joining.JoinWindow] = {}
        self.bound = HamBound(self.options.ham_target)
        self.tally = Tally()
        self.offsets: dict[Partition, int] = {}
        self.counters = dict.fromkeys(
            ("messages", "lessons", "repeated", "corrected", "dead_letters", "bad_log"), 0
        )

    def handle(self, record: Record) -> Outputs:
        """Take one record, whatever it holds; return what follows from it.

        A record that can't be used becomes a dead letter and changes nothing else.
        """
        outputs = Outputs()
        if not record.is_input:
            self._fold(record)
            return outputs
        try:
            self._take(record, self.reader.read(record), outputs)
        except StreamNBError as error:
            outputs.dead_letters.append(DeadLetter(record, str(error)[:500]))
        self.counters["dead_letters"] += len(outputs.dead_letters)
        if self.options.shared:
            number = record.partition.number
            changes = self.window(number).take_changes()
            outputs.changes += [Change(number, *change) for change in changes]
        else:
            self.offsets[record.partition] = record.offset + 1
        return outputs

    def _fold(self, record: Record) -> None:
        """Take one step of a log that filters wrote.

        What is no step stays in its log: all workers read it, so it is no dead letter of any.
        """
        try:
            if record.role == "lesson":
                self._learn(read_lesson(record.value))
            else:
                self.window(record.partition.number).apply(record.key or b"", record.value)
        except StreamNBError as error:
            self.counters["bad_log"] += 1
            place = (*record.partition, record.offset)
            _LOG.error("passed over in the log of %ss: %s", record.role, error, extra={"at": place})
        if record.role == "lesson":
            self.offsets[record.partition] = record.offset + 1

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget the join windows of partitions that another worker has, or that begin anew."""
        for number in numbers:
            self.windows.pop(number, None)

    def finish(self) -> Outputs:
        """Give up labels that still wait for their messages: the stream is at its end."""
        outputs = Outputs()
        for window in self.windows.values():
            outputs.dead_letters += window.finish()
        self.counters["dead_letters"] += len(outputs.dead_letters)
        return outputs

    # --- messages and labels --------------------------------------------------------------------

    def _take(self, record: Record, found: Message | Feedback, outputs: Outputs) -> None:
        window = self.window(record.partition.number)
        if isinstance(found, Feedback):
            seen = window.get(found.id)
            if seen is None:
                outputs.dead_letters += window.wait(found.id, record)
            else:
                self._label(found.id, seen, found.label, record, outputs)
            return
        decision = None
        if record.role == "message":
            decision = self._decide(record, found)
        elif found.label is None:
            raise BadRecordError("a message among the feedback needs a label")
        seen = joining.Seen(
            canonical(found.features),
            decision.label if decision else None,
            decision.score if decision else None,
            record.timestamp,
            place=record.offset,
        )
        known = window.get(found.id)
        if known is not None and record.role == "feedback" and known.features == seen.features:
            seen = known
        else:
            outputs.dead_letters += window.add(found.id, seen)
        if decision is not None:
            outputs.decisions.append(decision)
            self.counters["messages"] += 1
        try:
            if found.label is not None:
                self._label(found.id, seen, found.label, record, outputs)
            early = window.claim(found.id)
            if early is not None:
                late = self.reader.read(early)
                if late.label is not None:
                    self._label(found.id, seen, late.label, early, outputs)
        except StreamNBError as error:
            # The decision stands; only its label could not be learned.
            outputs.dead_letters.append(DeadLetter(record, f"not learned: {error}"[:500]))

    def _decide(self, record: Record, message: Message) -> Decision:
        model, options = self.model, self.options
        label = model.predict_one(message.features)
        scores = model.joint_log_likelihood_one(message.features)
        shares = model.predict_proba_one(message.features)
        score = None
        if options.positive in scores and len(scores) > 1:
            odds = log_odds(scores, options.positive)
            words = _length(message.features)
            score = odds / words if math.isfinite(odds) else math.copysign(1e6, odds)
            if label == options.positive and score <= self.bound.cut and options.ham_target:
                label = options.negative
        loudest = None
        if options.top_words:
            loudest = self._loudest(message.features, label, scores)
        return Decision(
            message.id,
            None if label is None else str(label),
            {str(each): share for each, share in shares.items()},
            score,
            self.counters["lessons"],
            record.partition,
            record.offset,
            loudest,
        )

    def _loudest(
        self, features: Features, label: Any, scores: Mapping[Any, float]
    ) -> tuple[tuple[str, float], ...]:
        """Return the words that differ most between the label and the next likely one."""
        rival = max(
            (each for each in scores if each != label), key=scores.__getitem__, default=None
        )
        if label not in scores or rival is None:
            return ()
        towards = {
            str(word): terms[label] - terms[rival]
            for word, terms in self.model.explain_one(features).words.items()
        }
        ranked = sorted(towards.items(), key=lambda item: (-abs(item[1]), item[0]))
        return tuple(ranked[: self.options.top_words])

    def _label(
        self, name: str, seen: joining.Seen, label: str, record: Record, outputs: Outputs
    ) -> None:
        """Join a label, which came with a record, to its message: learn, correct, or know it."""
        before = seen.label
        if label == before:
            self.counters["repeated"] += 1
            return
        delay = None
        if seen.timestamp is not None and record.timestamp is not None:
            delay = max(0.0, (record.timestamp - seen.timestamp) / 1000)
        features = seen.read_features()
        lesson = Lesson(name, features, label, before, seen.score, seen.decided, delay)
        if not self.options.shared:
            self._learn(lesson)
        self.window(record.partition.number).label(name, seen, label)
        self.counters["corrected"] += before is not None
        outputs.lessons.append(lesson)

    def _learn(self, lesson: Lesson) -> None:
        """Take one step of the fold, whole or not at all."""
        if lesson.unlearn is not None:
            self.model.unlearn_one(lesson.features, lesson.unlearn)
        try:
            self.model.learn_one(lesson.features, lesson.learn)
        except StreamNBError:
            if lesson.unlearn is not None:
                self.model.learn_one(lesson.features, lesson.unlearn)
            raise
        self.counters["lessons"] += 1
        if lesson.score is not None:
            positive = self.options.positive
            if lesson.unlearn is not None:
                self.bound.record(lesson.score, lesson.unlearn == positive, times=-1)
            self.bound.record(lesson.score, lesson.learn == positive)
        if lesson.decided is not None:
            if lesson.unlearn is None:
                self.tally.add(lesson.decided, lesson.learn)
            else:
                self.tally.correct(lesson.decided, lesson.unlearn, lesson.learn)

    # --- windows of partitions ------------------------------------------------------------------

    def window(self, partition: int) -> joining.JoinWindow:
        """Return the join window of a partition, a new one if there is none.

        It is that of all sources with this partition number: a topic of feedback is joined to the
        topic of messages partition by partition, so both need the same keys.
        """
        found = self.windows.get(partition)
        if found is None:
            options = self.options
            found = joining.JoinWindow(options.bounds, logged=options.shared)
            self.windows[partition] = found
        return found


def _length(features: Features) -> float:
    """Return how many words a message has, about, and at least 1."""
    if isinstance(features, str):
        return float(max(1, len(features.split())))
    return float(max(1, len(features)))
