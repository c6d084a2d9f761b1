"""A model that a fresh one challenges when its errors drift."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any, ClassVar

from river import base

from streamnb.errors import InputError, ModelFileError, NotLearnedError, shown
from streamnb.naive_bayes import NaiveBayes
from streamnb.online.remembered import Remembered
from streamnb.parameters import check_bound, check_number
from streamnb.watched import Watched, counts_of, size_of

__all__ = ["Challenger"]

_OUTCOMES = {"-": -1, "0": 0, "+": 1}


class Challenger(Watched):
    """A model, and after an alarm of drift a fresh one beside it that takes its place when better.

    Decisions are the model's. Before it learns a message it predicts it, and a detector watches
    these errors (`DriftAlarm`). At an alarm an untrained copy begins to learn beside it: the
    challenger. It takes over once, of the last `span` messages, it got more right than the model by
    more than `margin` of them; after `patience` messages without that it is given up. There is one
    challenger at a time, and alarms while there is one change nothing.

    Without drift it costs a prediction for each message that is learned; with a challenger twice
    the model's time and memory. What was learned before is forgotten with the model that loses.

    A message is unlearned by each of the two that has learned it. Which messages a challenger has
    learned is remembered (`Remembered`), and still is of a model that was one.

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
    n_started, n_swaps, n_given_up
        How often a challenger began, took over, and was given up.

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

    _magic: ClassVar[bytes] = b"streamCH"

    def __init__(
        self,
        model: base.Classifier,
        detector: str = "adwin",
        span: int = 100,
        margin: float = 0.05,
        patience: int = 3_000,
    ) -> None:
        super().__init__(model, detector)
        self.span = check_bound("span", span, least=1)
        self.margin = check_number("margin", margin)
        if not 0 <= self.margin <= 1:
            raise InputError(f"margin must be a share from 0 to 1, not {shown(margin)}")
        self.patience = check_bound("patience", patience, least=self.span)
        self.challenger: Any = None
        self.n_swaps = self.n_given_up = 0
        self._learned = 0  # by the challenger, of those that both were asked about
        # Of each message: 1 if the challenger alone was right, -1 if the model alone.
        self._gains: deque[int] = deque(maxlen=self.span)
        # What the model has learned, where it began as a challenger, and what the challenger has.
        self._models: Remembered | None = None
        self._challengers: Remembered | None = None

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
        self.relearn_one(x, y, **kwargs)
        raised = decision is not None and self.alarm.update(decision != y)
        if self.challenger is None:
            if raised:
                self.challenger, self._challengers = self.model.clone(), Remembered()
            return
        self._learned += 1
        self._gains.append(int(rival == y) - int(decision == y))
        if len(self._gains) == self.span and sum(self._gains) > self.margin * self.span:
            self.model, self._models = self.challenger, self._challengers
            self.n_swaps += 1
            self.alarm.renew()
            self._dismiss()
        elif self._learned >= self.patience:
            self.n_given_up += 1
            self._dismiss()

    def _follow(self, x: Any, y: Any, **kwargs: Any) -> None:
        if self._models is not None:
            self._models.add(x, y)
        if self._challengers is not None:
            self.challenger.learn_one(x, y, **kwargs)
            self._challengers.add(x, y)

    def unlearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Unlearn one message: the model does, and a challenger that has learned it.

        Raises
        ------
        NotLearnedError
            If the model has not learned it, or only one that it replaced has; nothing is changed.
        """
        if self._models is not None and not self._models.take(x, y):
            raise NotLearnedError(
                f"this message was learned with label {shown(y)} by a model that lost, or not at "
                f"all: nothing is left of it"
            )
        try:
            self.model.unlearn_one(x, y, **kwargs)
        except Exception:
            if self._models is not None:
                self._models.add(x, y)
            raise
        if self._challengers is not None and self._challengers.take(x, y):
            # Of a model that forgets, too little may be left of it here.
            with contextlib.suppress(NotLearnedError):
                self.challenger.unlearn_one(x, y, **kwargs)

    def _dismiss(self) -> None:
        self.challenger, self._challengers, self._learned = None, None, 0
        self._gains.clear()

    @property
    def memory_bytes(self) -> int:
        """Bytes of the model and of its challenger."""
        return sum(size_of(each) for each in (self.model, self.challenger) if each is not None)

    @property
    def n_started(self) -> int:
        """How often a challenger began."""
        return self.n_swaps + self.n_given_up + (self.challenger is not None)

    @property
    def events(self) -> dict[str, int]:
        """How often a challenger was started, swapped in and given up."""
        return {"started": self.n_started, "swapped": self.n_swaps, "given_up": self.n_given_up}

    def _state(self) -> tuple[dict[str, Any], bytes]:
        outcomes = {gain: sign for sign, gain in _OUTCOMES.items()}
        header = {
            "swaps": self.n_swaps,
            "given_up": self.n_given_up,
            "learned": self._learned,
            "gains": "".join(outcomes[gain] for gain in self._gains),
            "remembered": [
                None if each is None else each.to_json()
                for each in (self._models, self._challengers)
            ],
        }
        return header, b"" if self.challenger is None else self.challenger.to_bytes()

    def _restore(self, header: dict[str, Any], rest: bytes, tokenizer: Any) -> None:
        self.n_swaps, self.n_given_up, self._learned = counts_of(
            header, "swaps", "given_up", "learned"
        )
        self._gains.extend(_OUTCOMES[sign] for sign in header["gains"])
        self._models, self._challengers = (
            None if each is None else Remembered.from_json(each) for each in header["remembered"]
        )
        if rest:
            self.challenger = NaiveBayes.from_bytes(rest, tokenizer, self.n_jobs)
        if (self.challenger is None) is not (self._challengers is None):
            raise ModelFileError("the model can't be read: what its challenger learned is gone")
