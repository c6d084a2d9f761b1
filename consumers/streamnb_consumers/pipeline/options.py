"""Options of a filter, and the model methods that it calls."""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

from streamnb.model.threshold import Cutoffs
from streamnb_consumers.pipeline.join import Bounds
from streamnb_consumers.pipeline.senders import SenderLists

__all__ = ["Model", "Options"]


class Model(Protocol):
    """The methods of a streamnb model that a filter calls."""

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
        """Return the contribution of each word."""

    def to_bytes(self) -> bytes:
        """Return the bytes of the model file."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a filter decides and learns.

    Attributes
    ----------
    pos_label
        The positive label; scores are its log odds.
    negative
        The decision for messages that the decision threshold keeps from being positive.
    max_fpr
        Maximum false-positive rate, in (0, 1); None for no bound.
    explain_top_k
        Number of top contributing words in a decision; 0 for none.
    adopt
        Whether to learn training events that workers with other settings wrote before this filter
        started. Only for filters that share a training log.
    bounds
        Bounds of the join window of each partition.
    cutoffs
        Probability cutoffs between which a decision is `unsure`; None uses the model's label.
    senders
        Sender lists, which override the model.
    label_source_header
        Record header that names the source of a label; empty for none.
    drift
        Detector that watches the errors of decisions (`DriftAlarm`); None for none.
    content_ids
        Whether equal ids mean the same message, although its headers may differ.
    """

    pos_label: str = "spam"
    negative: str = "ham"
    max_fpr: float | None = None
    explain_top_k: int = 0
    adopt: bool = False
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
    cutoffs: Cutoffs | None = None
    senders: SenderLists = dataclasses.field(default_factory=SenderLists)
    label_source_header: str = ""
    drift: str | None = None
    content_ids: bool = False
