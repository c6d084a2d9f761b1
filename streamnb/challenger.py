"""A model that a new one replaces when its errors drift."""

from __future__ import annotations

import contextlib
import hashlib
import math
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any, Self

from river import base

from streamnb.errors import InputError, ModelFileError, NotLearnedError, shown
from streamnb.families.independent import MNB
from streamnb.headers import read_whole
from streamnb.model import persistence
from streamnb.model.base import NaiveBayes
from streamnb.model.drift import DriftAlarm
from streamnb.model.stored import memory_bytes
from streamnb.parameters import check_bound, check_model, check_share

MAGIC = b"streamCH"
VERSION = 1
# Messages whose fingerprints a model keeps; beyond that it accepts every message for unlearning.
_MOST_FINGERPRINTS = 65_536
_FORWARDED = {"predictions_many", "explain_one", "n_words", "calibrated_"}
_FORWARDED |= {"reads_columns", "class_count_", "left_out_words_", "half_life", "window_size"}
_FORWARDED |= {"n_jobs", "readiness", "evidence_one"}
_FINGERPRINT_BYTES = 8  # two of 65,536 messages collide with a probability of 1e-10


class Challenger(persistence.ModelFile, base.Wrapper[base.Classifier], base.Classifier):
    """A model that a new one challenges after a drift alarm, and replaces if it is better.

    The model makes all decisions. It predicts each message before learning it, and a detector
    receives these errors (`DriftAlarm`). An alarm starts the challenger: an untrained copy that
    learns in parallel. It takes over once it was right more often than the model by more than
    `margin` of the last `span` messages. After `patience` messages it is given up. There is at most
    one challenger, and alarms have no effect while there is one.

    Without drift, learning costs one prediction more; with a challenger, time and memory double.
    The losing model is dropped with everything it has learned.

    Both models unlearn a message if they have learned it. A model that began as a challenger keeps
    the fingerprints of its messages, because its counts alone cannot tell.

    Parameters
    ----------
    model
        Any classifier that learns and predicts one message at a time.
    detector
        `"adwin"` or `"ddm"`.
    span
        Messages that both models are compared on, 1 or more. 100 was chosen on the abrupt changes
        of `make drift`, where 300 and a margin of 0.02 had 7.6 % errors; its other streams confirm
        it.
    margin
        Minimum lead of the challenger, as a share of these messages: 0 to 1.
    patience
        Maximum number of messages that a challenger learns before it wins or is given up; at least
        `span`.

    Attributes
    ----------
    alarm
        The drift alarm on the model's errors.
    challenger
        The new model, if one is learning.
    n_started, n_swaps, n_given_up
        Number of challengers that started, took over, and were given up.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> from streamnb import MNB
    >>> from streamnb.challenger import Challenger
    >>> model = Challenger(MNB(), span=50)
    >>> stream = [("win cash", "spam"), ("see you", "ham")] * 200
    >>> for x, y in [*stream, *((x, "ham" if y == "spam" else "spam") for x, y in stream)]:
    ...     model.learn_one(x, y)
    >>> model.n_swaps, model.predict_one("win cash")
    (1, 'ham')

    References
    ----------
    [^1]: Gama, Žliobaitė, Bifet, Pechenizkiy and Bouchachia (2014), A survey on concept drift
          adaptation.
    """

    n_swaps: int
    n_given_up: int

    def __init__(
        self,
        model: base.Classifier,
        detector: str = "adwin",
        span: int = 100,
        margin: float = 0.05,
        patience: int = 3_000,
    ) -> None:
        self.model: Any = check_model("model", model)
        self.detector = detector
        self.alarm: DriftAlarm = DriftAlarm(detector)
        self.span: int = check_bound("span", span, least=1)
        self.margin: float = check_share("margin", margin)
        self.patience: int = check_bound("patience", patience, least=self.span)
        self.challenger: Any = None
        self.n_swaps = self.n_given_up = 0
        self._n_learned = 0  # messages that both models predicted and learned
        # For each of them: 1 if only the challenger was right, -1 if only the model was.
        self._gains: deque[int] = deque(maxlen=self.span)
        # Messages that the model has learned if it was a challenger, and that the challenger has.
        self._models: _Fingerprints | None = None
        self._challengers: _Fingerprints | None = None
        self._pruning_key: tuple[bytes | None, bool] | None = None  # of challengers

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"model": MNB(), "span": 20, "patience": 100}

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    # --- learning -----------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message with the model and its challenger.

        Raises
        ------
        InputError
            If the model refuses it; nothing changes.
        """
        decision = self.model.predict_one(x)
        challenge = None if self.challenger is None else self.challenger.predict_one(x)
        self.relearn_one(x, y, **kwargs)
        raised = decision is not None and self.alarm.update(decision != y)
        if self.challenger is None:
            if raised:
                self.challenger, self._challengers = self.model.clone(), _Fingerprints({})
                if self._pruning_key is not None:
                    self.challenger.set_pruning_key(*self._pruning_key)
            return
        self._n_learned += 1
        self._gains.append(int(challenge == y) - int(decision == y))
        if len(self._gains) == self.span and sum(self._gains) > self.margin * self.span:
            self.model, self._models = self.challenger, self._challengers
            self.n_swaps += 1
            self.alarm.renew()
            self._drop_challenger()
        elif self._n_learned >= self.patience:
            self.n_given_up += 1
            self._drop_challenger()

    def relearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn an earlier message with a corrected label, without evaluating the prediction."""
        self.model.learn_one(x, y, **kwargs)
        if self._models is not None:
            self._models.add(x, y)
        if self._challengers is not None:
            self.challenger.learn_one(x, y, **kwargs)
            self._challengers.add(x, y)

    def unlearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Unlearn one message with the model, and with the challenger if it has learned it.

        Raises
        ------
        NotLearnedError
            If the model has not learned it, or only a model that it replaced; nothing changes.
        """
        if self._models is not None and not self._models.take(x, y):
            raise NotLearnedError(
                f"the current model never learned this message with label {shown(y)}; a model "
                f"that it replaced may have"
            )
        try:
            self.model.unlearn_one(x, y, **kwargs)
        except Exception:
            if self._models is not None:
                self._models.add(x, y)
            raise
        if self._challengers is not None and self._challengers.take(x, y):
            # A model that forgets may have too little left of the message.
            with contextlib.suppress(NotLearnedError):
                self.challenger.unlearn_one(x, y, **kwargs)

    def _drop_challenger(self) -> None:
        self.challenger, self._challengers, self._n_learned = None, None, 0
        self._gains.clear()

    def set_pruning_key(self, key: bytes | None = None, later: bool = False) -> None:
        """Set the key of pruning of both models and of later challengers, as `NaiveBayes` does."""
        self._pruning_key = key, later
        for model in (self.model, self.challenger):
            if model is not None:
                model.set_pruning_key(key, later)

    def forget_word(self, word: str) -> int:
        """Remove a word from both models, as `NaiveBayes.forget_word` does."""
        models = [model for model in (self.model, self.challenger) if model is not None]
        return sum(model.forget_word(word) for model in models)

    # --- predicting ---------------------------------------------------------------------------

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Return the model's label; None before any learning."""
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> Any:
        """Return the model's probability of each label."""
        return self.model.predict_proba_one(x, **kwargs)

    def joint_log_likelihood_one(self, x: Any) -> Any:
        """Return the model's score of each label; log probabilities if it has no scores."""
        if hasattr(self.model, "joint_log_likelihood_one"):
            return self.model.joint_log_likelihood_one(x)
        shares = self.model.predict_proba_one(x)
        return {each: math.log(share) if share > 0 else -math.inf for each, share in shares.items()}

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model: one of `_FORWARDED`."""
        if name not in _FORWARDED:
            raise AttributeError(f"a Challenger has no attribute {name!r}")
        return getattr(self.model, name)

    # --- properties ---------------------------------------------------------------------------

    @property
    def memory_bytes(self) -> int:
        """Memory of the model and its challenger in bytes."""
        models = [each for each in (self.model, self.challenger) if each is not None]
        return sum(memory_bytes(each) or 0 for each in models)

    @property
    def n_started(self) -> int:
        """Number of challengers that started."""
        return self.n_swaps + self.n_given_up + (self.challenger is not None)

    @property
    def events(self) -> dict[str, int]:
        """Number of challengers that started, took over, and were given up."""
        return {"started": self.n_started, "swapped": self.n_swaps, "given_up": self.n_given_up}

    # --- model files --------------------------------------------------------------------------

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters by name, the model included."""
        return {name: getattr(self, name) for name in self._get_params()}

    def to_bytes(self, state: Mapping[str, Any] | None = None) -> bytes:
        """Return the bytes of a model file: both models, the alarm and the comparison.

        Only models of this package have a file. `state` is as in `save`.
        """
        while (data := self.begin_bytes(state)()) is None:
            pass
        return data

    def begin_bytes(self, state: Mapping[str, Any] | None = None) -> Callable[[], bytes | None]:
        """Begin `to_bytes` of this moment, as `begin_bytes` of a model does."""
        if not isinstance(self.model, NaiveBayes):
            raise InputError(f"a {type(self.model).__name__} has no model file")
        added = persistence.state_header(state)
        model = self.model.begin_bytes()
        challenger = (lambda: b"") if self.challenger is None else self.challenger.begin_bytes()
        header = {
            "parameters": {k: v for k, v in self.saved_parameters().items() if k != "model"},
            "alarm": self.alarm.to_json(),
            "swaps": self.n_swaps,
            "given_up": self.n_given_up,
            "learned": self._n_learned,
            "gains": list(self._gains),
            # For each model that has fingerprints a list of one; equal models have equal bytes.
            "fingerprints": [
                [] if each is None else [each.counts and dict(sorted(each.counts.items()))]
                for each in (self._models, self._challengers)
            ],
            **added,
        }

        def complete() -> bytes | None:
            parts = model(), challenger()
            if parts[0] is None or parts[1] is None:
                return None
            header["length"] = len(parts[0])
            return persistence.packed(header, parts[0] + parts[1], MAGIC, VERSION)

        return complete

    @classmethod
    def from_bytes(cls, data: bytes, tokenizer: Any = None, n_jobs: int | None = None) -> Self:
        """Return the model that `to_bytes` wrote; the parameters are described at `streamnb.load`.

        Raises
        ------
        ModelFileError
            If the bytes are truncated, altered, or have another version or class.
        """
        header, rest = persistence.unpacked(data, MAGIC, VERSION)
        with persistence.readable():
            length, *counters = (
                read_whole(k, header[k]) for k in ("length", "swaps", "given_up", "learned")
            )
            model = NaiveBayes.from_bytes(rest[:length], tokenizer, n_jobs)
            made = cls(model, **header["parameters"])
            made.alarm = DriftAlarm.from_json(header["alarm"])
            made.n_swaps, made.n_given_up, made._n_learned = counters
            gains = [read_whole("a gain", each, -1, 1) for each in header["gains"]]
            if len(gains) != min(made._n_learned, made.span):
                raise ModelFileError("corrupt model file: wrong number of gains")
            made._gains.extend(gains)
            made._models, made._challengers = (
                _Fingerprints(*each) if each else None for each in header["fingerprints"]
            )
            if rest[length:]:
                made.challenger = NaiveBayes.from_bytes(rest[length:], tokenizer, n_jobs)
            if (made.challenger is None) is not (made._challengers is None):
                raise ModelFileError("corrupt model file: missing challenger or fingerprints")
            persistence.keep_state(made, header)
        return made

    @classmethod
    def wrote(cls, data: bytes) -> bool:
        """Return whether bytes have the signature of this class."""
        return data.startswith(MAGIC)


class _Fingerprints:
    """A multiset of messages with their labels, as digests.

    A model that started in the middle of a stream cannot tell from its counts whether it has
    learned a message, because others may have contained the same words. Beyond
    `_MOST_FINGERPRINTS` messages it accepts all of them; most corrections arrive earlier.

    Parameters
    ----------
    counts
        Number of messages by their digests; None for too many of them.
    """

    def __init__(self, counts: Mapping[str, int] | None) -> None:
        self.counts = None if counts is None else Counter(counts)
        for count in (self.counts or {}).values():
            read_whole("a number of messages", count, least=1)

    def add(self, x: Any, y: Any) -> None:
        """Add a message and its label."""
        if self.counts is not None:
            self.counts[_fingerprint(x, y)] += 1
            if len(self.counts) > _MOST_FINGERPRINTS:
                self.counts = None

    def take(self, x: Any, y: Any) -> bool:
        """Remove a message once; return whether it was present."""
        if self.counts is None:
            return True
        fingerprint = _fingerprint(x, y)
        times = self.counts.pop(fingerprint, 0)
        if times > 1:
            self.counts[fingerprint] = times - 1
        return times > 0


def _fingerprint(x: Any, y: Any) -> str:
    """Return a digest of a message and its label, equal in every process."""
    plain = sorted(map(repr, x.items())) if isinstance(x, Mapping) else x
    return hashlib.blake2b(repr((plain, y)).encode(), digest_size=_FINGERPRINT_BYTES).hexdigest()
