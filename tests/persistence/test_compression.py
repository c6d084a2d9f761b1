"""Files are smaller than what they hold, hold it whole, and stand for no more than they may."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

import streamnb
from streamnb import MNB, OnlineNB
from streamnb.challenger import Challenger
from streamnb.errors import ModelFileError
from streamnb.model.compression import MAGIC, RATIO, compressed, decompressed
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.snapshots.shared import SharedSnapshots, name_of
from streamnb_consumers.daemon.snapshots.stores import FolderStore
from streamnb_consumers.errors import SnapshotError
from streamnb_consumers.records import Partition
from support.streams import synthetic_stream

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = "".join(random.Random(4).choices("abc ", k=5_000)).encode()


@pytest.mark.parametrize("make", [MNB, OnlineNB], ids=["MNB", "OnlineNB"])
def test_a_file_is_as_small_as_zstandard_makes_it(make: type, tmp_path: Path) -> None:
    model, path = make(), tmp_path / "model"
    for text, label, *_ in synthetic_stream(300):
        model.learn_one(text, label)
    model.save(path)
    assert path.read_bytes() == zstd.compress(model.to_bytes(), 3)
    assert path.stat().st_size < len(model.to_bytes())
    assert streamnb.load(path).to_bytes() == model.to_bytes()


def test_a_file_from_before_is_read(tmp_path: Path) -> None:
    model = MNB()
    model.learn_one("win cash", "spam")
    (tmp_path / "before").write_bytes(model.to_bytes())
    assert streamnb.load(tmp_path / "before").to_bytes() == model.to_bytes()


def test_a_challenged_model_is_compressed_too(tmp_path: Path) -> None:
    model = Challenger(MNB())
    for text, label, *_ in synthetic_stream(50):
        model.learn_one(text, label)
    model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes().startswith(MAGIC)
    assert Challenger.load(tmp_path / "model").to_bytes() == model.to_bytes()


@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_truncated_file_is_refused(cut: int) -> None:
    with pytest.raises(ModelFileError, match="truncated"):
        decompressed(compressed(TEXT)[:-cut])


def test_what_stands_behind_the_end_is_refused() -> None:
    for behind in (b"x", compressed(TEXT)):
        with pytest.raises(ModelFileError, match="data after its end"):
            decompressed(compressed(TEXT) + behind)


def test_no_altered_byte_is_more_than_an_error() -> None:
    """Whatever it decompresses to then, the checksum within tells; a few bits have no meaning."""
    frame = compressed(TEXT)
    outcomes = set()
    for place in range(len(MAGIC), len(frame), 7):
        altered = bytearray(frame)
        altered[place] ^= 0x55
        try:
            outcomes.add("same" if decompressed(bytes(altered)) == TEXT else "other")
        except ModelFileError:
            outcomes.add("refused")
    assert outcomes >= {"other", "refused"}


def test_a_file_that_would_fill_the_memory_is_refused() -> None:
    bomb = zstd.compress(bytes(2**26))  # 64 MiB of nothing
    assert len(bomb) * RATIO < 2**26
    with pytest.raises(ModelFileError, match=r"decompresses to more than [\d,]+ bytes"):
        decompressed(bomb)


def test_a_bound_is_kept_to_the_byte() -> None:
    assert decompressed(compressed(TEXT), len(TEXT)) == TEXT
    with pytest.raises(ModelFileError, match="decompresses to more than 4,999 bytes"):
        decompressed(compressed(TEXT), len(TEXT) - 1)


@pytest.mark.parametrize("size", [0, 1, RATIO, 10**5, 10**7])
def test_what_is_written_is_read_however_well_it_shrinks(size: int) -> None:
    assert decompressed(compressed(bytes(size))) == bytes(size)


def test_snapshots_are_compressed_and_those_from_before_are_read(tmp_path: Path) -> None:
    snapshots, found = Snapshots(tmp_path), []
    path = snapshots.save(TEXT)
    assert path.stat().st_size < len(TEXT) / 2
    snapshots.load(found.append)
    path.write_bytes(TEXT)
    snapshots.load(found.append)
    assert found == [TEXT, TEXT]


def test_a_snapshot_larger_than_allowed_is_refused_before_it_is_whole(tmp_path: Path) -> None:
    path = Snapshots(tmp_path).save(TEXT)
    small = Snapshots(tmp_path, largest=len(TEXT) - 1)
    assert path.stat().st_size < small.largest
    with pytest.raises(SnapshotError, match="decompresses to more than 4,999 bytes"):
        small.read(path)


def test_shared_snapshots_are_compressed(tmp_path: Path) -> None:
    offsets = {Partition("training", 0): 7}
    shared = SharedSnapshots(FolderStore(tmp_path), every=0.0, clock=lambda: 1.0)
    shared.offer(TEXT, offsets, "0123456789abcdef")
    shared.close(60.0)
    written = (tmp_path / name_of(offsets, "0123456789abcdef").name).read_bytes()
    assert decompressed(written) == TEXT
    assert len(written) < len(TEXT) / 2
