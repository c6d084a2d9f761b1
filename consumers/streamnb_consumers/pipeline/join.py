"""Join labels to their messages by id, within a window of recent messages of each partition."""

from __future__ import annotations

from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.pipeline.window import CONTENT_ID, Bounds, JoinWindow
from streamnb_consumers.records import DeadLetter, Decision, Feedback, Label, Message, Record

_MAX_SOURCE = 256  # bytes of the name of a label source


class Join:
    """The join windows of all partitions that a filter processes.

    All sources share the window of a partition number. The feedback topic therefore needs the same
    keys and the same number of partitions as the message topic.

    Parameters
    ----------
    reader
        Reads a waiting label again when its message arrives.
    bounds
        Bounds of each window.
    label_source_header
        Record header that names the source of a label; empty for none.
    logged
        Whether windows record their changes for a log.

    Attributes
    ----------
    windows
        The join window of each partition.
    partitions
        Number of partitions of the messages, which share the budget of questions.
    """

    def __init__(
        self,
        reader: MessageReader,
        bounds: Bounds,
        label_source_header: str = "",
        logged: bool = False,
    ) -> None:
        self._reader, self._bounds, self._logged = reader, bounds, logged
        self._label_source_header = label_source_header
        self.windows: dict[int, JoinWindow] = {}
        self.partitions = 1

    def window(self, partition: int) -> JoinWindow:
        """Return the join window of a partition; create it if necessary."""
        found = self.windows.get(partition)
        if found is None:
            found = JoinWindow(self._bounds, self._logged, partitions=self.partitions)
            self.windows[partition] = found
        return found

    def is_unlabelled(self, record: Record, message: Message, decision: Decision) -> bool:
        """Return whether a message is new and its label unknown, also to the lists of senders."""
        window = self.window(record.partition.number)
        known = window.get(message.id) is not None or window.awaits(message.id)
        known = known or window.past_label(message.id) is not None
        known = known or (window.cascade is not None and window.cascade.waits(message.id))
        return not (known or message.label is not None or decision.listed is not None)

    def asks(self, record: Record, message: Message, decision: Decision) -> bool:
        """Return whether to request the label of an unlabelled message."""
        if not self._bounds.questions:
            return False
        window = self.window(record.partition.number)
        return window.ask(message, decision.probabilities, record.timestamp)

    def consult(
        self, record: Record, message: Message, decision: Decision
    ) -> tuple[Decision, bool]:
        """Return the decision on an unlabelled message with its source, and whether to doubt it.

        Its status is `waiting` if the teacher is asked.
        """
        window = self.window(record.partition.number)
        decision = window.consult(decision, message.features, record.timestamp)
        return decision, window.cascade is not None and window.cascade.cascade.is_doubtful

    def add(
        self,
        record: Record,
        found: Message | Feedback,
        decision: Decision | None,
        dead_letters: list[DeadLetter],
    ) -> list[tuple[WindowEntry, Label | None, Record]]:
        """Add a message or a label to its window; return the labels to train on.

        Each label comes with its message and its record. The caller trains on them in order, and
        calls `JoinWindow.learned` after each.

        Parameters
        ----------
        record, found
            The record and its content.
        decision
            The decision on the message; None for feedback.
        dead_letters
            Receives labels that expired or exceeded the rate of their source.
        """
        window = self.window(record.partition.number)
        labelled = isinstance(found, Feedback) or found.label is not None
        refusal = self._refusal(window, record) if labelled else None
        if isinstance(found, Feedback):
            if refusal is not None:
                dead_letters.append(DeadLetter(record, refusal, refused=True))
                return []
            known = window.get(found.id)
            if known is None:
                # A past message cannot be learned or unlearned without its text.
                if window.past_label(found.id) is None:
                    dead_letters += window.wait(found.id, record)
                return []
            return [(known, found.label, record)]
        entry = self._enter(window, record, found, decision, dead_letters)
        labels: list[tuple[WindowEntry, Label | None, Record]] = []
        if refusal is not None:
            dead_letters.append(DeadLetter(record, f"not learned: {refusal}", refused=True))
        elif found.label is not None:
            labels.append((entry, found.label, record))
        for early in window.claim(found.id):
            try:
                labels.append((entry, self._reader.read(early).label, early))
            except BadRecordError as error:  # the settings have changed since it arrived
                dead_letters.append(DeadLetter(early, str(error)))
        return labels

    def _refusal(self, window: JoinWindow, record: Record) -> str | None:
        """Return why a label exceeds the rate of its source; None if it may be used."""
        header = self._label_source_header
        sources = [value for name, value in record.headers if name == header and value]
        if not header or not sources:
            return None
        return window.refusal(sources[-1][:_MAX_SOURCE].decode("utf-8", "replace"), record)

    def _enter(
        self,
        window: JoinWindow,
        record: Record,
        message: Message,
        decision: Decision | None,
        dead_letters: list[DeadLetter],
    ) -> WindowEntry:
        """Add a message to its window, unless it is there and comes again."""
        entry = WindowEntry(
            canonical(message.features),
            decision.label if decision else None,
            decision.score if decision else None,
            record.timestamp,
            offset=record.offset,
            asked=decision is not None and decision.ask,
        )
        known = window.get(message.id)
        is_same = record.role == "feedback" and known and known.features == entry.features
        if known is not None and (is_same or message.id.startswith(CONTENT_ID)):
            return known
        dead_letters += window.add(message.id, entry)
        return entry
