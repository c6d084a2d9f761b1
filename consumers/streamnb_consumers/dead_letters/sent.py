"""Which dead letters were sent back already: each is sent once, ever."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable

from streamnb_consumers.errors import SnapshotError

__all__ = ["SentOffsets"]


class SentOffsets:
    """The dead letters of one partition that were sent back: each is sent once, ever.

    All before `base` were, and some behind it.

    Examples
    --------
    >>> done = SentOffsets()
    >>> done.add([0, 1, 4, 5])
    >>> done.base, 4 in done, 2 in done
    (2, True, False)
    >>> again = SentOffsets.from_text(done.base, done.to_text())
    >>> again.add([2, 3])
    >>> again.base, again.to_text()
    (6, '')
    """

    def __init__(self, base: int = 0) -> None:
        self.base = base
        self._more: set[int] = set()

    def __contains__(self, offset: int) -> bool:
        return offset < self.base or offset in self._more

    def add(self, offsets: Iterable[int]) -> None:
        """Note that these were sent, or that there is nothing at these offsets."""
        self._more.update(offset for offset in offsets if offset >= self.base)
        while self.base in self._more:
            self._more.remove(self.base)
            self.base += 1

    def skip(self, first: int, end: int) -> None:
        """Note that there is nothing from one offset up to another."""
        if first <= self.base < end:
            self.base = end
            self._more = {offset for offset in self._more if offset >= end}
            self.add(())
        else:
            self.add(range(first, end))

    def to_text(self) -> str:
        """Return what is done behind `base`: a bit for each offset, compressed, in base64."""
        if not self._more:
            return ""
        bits = bytearray((max(self._more) - self.base) // 8 + 1)
        for offset in self._more:
            bits[(offset - self.base) // 8] |= 1 << (offset - self.base) % 8
        return base64.b64encode(zlib.compress(bytes(bits), 9)).decode()

    @classmethod
    def from_text(cls, base: int, text: str) -> SentOffsets:
        """Return what `to_text` wrote.

        Raises
        ------
        SnapshotError
            If it is something else.
        """
        done = cls(base)
        try:
            bits = zlib.decompress(base64.b64decode(text, validate=True)) if text else b""
        except (binascii.Error, ValueError, zlib.error) as error:
            raise SnapshotError(f"what was sent back can't be read: {error}") from error
        done.add(
            base + 8 * at + bit
            for at, byte in enumerate(bits)
            for bit in range(8)
            if byte >> bit & 1
        )
        return done
