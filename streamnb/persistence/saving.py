"""Model files: one file, versioned, checksummed, written whole, read without pickle.

Layout: magic (8 bytes), format version (4, little-endian), SHA-256 of all that follows (32),
length of the header (8, little-endian), header (JSON, keys sorted), counts (the native snapshot).
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from streamnb.errors import InputError, ModelFileError, StreamNBError
from streamnb.online.correlation_factor import OptimalFactor
from streamnb.statistics.weights_in_use import restore_weights
from streamnb.text.inputs import token_name
from streamnb.text.labels import Labels, from_json, to_json
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from streamnb.naive_bayes import NaiveBayes

    Model = TypeVar("Model", bound=NaiveBayes)

MAGIC = b"streamNB"
VERSION = 1
_HEAD = len(MAGIC) + 4 + 32
_UNREADABLE = (
    StreamNBError,
    AttributeError,
    IndexError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
)


def dump(model: NaiveBayes) -> bytes:
    """Return the bytes of a model file."""
    header = {
        "model": type(model).__name__,
        "parameters": {
            name: _parameter_to_json(name, getattr(model, name)) for name in model._get_params()
        },
        "labels": [to_json(label) for label in model.classes_],
        **{recorder.name: recorder.state() for recorder in model._recorders},
    }
    if model._columns is not None:
        header["columns"] = {
            name: [low.hex(), high.hex()] for name, (low, high) in model._columns.ranges.items()
        }
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = len(encoded).to_bytes(8, "little") + encoded + model._store.snapshot(parents=False)
    checksum = hashlib.sha256(body).digest()
    return MAGIC + VERSION.to_bytes(4, "little") + checksum + body


def write(path: Path, data: bytes) -> None:
    """Replace a file by one with these bytes, or leave it as it was."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def load(
    cls: type[Model], data: bytes, tokenizer: Callable[[str], Iterable[Any]] | None = None
) -> Model:
    """Return the model that the bytes of a model file hold, if it is of this class."""
    header, counts = _read(data)
    # Whatever passed the checksum was written by us, or by somebody who means harm: each step
    # takes plain values only, and whatever does not fit is one error.
    try:
        found = _model_class(header["model"])
        if not issubclass(found, cls):
            raise ModelFileError(
                f"the file holds a model of class {found.__name__}, not {cls.__name__}: "
                f"use {found.__name__}.load, or streamnb.load for any"
            )
        parameters = {
            name: _parameter_from_json(name, value) for name, value in header["parameters"].items()
        }
        if tokenizer is not None:
            parameters["tokenizer"] = tokenizer
        elif header["parameters"]["tokenizer"] == {"callable": True}:
            raise ModelFileError(
                "the model was saved with a function as its tokenizer, which a file does not "
                "hold: give it as tokenizer="
            )
        model = found(**parameters)
        labels = Labels([from_json(label) for label in header["labels"]])
        model._begin(counts, labels)
        for recorder in model._recorders:
            recorder.restore(header[recorder.name])
        if model._columns is not None:
            model._columns.ranges = _ranges(header["columns"])
        if not len(labels.ids) == len(labels.names) == len(model.counts().class_documents):
            raise ModelFileError("the model can't be read: labels and counts disagree")
        if model._store.form != model.form:
            raise ModelFileError("the model can't be read: its counts have another form")
    except ModelFileError:
        raise
    except _UNREADABLE as error:
        raise ModelFileError(f"the model can't be read: {error}") from error
    model._schedule.reset(round(model.n_documents))
    model.refresh()
    return model


def state(model: NaiveBayes) -> dict[str, Any]:
    """Return what pickle and deepcopy keep: everything, the statistics in use included."""
    factor, packaging = model._factor, model._packaging
    class_ids = [class_id for _, class_id in model._labels.order]
    return {
        "parameters": {name: getattr(model, name) for name in model._get_params()},
        "labels": model.classes_,
        "counts": model._store.snapshot(parents=True),
        "effective": model._store.effective(),
        "weights": model._store.weights(),
        "exponents": model._store.exponents(),
        "tree": model._store.tree(),
        "schedule": (model._schedule.messages, model._schedule.due),
        "columns": dict(model._columns.ranges) if model._columns is not None else None,
        "records": [recorder.state() for recorder in model._recorders],
        "factors": factor.in_use(class_ids) if isinstance(factor, OptimalFactor) else None,
        "average": packaging and packaging.average,
    }


def set_state(model: NaiveBayes, kept: dict[str, Any]) -> None:
    """Make a model what another was when `state` looked at it."""
    model.__dict__.update(kept["parameters"])
    model._begin(kept["counts"], Labels(kept["labels"]))
    if kept["effective"] is not None:
        totals, indptr, class_ids, counts = kept["effective"]
        model._store.set_effective(
            model._store.layout,
            model.alpha,
            np.frombuffer(totals),
            np.frombuffer(indptr, np.int64),
            np.frombuffer(class_ids, np.int64),
            np.frombuffer(counts),
        )
    restore_weights(model._store, kept["weights"], kept["exponents"])
    model._parts.neighbourhood.plant(model._store, kept["tree"])
    model._schedule.messages, model._schedule.due = kept["schedule"]
    if model._packaging is not None:
        model._packaging.average = kept["average"]
    for recorder, record in zip(model._recorders, kept["records"], strict=True):
        recorder.restore(record)
    if isinstance(model._factor, OptimalFactor):
        model._factor.use(kept["factors"])
    if model._factor is not None:
        model._scoring = model._factor.scoring
    if model._columns is not None:
        model._columns.ranges = kept["columns"]


def _ranges(described: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    ranges = {}
    for name, (low, high) in described.items():
        ranges[name] = float.fromhex(low), float.fromhex(high)
        if not -math.inf < ranges[name][0] <= ranges[name][1] < math.inf:
            raise ValueError(f"the range of {name!r} is no range")
    return ranges


def _read(data: bytes) -> tuple[dict[str, Any], bytes]:
    if not data.startswith(MAGIC):
        raise ModelFileError("this is no streamnb model: the file does not begin as one")
    version = int.from_bytes(data[len(MAGIC) : len(MAGIC) + 4], "little")
    if version != VERSION:
        raise ModelFileError(
            f"the model has format version {version}; this streamnb reads version {VERSION}"
        )
    checksum, body = data[len(MAGIC) + 4 : _HEAD], data[_HEAD:]
    if hashlib.sha256(body).digest() != checksum:
        raise ModelFileError(
            "the model is truncated or altered: its checksum does not match; "
            "load an older snapshot or learn it again"
        )
    length = int.from_bytes(body[:8], "little")
    try:
        header = json.loads(body[8 : 8 + length])
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the model's header can't be read: {error}") from error
    if not isinstance(header, dict):
        raise ModelFileError("the model's header can't be read: it is no JSON object")
    return header, body[8 + length :]


def _model_class(name: str) -> type[NaiveBayes]:
    from streamnb import models

    found = getattr(models, name, None) if name in models.__all__ else None
    if found is None:
        raise ModelFileError(f"the file holds a model of class {name!r}, which is unknown here")
    return found  # type: ignore[no-any-return]


def _parameter_to_json(name: str, value: Any) -> Any:
    if name == "tokenizer":
        if value is None:
            return None
        if isinstance(value, Tokenizer):
            return dataclasses.asdict(value)
        return {"callable": True}
    if name == "positive" and value is not None:
        return to_json(value)
    if name == "values" and value is not None:
        return {token_name(attribute): int(count) for attribute, count in value.items()}
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(f"a model file can't hold {name}={value!r}")


def _parameter_from_json(name: str, value: Any) -> Any:
    if name == "tokenizer" and value is not None:
        if value == {"callable": True}:
            return None
        return Tokenizer(**{**value, "ngram_range": tuple(value["ngram_range"])})
    if name == "positive" and value is not None:
        return from_json(value)
    return value
