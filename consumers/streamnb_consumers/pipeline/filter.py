"""The filter: one record in, at most one decision out, and every label learned once.

A record is read (`messages`), decided on (`decide`), joined to its labels (`join`), which are
learned (`learn`); what follows is written by the sink that the outputs go to (`ports`, `kafka`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

from streamnb.errors import StreamNBError
from streamnb_consumers.errors import BadRecordError, SettingsError
from streamnb_consumers.pipeline.identity import Identity, LogWatch, model_text
from streamnb_consumers.pipeline.join import Join, Joined
from streamnb_consumers.pipeline.options import Model, Options
from streamnb_consumers.pipeline.prediction import decide
from streamnb_consumers.pipeline.prefetch import Prefetch
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.pipeline.training import Learner, read_training_event
from streamnb_consumers.records import (
    Change,
    DeadLetter,
    Decision,
    Message,
    Outputs,
    Partition,
    Record,
    TrainingEvent,
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
    >>> from streamnb_consumers.pipeline.reading import SmsReader
    >>> from streamnb import MNB
    >>> worker, place = Filter(MNB(), SmsReader()), Partition("sms", 0)
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

    def __init__(self, model: Model, reader: MessageReader, options: Options | None = None) -> None:
        self.reader = reader
        self.options = options or Options()
        self.join = Join(self.options, reader)
        self.learner = Learner(model, self.options)
        self.offsets: dict[Partition, int] = {}
        self.identity: Identity | None = None
        self.watch = LogWatch(self.options.adopt, begun=not self.options.shared)
        self.counters = dict.fromkeys(
            ("messages", "repeated", "corrected", "dead_letters", "bad_log"), 0
        )

    def belong(self, log: str) -> Identity:
        """Say which log of training events this filter reads and writes; return what it is."""
        self.identity = Identity(
            self.reader.name,
            model_text(self.learner.model),
            tuple(sorted(self.reader.labels)),
            self.options.pos_label,
            log,
        )
        self.watch.expect(self.identity)
        return self.identity

    def handle(self, record: Record) -> Outputs:
        """Take one record, whatever it holds; return what follows from it.

        A record that can't be used becomes a dead letter and changes nothing else.
        """
        return self.handle_many([record])

    def handle_many(
        self,
        records: Sequence[Record],
        committed: Mapping[Partition, int] | None = None,
        note: Callable[[bool], None] = lambda bad: None,
    ) -> Outputs:
        """Take records, in order; return what follows from them, as if they came one by one.

        The model is asked at once of all messages that come before it may learn again.

        Parameters
        ----------
        records
            Of any partitions.
        committed
            For each partition, the offset before which outputs were committed: nothing of these
            records is returned.
        note
            Is told of each record from outside that is not before, whether it could not be used.
        """
        outputs = Outputs()
        ahead = Prefetch(self.learner, self.join, self.options, self.reader, records)
        for at, record in enumerate(records):
            if not record.is_input:
                self._fold(record)
                continue
            if not self.watch.begun:
                self.watch.begin()
            before = committed is not None and record.offset < committed.get(record.partition, 0)
            given = Outputs() if before else outputs
            dead = len(given.dead_letters)
            self._handle(record, ahead, at, given)
            bad = given.dead_letters[dead:]
            self.counters["dead_letters"] += len(bad)
            if not before:
                # Nobody stops a filter by labels that it refuses.
                note(any(one.record is record and not one.refused for one in bad))
        if self.options.shared:
            for number in {each.partition.number for each in records if each.is_input}:
                changes = self.join.window(number).take_changes()
                outputs.changes += [Change(number, *change) for change in changes]
        return outputs

    def _handle(self, record: Record, ahead: Prefetch, at: int, outputs: Outputs) -> None:
        """Take one record from outside."""
        decision = None
        try:
            found = ahead.read(at)
            if isinstance(found, Message):
                decision = self._decide(record, found, ahead, at)
            for joined in self.join.labels(record, found, decision, outputs.dead_letters):
                self._learn(joined, outputs)
        except StreamNBError as error:
            # Where there is a decision it stands; only the label could not be learned.
            why = str(error) if decision is None else f"not learned: {error}"
            outputs.dead_letters.append(DeadLetter(record, why[:500]))
        if decision is not None:
            outputs.decisions.append(decision)
            self.counters["messages"] += 1
        if not self.options.shared:
            self.offsets[record.partition] = record.offset + 1

    def _decide(
        self, record: Record, message: Message, ahead: Prefetch, at: int
    ) -> Decision | None:
        if record.role == "feedback":
            if message.label is None:
                raise BadRecordError("a message among the feedback needs a label")
            return None
        learner, said = self.learner, ahead.said(at)
        cut, version = learner.bound.cut, learner.learned
        return decide(record, message, learner.model, self.options, cut, version, said)

    def _learn(self, joined: Joined, outputs: Outputs) -> None:
        event = joined.training_event()
        if event is None:
            self.counters["repeated"] += 1
            return
        if not self.options.shared:
            record = joined.record
            window = self.join.window(record.partition.number)
            self.learner.learn(event, window.bounded(record.timestamp))
        self.counters["corrected"] += event.unlearn is not None
        outputs.training.append(event)

    def _fold(self, record: Record) -> None:
        """Take one record of a log that filters wrote.

        What can't be used stays in its log: all workers read it, so it is no dead letter of any.

        Raises
        ------
        SettingsError
            If a worker with other settings writes training events.
        """
        if record.headers and record.role == "training":
            self.watch.see(record.headers)
        try:
            if record.role == "training":
                event = read_training_event(record.value)
                self._check_form(event)
                self.learner.learn(event, record.timestamp)
            else:
                self.join.window(record.partition.number).apply(record.key or b"", record.value)
        except SettingsError:
            raise
        except StreamNBError as error:
            self.counters["bad_log"] += 1
            place = (*record.partition, record.offset)
            _LOG.error(
                "passed over in the log of %s: %s", _LOGS[record.role], error, extra={"at": place}
            )
        if record.role == "training":
            self.offsets[record.partition] = record.offset + 1

    def _check_form(self, event: TrainingEvent) -> None:
        """Refuse a log whose messages have another form than those that will be decided on.

        Raises
        ------
        SettingsError
            Nothing would be known of the words of new messages, and nobody would hear of it.
        """
        if isinstance(event.features, str) is not self.reader.gives_texts:
            forms = {True: "texts", False: "counted words"}
            wanted = self.reader.gives_texts
            raise SettingsError(
                f"the training events hold {forms[not wanted]}, and the model takes "
                f"{forms[wanted]}: set model to the one that they were learned with (mail: a model "
                "with a tokenizer takes texts, others words), or training_topic to a new topic"
            )

    def forget(self, partitions: Iterable[int]) -> None:
        """Forget the join windows of partitions that another worker has, or that begin anew."""
        self.join.forget(partitions)

    def finish(self) -> Outputs:
        """Give up labels that still wait for their messages: the stream is at its end."""
        outputs = Outputs()
        for window in self.join.windows.values():
            outputs.dead_letters += window.finish()
        self.counters["dead_letters"] += len(outputs.dead_letters)
        return outputs


_LOGS = {"training": "training events", "window": "join windows"}
