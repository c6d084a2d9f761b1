"""Structured Streaming: predict each batch of a stream, then learn it, exactly once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamnb
from streamnb.errors import InputError
from streamnb.model.base import NaiveBayes
from streamnb.spark.frames import learn, predict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_KEPT = 2  # states: the one before the last is what a batch that is run again began with


class Prequential:
    """Function for `foreachBatch` that predicts each batch before learning it.

    A batch takes effect once, even if Spark runs it several times. Its decisions are written under
    its number and replace the output of earlier attempts. Then the model is saved atomically under
    the same number. A batch with a saved model is skipped. If the query has a checkpoint, a crash
    never leaves a partly learned batch.

    Within a batch, all rows are predicted first, then all are learned.

    Parameters
    ----------
    model
        The initial model, used if the folder has no state yet.
    folder
        A local folder for states and decisions; it is created if it is missing.
    text, label
        Names of the columns. Rows without a label are predicted but not learned.

    Attributes
    ----------
    model
        The current model.
    batch
        Number of the last learned batch; -1 before the first one.

    Examples
    --------
    A stream of JSON files, with decisions in `filter/decisions/batch=0`, `…=1` and so on::

        prequential = Prequential(OnlineNB(), "filter")
        query = (
            spark.readStream.schema("text string, label string").json("inbox")
            .writeStream.foreachBatch(prequential)
            .option("checkpointLocation", "filter/checkpoint").start()
        )
    """

    def __init__(
        self, model: NaiveBayes, folder: str | Path, text: str = "text", label: str = "label"
    ) -> None:
        self.model = model
        self.batch = -1
        self._folder = Path(folder)
        self._text, self._label = text, label
        self._states = self._folder / "states"
        if self._states.exists() and not self._states.is_dir():
            raise InputError(f"{self._states} is not a folder")
        self._states.mkdir(parents=True, exist_ok=True)
        if known := self._numbers():
            self.batch = known[-1]
            self.model = streamnb.load(self._states / f"{self.batch}.model")

    def _numbers(self) -> list[int]:
        stems = (path.stem for path in self._states.glob("*.model"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Predict a batch and learn it, unless it was already learned."""
        if batch <= self.batch:
            return
        frame = frame.persist()
        try:
            decided = predict(frame, self.model, self._text)
            decided.write.mode("overwrite").json(str(self._folder / f"decisions/batch={batch}"))
            labelled = frame.where(frame[self._label].isNotNull())
            learned = learn(labelled, self.model, self._text, self._label)
        finally:
            frame.unpersist()
        learned.save(self._states / f"{batch}.model")  # atomically
        self.model, self.batch = learned, batch
        for number in self._numbers()[:-_KEPT]:
            (self._states / f"{number}.model").unlink()
