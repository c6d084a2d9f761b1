"""Zstandard compression of files."""

from __future__ import annotations

import sys
from types import ModuleType

from streamnb.errors import ModelFileError

MAGIC = b"\x28\xb5\x2f\xfd"  # the first bytes of a Zstandard frame (RFC 8878)
# Zstandard's default. Level 19 saves a seventh to a fifth for models of SMS and mails, but takes
# seventy times as long (docs/internals/benchmarks.md).
LEVEL = 3
# Maximum decompression ratio, against malicious files. Models shrink to a third or a half.
RATIO = 256


def compressed(data: bytes) -> bytes:
    """Compress, unless the ratio exceeds the decompression limit.

    Examples
    --------
    >>> data = bytes(range(256)) * 20
    >>> len(compressed(data)), decompressed(compressed(data)) == data
    (276, True)
    >>> compressed(bytes(10**6)) == bytes(10**6)
    True
    """
    frame: bytes = zstd_module().compress(data, LEVEL)
    return frame if len(data) <= RATIO * len(frame) else data


def decompressed(data: bytes, largest: int | None = None) -> bytes:
    """Decompress; return bytes that are not a Zstandard frame unchanged.

    Parameters
    ----------
    data
        Content of a file.
    largest
        Maximum decompressed size in bytes; the default is `RATIO` times the size of the data.

    Raises
    ------
    ModelFileError
        If the data is truncated, altered, or exceeds the limit.
    """
    if not data.startswith(MAGIC):
        return data
    limit = RATIO * len(data) if largest is None else min(RATIO * len(data), largest)
    zstd = zstd_module()
    decompressor = zstd.ZstdDecompressor()
    try:
        content: bytes = decompressor.decompress(data, limit + 1)
    except zstd.ZstdError as error:
        raise ModelFileError(f"the file is altered: it cannot be decompressed ({error})") from error
    if len(content) > limit:
        raise ModelFileError(
            f"the file decompresses to more than {limit:,} bytes, the limit for {len(data):,} bytes"
        )
    if not decompressor.eof:
        raise ModelFileError("the file is truncated: its end is missing")
    if decompressor.unused_data:
        raise ModelFileError("the file is altered: there is data after its end")
    return content


def zstd_module() -> ModuleType:
    """Return the Zstandard module of this Python version."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
