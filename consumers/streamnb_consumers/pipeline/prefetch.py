"""Read the records of a batch ahead, and predict consecutive messages with one model call.

A prediction is used only while the model has not changed. So each message is decided on by the
model of its turn, however many messages are predicted together.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamnb.errors import StreamNBError
from streamnb_consumers.pipeline.join import Join
from streamnb_consumers.pipeline.prediction import Prediction, predict_many
from streamnb_consumers.pipeline.reading import MessageReader
from streamnb_consumers.pipeline.training import Learner
from streamnb_consumers.records import Feedback, Message, Record

__all__ = ["Prefetch"]


class Prefetch:
    """Contents of the records of a batch, and predictions for the next messages.

    Parameters
    ----------
    learner, join, reader
        Parts of the filter.
    learns_at_once
        Whether the model learns a label when its record is processed. If not, it learns only from
        records of the training log.
    records
        The batch.
    """

    def __init__(
        self,
        learner: Learner,
        join: Join,
        reader: MessageReader,
        learns_at_once: bool,
        records: Sequence[Record],
    ) -> None:
        self._learner, self._join, self._reader = learner, join, reader
        self._learns_at_once, self._records = learns_at_once, records
        self._contents: dict[int, Message | Feedback | StreamNBError] = {}
        self._predictions: dict[int, Prediction] = {}
        self._revision = -1
        self._single = False  # whether the model must be called for each message

    def read(self, at: int) -> Message | Feedback:
        """Return the content of a record.

        Raises
        ------
        StreamNBError
            If it is neither a message nor feedback.
        """
        found = self._content(at)
        if isinstance(found, StreamNBError):
            raise found
        return found

    def _content(self, at: int) -> Message | Feedback | StreamNBError:
        found = self._contents.get(at)
        if found is None:
            try:
                found = self._reader.read(self._records[at])
            except StreamNBError as error:
                found = error
            self._contents[at] = found
        return found

    def prediction(self, at: int) -> Prediction | None:
        """Return the prediction of the current model; None if the caller must compute it."""
        if self._revision != self._learner.revision:
            self._predictions.clear()
            self._revision = self._learner.revision
        found = self._predictions.pop(at, None)
        if found is None and not self._single:
            self._predict_from(at)
            found = self._predictions.pop(at, None)
        return found

    def _predict_from(self, first: int) -> None:
        """Predict this message and the following ones, up to where the model may change."""
        chosen: dict[int, Message] = {}
        for at in range(first, len(self._records)):
            record = self._records[at]
            if not record.is_input:
                if record.role == "training":
                    break
                continue
            found = self._content(at)
            if isinstance(found, Message) and record.role == "message":
                chosen[at] = found
            if self._learns_at_once and self._may_learn(record, found):
                break
        if len(chosen) > 1:
            messages = [message.features for message in chosen.values()]
            predictions = predict_many(self._learner.model, messages)
            if predictions is None:
                self._single = True
            else:
                self._predictions.update(zip(chosen, predictions, strict=True))

    def _may_learn(self, record: Record, found: Message | Feedback | StreamNBError) -> bool:
        """Return whether a record completes a label."""
        if isinstance(found, Message):
            window = self._join.window(record.partition.number)
            return found.label is not None or window.awaits(found.id)
        return isinstance(found, Feedback)
