"""Records read before their turn, and what the model says before it may learn again.

What was said counts as long as nothing was learned since: so each message is decided on by the
model as it is in its turn, however many are asked for at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamnb.errors import StreamNBError
from streamnb_consumers.pipeline.join import Join
from streamnb_consumers.pipeline.options import Options
from streamnb_consumers.pipeline.prediction import Prediction, predict_many
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.pipeline.training import Learner
from streamnb_consumers.records import Feedback, Message, Record

__all__ = ["Prefetch"]


class Prefetch:
    """The records of a batch, read, and what the model says of those that are next.

    Parameters
    ----------
    learner, join, options, reader
        The filter's.
    records
        The batch.
    """

    def __init__(
        self,
        learner: Learner,
        join: Join,
        options: Options,
        reader: MessageReader,
        records: Sequence[Record],
    ) -> None:
        self._learner, self._join, self._options = learner, join, options
        self._reader, self._records = reader, records
        self._found: dict[int, Message | Feedback | StreamNBError] = {}
        self._said: dict[int, Prediction] = {}
        self._touched = -1
        self._alone = False  # whether the model is asked one by one

    def read(self, at: int) -> Message | Feedback:
        """Return what a record holds.

        Raises
        ------
        StreamNBError
            If it is neither a message nor feedback.
        """
        found = self._look(at)
        if isinstance(found, StreamNBError):
            raise found
        return found

    def _look(self, at: int) -> Message | Feedback | StreamNBError:
        found = self._found.get(at)
        if found is None:
            try:
                found = self._reader.read(self._records[at])
            except StreamNBError as error:
                found = error
            self._found[at] = found
        return found

    def said(self, at: int) -> Prediction | None:
        """Return what the model, as it is now, says of a message; None: it must be asked alone."""
        learner = self._learner
        if self._touched != learner.touched:
            self._said.clear()
            self._touched = learner.touched
        said = self._said.pop(at, None)
        if said is None and not self._alone:
            self._ask(at)
            said = self._said.pop(at, None)
        return said

    def _ask(self, at: int) -> None:
        """Ask of this message and of those behind it, up to where the model may learn."""
        chosen: dict[int, Message] = {}
        for place in range(at, len(self._records)):
            record = self._records[place]
            if not record.is_input:
                if record.role == "training":
                    break
                continue
            found = self._look(place)
            if isinstance(found, Message) and record.role == "message":
                chosen[place] = found
            if not self._options.shared and self._may_learn(record, found):
                break
        if len(chosen) > 1:
            messages = [message.features for message in chosen.values()]
            answers = predict_many(self._learner.model, messages)
            if answers is None:
                self._alone = True
            else:
                self._said.update(zip(chosen, answers, strict=True))

    def _may_learn(self, record: Record, found: Message | Feedback | StreamNBError) -> bool:
        """Tell whether a record brings a label that may be learned at once."""
        if isinstance(found, Message):
            window = self._join.window(record.partition.number)
            return found.label is not None or window.awaits(found.id)
        return isinstance(found, Feedback)
