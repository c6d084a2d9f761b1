"""Join labels to their messages: the join windows of the partitions that a filter handles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from streamnb_consumers.jsons import canonical
from streamnb_consumers.pipeline.join_window import JoinWindow, WindowEntry
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.records import (
    DeadLetter,
    Decision,
    Feedback,
    Message,
    Record,
    TrainingEvent,
)

__all__ = ["Join", "Joined"]

_MAX_SOURCE = 256  # bytes of the name of who gave a label


class Joined(NamedTuple):
    """A label, the record that it came with, and its message in the window."""

    id: str
    entry: WindowEntry
    label: str
    record: Record

    def training_event(self) -> TrainingEvent | None:
        """Return what is to be learned; None if the message was learned with this label."""
        entry, delay = self.entry, None
        if self.label == entry.label:
            return None
        if entry.timestamp is not None and self.record.timestamp is not None:
            delay = max(0.0, (self.record.timestamp - entry.timestamp) / 1000)
        return TrainingEvent(
            self.id,
            entry.read_features(),
            self.label,
            entry.label,
            entry.score,
            entry.decided,
            delay,
        )


class Join:
    """The join window of each partition.

    A window is that of all sources with this partition number: a topic of feedback is joined to the
    topic of messages partition by partition, so both need the same keys.

    Parameters
    ----------
    options
        Bounds of the windows, and whether their changes are outputs.
    reader
        What a message is: a label that waited is read again when its message comes.
    """

    def __init__(self, options: Options, reader: MessageReader) -> None:
        self._options, self._reader = options, reader
        self.windows: dict[int, JoinWindow] = {}

    def window(self, partition: int) -> JoinWindow:
        """Return the join window of a partition, a new one if there is none."""
        found = self.windows.get(partition)
        if found is None:
            found = JoinWindow(self._options.bounds, logged=self._options.shared)
            self.windows[partition] = found
        return found

    def forget(self, partitions: Iterable[int]) -> None:
        """Forget the windows of partitions that another worker has, or that begin anew."""
        for number in partitions:
            self.windows.pop(number, None)

    def labels(
        self,
        record: Record,
        found: Message | Feedback,
        decision: Decision | None,
        dead_letters: list[DeadLetter],
    ) -> Iterator[Joined]:
        """Put a message or a label into its window; give each label that now has its message.

        A label is noted as learned when the next one is asked for: it must be learned before.

        Parameters
        ----------
        record, found
            What was read, and what it holds.
        decision
            What was decided on a message; None for one that stands among the feedback.
        dead_letters
            Labels are added to it for which it is now too late.
        """
        window = self.window(record.partition.number)
        refusal = None if found.label is None else self._refusal(window, record)
        if isinstance(found, Feedback):
            if refusal is not None:
                dead_letters.append(DeadLetter(record, refusal, refused=True))
                return
            entry = window.get(found.id)
            if entry is None:
                dead_letters += window.wait(found.id, record)
                return
            waiting = [(found.label, record)]
        else:
            entry = self._enter(window, record, found, decision, dead_letters)
            waiting = []
            if refusal is not None:
                dead_letters.append(DeadLetter(record, f"not learned: {refusal}", refused=True))
            elif found.label is not None:
                waiting = [(found.label, record)]
        for label, source in waiting:
            yield Joined(found.id, entry, label, source)
            if label != entry.label:
                window.label(found.id, entry, label)
        early = window.claim(found.id) if isinstance(found, Message) else None
        if early is not None:
            late = self._reader.read(early).label
            if late is not None:
                yield Joined(found.id, entry, late, early)
                if late != entry.label:
                    window.label(found.id, entry, late)

    def _refusal(self, window: JoinWindow, record: Record) -> str | None:
        """Return why a label is more than its source may give; one that is not named may."""
        named = self._options.label_source
        sources = [value for name, value in record.headers if name == named and value]
        if not named or not sources:
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
        """Add a message to its window; one that is there and comes again as feedback stays."""
        entry = WindowEntry(
            canonical(message.features),
            decision.label if decision else None,
            decision.score if decision else None,
            record.timestamp,
            offset=record.offset,
        )
        known = window.get(message.id)
        if known is not None and record.role == "feedback" and known.features == entry.features:
            return known
        dead_letters += window.add(message.id, entry)
        return entry
