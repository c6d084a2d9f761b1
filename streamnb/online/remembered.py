"""Which messages were learned since a moment, so that no others are unlearned."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from streamnb.parameters import check_bound

__all__ = ["Remembered"]

_DIGEST = 8  # bytes: two of 65,536 messages have the same with a probability of 1e-10


class Remembered:
    """The messages that were learned since a moment, with their labels, as digests.

    A model that began in the middle of a stream can't tell by its counts whether it learned a
    message: others may have brought the same words. Past `most` messages it forgets them all, and
    takes every message for one of them: who corrects a label does so soon.

    Parameters
    ----------
    most
        Messages that are remembered, 1 or more; 8 bytes each when saved, some 100 in memory.

    Examples
    --------
    >>> learned = Remembered()
    >>> learned.add("win cash", "spam")
    >>> learned.take("win cash", "ham"), learned.take("win cash", "spam")
    (False, True)
    >>> learned.take("win cash", "spam")  # it was learned once
    False
    """

    def __init__(self, most: int = 65_536) -> None:
        self.most = check_bound("most", most, least=1)
        self._counts: Counter[bytes] | None = Counter()  # None: too many
        self._size = 0

    def __len__(self) -> int:
        """Return how many are remembered."""
        return self._size

    @property
    def is_full(self) -> bool:
        """Whether there were too many, so that every message is taken for one of them."""
        return self._counts is None

    def add(self, x: Any, y: Any) -> None:
        """Remember a message and its label."""
        if self._counts is None:
            return
        if self._size == self.most:
            self._counts, self._size = None, 0
            return
        self._counts[_digest(x, y)] += 1
        self._size += 1

    def take(self, x: Any, y: Any) -> bool:
        """Tell whether a message was learned with this label, and forget it once."""
        if self._counts is None:
            return True
        digest = _digest(x, y)
        times = self._counts[digest]
        if times > 1:
            self._counts[digest] = times - 1
        else:
            del self._counts[digest]
        self._size -= times > 0
        return times > 0

    def to_json(self) -> dict[str, Any]:
        """Return the state: the same for the same messages, in any order."""
        digests = None
        if self._counts is not None:
            digests = base64.b64encode(b"".join(sorted(self._counts.elements()))).decode()
        return {"most": self.most, "digests": digests}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Remembered:
        """Return what `to_json` described.

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is something else.
        """
        made, digests = cls(state["most"]), state["digests"]
        if digests is None:
            made._counts = None
            return made
        joined = base64.b64decode(digests, validate=True)
        made._size, rest = divmod(len(joined), _DIGEST)
        if rest or made._size > made.most:
            raise ValueError("these are no digests, or too many")
        made._counts = Counter(joined[at : at + _DIGEST] for at in range(0, len(joined), _DIGEST))
        return made


def _digest(x: Any, y: Any) -> bytes:
    """Return what names a message and its label, the same in every process."""
    plain = sorted(map(repr, x.items())) if isinstance(x, Mapping) else x
    return hashlib.blake2b(repr((plain, y)).encode(), digest_size=_DIGEST).digest()
