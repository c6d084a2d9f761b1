"""Settings that all workers of a group must share, and their comparison.

Workers of a group must agree on each setting that changes the model or its statistics.
Otherwise their models differ without any error. Each worker therefore writes these settings next to
its training events and into its snapshots, and compares them with those that it reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
from typing import Any

from streamnb._core import unicode_version
from streamnb_consumers.jsons import canonical, parse

# Header of the first training event of each transaction.
HEADER = "settings"
_MEANINGS = {
    "log": "topic id of the training events",
    "unicode": "Unicode version of the tokenizer",
}
# A model that has learned under other values of these settings is still valid.
_CHANGEABLE = ("negative", "max_fpr", "drift", "max_bytes", "max_text")


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
    negative, max_fpr, drift, max_bytes, max_text
        The settings of these names, which change the decision threshold, the drift alarm, or the
        training events.

    Examples
    --------
    >>> one = Identity("sms", "MNB()", ("ham", "spam"), "spam", "x1")
    >>> dataclasses.replace(one, log="x2").differences(one.to_json())
    "topic id of the training events: 'x1', and here 'x2'"
    >>> one.differences(one.header)
    ''
    """

    messages: str
    model: str
    labels: tuple[str, ...]
    pos_label: str
    log: str
    unicode: str = unicode_version()
    negative: str = "ham"
    max_fpr: float | None = None
    drift: str | None = None
    max_bytes: int = 0
    max_text: int = 0

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

    def differences(self, found: Any, changeable: bool = True) -> str:
        """Describe the differences of other settings, as plain values or JSON; empty if none.

        If `changeable` is False, settings that may change while the model stays are left out.
        """
        if isinstance(found, bytes):
            try:
                found = parse(found)
            except (ValueError, RecursionError):
                return "unknown settings"
        found = found if isinstance(found, dict) else {}
        return "; ".join(
            f"{_MEANINGS.get(name, name)}: {str(found.get(name))[:200]!r}, and here "
            f"{str(expected)[:200]!r}"
            for name, expected in self.to_json().items()
            if found.get(name) != expected and (changeable or name not in _CHANGEABLE)
        )
