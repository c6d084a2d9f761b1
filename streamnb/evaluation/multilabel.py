"""Prequential evaluation of messages with any number of labels."""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any

from streamnb.errors import InputError
from streamnb.model.stored import memory_bytes


@dataclasses.dataclass(frozen=True, slots=True)
class LabelScores:
    """Metrics of decisions on sets of labels; None without messages.

    Attributes
    ----------
    micro_f1
        F1 of all pairs of a message and a label: 2 tp / (2 tp + fp + fn).
    macro_f1
        Mean F1 of the labels that a message has or a decision names.
    subset_accuracy
        Share of the messages whose labels are all right, and no other.
    hamming_loss
        Share of the wrong pairs of a message and a label of the stream.
    """

    micro_f1: float | None
    macro_f1: float | None
    subset_accuracy: float | None
    hamming_loss: float | None


class LabelTally:
    """Counts of decisions on sets of labels.

    Examples
    --------
    >>> tally = LabelTally()
    >>> tally.add({"wheat", "corn"}, {"corn"})
    >>> tally.add({"interest"}, {"interest"})
    >>> tally.scores()
    LabelScores(micro_f1=0.8, macro_f1=0.66..., subset_accuracy=0.5, hamming_loss=0.16...)
    """

    n_messages: int
    n_exact: int
    n_wrong: int

    def __init__(self) -> None:
        self.n_messages, self.n_exact, self.n_wrong = 0, 0, 0
        self.right: Counter[Hashable] = Counter()
        self.given: Counter[Hashable] = Counter()
        self.predicted: Counter[Hashable] = Counter()

    def add(self, given: Collection[Hashable], predicted: Collection[Hashable]) -> None:
        """Add the labels of a message, and those of its decision."""
        given, predicted = set(given), set(predicted)
        self.n_messages += 1
        self.n_exact += given == predicted
        self.n_wrong += len(given ^ predicted)
        self.right.update(given & predicted)
        self.given.update(given)
        self.predicted.update(predicted)

    def scores(self) -> LabelScores:
        """Return the metrics."""
        if not self.n_messages:
            return LabelScores(None, None, None, None)
        labels = self.given.keys() | self.predicted.keys()
        each = [
            2 * self.right[label] / (self.given[label] + self.predicted[label]) for label in labels
        ]
        pairs = self.given.total() + self.predicted.total()
        return LabelScores(
            2 * self.right.total() / pairs if pairs else None,
            sum(each) / len(each) if each else None,
            self.n_exact / self.n_messages,
            self.n_wrong / (self.n_messages * len(labels)) if labels else 0.0,
        )


@dataclasses.dataclass(frozen=True, slots=True)
class LabelResult:
    """Result of one model on a stream of messages with sets of labels.

    Attributes
    ----------
    name
        Name of the model.
    n_messages
        Messages of the stream.
    labels
        Number of messages of each label, the most frequent first.
    scores
        Metrics over all messages.
    predict_seconds, learn_seconds
        Time spent in the model's own `predict_one` and `learn_one`.
    memory_bytes
        Size of the model; None if it is unknown.
    """

    name: str
    n_messages: int
    labels: dict[Hashable, int]
    scores: LabelScores
    predict_seconds: float
    learn_seconds: float
    memory_bytes: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold; labels become strings."""
        values = dataclasses.asdict(self)
        values["labels"] = {str(label): count for label, count in self.labels.items()}
        return values


def prequential_labels(
    models: Mapping[str, Any], stream: Iterable[tuple[Any, Collection[Hashable]]]
) -> dict[str, LabelResult]:
    """Evaluate models of several labels: predict each message, then learn it.

    Parameters
    ----------
    models
        Models by name, such as `MultiLabelNB`. `predict_one` returns a set of labels, or a mapping
        from labels to bools.
    stream
        Pairs of a message and its labels.

    Raises
    ------
    InputError
        If no model is given.

    Examples
    --------
    >>> from streamnb import MultiLabelNB
    >>> stream = [("corn and wheat", {"corn", "wheat"}), ("interest rates", {"interest"})] * 10
    >>> result = prequential_labels({"MultiLabelNB": MultiLabelNB()}, stream)["MultiLabelNB"]
    >>> result.n_messages, result.labels, result.scores.hamming_loss < 0.2
    (20, {'corn': 10, 'interest': 10, 'wheat': 10}, True)
    """
    if not models:
        raise InputError("no model to evaluate")
    clock, counts, n_messages = time.perf_counter, Counter[Hashable](), 0
    tallies = {name: LabelTally() for name in models}
    predicting, learning = (dict.fromkeys(models, 0.0) for _ in range(2))
    for x, given in stream:
        labels = set(given)
        n_messages += 1
        counts.update(labels)
        for name, model in models.items():
            start = clock()
            predicted = model.predict_one(x)
            decided = clock()
            model.learn_one(x, labels)
            learned = clock()
            predicting[name] += decided - start
            learning[name] += learned - decided
            if isinstance(predicted, Mapping):
                predicted = [label for label, has_label in predicted.items() if has_label]
            tallies[name].add(labels, predicted)
    by_count = dict(sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))))
    return {
        name: LabelResult(
            name,
            n_messages,
            by_count,
            tallies[name].scores(),
            predicting[name],
            learning[name],
            memory_bytes(model),
        )
        for name, model in models.items()
    }
