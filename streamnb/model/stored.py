"""A model over one count store: its parameters, its key, and what its counts say about it."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Generic, Self

from streamnb import _core
from streamnb.errors import InputError, UnknownParameterError
from streamnb.model import persistence, reprs
from streamnb.model.forgetting import forget_word
from streamnb.model.message_reader import MessageReader
from streamnb.model.readiness import READY_AFTER, Readiness
from streamnb.parameters import is_default
from streamnb.text.labels import L, Labels


class StoredModel(persistence.SavedModel, Generic[L]):
    """The methods that models of one label and of several labels share."""

    _counts: _core.CountStore
    _store: Any
    _labels: Labels
    _messages: MessageReader
    _lock: Any

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        """Refuse unknown parameters before `__init__` does, with the nearest names."""
        known = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        for name in parameters:
            if name not in known:
                import difflib  # rarely needed

                near = difflib.get_close_matches(name, known, 1)
                advice = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(known)}"
                raise UnknownParameterError(
                    f"{cls.__name__}.__init__() got an unexpected keyword argument {name!r}: "
                    f"{advice}"
                )
        return super().__new__(cls)

    def __post_init__(self: Any) -> None:
        self._begin(None, Labels())

    def set_pruning_key(self, key: bytes | None = None, later: bool = False) -> None:
        """Set the secret that decides with the counts which words leave beyond `max_features`.

        Without it, senders can choose words that displace others. Copies of a model that learn the
        same messages need the same key. A model file contains the key; it is not a parameter, so
        `repr` and `clone` do not show it.

        Parameters
        ----------
        key
            16 bytes; None draws them from the operating system.
        later
            Whether the key takes effect at half of `max_features` words, if there is no other key
            by then. Until then the model file does not contain it.

        Raises
        ------
        InputError
            If `key` does not have 16 bytes.
        """
        key = os.urandom(16) if key is None else key
        if not isinstance(key, bytes) or len(key) != 16:
            raise InputError("the pruning key must have 16 bytes; None draws one")
        with self._lock:
            self._counts.set_pruning_key(key, later)

    def forget_word(self, word: str) -> int:
        """Remove a word and all tokens that contain it; see `model.forgetting.forget_word`."""
        with self._lock:
            return forget_word(self._counts, word, self._messages.hashed)

    @property
    def classes_(self) -> list[L]:
        """Labels with messages, in sorted order."""
        return [label for label, _ in self._labels.order.copy()]

    @property
    def class_count_(self) -> dict[L, float]:
        """Remaining weight of the learned messages of each label."""
        order, weights = self._labels.order.copy(), self._counts.class_documents
        return {label: weights[class_id] for label, class_id in order}

    def readiness(self, least: float = READY_AFTER) -> Readiness:
        """Return whether two labels have at least `least` messages each, and the reason if not.

        Predictions do not wait for it: they follow from whatever was learned.
        """
        return Readiness.of(self.class_count_, least)

    @property
    def n_words(self) -> int:
        """Number of different learned words."""
        return self._counts.n_words

    @property
    def left_out_words_(self) -> dict[str, int]:
        """Number of words that this process has pruned, and refused from messages with too many.

        One message adds at most a sixteenth of `max_features`, or 1,024 new words.
        """
        return dict(zip(("pruned", "refused"), self._counts.left_out, strict=True))

    @property
    def memory_bytes(self) -> int:
        """Memory of the counts in bytes."""
        return int(self._store.__sizeof__())

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters by name."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: getattr(self, field.name) for field in fields}

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        defaults = {field.name: field.default for field in fields}
        changed = {k: v for k, v in self._parameters().items() if not is_default(v, defaults[k])}
        return reprs.model_text(self, changed)


def memory_bytes(model: Any) -> int | None:
    """Return the memory of a model in bytes; None if it is unknown.

    Parameters
    ----------
    model
        A model with `memory_bytes`, or a river model, whose objects are traversed.
    """
    for attribute in ("memory_bytes", "_raw_memory_usage"):
        value = getattr(model, attribute, None)
        if isinstance(value, int):
            return value
    return None
