"""Files on disk are compressed by Zstandard; those written before, as they were, are read too."""

from __future__ import annotations

import sys
from types import ModuleType

from streamnb.errors import ModelFileError

__all__ = ["compressed", "decompressed"]

MAGIC = b"\x28\xb5\x2f\xfd"  # how a frame of Zstandard begins (RFC 8878)
# Zstandard's own default. Level 19 makes a seventh to a fifth less of models of SMS and mails, in
# seventy times the time (docs/internals/benchmarks.md).
LEVEL = 3
# No file stands for more than so many times its bytes: what somebody made to fill the memory is
# refused while it is read. Models shrink to a third or a half.
RATIO = 256


def compressed(data: bytes) -> bytes:
    """Return bytes as they stand in a file: as they are, where they shrink beyond all measure.

    Examples
    --------
    >>> data = bytes(range(256)) * 20
    >>> len(compressed(data)), decompressed(compressed(data)) == data
    (276, True)
    >>> compressed(bytes(10**6)) == bytes(10**6)
    True
    """
    frame: bytes = _zstd().compress(data, LEVEL)
    return frame if len(data) <= RATIO * len(frame) else data


def decompressed(data: bytes, largest: int | None = None) -> bytes:
    """Return the bytes that `compressed` was given, or that were never compressed.

    Parameters
    ----------
    data
        What stands in a file.
    largest
        Most bytes that it may stand for; by default `RATIO` times its own.

    Raises
    ------
    ModelFileError
        If they are truncated, altered, or stand for more.
    """
    if not data.startswith(MAGIC):
        return data
    limit = RATIO * len(data) if largest is None else min(RATIO * len(data), largest)
    zstd = _zstd()
    decompressor = zstd.ZstdDecompressor()
    try:
        content: bytes = decompressor.decompress(data, limit + 1)
    except zstd.ZstdError as error:
        raise ModelFileError(f"the file is altered: it can't be decompressed ({error})") from error
    if len(content) > limit:
        raise ModelFileError(
            f"the file stands for more than {limit:,} bytes, which no file of {len(data):,} may"
        )
    if not decompressor.eof:
        raise ModelFileError("the file is truncated: its end is missing")
    if decompressor.unused_data:
        raise ModelFileError("the file is altered: something stands behind its end")
    return content


def _zstd() -> ModuleType:
    """Import Zstandard when a file is written or read, and not before."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
