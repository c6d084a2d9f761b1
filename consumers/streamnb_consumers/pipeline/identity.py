"""What a filter's state is made with: settings and log, named so that a mismatch is noticed.

Workers of one group must agree on the model, the labels, the positive label and the log of training
events, or their models differ and nobody sees it. So each worker writes what it is set to beside
its training events, and into its snapshots, and compares what it reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Iterable
from typing import Any

from streamnb._core import UNICODE_VERSION
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.jsons import canonical

__all__ = ["HEADER", "Identity", "LogWatch", "model_text"]

# The header of the first training event of each transaction.
HEADER = "settings"
_MEANINGS = {
    "messages": "messages",
    "model": "model",
    "labels": "labels",
    "pos_label": "pos_label",
    "log": "topic id of the training events",
    "unicode": "Unicode version of the tokenizer",
}


def model_text(model: Any) -> str:
    """Return a model as a specification: its class, and the parameters that are no defaults.

    Without the defaults, so that a parameter that a later version adds changes no text.

    Examples
    --------
    >>> from streamnb import MNB, Tokenizer
    >>> model_text(MNB(alpha=1.0))
    'MNB()'
    >>> model_text(MNB(alpha=0.5, tokenizer=Tokenizer(lowercase=False)))
    'MNB(alpha=0.5, tokenizer=Tokenizer(lowercase=False))'
    >>> from streamnb.challenger import Challenger
    >>> model_text(Challenger(MNB(alpha=0.5), span=50))
    'Challenger(model=MNB(alpha=0.5), span=50)'
    """
    return _call(model, getattr(model, "saved_parameters", dict)())


def _call(made: Any, given: dict[str, Any]) -> str:
    defaults = {
        name: each.default for name, each in inspect.signature(type(made)).parameters.items()
    }
    shown = [
        f"{name}={_value(value)}"
        for name, value in given.items()
        if name not in defaults or defaults[name] != value
    ]
    return f"{type(made).__name__}({', '.join(shown)})"


def _value(value: Any) -> str:
    if hasattr(value, "saved_parameters"):
        return model_text(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return _call(value, {field.name: getattr(value, field.name) for field in fields})
    return repr(value)


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What workers of one group agree on.

    Attributes
    ----------
    messages
        The kind of messages.
    model
        The model's specification.
    labels
        Those that are learned, sorted; none: any.
    pos_label
        The label that scores are the log odds of.
    log
        The log of training events, by an id that a log made anew under its name does not have.
    unicode
        The Unicode version of the tokenizer: another version may cut a text into other tokens.

    Examples
    --------
    >>> one = Identity("sms", "MNB()", ("ham", "spam"), "spam", "x1")
    >>> Identity.differences(one.to_json(), dataclasses.replace(one, log="x2").to_json())
    "topic id of the training events: 'x1', and here 'x2'"
    >>> one.differences(one.to_json(), one.to_json())
    ''
    """

    messages: str
    model: str
    labels: tuple[str, ...]
    pos_label: str
    log: str
    unicode: str = UNICODE_VERSION

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**dataclasses.asdict(self), "labels": list(self.labels)}

    @property
    def header(self) -> bytes:
        """What stands beside training events."""
        return canonical(self.to_json())

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that name it."""
        return hashlib.sha256(self.header).hexdigest()[:16]

    @staticmethod
    def differences(found: Any, asked: dict[str, Any]) -> str:
        """Return in which fields what was found differs from what is set; empty: in none."""
        found = found if isinstance(found, dict) else {}
        return "; ".join(
            f"{meaning}: {str(found.get(name))[:200]!r}, and here {str(asked[name])[:200]!r}"
            for name, meaning in _MEANINGS.items()
            if found.get(name) != asked[name]
        )


class LogWatch:
    """Look at who wrote the training events: a worker with other settings is no worker of a group.

    Training events of before this worker began may have been learned by another model: it is asked
    only about the last ones, and may be told to adopt them. Whoever writes with other settings from
    then on is one of two that don't belong together, so this one ends.

    Parameters
    ----------
    adopt
        Whether training events of before that others wrote are learned.
    begun
        Whether there is nothing to look at: no log is shared.

    Examples
    --------
    >>> mine = Identity("sms", "MNB()", (), "spam", "x")
    >>> watch = LogWatch()
    >>> watch.expect(mine)
    >>> watch.see([(HEADER, dataclasses.replace(mine, model="CNB()").header)])
    >>> watch.begin()
    Traceback (most recent call last):
    streamnb_consumers.errors.SettingsError: the last training events were written ...
    >>> watch.see([(HEADER, mine.header)])
    >>> watch.begin()
    """

    def __init__(self, adopt: bool = False, begun: bool = False) -> None:
        self._adopt = adopt
        self._mine: Identity | None = None
        self._header = b""
        self._other: bytes | None = None
        self.begun = begun

    def expect(self, mine: Identity) -> None:
        """Say who this worker is."""
        self._mine, self._header = mine, mine.header

    def see(self, headers: Iterable[tuple[str, bytes | None]]) -> None:
        """Look at the headers of a training event; those without are adopted.

        Raises
        ------
        SettingsError
            If another wrote it, and this worker has begun.
        """
        for name, value in headers:
            if name == HEADER and self._mine is not None:
                self._other = None if value == self._header else (value or b"")
                if self.begun:
                    self._check("training events are being written")

    def begin(self) -> None:
        """Say that what was there is read, and this worker begins to decide.

        Raises
        ------
        SettingsError
            If the last training events are of other settings, and are not to be adopted.
        """
        if self._adopt:
            self._other = None
        self._check("the last training events were written")
        self.begun = True

    def _check(self, what: str) -> None:
        if self._other is None or self._mine is None:
            return
        try:
            found = json.loads(self._other)
        except (ValueError, RecursionError):
            found = None
        raise SettingsError(
            f"{what} by a worker with other settings ("
            f"{Identity.differences(found, self._mine.to_json()) or 'of another form'}): give all "
            f"workers of the group the same; or, where the change is wanted, end all of them, and "
            f"start them with training_log_adopt = true and an empty folder of snapshots: the "
            f"training events are then learned again"
        )
