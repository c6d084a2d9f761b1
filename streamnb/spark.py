"""Learning, predicting and prequential streams on Apache Spark data frames.

Spark splits a frame into partitions, runs them, and repeats the partitions of a lost machine.
Counts are sums, so each partition is learned separately, and the models are merged in a tree.

>>> from streamnb.spark import Prequential, learn, predict
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError
from streamnb.model.base import NaiveBayes
from streamnb.parameters import check_bound

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ARRIVED = "arrived"  # column of waiting labels: the batch that they came with
_KEPT = 2  # states: the one before the last is what a batch that is run again began with
# The result of a partition: its model, or its error.
_Part = tuple[bytes | None, str | None]


def learn(
    frame: DataFrame,
    model: NaiveBayes[Any],
    text: str = "text",
    label: str = "label",
    *,
    depth: int = 2,
) -> NaiveBayes[Any]:
    """Return a copy of a model that has also learned the rows of a frame.

    Executors learn each partition separately, from Arrow batches, and merge the models in a tree.
    The driver receives one model. Some models do not depend on the order of messages: `MNB`, `CNB`,
    `OVA`, `BNB` and others without pruning bounds. Their bytes equal those from a single process,
    for any number of partitions and retries. Other models follow the rules of `merge`: `OnlineNB`
    averages its corrections by their evidence.

    Parameters
    ----------
    frame
        A Spark frame with a column of texts and a column of labels, both without nulls.
    model
        The initial model, which is not changed. Its tokenizer must not be a Python function.
    text, label
        Names of the columns.
    depth
        Depth of the merge tree, at least 1. With 2, the driver merges at most √n models for n
        partitions.

    Raises
    ------
    InputError
        If a column is missing, a row has a null, or a parameter is out of range.
    """
    _require_columns(frame, [text, label])
    check_bound("depth", depth, 1)
    empty = model.clone().to_bytes()
    parts = frame.select(text, label).mapInArrow(_learner(empty, text, label), _PART)
    rows = parts.rdd.map(lambda row: (row[0] and bytes(row[0]), row[1]))
    nothing: Any = (None, None)
    merged, error = rows.treeAggregate(nothing, _joined, _joined, depth)
    if error is not None:
        raise InputError(error)
    learned = type(model).from_bytes(model.to_bytes())
    if merged is not None:
        learned.merge(type(model).from_bytes(merged))
    return learned


_PART = "model binary, error string"


def _learner(empty: bytes, text: str, label: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return the function that learns a partition; executors receive it."""

    def learn_partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        schema = pyarrow.schema({"model": pyarrow.binary(), "error": pyarrow.string()})
        model = NaiveBayes.from_bytes(empty)
        for batch in batches:
            for name in (text, label):
                if batch.column(name).null_count:
                    error = f"column {name!r} has nulls: fill or drop them before learning"
                    yield pyarrow.RecordBatch.from_pylist([{"error": error}], schema)
                    return
            model.learn_many(batch.column(text).to_pylist(), batch.column(label).to_pylist())
        if model.n_documents:
            yield pyarrow.RecordBatch.from_pylist([{"model": model.to_bytes()}], schema)

    return learn_partition


def _joined(one: _Part, other: _Part) -> _Part:
    """Merge two models. An error takes precedence over a model."""
    for part in (one, other):
        if part[1] is not None:
            return part
    if one[0] is None or other[0] is None:
        return other if one[0] is None else one
    model = NaiveBayes.from_bytes(one[0])
    model.merge(NaiveBayes.from_bytes(other[0]))
    return model.to_bytes(), None


def predict(
    frame: DataFrame,
    model: NaiveBayes[Any],
    text: str = "text",
    prediction: str = "prediction",
    probabilities: str | None = None,
) -> DataFrame:
    """Return the frame with a column of predicted labels as strings; null for untrained models.

    The model is broadcast, and each Python worker loads it once.

    Parameters
    ----------
    frame
        A Spark frame with a column of texts; the prediction for a null is null.
    model
        The model. Its tokenizer must not be a Python function.
    text
        The column of texts.
    prediction
        Name of the new column; it must not exist yet.
    probabilities
        Name of a second new column, which maps each label to its probability; None omits it.

    Raises
    ------
    InputError
        If the column of texts is missing, or a new column exists already.
    """
    from pyspark.sql import types

    _require_columns(frame, [text])
    added = [prediction] if probabilities is None else [prediction, probabilities]
    for name in added:
        if name in frame.columns or added.count(name) > 1:
            raise InputError(f"the frame already has a column {name!r}; choose another name")
    schema = types.StructType(list(frame.schema.fields))
    schema.add(prediction, types.StringType())
    if probabilities is not None:
        shares = types.MapType(types.StringType(), types.DoubleType(), valueContainsNull=False)
        schema.add(probabilities, shares)
    sent = frame.sparkSession.sparkContext.broadcast(model.to_bytes())

    def decide(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        loaded = _loaded(sent.value)
        for batch in batches:
            texts = batch.column(text).to_pylist()
            asked = [one for one in texts if one is not None]
            decided = _back(texts, map(_plain, loaded.predict_many(asked)))
            made = [pyarrow.array(decided, pyarrow.string())]
            if probabilities is not None:
                found = loaded.predict_proba_many(asked)
                shares = ([(str(label), share) for label, share in one.items()] for one in found)
                kind = pyarrow.map_(pyarrow.string(), pyarrow.float64())
                made.append(pyarrow.array(_back(texts, shares), kind))
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *made], [*batch.schema.names, *added]
            )

    return frame.mapInArrow(decide, schema)


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> NaiveBayes[Any]:
    return NaiveBayes.from_bytes(data)


def _plain(label: Any) -> str | None:
    return None if label is None else str(label)


def _back(texts: list[Any], answers: Iterable[Any]) -> list[Any]:
    """Return the answers at the positions of the non-null texts."""
    each = iter(answers)
    return [None if one is None else next(each) for one in texts]


def _require_columns(frame: DataFrame, names: list[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise InputError(f"the frame has no column {name!r}; it has {', '.join(frame.columns)}")


class Prequential:
    """Function for `foreachBatch` that predicts each batch before learning it.

    A batch takes effect once, even if Spark runs it several times. Its decisions are written under
    its number and replace the output of earlier attempts. Then the model is saved atomically under
    the same number. A batch with a saved model is skipped. If the query has a checkpoint, a crash
    never leaves a partly learned batch.

    Within a batch, all rows are predicted first, then all are learned. Only rows with a text are
    predicted.

    With `message_id`, a row may also be the label of an earlier message, without its text: the
    message with the same id supplies the text. Each id is predicted once. A label that comes before
    its message waits for it. A row without an id is a message of its own.

    Parameters
    ----------
    model
        The initial model, used if the folder has no state yet.
    folder
        A local folder for states and decisions; it is created if it is missing.
    text, label
        Names of the columns. Rows without a label are predicted but not learned.
    message_id
        Name of the column with the ids of messages; None if labels come with their texts only.
    join_batches
        Number of earlier batches with the texts of later labels, and for which a label waits for
        its message; at least 1.

    Raises
    ------
    InputError
        If `folder/states` is not a folder, or `join_batches` is invalid; at a batch, if a column is
        missing, or a row has a label and neither a text nor an id.

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

    model: NaiveBayes[Any]
    batch: int

    def __init__(
        self,
        model: NaiveBayes[Any],
        folder: str | Path,
        text: str = "text",
        label: str = "label",
        message_id: str | None = None,
        join_batches: int = 100,
    ) -> None:
        self._id = message_id
        self._join_batches = check_bound("join_batches", join_batches, 1)
        self._folder = Path(folder)
        self._text, self._label = text, label
        self._states = self._folder / "states"
        if self._states.exists() and not self._states.is_dir():
            raise InputError(f"{self._states} is not a folder")
        self._states.mkdir(parents=True, exist_ok=True)
        self.model, self.batch = model, -1
        if known := self._numbers():
            self.batch = known[-1]
            self.model = NaiveBayes.load(self._states / f"{self.batch}.model")

    def _numbers(self) -> list[int]:
        stems = (path.stem for path in self._states.glob("*.model"))
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Predict a batch and learn it, unless it was already learned."""
        if batch <= self.batch:
            return
        _require_columns(frame, [self._text, self._label, *([self._id] if self._id else [])])
        frame = frame.persist()
        try:
            messages = frame.where(frame[self._text].isNotNull())
            labelled = frame.where(frame[self._label].isNotNull())
            if self._id is not None:
                messages, labelled = self._joined(messages, labelled, self._id, batch)
            decided = predict(messages, self.model, self._text)
            decided.write.mode("overwrite").json(str(self._path("decisions", batch)))
            learned = learn(labelled, self.model, self._text, self._label)
        finally:
            frame.unpersist()
        learned.save(self._states / f"{batch}.model")  # atomically
        self.model, self.batch = learned, batch
        for number in self._numbers()[:-_KEPT]:
            (self._states / f"{number}.model").unlink()
            shutil.rmtree(self._path("waiting", number), ignore_errors=True)

    def _path(self, kind: str, batch: int) -> Path:
        return self._folder / kind / f"batch={batch}"

    def _joined(
        self, messages: DataFrame, labels: DataFrame, key: str, batch: int
    ) -> tuple[DataFrame, DataFrame]:
        """Return the messages that no earlier batch has decided, and the labels with their texts.

        Write the labels without a message under the number of the batch: they wait for it.
        """
        from pyspark.sql import functions

        spark, text, label = messages.sparkSession, self._text, self._label
        earlier = range(max(0, batch - self._join_batches), batch)
        paths = [str(path) for one in earlier if (path := self._path("decisions", one)).exists()]
        known = spark.createDataFrame([], messages.select(key, text).schema)
        if paths:
            known = spark.read.schema(messages.schema).json(paths).select(key, text)
        named = messages.where(messages[key].isNotNull()).dropDuplicates([key])
        new = named.join(known.select(key), key, "left_anti").select(*messages.columns).persist()
        of_ids = labels.where(labels[key].isNotNull())
        waiting = of_ids.select(key, label, functions.lit(batch).alias(_ARRIVED))
        if (path := self._path("waiting", self.batch)).exists():
            before = spark.read.schema(waiting.schema).json(str(path))
            recent = before.where(before[_ARRIVED] >= batch - self._join_batches)
            waiting = waiting.unionByName(recent)
        texts = known.unionByName(new.select(key, text)).dropDuplicates([key])
        without = waiting.join(texts.select(key), key, "left_anti")
        without.write.mode("overwrite").json(str(self._path("waiting", batch)))
        decided = new.unionByName(messages.where(messages[key].isNull()))
        without_id = labels.where(labels[key].isNull()).select(text, label)
        return decided, waiting.join(texts, key).select(text, label).unionByName(without_id)
