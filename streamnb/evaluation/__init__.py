"""Evaluation of models on message streams.

`prequential` evaluates any number of models on one stream, predicts each message before learning
it, and returns one `Result` per model. `plot_curves` draws their learning curves.
`evaluate_cascades` and `plot_calls` do the same for models that send messages to a teacher, and
`prequential_labels` for messages with any number of labels.
"""

from streamnb.evaluation.calibration import Calibration, ReliabilityBin
from streamnb.evaluation.cascades import CascadePoint, CascadeResult, evaluate_cascades
from streamnb.evaluation.metrics import Scores, Tally, logistic_average_misclassification
from streamnb.evaluation.multilabel import (
    LabelResult,
    LabelScores,
    LabelTally,
    prequential_labels,
)
from streamnb.evaluation.plots import plot_calls, plot_curves
from streamnb.evaluation.prequential import prequential
from streamnb.evaluation.results import Point, Result
from streamnb.evaluation.roc import RocAuc, RocPoint, log_odds, roc_auc
from streamnb.model.stored import memory_bytes

__all__ = [
    "Calibration",
    "CascadePoint",
    "CascadeResult",
    "LabelResult",
    "LabelScores",
    "LabelTally",
    "Point",
    "ReliabilityBin",
    "Result",
    "RocAuc",
    "RocPoint",
    "Scores",
    "Tally",
    "evaluate_cascades",
    "log_odds",
    "logistic_average_misclassification",
    "memory_bytes",
    "plot_calls",
    "plot_curves",
    "prequential",
    "prequential_labels",
    "roc_auc",
]
