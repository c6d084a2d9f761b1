"""A model that a fresh one challenges when its errors drift."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from river import base

from streamnb.errors import InputError, shown
from streamnb.online.drift import DriftAlarm
from streamnb.parameters import check_bound, check_number

__all__ = ["Challenger"]


class Challenger(base.Wrapper[base.Classifier], base.Classifier):
    """A model, and after an alarm of drift a fresh one beside it that takes its place when better.

    Decisions are the model's. Before it learns a message it predicts it, and a detector watches
    these errors (`DriftAlarm`). At an alarm an untrained copy begins to learn beside it: the
    challenger. It takes over once, of the last `span` messages, it got more right than the model by
    more than `margin` of them; after `patience` messages without that it is given up. There is one
    challenger at a time, and alarms while there is one change nothing.

    Without drift it costs a prediction for each message that is learned; with a challenger twice
    the model's time and memory. What was learned before is forgotten with the model that loses.

    Parameters
    ----------
    model
        Any classifier that learns and predicts one message at a time.
    detector
        `"adwin"` or `"ddm"`.
    span
        Messages that the two are compared on, 1 or more. 100 was chosen on the abrupt change of
        topics of `make drift`, where 300 and a margin of 0.02 had 7.6 % errors; its other streams
        confirm it.
    margin
        Share of them by which the challenger must be better, 0 to 1.
    patience
        Messages that a challenger learns at most before it wins or is given up; at least `span`.

    Attributes
    ----------
    alarm
        The alarm of drift on the model's errors.
    challenger
        The fresh model; None while there is none.
    n_swaps, n_given_up
        How often a challenger took over, and how often it was given up.

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
    J. Gama, I. Žliobaitė, A. Bifet, M. Pechenizkiy and A. Bouchachia (2014). A survey on concept
    drift adaptation. ACM Computing Surveys 46.
    """

    def __init__(
        self,
        model: base.Classifier,
        detector: str = "adwin",
        span: int = 100,
        margin: float = 0.05,
        patience: int = 3_000,
    ) -> None:
        self.model = model
        self.detector = detector
        self.span = check_bound("span", span, least=1)
        self.margin = check_number("margin", margin)
        if not 0 <= self.margin <= 1:
            raise InputError(f"margin must be a share from 0 to 1, not {shown(margin)}")
        self.patience = check_bound("patience", patience, least=self.span)
        self.alarm = DriftAlarm(detector)
        self.challenger: base.Classifier | None = None
        self.n_swaps = self.n_given_up = 0
        self._learned = 0  # by the challenger
        # Of each message: 1 if the challenger alone was right, -1 if the model alone.
        self._gains: deque[int] = deque(maxlen=self.span)

    @property
    def _wrapped_model(self) -> base.Classifier:
        return self.model

    @classmethod
    def _unit_test_params(cls) -> Any:
        from streamnb.models import MNB

        yield {"model": MNB(), "span": 20, "patience": 100}

    def learn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message, and let the challenger learn it, where there is one.

        Raises
        ------
        InputError
            If the model refuses it; nothing is then changed.
        """
        decision = self.model.predict_one(x)
        rival = None if self.challenger is None else self.challenger.predict_one(x)
        self.model.learn_one(x, y, **kwargs)
        raised = decision is not None and self.alarm.update(decision != y)
        if self.challenger is None:
            if raised:
                self.challenger = self.model.clone()
            return
        self.challenger.learn_one(x, y, **kwargs)
        self._learned += 1
        self._gains.append(int(rival == y) - int(decision == y))
        if len(self._gains) == self.span and sum(self._gains) > self.margin * self.span:
            self.model, self.n_swaps = self.challenger, self.n_swaps + 1
            self.alarm = DriftAlarm(self.detector)  # its errors are another model's
            self._dismiss()
        elif self._learned >= self.patience:
            self.n_given_up += 1
            self._dismiss()

    def _dismiss(self) -> None:
        self.challenger, self._learned = None, 0
        self._gains.clear()

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Return the label that the model predicts; None before any learning."""
        return self.model.predict_one(x, **kwargs)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Any, float]:
        """Return the model's probability of each label."""
        return self.model.predict_proba_one(x, **kwargs)

    def joint_log_likelihood_one(self, x: Any) -> Mapping[Any, float]:
        """Return the model's score of each label; of one that has none, log probabilities."""
        if hasattr(self.model, "joint_log_likelihood_one"):
            scores: Mapping[Any, float] = self.model.joint_log_likelihood_one(x)
            return scores
        shares = self.model.predict_proba_one(x)
        return {each: math.log(share) if share > 0 else -math.inf for each, share in shares.items()}

    @property
    def memory_bytes(self) -> int:
        """Bytes of the model and of its challenger."""
        sizes = [
            getattr(each, "memory_bytes", each._raw_memory_usage)
            for each in (self.model, self.challenger)
            if each is not None
        ]
        return sum(map(int, sizes))
