"""Scores, probabilities and memory of any model.

Any river classifier can be evaluated. If the model or the last step of a pipeline has joint log
likelihoods, the score is the log odds of the positive class. Probabilities of long messages would
saturate at 0 or 1 and tie. Otherwise the score is the logit of the probability, which preserves its
order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol, TypeAlias, cast

from streamnb.evaluation.roc import log_odds

LogLikelihoods: TypeAlias = Callable[[Any], Mapping[Hashable, float]]


class Classifier(Protocol):
    """A classifier that learns one message at a time, like river's."""

    def learn_one(self, x: Any, y: Any) -> None:
        """Learn one message and its label."""

    def predict_one(self, x: Any) -> Any:
        """Return the label of a message, or None before any learning."""


def _log_likelihoods(model: Any) -> LogLikelihoods | None:
    for name in ("joint_log_likelihood_one", "joint_log_likelihood"):  # streamnb's, river's
        if hasattr(model, name):
            return cast("LogLikelihoods", getattr(model, name))
    from river import compose

    if not isinstance(model, compose.Pipeline) or not model.steps:
        return None
    *before, last = model.steps.values()
    of_last = _log_likelihoods(last)
    if of_last is None or not all(hasattr(step, "transform_one") for step in before):
        return None

    def through_steps(x: Any) -> Mapping[Hashable, float]:
        for step in before:
            x = step.transform_one(x)
        return of_last(x)

    return through_steps


class Answers:
    """Scores and probabilities of a model.

    Parameters
    ----------
    model
        A river classifier or a pipeline that ends in one.
    """

    def __init__(self, model: Classifier) -> None:
        self._likelihoods = _log_likelihoods(model)
        self._probabilities: Any = getattr(model, "predict_proba_one", None)

    def ask(self, x: Any, pos_label: Hashable) -> tuple[float | None, Mapping[Any, float] | None]:
        """Return the score of a message, and its probabilities.

        Parameters
        ----------
        x
            The message.
        pos_label
            The label to score; None skips the score.

        Returns
        -------
        The log odds of the label in nats, and the probability of each label. Each may be None: the
        model does not provide it, or probabilities are NaN.
        """
        shares = self._shares(x)
        if pos_label is None:
            return None, shares
        if self._likelihoods is not None:
            return log_odds(self._likelihoods(x), pos_label), shares
        return None if shares is None else _logit(shares.get(pos_label, 0.0)), shares

    def _shares(self, x: Any) -> Mapping[Any, float] | None:
        if self._probabilities is None:
            return None
        try:
            shares: Mapping[Any, float] = self._probabilities(x)
        except NotImplementedError:
            self._probabilities = None
            return None
        return None if any(map(math.isnan, shares.values())) else shares


def _logit(share: float) -> float:
    if not 0.0 < share < 1.0:
        return math.inf if share >= 1.0 else -math.inf
    return math.log(share) - math.log1p(-share)
