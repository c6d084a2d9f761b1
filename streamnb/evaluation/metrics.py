"""Metrics of a stream of decisions: cumulative, or over the last messages.

Accuracy, Cohen's kappa and macro-F1 are river's metrics on one shared confusion matrix.
`streamnb.evaluation.roc` computes the ROC area, and `streamnb.evaluation.calibration` the
calibration error.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from streamnb.evaluation.calibration import Calibration, loss_of
from streamnb.evaluation.roc import RocAuc
from streamnb.text.labels import sort_key


def largest_label(labels: Iterable[Hashable]) -> Hashable:
    """Return the last of at least one label, in the order of the models."""
    return max(labels, key=sort_key)


def logistic_average_misclassification(ham: float, spam: float) -> float | None:
    """Return the logistic average of two misclassification rates (lam%), in percent.

    Parameters
    ----------
    ham
        Share of misclassified ham, in percent, in [0, 100].
    spam
        Share of misclassified spam, in percent, in [0, 100].

    Returns
    -------
    The logistic mean, in percent; None if one rate is 0 and the other 100.

    Examples
    --------
    >>> round(logistic_average_misclassification(1.0, 9.0), 3)
    3.064

    References
    ----------
    G. Cormack and T. Lynam (2005). TREC 2005 Spam Track Overview: hm%, sm%, lam%, (1-ROCA)%.
    """
    wrong = ham * spam
    right = (100 - ham) * (100 - spam)
    if wrong == 0 and right == 0:
        return None
    if wrong == 0 or right == 0:
        return 0.0 if wrong == 0 else 100.0
    return 100 / (1 + math.sqrt(right / wrong))


@dataclasses.dataclass(frozen=True, slots=True)
class Scores:
    """Metrics of decisions; None for undefined metrics.

    `hm_percent`, `sm_percent` and `lam_percent` have their names from the TREC spam tracks: the
    shares of misclassified ham (negative) and spam (positive messages), and their logistic average.
    These metrics and the ROC area need two classes, or a chosen positive label against all others.

    `one_minus_auc_percent` includes all messages with a decision, even if the model had learned
    only one class before. `one_minus_auc_percent_both_known` begins with the first message after
    both classes were learned.

    `log_loss` is the mean of −ln P(true label), in nats, where 0 counts as 1e-15.
    `calibration_error` is the error of `Calibration` without the first 500 messages of the
    stream, or another configured number. Rolling metrics do not have it.
    """

    n_messages: int
    accuracy: float | None = None
    kappa: float | None = None
    macro_f1: float | None = None
    roc_auc: float | None = None
    one_minus_auc_percent: float | None = None
    one_minus_auc_percent_both_known: float | None = None
    hm_percent: float | None = None
    sm_percent: float | None = None
    lam_percent: float | None = None
    log_loss: float | None = None
    calibration_error: float | None = None


class _Kept(NamedTuple):
    """A decision in the window."""

    label: Hashable
    decision: Hashable
    is_positive: bool
    score: float | None
    both_known: bool
    loss: float | None


class _Areas:
    """ROC areas of decisions: of all, and of those after both classes were learned."""

    all: RocAuc
    known: RocAuc

    def __init__(self) -> None:
        self.all, self.known = RocAuc(), RocAuc()

    def add(self, kept: _Kept) -> None:
        if kept.score is not None:
            self.all.add(kept.is_positive, kept.score)
            if kept.both_known:
                self.known.add(kept.is_positive, kept.score)


class Tally:
    """Counts of decisions and scores over a stream, or over its last messages.

    Parameters
    ----------
    window
        Number of last decisions to count; None counts all.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add("ham", "ham", is_positive=False, score=-2.0)
    >>> tally.add("spam", "ham", is_positive=True, score=-1.0)
    >>> tally.scores("spam").accuracy, tally.scores("spam").roc_auc
    (0.5, 1.0)
    """

    of_positive: Calibration
    of_likeliest: Calibration

    def __init__(self, window: int | None = None) -> None:
        import river.metrics  # Here: it takes half a second, and `log_odds` needs none of it.

        measures: Any = river.metrics  # which carries no types
        self.window = window
        self.confusion: Any = measures.ConfusionMatrix()
        self._accuracy = measures.Accuracy(cm=self.confusion)
        self._kappa = measures.CohenKappa(cm=self.confusion)
        self._macro_f1 = measures.MacroF1(cm=self.confusion)
        self._last: deque[_Kept] = deque()
        self.areas: _Areas = _Areas()
        self._loss, self._losses = 0.0, 0
        # Calibration of the positive label, and of the most probable label.
        self.of_positive, self.of_likeliest = Calibration(), Calibration()

    def add(
        self,
        label: Hashable,
        decision: Hashable,
        is_positive: bool,
        score: float | None,
        *,
        both_known: bool = True,
        true_probability: float | None = None,
    ) -> None:
        """Count one decision.

        Parameters
        ----------
        label, decision
            The true label and the predicted label.
        is_positive
            Whether the true label is the positive one.
        score
            The score of the positive label, if any.
        both_known
            Whether the model had learned the positive label and another label before.
        true_probability
            The probability of the true label, if any.
        """
        loss = None if true_probability is None else loss_of(true_probability)
        kept = _Kept(label, decision, is_positive, score, both_known, loss)
        self.confusion.update(label, decision)
        if loss is not None:
            self._loss += loss
            self._losses += 1
        if self.window is None:
            self.areas.add(kept)
            return
        self._last.append(kept)
        if len(self._last) > self.window:
            old = self._last.popleft()
            self.confusion.revert(old.label, old.decision)
            if old.loss is not None:
                self._loss -= old.loss
                self._losses -= 1

    def calibrate(
        self, label: Hashable, pos_label: Hashable, probabilities: Mapping[Any, float]
    ) -> None:
        """Count the predicted probabilities of a message.

        Parameters
        ----------
        label
            The true label.
        pos_label
            The label that scores refer to, if any.
        probabilities
            Probability of each label that the model had learned.
        """
        if pos_label is not None:
            self.of_positive.add(probabilities.get(pos_label, 0.0), label == pos_label)
        if probabilities:
            likeliest = max(probabilities, key=probabilities.__getitem__)
            self.of_likeliest.add(probabilities[likeliest], label == likeliest)

    def scores(self, pos_label: Hashable = None) -> Scores:
        """Compute the metrics of the counted decisions; None omits the binary metrics."""
        n_messages = int(self.confusion.total_weight)
        if n_messages == 0:
            return Scores(0)
        calibration = self.of_likeliest if pos_label is None else self.of_positive
        return Scores(
            n_messages,
            accuracy=float(self._accuracy.get()),
            # With a single class kappa is 0 / 0.
            kappa=float(self._kappa.get()) if len(self.confusion.classes) > 1 else None,
            macro_f1=float(self._macro_f1.get()),
            log_loss=max(0.0, self._loss / self._losses) if self._losses else None,
            calibration_error=calibration.error(),
            **({} if pos_label is None else self._binary(pos_label)),
        )

    def _binary(self, pos_label: Hashable) -> dict[str, float | None]:
        """Return the metrics of the positive label by name."""
        areas = self.areas
        if self.window is not None:
            areas = _Areas()
            for kept in self._last:
                areas.add(kept)
        area, known_area = areas.all.get(), areas.known.get()
        spam = self.confusion.support(pos_label)
        ham = self.confusion.total_weight - spam
        lost = self.confusion.false_positives(pos_label)
        missed = spam - self.confusion.true_positives(pos_label)
        hm, sm = 100 * lost / ham if ham else None, 100 * missed / spam if spam else None
        lam = None
        if hm is not None and sm is not None:
            lam = logistic_average_misclassification(hm, sm)
        return {
            "roc_auc": area,
            "one_minus_auc_percent": None if area is None else 100 * (1 - area),
            "one_minus_auc_percent_both_known": (
                None if known_area is None else 100 * (1 - known_area)
            ),
            "hm_percent": hm,
            "sm_percent": sm,
            "lam_percent": lam,
        }
