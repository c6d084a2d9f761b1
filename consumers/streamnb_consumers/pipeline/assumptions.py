"""Decisions that nobody corrects become weak labels."""

from __future__ import annotations

import dataclasses
import re
from collections import OrderedDict
from collections.abc import Iterator

from streamnb.errors import InputError
from streamnb.model.forgetting import seconds_of
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline.entries import WindowEntry
from streamnb_consumers.pipeline.window import JoinWindow

_COUNT = re.compile(r"[1-9]\d{0,8}")


@dataclasses.dataclass(frozen=True, slots=True)
class AssumeAfter:
    """When a decision that nobody has corrected counts as a label.

    Attributes
    ----------
    messages
        After this number of later messages; None for no such limit.
    age
        After this time, in milliseconds; None for no such limit.

    Examples
    --------
    >>> AssumeAfter.read("100"), AssumeAfter.read("3d").age
    (AssumeAfter(messages=100, age=None), 259200000)
    >>> AssumeAfter.read("soon")
    Traceback (most recent call last):
    ...
    streamnb_consumers.errors.SettingsError: assume_after must be a number of messages or a time \
such as 12h or 3d, not 'soon'
    """

    messages: int | None = None
    age: int | None = None

    @classmethod
    def read(cls, text: str) -> AssumeAfter:
        """Return the limit in a text.

        Raises
        ------
        SettingsError
            If it is neither a number of messages nor a time.
        """
        if _COUNT.fullmatch(text):
            return cls(messages=int(text))
        try:
            return cls(age=round(seconds_of(text) * 1000))
        except InputError:
            raise SettingsError(
                f"assume_after must be a number of messages or a time such as 12h or 3d, not "
                f"{text[:50]!r}"
            ) from None


class Assumptions:
    """The messages of a join window that wait for a correction of their decisions.

    The state follows from the window, so it is not saved: these are the messages with a decision,
    in the order of the window. Decisions that were assumed before have their label in the window.

    Parameters
    ----------
    window
        The join window.
    after
        When a decision counts as a label.
    """

    def __init__(self, window: JoinWindow, after: AssumeAfter) -> None:
        self.window, self._after = window, after
        self._names: OrderedDict[str, None] = OrderedDict()
        for name in window.names():
            self._add(name)

    def follow(self, name: str) -> None:
        """Add a message that came, unless it came again and kept its place in the window."""
        if name == self.window.newest:
            self.drop(name)
            self._add(name)

    def _add(self, name: str) -> None:
        entry = self.window.get(name)
        if entry is not None and entry.decided is not None:
            self._names[name] = None

    def drop(self, name: str) -> None:
        """Leave out a message without a decision."""
        self._names.pop(name, None)

    def due(self) -> Iterator[tuple[str, WindowEntry]]:
        """Yield the messages whose decisions count as labels from now on."""
        while self._names and self._is_due():
            name, _ = self._names.popitem(last=False)
            entry = self.window.get(name)
            if entry is not None and entry.label is None and entry.decided is not None:
                yield name, entry

    def _is_due(self) -> bool:
        messages, age = self._after.messages, self._after.age
        if messages is not None:
            return len(self._names) > messages
        oldest, now = self.window.get(next(iter(self._names))), self.window.now
        if oldest is None:  # it has left the window
            return True
        if age is None or oldest.timestamp is None or now is None:
            return False
        return oldest.timestamp <= now - age
