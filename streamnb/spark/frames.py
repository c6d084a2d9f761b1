"""Models learned from the partitions of a frame, and decisions on its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError
from streamnb.model.base import NaiveBayes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["learn", "predict"]

# What a partition gives: its model, or what is wrong with it.
_Part = tuple[bytes | None, str | None]


def learn(
    frame: DataFrame,
    model: NaiveBayes,
    text: str = "text",
    label: str = "label",
    *,
    depth: int = 2,
) -> NaiveBayes:
    """Return a model that has learned the rows of a frame besides what it knows.

    Each partition is learned by itself, in an executor, from Arrow batches; the models are merged
    in the executors, by a tree, and the driver receives one. For a model whose state does not
    depend on the order of messages (`MNB`, `CNB`, `OVA`, `BNB` … without bounds that prune) the
    bytes are those of one process that learned all rows, however many partitions there are, and
    whatever is lost and run again. For the others it is what `merge` means for them: `OnlineNB`
    averages its corrections by their evidence.

    Parameters
    ----------
    frame
        A frame of Spark with a column of texts and one of labels, neither of them null.
    model
        The model to begin with; it stays as it is. Its tokenizer is no function of Python.
    text, label
        The columns' names.
    depth
        Of the tree that merges, at least 1: with 2 the driver receives √n of n partitions' models
        at most, merged.

    Raises
    ------
    InputError
        A column is missing, a row has a null, or a parameter is out of its range.
    """
    _require_columns(frame, [text, label])
    if depth < 1:
        raise InputError(f"depth is {depth}; it should be at least 1")
    empty = _empty_like(model).to_bytes()
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


def _empty_like(model: NaiveBayes) -> NaiveBayes:
    """Return a model with the same parameters that has learned nothing."""
    empty: NaiveBayes = model.clone()
    return empty


def _learner(empty: bytes, text: str, label: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return what a partition does; it travels to the executors."""

    def learn_partition(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        model = NaiveBayes.from_bytes(empty)
        error = None
        for batch in batches:
            for name in (text, label):
                if batch.column(name).null_count:
                    error = f"column {name!r} has nulls: fill or drop them before learning"
            if error is not None:
                break
            model.learn_many(batch.column(text).to_pylist(), batch.column(label).to_pylist())
        if error is not None or model.n_documents:
            part = [None if error is not None else model.to_bytes()], [error]
            yield pyarrow.RecordBatch.from_arrays(
                [
                    pyarrow.array(part[0], pyarrow.binary()),
                    pyarrow.array(part[1], pyarrow.string()),
                ],
                ["model", "error"],
            )

    return learn_partition


def _joined(one: _Part, other: _Part) -> _Part:
    """Return both models in one; an error goes before any model."""
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
    model: NaiveBayes,
    text: str = "text",
    prediction: str = "prediction",
    probabilities: str | None = None,
) -> DataFrame:
    """Return the frame with a column of decisions: strings, null where nothing was learned.

    The model is broadcast, and read once in each Python worker of Spark.

    Parameters
    ----------
    frame
        A frame of Spark with a column of texts; the decision on a null is null.
    model
        What decides. Its tokenizer is no function of Python.
    text
        The column of texts.
    prediction
        The name of the new column; not one that is there.
    probabilities
        The name of another column, which maps each label to its probability; None for none.

    Raises
    ------
    InputError
        A column is missing, or there already.
    """
    from pyspark.sql import types

    _require_columns(frame, [text])
    added = [prediction] if probabilities is None else [prediction, probabilities]
    for name in added:
        if name in frame.columns or added.count(name) > 1:
            raise InputError(f"there is a column {name!r} already: name the new one otherwise")
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
            columns = [_back(texts, map(_plain, loaded.predict_many(asked)))]
            kinds: list[Any] = [pyarrow.string()]
            if probabilities is not None:
                told = (
                    {str(k): p for k, p in one.items()} for one in loaded.predict_proba_many(asked)
                )
                columns.append(_back(texts, told))
                kinds.append(pyarrow.map_(pyarrow.string(), pyarrow.float64()))
            made = [
                pyarrow.array([list(v.items()) if isinstance(v, dict) else v for v in column], kind)
                for column, kind in zip(columns, kinds, strict=True)
            ]
            yield pyarrow.RecordBatch.from_arrays(
                [*batch.columns, *made], [*batch.schema.names, *added]
            )

    return frame.mapInArrow(decide, schema)


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> NaiveBayes:
    return NaiveBayes.from_bytes(data)


def _plain(label: Any) -> str | None:
    return None if label is None else str(label)


def _back(texts: list[Any], answers: Iterable[Any]) -> list[Any]:
    """Return the answers in the places of the texts that are there."""
    each = iter(answers)
    return [None if one is None else next(each) for one in texts]


def _require_columns(frame: DataFrame, names: list[str]) -> None:
    for name in names:
        if name not in frame.columns:
            raise InputError(f"the frame has no column {name!r}; it has {', '.join(frame.columns)}")
