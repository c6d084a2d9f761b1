"""Model files: versioned, checksummed, written atomically and read without pickle.

Layout: magic (8 bytes), format version (4, little-endian), SHA-256 of the rest (32), length of the
header (8, little-endian), header (JSON with sorted keys), counts (the native snapshot). On disk the
whole is one Zstandard frame: see `streamnb.model.compression`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError, ModelFileError, StreamNBError
from streamnb.model.composition import Component
from streamnb.model.compression import compressed, decompressed
from streamnb.statistics.counts import Counts
from streamnb.text.inputs import token_name
from streamnb.text.labels import Label, from_json, to_json
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

# hashlib and pathlib are imported where they are used: they would slow down `import streamnb`.
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


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class State:
    """The content of a model file: everything that was learned. Statistics follow from it.

    Attributes
    ----------
    model
        Name of the model's class.
    parameters
        Its parameters, by name.
    labels
        Its labels, in sorted order.
    counts
        The snapshot of its store; classes are in the order of the labels.
    records
        Tuning records by name.
    ranges
        Minimum and maximum of each numeric column; None for texts.
    """

    model: str
    parameters: dict[str, Any]
    labels: list[Label]
    counts: bytes
    records: dict[str, Any]
    ranges: dict[str, tuple[float, float]] | None


def state_of(model: Any) -> State:
    """Return everything that a model has learned."""
    return State(
        type(model).__name__,
        model.saved_parameters(),
        [label for label, _ in model._labels.order],
        model._store.snapshot(statistics=False),
        {tuning.name: tuning.state() for tuning in model._tunings},
        None if model._columns is None else model._columns.ranges,
    )


def restore(model: Any, state: State) -> None:
    """Restore records and ranges in a model that already has the labels and counts of a state.

    Raises
    ------
    ModelFileError
        If the parts of the state contradict each other; other errors mean a corrupt file too.
    """
    for tuning in model._tunings:
        tuning.restore(state.records[tuning.name])
    if model._columns is not None:
        if state.ranges is None:
            raise KeyError("columns")
        model._columns.ranges = dict(state.ranges)
    labels = model._labels
    classes = len(Counts.of(model._counts).class_documents)
    if not len(labels.ids) == len(labels.names) == classes:
        raise ModelFileError("corrupt model file: labels and counts disagree")
    if model._counts.term_weighting != model.term_weighting:
        raise ModelFileError("corrupt model file: its counts have another term_weighting")


def dump(state: State) -> bytes:
    """Return the bytes of a model file.

    Raises
    ------
    InputError
        If a file cannot contain a parameter or a label.
    """
    header = {
        **state.records,
        "model": state.model,
        "parameters": {
            name: _parameter_to_json(name, value) for name, value in state.parameters.items()
        },
        "labels": [to_json(label) for label in state.labels],
    }
    if state.ranges is not None:
        header["columns"] = {
            name: [low.hex(), high.hex()] for name, (low, high) in state.ranges.items()
        }
    return packed(header, state.counts)


def packed(
    header: dict[str, Any], rest: bytes, magic: bytes = MAGIC, version: int = VERSION
) -> bytes:
    """Return a file with this header, followed by these bytes."""
    import hashlib

    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = len(encoded).to_bytes(8, "little") + encoded + rest
    return magic + version.to_bytes(4, "little") + hashlib.sha256(body).digest() + body


def save(path: str | Path, data: bytes) -> None:
    """Write compressed bytes to a file atomically."""
    from pathlib import Path

    write(Path(path), compressed(data))


def load(path: str | Path) -> bytes:
    """Return the decompressed bytes of a file."""
    from pathlib import Path

    return decompressed(Path(path).read_bytes())


def write(path: Path, data: bytes) -> None:
    """Write a file atomically.

    A link is kept, and its target is replaced. An existing file keeps its mode.
    """
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        with temporary.open("xb") as file:
            with contextlib.suppress(FileNotFoundError):
                temporary.chmod(path.stat().st_mode & 0o7777)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def read(data: bytes, tokenizer: Any = None) -> State:
    """Return the content of a model file.

    Parameters
    ----------
    data
        The bytes.
    tokenizer
        The tokenizer function that the model was saved with, if it had one.

    Raises
    ------
    ModelFileError
        If the bytes are not a complete model file of this version.
    """
    header, counts = unpacked(data)
    with readable():
        described = header.pop("parameters")
        parameters = {name: _parameter_from_json(name, value) for name, value in described.items()}
        if tokenizer is not None:
            parameters["tokenizer"] = tokenizer
        elif described["tokenizer"] == {"callable": True}:
            raise ModelFileError(
                "the model was saved with a function as its tokenizer, which a file cannot "
                "contain: give it as tokenizer="
            )
        labels = [from_json(label) for label in header.pop("labels")]
        ranges = header.pop("columns", None)
        return State(
            header.pop("model"),
            parameters,
            labels,
            counts,
            header,
            None if ranges is None else _ranges(ranges),
        )


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Turn any error into a `ModelFileError`.

    A file with a valid checksum may still be malicious, so every step accepts plain values only.
    """
    try:
        yield
    except ModelFileError:
        raise
    except _UNREADABLE as error:
        raise ModelFileError(f"corrupt model file: {error}") from error


def _ranges(described: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    ranges = {}
    for name, (low, high) in described.items():
        ranges[name] = float.fromhex(low), float.fromhex(high)
        if not -math.inf < ranges[name][0] <= ranges[name][1] < math.inf:
            raise ValueError(f"invalid range of column {name!r}")
    return ranges


def unpacked(
    data: bytes, magic: bytes = MAGIC, known: int = VERSION
) -> tuple[dict[str, Any], bytes]:
    """Return the header and the rest of a file that `packed` wrote.

    Raises
    ------
    ModelFileError
        If the bytes are not a complete file of this kind and version.
    """
    if not data.startswith(magic):
        raise ModelFileError("not a streamnb model: the file has another signature")
    version = int.from_bytes(data[len(magic) : len(magic) + 4], "little")
    if version != known:
        raise ModelFileError(
            f"the model has format version {version}; this streamnb reads version {known}"
        )
    import hashlib

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
        raise ModelFileError(f"corrupt model file: invalid header ({error})") from error
    if not isinstance(header, dict):
        raise ModelFileError("corrupt model file: the header is not a JSON object")
    return header, body[8 + length :]


def _parameter_to_json(name: str, value: Any) -> Any:
    if name == "tokenizer":
        if value is None:
            return None
        if isinstance(value, Tokenizer):  # options with default values are omitted
            default = dataclasses.asdict(Tokenizer())
            return {k: v for k, v in dataclasses.asdict(value).items() if v != default[k]}
        return {"callable": True}
    if name == "pos_label" and value is not None:
        return to_json(value)
    if name == "values" and value is not None:
        return {token_name(attribute): int(count) for attribute, count in value.items()}
    if isinstance(value, Component):
        return value.described()
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(f"a model file cannot contain {name}={value!r}")


def _parameter_from_json(name: str, value: Any) -> Any:
    if name == "tokenizer" and value is not None:
        if value == {"callable": True}:
            return None
        options: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()}
        return Tokenizer(**options)
    if name == "pos_label" and value is not None:
        return from_json(value)
    return value
