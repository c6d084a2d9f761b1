"""Model files: one file, versioned, checksummed, written whole, read without pickle.

Layout: magic (8 bytes), format version (4, little-endian), SHA-256 of all that follows (32),
length of the header (8, little-endian), header (JSON, keys sorted), counts (the native snapshot).
On disk all of it is one frame of Zstandard: see `streamnb.persistence.compression`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from streamnb.errors import InputError, ModelFileError, StreamNBError
from streamnb.text.inputs import token_name
from streamnb.text.labels import Label, from_json, to_json
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

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


@runtime_checkable
class Described(Protocol):
    """A parameter that JSON can describe."""

    def described(self) -> Any:
        """Return plain values that it can be made from again."""


@dataclasses.dataclass(frozen=True)
class State:
    """What a model file holds: everything learned. Statistics follow from it.

    Attributes
    ----------
    model
        The name of the model's class.
    parameters
        Its parameters, by name.
    labels
        The labels, in sorted order.
    counts
        The snapshot of its store, whose classes are in the order of the labels.
    records
        What was recorded for tuning, by name.
    ranges
        The least and the largest number of each column; None for texts.
    """

    model: str
    parameters: dict[str, Any]
    labels: list[Label]
    counts: bytes
    records: dict[str, Any]
    ranges: dict[str, tuple[float, float]] | None


def dump(state: State) -> bytes:
    """Return the bytes of a model file.

    Raises
    ------
    InputError
        If it can't hold a parameter or a label.
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
    """Return a file with this header, and these bytes behind it."""
    import hashlib  # here and below: whoever saves nothing does not wait for them
    import json

    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    body = len(encoded).to_bytes(8, "little") + encoded + rest
    return magic + version.to_bytes(4, "little") + hashlib.sha256(body).digest() + body


def write(path: Path, data: bytes) -> None:
    """Replace a file by one with these bytes, or leave it as it was.

    A link stays, and the file that it leads to is replaced. A file keeps its mode; a new one has
    that of any new file.
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
    """Return what the bytes of a model file hold.

    Parameters
    ----------
    data
        The bytes.
    tokenizer
        The function that the model was saved with, if its tokenizer was one.

    Raises
    ------
    ModelFileError
        If they are no whole model file of this version.
    """
    header, counts = unpacked(data)
    with readable():
        described = header.pop("parameters")
        parameters = {name: _parameter_from_json(name, value) for name, value in described.items()}
        if tokenizer is not None:
            parameters["tokenizer"] = tokenizer
        elif described["tokenizer"] == {"callable": True}:
            raise ModelFileError(
                "the model was saved with a function as its tokenizer, which a file does not "
                "hold: give it as tokenizer="
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
    """Turn whatever goes wrong into a `ModelFileError`.

    Whatever passed the checksum was written by us, or by somebody who means harm: each step takes
    plain values only, and whatever does not fit is one error.
    """
    try:
        yield
    except ModelFileError:
        raise
    except _UNREADABLE as error:
        raise ModelFileError(f"the model can't be read: {error}") from error


def _ranges(described: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    ranges = {}
    for name, (low, high) in described.items():
        ranges[name] = float.fromhex(low), float.fromhex(high)
        if not -math.inf < ranges[name][0] <= ranges[name][1] < math.inf:
            raise ValueError(f"the range of {name!r} is no range")
    return ranges


def unpacked(
    data: bytes, magic: bytes = MAGIC, known: int = VERSION
) -> tuple[dict[str, Any], bytes]:
    """Return the header of a file that `packed` made, and the bytes behind it.

    Raises
    ------
    ModelFileError
        If they are no whole file of this kind and version.
    """
    if not data.startswith(magic):
        raise ModelFileError("this is no streamnb model: the file does not begin as one")
    version = int.from_bytes(data[len(magic) : len(magic) + 4], "little")
    if version != known:
        raise ModelFileError(
            f"the model has format version {version}; this streamnb reads version {known}"
        )
    import hashlib
    import json

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


def _parameter_to_json(name: str, value: Any) -> Any:
    if name == "tokenizer":
        if value is None:
            return None
        if isinstance(value, Tokenizer):
            return dataclasses.asdict(value)
        return {"callable": True}
    if name == "pos_label" and value is not None:
        return to_json(value)
    if name == "values" and value is not None:
        return {token_name(attribute): int(count) for attribute, count in value.items()}
    if isinstance(value, Described):
        return value.described()
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
    if name == "pos_label" and value is not None:
        return from_json(value)
    return value
