"""The filter: one record in, at most one decision out, and every label learned once.

A record is read (`messages`), decided on (`decide`), joined to its labels (`join`), which are
learned (`learn`); what follows is written by the sink that the outputs go to (`ports`, `kafka`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from streamnb.errors import StreamNBError
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.filter.decide import decide
from streamnb_consumers.filter.join import Join, Joined
from streamnb_consumers.filter.learn import Learner
from streamnb_consumers.filter.options import Model, Options
from streamnb_consumers.filter.training_log import read_training_event
from streamnb_consumers.messages.reading import MessageReader
from streamnb_consumers.records import (
    Change,
    DeadLetter,
    Decision,
    Message,
    Outputs,
    Partition,
    Record,
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
    >>> worker.learner.learned
    2
    """

    def __init__(self, model: Model, reader: MessageReader, options: Options | None = None) -> None:
        self.reader = reader
        self.options = options or Options()
        self.join = Join(self.options, reader)
        self.learner = Learner(model, self.options)
        self.offsets: dict[Partition, int] = {}
        self.counters = dict.fromkeys(
            ("messages", "repeated", "corrected", "dead_letters", "bad_log"), 0
        )

    def handle(self, record: Record) -> Outputs:
        """Take one record, whatever it holds; return what follows from it.

        A record that can't be used becomes a dead letter and changes nothing else.
        """
        outputs = Outputs()
        if not record.is_input:
            self._fold(record)
            return outputs
        decision = None
        try:
            found = self.reader.read(record)
            if isinstance(found, Message):
                decision = self._decide(record, found)
            for joined in self.join.labels(record, found, decision, outputs.dead_letters):
                self._learn(joined, outputs)
        except StreamNBError as error:
            # Where there is a decision it stands; only the label could not be learned.
            why = str(error) if decision is None else f"not learned: {error}"
            outputs.dead_letters.append(DeadLetter(record, why[:500]))
        if decision is not None:
            outputs.decisions.append(decision)
            self.counters["messages"] += 1
        self._close(record, outputs)
        return outputs

    def _decide(self, record: Record, message: Message) -> Decision | None:
        if record.role == "feedback":
            if message.label is None:
                raise BadRecordError("a message among the feedback needs a label")
            return None
        learner = self.learner
        return decide(
            record, message, learner.model, self.options, learner.bound.cut, learner.learned
        )

    def _learn(self, joined: Joined, outputs: Outputs) -> None:
        event = joined.training_event()
        if event is None:
            self.counters["repeated"] += 1
            return
        if not self.options.shared:
            self.learner.learn(event)
        self.counters["corrected"] += event.unlearn is not None
        outputs.training.append(event)

    def _close(self, record: Record, outputs: Outputs) -> None:
        """Count, and give out what the window of the record's partition holds now."""
        self.counters["dead_letters"] += len(outputs.dead_letters)
        if self.options.shared:
            number = record.partition.number
            changes = self.join.window(number).take_changes()
            outputs.changes += [Change(number, *change) for change in changes]
        else:
            self.offsets[record.partition] = record.offset + 1

    def _fold(self, record: Record) -> None:
        """Take one record of a log that filters wrote.

        What can't be used stays in its log: all workers read it, so it is no dead letter of any.
        """
        try:
            if record.role == "training":
                self.learner.learn(read_training_event(record.value))
            else:
                self.join.window(record.partition.number).apply(record.key or b"", record.value)
        except StreamNBError as error:
            self.counters["bad_log"] += 1
            place = (*record.partition, record.offset)
            _LOG.error(
                "passed over in the log of %s: %s", _LOGS[record.role], error, extra={"at": place}
            )
        if record.role == "training":
            self.offsets[record.partition] = record.offset + 1

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
