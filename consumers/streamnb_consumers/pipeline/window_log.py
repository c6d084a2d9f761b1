"""The log of a join window, from which other workers rebuild it."""

from __future__ import annotations

from typing import Any

from streamnb_consumers.jsons import compact
from streamnb_consumers.pipeline.entries import WindowEntry


class WindowLog:
    """Changes of a join window since they were last taken: the last one of each key, if `enabled`.

    Examples
    --------
    >>> log = WindowLog(enabled=True)
    >>> log.note(b"s:", "ann", 3.5)
    >>> log.note(b"s:", "bob", 4.5, new=True)
    >>> log.note(b"s:", "bob", None)
    >>> log.take(), log.take()
    ([(b's:ann', b'3.5')], [])
    """

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self._changed: dict[bytes, Any] = {}
        self._unwritten: set[bytes] = set()

    def note(self, kind: bytes, name: str, value: Any, new: bool = False) -> None:
        """Record the current value of a key; `new` if the key did not exist before."""
        if not self.enabled:
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
        changes, self._changed = self._changed, {}
        self._unwritten.clear()
        return [(key, None if value is None else encode(value)) for key, value in changes.items()]


def encode(value: Any) -> bytes:
    """Return a value for the log."""
    return value.encode() if isinstance(value, WindowEntry) else compact(value)
