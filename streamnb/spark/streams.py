"""Structured Streaming: each batch of a stream is predicted, then learned, once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import streamnb
from streamnb.errors import InputError
from streamnb.model.base import NaiveBayes
from streamnb.spark.frames import learn, predict

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Prequential"]

_KEPT = 2  # states: the one before the last is what a batch that is run again began with
_STATE = re.compile(r"(\d+)\.model")


class Prequential:
    """What `foreachBatch` calls: decides on a batch by what was learned before it, then learns it.

    A batch has one effect, however often Spark runs it. Its decisions are written under its number,
    in place of what an attempt before left there; then the model, under the same number, in one
    step. A batch whose model is there is not run again. So after a crash the state is that of a
    whole number of batches, if the query has a checkpoint.

    Rows of one batch do not know of each other: within a batch all are predicted, then all are
    learned.

    Parameters
    ----------
    model
        What to begin with, where the folder has no state yet.
    folder
        A folder of this machine, for the states and the decisions; made where it is missing.
    text, label
        The columns' names. Rows without a label are decided on and not learned.

    Attributes
    ----------
    model
        What was learned so far.
    batch
        The number of the last batch that was learned; -1 before the first.

    Examples
    --------
    A stream of JSON files, its decisions in `filter/decisions/batch=0`, `…=1` and so on::

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
            raise InputError(f"{self._states} is no folder")
        self._states.mkdir(parents=True, exist_ok=True)
        if known := self._numbers():
            self.batch = known[-1]
            self.model = streamnb.load(self._states / f"{self.batch}.model")

    def _numbers(self) -> list[int]:
        found = (_STATE.fullmatch(path.name) for path in self._states.iterdir())
        return sorted(int(one[1]) for one in found if one)

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Decide on a batch and learn it, unless that was done."""
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
        self._keep(learned, batch)
        self.model, self.batch = learned, batch

    def _keep(self, model: NaiveBayes, batch: int) -> None:
        """Write a state so that it is there whole or not at all, and forget old ones."""
        model.save(self._states / f"{batch}.model")
        for number in self._numbers()[:-_KEPT]:
            (self._states / f"{number}.model").unlink()
