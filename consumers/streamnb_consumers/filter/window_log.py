"""What changed in a join window, for the log from which another worker makes the same one."""

from __future__ import annotations

from streamnb_consumers.filter.window_entries import WindowEntry, encode_entry
from streamnb_consumers.records import Record

__all__ = ["WindowLog"]


class WindowLog:
    """Changes since they were last taken: of each key the last one.

    Parameters
    ----------
    kept
        Whether there is a log; if not, nothing is noted.

    Examples
    --------
    >>> log = WindowLog(kept=True)
    >>> log.note(b"s:", "ann", 3.5)
    >>> log.note(b"m:", "a", WindowEntry(b'"hello"', "ham", -1.0), new=True)
    >>> log.note(b"m:", "a", None)
    >>> log.take(), log.take()
    ([(b's:ann', b'3.5')], [])
    """

    def __init__(self, kept: bool) -> None:
        self._kept = kept
        self._changed: dict[bytes, WindowEntry | Record | float | None] = {}
        self._unwritten: set[bytes] = set()

    def note(
        self, kind: bytes, name: str, value: WindowEntry | Record | float | None, new: bool = False
    ) -> None:
        """Note what a key holds now; `new` if it held nothing before."""
        if not self._kept:
            return
        key = kind + name.encode()
        if new and key not in self._changed:
            self._unwritten.add(key)
        if value is None and key in self._unwritten:
            # The log knows nothing of it, so there is nothing to delete.
            self._unwritten.remove(key)
            del self._changed[key]
        else:
            self._changed[key] = value

    def take(self) -> list[tuple[bytes, bytes | None]]:
        """Return what changed since the last call: what each key holds now; None, nothing."""
        if not self._changed:
            return []
        changes = [(key, encode_entry(value)) for key, value in self._changed.items()]
        self._changed.clear()
        self._unwritten.clear()
        return changes
