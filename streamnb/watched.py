"""What a model that watches its own errors has in common, whatever it does at an alarm of drift."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

from river import base

from streamnb.errors import InputError, ModelFileError
from streamnb.naive_bayes import NaiveBayes
from streamnb.online.drift import DriftAlarm
from streamnb.parameters import check_model
from streamnb.persistence import saving
from streamnb.persistence.compression import compressed, decompressed

__all__ = ["Watched"]


class Watched(base.Wrapper[base.Classifier], base.Classifier):
    """A model whose errors an alarm of drift watches: it decides, and its wrapper reacts.

    Before it learns a message the model predicts it, and a detector watches these errors
    (`DriftAlarm`). What `learn_one` does at an alarm is that of the class.

    Parameters
    ----------
    model
        Any classifier that learns and predicts one message at a time.
    detector
        `"adwin"` or `"ddm"`.

    Attributes
    ----------
    alarm
        The alarm of drift on the model's errors.

    Raises
    ------
    InputError
        If there is no such detector.
    """

    _magic: ClassVar[bytes]
    _file_version: ClassVar[int] = 1

    def __init__(self, model: base.Classifier, detector: str = "adwin") -> None:
        self.model: Any = check_model("model", model)
        self.detector = detector
        self.alarm = DriftAlarm(detector)

    @property
    def _wrapped_model(self) -> base.Classifier:
        model: base.Classifier = self.model
        return model

    def relearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message without a judgement: one that came before, with a corrected label.

        Raises
        ------
        InputError
            If the model refuses it; nothing is then changed.
        """
        self.model.learn_one(x, y, **kwargs)
        self._follow(x, y, **kwargs)

    def _follow(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Do what follows from a message that the model has learned, judged or not."""
        raise NotImplementedError

    @property
    def events(self) -> dict[str, int]:
        """How often each thing happened that it does at alarms, by name."""
        raise NotImplementedError

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Return the label that the model predicts; None before any learning."""
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Any, float]:
        """Return the model's probability of each label."""
        shares: dict[Any, float] = self.model.predict_proba_one(x, **kwargs)
        return shares

    def joint_log_likelihood_one(self, x: Any) -> Mapping[Any, float]:
        """Return the model's score of each label; of one that has none, log probabilities."""
        if hasattr(self.model, "joint_log_likelihood_one"):
            scores: Mapping[Any, float] = self.model.joint_log_likelihood_one(x)
            return scores
        shares = self.model.predict_proba_one(x)
        return {each: math.log(share) if share > 0 else -math.inf for each, share in shares.items()}

    def predictions_many(self, messages: Any) -> Any:
        """Return what the model says of each message: label, scores and probabilities."""
        return self.model.predictions_many(messages)

    def explain_one(self, x: Any) -> Any:
        """Return what each word adds to the model's decision."""
        return self.model.explain_one(x)

    @property
    def memory_bytes(self) -> int:
        """Bytes of the model."""
        return size_of(self.model)

    @property
    def n_words(self) -> int:
        """Different words that the model knows."""
        return int(getattr(self.model, "n_words", 0))

    @property
    def calibrated_(self) -> bool:
        """Whether the model's probabilities are calibrated."""
        return bool(getattr(self.model, "calibrated_", False))

    @property
    def half_life(self) -> float | str | None:
        """The model's half-life; None: it has none."""
        found: float | str | None = getattr(self.model, "half_life", None)
        return found

    @property
    def window(self) -> int | None:
        """The model's window; None: it has none."""
        found: int | None = getattr(self.model, "window", None)
        return found

    @property
    def n_jobs(self) -> int | None:
        """Threads of the model for batches."""
        found: int | None = getattr(self.model, "n_jobs", None)
        return found

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters, by name: those of a file, and the model."""
        return {name: getattr(self, name) for name in self._get_params()}

    def _state(self) -> tuple[dict[str, Any], bytes]:
        """Return what a file holds besides the model and the alarm: as JSON, and as bytes."""
        raise NotImplementedError

    def _restore(self, header: dict[str, Any], rest: bytes, tokenizer: Any) -> None:
        """Take what `_state` returned, of a file that may hold anything."""
        raise NotImplementedError

    def to_bytes(self) -> bytes:
        """Return a file's bytes: the model, the alarm, and what follows from it.

        Raises
        ------
        InputError
            If the model is none of this package, which alone have files.
        """
        if not isinstance(self.model, NaiveBayes):
            raise InputError(f"a {type(self.model).__name__} has no model file")
        model = self.model.to_bytes()
        state, rest = self._state()
        header = {
            "parameters": {k: v for k, v in self.saved_parameters().items() if k != "model"},
            "length": len(model),
            "alarm": self.alarm.to_json(),
        }
        return saving.packed(header | state, model + rest, self._magic, self._file_version)

    @classmethod
    def from_bytes(cls, data: bytes, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return what `to_bytes` wrote; parameters are those of `streamnb.load`.

        Raises
        ------
        ModelFileError
            If the bytes are truncated, altered, of another version or of another class.
        """
        header, rest = saving.unpacked(data, cls._magic, cls._file_version)
        with saving.readable():
            length = header["length"]
            if type(length) is not int or length < 0:
                raise ModelFileError("the model can't be read: its length is none")
            made = cls(
                NaiveBayes.from_bytes(rest[:length], tokenizer, n_jobs), **header["parameters"]
            )
            made.alarm = DriftAlarm.from_json(header["alarm"])
            made._restore(header, rest[length:], tokenizer)
        return made

    def save(self, path: str | Path) -> None:
        """Write a file, which is replaced as a whole or not at all; `load` reads it."""
        saving.write(Path(path), compressed(self.to_bytes()))

    @classmethod
    def load(cls, path: str | Path, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return what `save` wrote; parameters and errors are those of `from_bytes`."""
        return cls.from_bytes(decompressed(Path(path).read_bytes()), tokenizer, n_jobs)

    @classmethod
    def wrote(cls, data: bytes) -> bool:
        """Tell whether bytes are those of a file of this class, by how they begin."""
        return data.startswith(cls._magic)


def size_of(model: Any) -> int:
    """Return the bytes of a model, as it says or as river counts them."""
    return int(getattr(model, "memory_bytes", None) or model._raw_memory_usage)


def counts_of(header: dict[str, Any], *names: str) -> list[int]:
    """Return counts of a file's header.

    Raises
    ------
    ModelFileError
        If one is none.
    """
    counts = [header[name] for name in names]
    if not all(type(each) is int and each >= 0 for each in counts):
        raise ModelFileError("the model can't be read: its counts are none")
    return counts
