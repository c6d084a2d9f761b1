"""Changes of a join window for its log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamnb_consumers.jsons import compact


class WindowLog:
    """Changes since they were last taken; only the last change of each key is kept.

    Parameters
    ----------
    enabled
        Whether changes are recorded.
    encode
        Returns the bytes of a value.

    Examples
    --------
    >>> log = WindowLog(enabled=True)
    >>> log.note(b"s:", "ann", 3.5)
    >>> log.note(b"m:", "a", ["hello", "ham"], new=True)
    >>> log.note(b"m:", "a", None)
    >>> log.take(), log.take()
    ([(b's:ann', b'3.5')], [])
    """

    def __init__(self, enabled: bool, encode: Callable[[Any], bytes] = compact) -> None:
        self._enabled, self._encode = enabled, encode
        self._changed: dict[bytes, Any] = {}
        self._unwritten: set[bytes] = set()

    def note(self, kind: bytes, name: str, value: Any, new: bool = False) -> None:
        """Record the current value of a key; `new` if the key did not exist before."""
        if not self._enabled:
            return
        key = kind + name.encode()
        if new and key not in self._changed:
            self._unwritten.add(key)
        if value is None and key in self._unwritten:
            # The log does not contain this key, so there is nothing to delete.
            self._unwritten.remove(key)
            del self._changed[key]
        else:
            self._changed[key] = value

    def take(self) -> list[tuple[bytes, bytes | None]]:
        """Return the changes since the last call: each key with its value, or None if deleted."""
        changes = [
            (key, None if value is None else self._encode(value))
            for key, value in self._changed.items()
        ]
        self._changed.clear()
        self._unwritten.clear()
        return changes
