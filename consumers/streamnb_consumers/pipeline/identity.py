"""Settings that all workers of a group must share, and their comparison.

Workers of a group must agree on the model, the labels, the positive label and the training log.
Otherwise their models differ without any error. Each worker therefore writes these settings next to
its training events and into its snapshots, and compares them with those that it reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Iterable
from typing import Any

from streamnb._core import unicode_version
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.jsons import canonical

__all__ = ["HEADER", "Identity", "LogWatch", "model_text"]

# Header of the first training event of each transaction.
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
    """Return the specification of a model: its class and the parameters without default value.

    Defaults are left out, so a new parameter does not change the text of existing models.

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
    """Settings that all workers of a group must share.

    Attributes
    ----------
    messages
        Kind of messages.
    model
        Specification of the model.
    labels
        Labels that are learned, sorted; empty for any label.
    pos_label
        The positive label.
    log
        Id of the training log. A topic that was created again has another id.
    unicode
        Unicode version of the tokenizer. Another version may split a text into other tokens.

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
    unicode: str = unicode_version()

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**dataclasses.asdict(self), "labels": list(self.labels)}

    @property
    def header(self) -> bytes:
        """Value of the header of training events."""
        return canonical(self.to_json())

    @property
    def digest(self) -> str:
        """Hash of the settings, 16 hexadecimal digits."""
        return hashlib.sha256(self.header).hexdigest()[:16]

    @staticmethod
    def differences(found: Any, expected: dict[str, Any]) -> str:
        """Describe the fields that differ from the expected ones; empty if none does."""
        found = found if isinstance(found, dict) else {}
        return "; ".join(
            f"{meaning}: {str(found.get(name))[:200]!r}, and here {str(expected[name])[:200]!r}"
            for name, meaning in _MEANINGS.items()
            if found.get(name) != expected[name]
        )


class LogWatch:
    """Check the settings of the workers that wrote the training events.

    Older events may come from other settings, if the last one before the start matches or the
    filter may adopt them. After the start any mismatch is an error.

    Parameters
    ----------
    mine
        Settings of this worker.
    adopt
        Whether to learn older events of other settings.

    Examples
    --------
    >>> mine = Identity("sms", "MNB()", (), "spam", "x")
    >>> watch = LogWatch(mine)
    >>> watch.see([(HEADER, dataclasses.replace(mine, model="CNB()").header)])
    >>> watch.begin()
    Traceback (most recent call last):
    streamnb_consumers.errors.SettingsError: the last training events were written ...
    >>> watch.see([(HEADER, mine.header)])
    >>> watch.begin()
    """

    def __init__(self, mine: Identity | None = None, adopt: bool = False) -> None:
        self.mine = mine
        self._adopt = adopt
        self._other: bytes | None = None
        self.begun = False

    def see(self, headers: Iterable[tuple[str, bytes | None]]) -> None:
        """Check the headers of a training event, if they contain settings.

        Raises
        ------
        SettingsError
            If the settings differ and the filter has begun.
        """
        for name, value in headers:
            if name == HEADER and self.mine is not None:
                self._other = None if value == self.mine.header else (value or b"")
                if self.begun:
                    self._check("training events are being written")

    def begin(self) -> None:
        """Begin to decide, after all existing training events were read.

        Raises
        ------
        SettingsError
            If the last training events have other settings and must not be adopted.
        """
        if self._adopt:
            self._other = None
        self._check("the last training events were written")
        self.begun = True

    def _check(self, what: str) -> None:
        if self._other is None or self.mine is None:
            return
        try:
            found = json.loads(self._other)
        except (ValueError, RecursionError):
            found = None
        differences = Identity.differences(found, self.mine.to_json()) or "unknown settings"
        raise SettingsError(
            f"{what} by a worker with other settings ({differences}): give all workers of the "
            f"group the same settings. To change the settings, stop all workers and start them "
            f"with training_log_adopt = true and an empty folder of snapshots; they then learn the "
            f"training events again"
        )
