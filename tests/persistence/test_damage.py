"""Every way to damage a model file is noticed."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import streamnb
from streamnb import _core
from streamnb.errors import ModelFileError, StreamNBError
from support.files import small
from support.models import structures
from support.profiles import also_in_soak

if TYPE_CHECKING:
    from pathlib import Path


# --- damage ---------------------------------------------------------------------------------------


@structures()
def test_truncated_at_every_length(name: str, path: Path) -> None:
    whole = small(name).to_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError) as error:
            streamnb.load(path)
        assert str(error.value)


@pytest.mark.parametrize("flip", also_in_soak([0x80], [0x01, 0xFF]), ids=hex)
@structures()
def test_altered_byte_at_every_position(name: str, flip: int, path: Path) -> None:
    whole = bytearray(small(name).to_bytes())
    for position in range(len(whole)):
        whole[position] ^= flip
        path.write_bytes(whole)
        with pytest.raises(ModelFileError):
            streamnb.load(path)
        whole[position] ^= flip
    path.write_bytes(whole)
    assert streamnb.load(path).to_bytes() == bytes(whole)


@structures()
def test_more_bytes_than_the_model(name: str, path: Path) -> None:
    whole = small(name).to_bytes()
    for extra in (b"\x00", b"\n", whole):
        path.write_bytes(whole + extra)
        with pytest.raises(ModelFileError):
            streamnb.load(path)


def test_swapped_stretches(path: Path) -> None:
    whole = small("HMNB").to_bytes()
    for start in range(0, len(whole) - 16, 8):
        first, second = whole[start : start + 8], whole[start + 8 : start + 16]
        if first == second:
            continue
        path.write_bytes(whole[:start] + second + first + whole[start + 16 :])
        with pytest.raises(ModelFileError):
            streamnb.load(path)


def test_wrong_version_is_named(path: Path) -> None:
    whole = small("MNB").to_bytes()
    path.write_bytes(whole[:8] + (7).to_bytes(4, "little") + whole[12:])
    with pytest.raises(
        ModelFileError, match=f"format 7, and streamnb {streamnb.__version__} reads format 1"
    ):
        streamnb.load(path)


FOREIGN = {
    "empty": b"",
    "one byte": b"\x00",
    "text": b"label\ttext\nham\thello\n",
    "json": b'{"model": "MNB", "version": 1}',
    "zeros": bytes(4096),
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03" + bytes(64),
    "zip": b"PK\x03\x04" + bytes(64),
    "png": b"\x89PNG\r\n\x1a\n" + bytes(64),
    "pickle": pickle.dumps({"model": "MNB"}),
    "huge length": b"\xff" * 256,
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@structures()
def test_foreign_files(name: str, content: bytes, path: Path) -> None:
    path.write_bytes(content)
    for load in (streamnb.load, getattr(streamnb, name).load):
        with pytest.raises(ModelFileError, match=r".{10}"):
            load(path)


def test_loading_another_model_by_class(path: Path) -> None:
    small("MNB").save(path)
    with pytest.raises(ModelFileError, match="MNB"):
        streamnb.HMNB.load(path)


def test_pickle_of_a_model_is_no_model_file(path: Path) -> None:
    path.write_bytes(pickle.dumps(small("MNB")))
    with pytest.raises(ModelFileError):
        streamnb.load(path)


class Bomb:
    """A pickle that runs a command when loaded."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.trace),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_bomb_is_not_run(protocol: int, path: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    path.write_bytes(pickle.dumps(Bomb(trace), protocol))
    with pytest.raises(ModelFileError):
        streamnb.load(path)
    assert not trace.exists()


def test_loading_calls_no_unpickler(path: Path) -> None:
    """In a process where every way to unpickle fails, a model still loads."""
    small("HOVA").save(path)
    program = f"""
import streamnb, pickle, _pickle, marshal, shelve
streamnb.load({str(path)!r})  # imports what it needs: an import reads compiled code with marshal
def refuse(*arguments, **keywords): raise SystemExit("loading unpickles")
for module in (pickle, _pickle):
    for name in ("load", "loads", "Unpickler", "_load", "_loads", "_Unpickler"):
        if hasattr(module, name): setattr(module, name, refuse)
marshal.load = marshal.loads = refuse
print(streamnb.load({str(path)!r}).n_words)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("3", 0), done.stderr


def test_absent_file_and_folder(tmp_path: Path) -> None:
    for place in (tmp_path / "absent", tmp_path):
        with pytest.raises((StreamNBError, OSError), match="absent|" + tmp_path.name):
            streamnb.load(place)


def test_an_array_that_ends_within_a_number_is_refused() -> None:
    with pytest.raises(StreamNBError, match="ends within a number"):
        _core.Batch.from_rows(b"1234567", b"", b"", [])
