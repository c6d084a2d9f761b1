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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from streamnb import _core
from streamnb.errors import InputError, ModelFileError
from streamnb.headers import read_number, refuse_constant
from streamnb.model.composition import AXES, Component
from streamnb.model.compression import compressed, decompressed
from streamnb.model.user_state import read_state
from streamnb.parameters import check_jobs
from streamnb.text.inputs import token_name
from streamnb.text.labels import Labels, check_label, from_json, to_json
from streamnb.text.tokenizer import Tokenizer

# hashlib is imported where it is used: it would slow down `import streamnb`.
MAGIC = b"streamNB"
VERSION = 1
_STATE = "user_state"


def packed(
    header: dict[str, Any], rest: bytes, magic: bytes = MAGIC, version: int = VERSION
) -> bytes:
    """Return a file with this header, followed by these bytes."""
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return sealed(encoded, rest, magic, version)


def sealed(header: bytes, rest: bytes, magic: bytes, version: int) -> bytes:
    """Return a file with a checksum, in the layout of this module; the header may be any bytes."""
    import hashlib

    parts = [len(header).to_bytes(8, "little"), header, rest]
    checksum = hashlib.sha256()
    for part in parts:
        checksum.update(part)
    return _core.join([magic, version.to_bytes(4, "little"), checksum.digest(), *parts])


def write(path: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file atomically.

    A link is kept, and its target is replaced. An existing file keeps its mode, a new one has
    `mode`; None is the default of the process.
    """
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        with temporary.open("xb") as file:
            if mode is not None:
                temporary.chmod(mode)
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


@contextlib.contextmanager
def readable() -> Iterator[None]:
    """Turn any error into a `ModelFileError`.

    A file with a valid checksum may still be malicious, so every step accepts plain values only.
    """
    try:
        yield
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(f"corrupt model file: {error}") from error


def _ranges(described: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    ranges = {}
    for name, (low, high) in described.items():
        ranges[name] = float.fromhex(low), float.fromhex(high)
        if not -math.inf < ranges[name][0] <= ranges[name][1] < math.inf:
            raise ValueError(f"invalid range of column {name!r}")
    return ranges


def opened(data: bytes, magic: bytes, known: int, kind: str = "model") -> tuple[bytes, bytes]:
    """Return the header and the rest of a file that `sealed` wrote.

    Raises
    ------
    ModelFileError
        If the bytes are not a complete file of this kind and version.
    """
    if not data.startswith(magic):
        raise ModelFileError(f"not a streamnb {kind}: the file has another signature")
    after = len(magic) + 4
    version = int.from_bytes(data[len(magic) : after], "little")
    if version != known:
        from importlib import metadata  # slow to import

        ours = metadata.version("streamnb")
        raise ModelFileError(
            f"the {kind} has format {version}, and streamnb {ours} reads format {known}; "
            "read it with the version of streamnb that wrote it, or a later one"
        )
    import hashlib

    checksum, body = data[after : after + 32], data[after + 32 :]
    if hashlib.sha256(body).digest() != checksum:
        raise ModelFileError(
            f"the {kind} is truncated or altered: its checksum does not match; "
            "load an older snapshot or learn it again"
        )
    end = 8 + int.from_bytes(body[:8], "little")
    return body[8:end], body[end:]


def unpacked(
    data: bytes, magic: bytes = MAGIC, known: int = VERSION
) -> tuple[dict[str, Any], bytes]:
    """Return the header and the rest of a file that `packed` wrote; raise as `opened`."""
    encoded, rest = opened(data, magic, known)
    try:
        header = json.loads(encoded, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"corrupt model file: invalid header ({error})") from error
    if not isinstance(header, dict):
        raise ModelFileError("corrupt model file: the header is not a JSON object")
    return header, rest


def state_header(state: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the part of a header that holds the state of the caller's program."""
    return {} if state is None else {_STATE: read_state(state)}


def keep_state(model: Any, header: Mapping[str, Any]) -> None:
    """Keep the state in the header of a file for `loaded_state`."""
    if _STATE in header:
        model._loaded_state = read_state(header[_STATE])


def _to_json(name: str, value: Any) -> Any:
    if isinstance(value, Component):
        return value.described()
    if isinstance(value, Tokenizer):  # options with default values are omitted
        default = dataclasses.asdict(Tokenizer())
        return {k: v for k, v in dataclasses.asdict(value).items() if v != default[k]}
    if name == "pos_label" and value is not None:
        return to_json(value)
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if name == "tokenizer":
        return {"callable": True}
    if name == "values":
        return {token_name(attribute): int(count) for attribute, count in value.items()}
    raise InputError(f"a model file cannot contain {name}={value!r}")


def _from_json(name: str, value: Any) -> Any:
    if name == "tokenizer" and isinstance(value, dict):
        if value == {"callable": True}:
            return None
        return Tokenizer(**value)
    if name == "pos_label" and value is not None:
        return from_json(value)
    if name in AXES and isinstance(value, dict):
        return AXES[name].of_description(value)
    return value


class ModelFile:
    """Saves the bytes of a model, `to_bytes`, in a file."""

    @property
    def loaded_state(self) -> dict[str, Any]:
        """The `state` in the file or the bytes that the model was loaded from; empty without one.

        Learning, copies and later files do not change or contain it: each `save` gets its own.
        """
        return dict(self.__dict__.get("_loaded_state", ()))

    def save(self: Any, path: str | Path, state: Mapping[str, Any] | None = None) -> None:
        """Write a compressed model file; an existing file is replaced atomically.

        Parameters
        ----------
        path
            The file.
        state
            State of the caller's program at this moment, such as the offsets of its topics. The
            file holds it beside the model, and `loaded_state` returns it after `load`. It maps
            texts to values of JSON, at most a MiB.

        Raises
        ------
        InputError
            If a file cannot contain a parameter, a label or the state.

        Examples
        --------
        >>> import tempfile
        >>> from streamnb import OnlineNB
        >>> model = OnlineNB()
        >>> model.learn_one("win cash", "spam")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/filter.snb", state={"messages-0": 1})
        ...     OnlineNB.load(f"{folder}/filter.snb").loaded_state
        {'messages-0': 1}
        """
        write(Path(path), compressed(self.to_bytes(state)))

    @classmethod
    def load(cls, path: str | Path, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return the model that a file contains.

        Parameters
        ----------
        path
            A file that `save` wrote.
        tokenizer
            The tokenizer function that the model was saved with, if it had one.
        n_jobs
            The parameter of this name, which files do not contain: threads for batches.

        Raises
        ------
        ModelFileError
            If the file is truncated, altered, has another version, or contains another model.
        InputError
            If `n_jobs` is invalid.
        """
        data = decompressed(Path(path).read_bytes())
        return cls.from_bytes(data, tokenizer, n_jobs)  # type: ignore[attr-defined, no-any-return]


class SavedModel(ModelFile):
    """The model files and copies of a model.

    Attributes
    ----------
    known
        The classes that a file may contain, by name.
    """

    known: ClassVar[dict[str, type[Any]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        SavedModel.known.setdefault(cls.__name__, cls)

    def to_bytes(self: Any, state: Mapping[str, Any] | None = None) -> bytes:
        """Return the bytes of a model file: equal for models with the same log and `state`.

        The file contains the statistics of the last refresh and the schedule of the next one, so
        the model and its restored copies remain equal. After `refresh`, the bytes are equal for
        models that hold the same messages, in whatever way they learned them.

        Parameters
        ----------
        state
            State of the caller's program, as in `save`.

        Raises
        ------
        InputError
            If a file cannot contain a parameter, a label or the state.
        """
        added = state_header(state)
        self._complete_statistics()
        return packed(*self._labelled.save(lambda: self._header() | added))

    def begin_bytes(
        self: Any, state: Mapping[str, Any] | None = None
    ) -> Callable[[], bytes | None]:
        """Begin `to_bytes` of this moment; return the function that completes it, in any thread.

        The model may learn meanwhile. The function returns None if the copy was abandoned, because
        another one has begun or the store has replaced its arrays: begin again then.

        Examples
        --------
        >>> from streamnb import MNB
        >>> model = MNB()
        >>> model.learn_one("cheap pills", "spam")
        >>> before, complete = model.to_bytes(), model.begin_bytes()
        >>> model.learn_one("see you at noon", "ham")
        >>> complete() == before
        True
        """
        added = state_header(state)
        # Without the lock, so that the model learns while it waits.
        self._complete_statistics()
        complete = self._labelled.begin(lambda: self._header() | added)

        def completed() -> bytes | None:
            saved = complete()
            return None if saved is None else packed(*saved)

        return completed

    def _header(self: Any) -> dict[str, Any]:
        """Return everything of a model file except the counts."""
        header = {
            **{tuning.name: tuning.state() for tuning in self._tunings},
            **self._statistics_state(),
            "model": type(self).__name__,
            "parameters": {k: _to_json(k, v) for k, v in self.saved_parameters().items()},
            "labels": [to_json(label) for label, _ in self._labels.order],
        }
        if self._columns is not None:
            header["columns"] = {
                name: [low.hex(), high.hex()] for name, (low, high) in self._columns.ranges.items()
            }
        return header

    @classmethod
    def from_bytes(cls, data: bytes, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return the model that `to_bytes` wrote; see `load` for parameters and errors."""
        check_jobs("n_jobs", n_jobs)
        header, counts = unpacked(data)
        with readable():
            found = SavedModel.known.get(header["model"])
            if found is None:
                raise ModelFileError(
                    f"the file contains a model of unknown class {header['model']!r}"
                )
            if not issubclass(found, cls):
                raise ModelFileError(
                    f"the file contains a model of class {found.__name__}, not {cls.__name__}: "
                    f"use {found.__name__}.load, or streamnb.load for any class"
                )
            parameters = {name: _from_json(name, v) for name, v in header["parameters"].items()}
            if tokenizer is not None:
                parameters["tokenizer"] = tokenizer
            elif header["parameters"]["tokenizer"] == {"callable": True}:
                raise ModelFileError(
                    "the model was saved with a function as its tokenizer, which a file cannot "
                    "contain: give it as tokenizer="
                )
            model: Any = found(**{**parameters, "n_jobs": n_jobs})
            model._begin(counts, Labels([from_json(label) for label in header["labels"]]))
            for tuning in model._tunings:
                tuning.restore(header[tuning.name])
            if model._columns is not None:
                model._columns.ranges = _ranges(header["columns"])
            model._restore_statistics(header)
            if not model._has_labels_of_counts():
                raise ModelFileError("corrupt model file: labels and counts disagree")
            keep_state(model, header)
        return model  # type: ignore[no-any-return]

    def _statistics_state(self: Any) -> dict[str, Any]:
        """Return the schedule, and the statistics that the snapshot of the store lacks."""
        return self._refreshes.state([class_id for _, class_id in self._labels.order])  # type: ignore[no-any-return]

    def _complete_statistics(self: Any) -> None:
        """Wait until statistics that are being computed can be saved."""
        self._refreshes.complete()

    def _restore_statistics(self: Any, state: dict[str, Any]) -> None:
        """Restore what `_statistics_state` returned."""
        self._refreshes.restore(state)

    def _has_labels_of_counts(self: Any) -> bool:
        """Return whether each class of the counts has a label."""
        classes = len(self._counts.class_documents)
        return len(self._labels.ids) == len(self._labels.names) == classes

    def saved_parameters(self: Any) -> dict[str, Any]:
        """Return the parameters that a model file contains: all except `n_jobs`."""
        return {k: v for k, v in self._get_params().items() if k != "n_jobs"}

    def __getstate__(self: Any) -> dict[str, Any]:
        """Return everything for pickle and deepcopy, current statistics included."""
        self._complete_statistics()
        state, counts = self._labelled.save(
            lambda: {
                "parameters": self._parameters(),
                "labels": [label for label, _ in self._labels.order],
                "columns": dict(self._columns.ranges) if self._columns is not None else None,
                "records": [tuning.state() for tuning in self._tunings],
                "statistics": self._statistics_state(),
            }
        )
        return {**state, "counts": counts}

    def __setstate__(self: Any, state: dict[str, Any]) -> None:
        with readable():
            self._restore_state(state)

    def _restore_state(self: Any, state: dict[str, Any]) -> None:
        known = {field.name for field in dataclasses.fields(self)}
        if state["parameters"].keys() != known:
            raise ModelFileError("corrupt model file: a pickle with other parameters")
        self.__dict__.update(state["parameters"])
        self._begin(state["counts"], Labels([check_label(label) for label in state["labels"]]))
        if not self._has_labels_of_counts():
            raise ModelFileError("corrupt model file: labels and counts disagree")
        for tuning, record in zip(self._tunings, state["records"], strict=True):
            tuning.restore(record)
        self._restore_statistics(state["statistics"])
        if self._columns is not None:
            self._columns.ranges = {
                name: (read_number("a range", low), read_number("a range", high))
                for name, (low, high) in state["columns"].items()
            }
