"""What a filter is told, and what it asks of a model."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from streamnb.model.threshold import Cutoffs
from streamnb_consumers.pipeline.join_window import Bounds
from streamnb_consumers.pipeline.senders import SenderLists

__all__ = ["Model", "Options"]


class Model(Protocol):
    """What the filter asks of a model of streamnb."""

    def learn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message."""

    def unlearn_one(self, x: Any, y: Any) -> None:
        """Unlearn one message."""

    def predict_one(self, x: Any) -> Any:
        """Return the label of a message."""

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probability of each label."""

    def joint_log_likelihood_one(self, x: Any) -> dict[Any, float]:
        """Return the score of each label."""

    def explain_one(self, x: Any) -> Any:
        """Return what each word contributes."""

    def to_bytes(self) -> bytes:
        """Return the model file's bytes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a filter decides and learns.

    Attributes
    ----------
    pos_label
        The label of the positive class; scores are its log odds.
    negative
        What is decided instead, where the bound on lost ham forbids the positive label.
    ham_target
        Share of negative messages that may be lost, in (0, 1); None for no bound.
    top_words
        Loudest words that a decision names; 0 for none.
    shared
        Whether this is one of several workers that share their state through logs. A training event
        is then learned not where it arises but when it comes back as a record of the role
        `training`, so that all workers fold the same log; and the changes of join windows are
        outputs, from which the next owner of a partition makes its window.
    adopt
        Whether training events that workers with other settings wrote, before this one began, are
        learned.
    bounds
        Of the join window of each partition.
    cutoffs
        Cuts on the probability of the positive label, between which a decision is `unsure`; None
        for the model's own decision.
    senders
        Lists of senders, which decide before the model does.
    label_source
        Header of a record that names who gave its label; empty for none.
    drift
        The detector that watches the errors of decisions (`DriftAlarm`); None for none.
    """

    pos_label: str = "spam"
    negative: str = "ham"
    ham_target: float | None = None
    top_words: int = 0
    shared: bool = False
    adopt: bool = False
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
    cutoffs: Cutoffs | None = None
    senders: SenderLists = dataclasses.field(default_factory=SenderLists)
    label_source: str = ""
    drift: str | None = None
