"""Prequential evaluation: predict each message of a stream, then learn it.

The stream is read once, however many models are evaluated side by side, and only the calls into a
model count towards its time. The models take turns at short blocks of messages: at single messages
each would find the processor's caches full of the others' data, and a fast one would look slow.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from streamnb.errors import InputError
from streamnb.evaluation.metrics import Tally, largest_label
from streamnb.evaluation.results import Point, Result
from streamnb.evaluation.scoring import Classifier, memory_bytes, scorer

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from streamnb.evaluation.metrics import Scores

__all__ = ["iter_prequential", "prequential"]

_MOST_POINTS = 400
_BLOCK = 256

# A message, its label, and the message and label that are learned after its prediction.
_Step: TypeAlias = "tuple[Any, Hashable, tuple[Any, Hashable] | None]"


class _Labels:
    """The labels met so far, and the one that scores are given for.

    Without a chosen positive label that is the second one met: the area under the curve is the
    same whichever of two classes is positive, when the scores of one are those of the other with
    the sign changed. So it need not be known early which label will be the larger.
    """

    def __init__(self, positive: Hashable | None) -> None:
        self.chosen = positive
        self.counts: dict[Hashable, int] = {}
        self.scored: Hashable | None = positive

    def add(self, label: Hashable) -> None:
        if label not in self.counts:
            if self.chosen is None and len(self.counts) == 1:
                self.scored = label
            self.counts[label] = 0
        self.counts[label] += 1

    @property
    def positive(self) -> Hashable | None:
        if self.chosen is not None:
            return self.chosen
        return largest_label(self.counts) if len(self.counts) == 2 else None

    @property
    def may_be_binary(self) -> bool:
        return self.chosen is not None or len(self.counts) <= 2


class _Run:
    """One model on the stream: its decisions, its time and its curve."""

    def __init__(
        self, name: str, model: Classifier, labels: _Labels, window: int, most: int
    ) -> None:
        self.name, self.model, self.labels = name, model, labels
        self.score = scorer(model)
        self.total, self.last = Tally(max_scores=most), Tally(window=window)
        self.unanswered = 0
        self.predict_ns = self.learn_ns = 0
        self.curve: list[Point] = []

    def take(self, steps: list[_Step]) -> None:
        """Predict and learn some messages, then count the decisions."""
        clock = time.perf_counter_ns
        predict_one, learn_one = self.model.predict_one, self.model.learn_one
        labels = self.labels
        decisions = []
        predict_ns = learn_ns = 0
        for x, _, due in steps:
            start = clock()
            decision = predict_one(x)
            spent = clock() - start
            predict_ns += spent
            # Not timed: a user who wants decisions only would not pay for it.
            scored = decision is not None and labels.may_be_binary
            decisions.append((decision, self.score(x, labels.scored) if scored else None))
            if due is not None:
                due_x, due_y = due
                start = clock()
                learn_one(due_x, due_y)
                spent = clock() - start
                learn_ns += spent
        self.predict_ns += predict_ns
        self.learn_ns += learn_ns
        for (_, y, _), (decision, score) in zip(steps, decisions, strict=True):
            if decision is None:
                self.unanswered += 1
                continue
            is_positive = y == labels.scored
            self.total.add(y, decision, is_positive, score)
            self.last.add(y, decision, is_positive, score)

    def learn(self, x: Any, y: Hashable) -> None:
        """Learn a message whose label came after the end of the stream."""
        start = time.perf_counter_ns()
        self.model.learn_one(x, y)
        self.learn_ns += time.perf_counter_ns() - start

    def mark(self, n_messages: int) -> None:
        self.curve.append(Point(n_messages, self._scores(self.total), self._scores(self.last)))

    def _scores(self, tally: Tally) -> Scores:
        return tally.scores(self.labels.positive)

    def result(
        self, n_messages: int, n_learned: int, overhead_ns: float, with_memory: bool
    ) -> Result:
        if not self.curve or self.curve[-1].n_messages != n_messages:
            self.mark(n_messages)
        now = self.curve[-1]

        def seconds(spent: int, calls: int) -> float:
            return max(0.0, spent - overhead_ns * calls) / 1e9

        return Result(
            name=self.name,
            n_messages=n_messages,
            n_unanswered=self.unanswered,
            labels=dict(self.labels.counts),
            positive=self.labels.positive,
            cumulative=now.cumulative,
            windowed=now.windowed,
            window=self.last.window or 0,
            auc_error_bound=self.total.area.error_bound(),
            predict_seconds=seconds(self.predict_ns, n_messages),
            learn_seconds=seconds(self.learn_ns, n_learned),
            memory_bytes=memory_bytes(self.model) if with_memory else None,
            curve=list(self.curve),
        )


def _timer_overhead(rounds: int = 2000) -> float:
    """Return what an empty timed section measures, in nanoseconds (the median of many)."""
    clock = time.perf_counter_ns
    spent = []
    for _ in range(rounds):
        start = clock()
        spent.append(clock() - start)
    return float(sorted(spent)[rounds // 2])


def _named(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
) -> dict[str, Classifier]:
    if isinstance(models, Mapping):
        return dict(models)
    named: dict[str, Classifier] = {}
    for model in models if isinstance(models, Sequence) else [models]:
        name = base = type(model).__name__
        number = 1
        while name in named:
            number += 1
            name = f"{base} #{number}"
        named[name] = model
    return named


def _pair(item: Any) -> tuple[Any, Hashable]:
    """Return the content and the label of a pair or of a message with attributes."""
    if hasattr(item, "text") and hasattr(item, "label"):
        return item.text, item.label
    x, y = item
    return x, y


def iter_prequential(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
    stream: Iterable[Any],
    *,
    window: int = 500,
    every: int | None = None,
    positive: Hashable | None = None,
    label_delay: int = 0,
    max_scores: int = 1_000_000,
) -> Iterator[dict[str, Result]]:
    """Evaluate models side by side, and yield their results so far along the stream.

    Takes the parameters of `prequential`, and yields at each point of the curve. The last results
    yielded are those of the whole stream; only they tell the memory, which takes long to find out
    for some models.
    """
    if window < 1 or label_delay < 0 or max_scores < 0 or (every is not None and every < 1):
        raise InputError("window and every are at least 1, label_delay and max_scores at least 0")
    labels = _Labels(positive)
    runs = [_Run(name, model, labels, window, max_scores) for name, model in _named(models).items()]
    if not runs:
        raise InputError("no model to evaluate")
    overhead = _timer_overhead()
    step = every or max(1, window // 10)
    waiting: deque[tuple[Any, Hashable]] = deque()
    n_messages = 0

    def results(with_memory: bool) -> dict[str, Result]:
        counts = n_messages, n_messages - len(waiting)
        return {run.name: run.result(*counts, overhead, with_memory) for run in runs}

    source = iter(stream)
    while block := list(itertools.islice(source, min(step - n_messages % step, _BLOCK))):
        steps: list[_Step] = []
        for item in block:
            x, y = _pair(item)
            n_messages += 1
            if y is None:
                raise InputError(f"message {n_messages} of the stream has no label")
            labels.add(y)
            waiting.append((x, y))
            steps.append((x, y, waiting.popleft() if len(waiting) > label_delay else None))
        for run in runs:
            run.take(steps)
        if n_messages % step == 0:
            for run in runs:
                run.mark(n_messages)
            if every is None and len(runs[0].curve) >= _MOST_POINTS:
                # Twice the distance from here on: the curve of any stream stays bounded.
                step *= 2
                for run in runs:
                    run.curve = run.curve[1::2]
            yield results(with_memory=False)
    while waiting:
        x, y = waiting.popleft()
        for run in runs:
            run.learn(x, y)
    yield results(with_memory=True)


def prequential(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
    stream: Iterable[Any],
    *,
    window: int = 500,
    every: int | None = None,
    positive: Hashable | None = None,
    label_delay: int = 0,
    max_scores: int = 1_000_000,
) -> dict[str, Result]:
    """Evaluate models side by side on one stream: predict each message, then learn it.

    Parameters
    ----------
    models
        A model, a sequence of models or a mapping of names to models: any river classifier or
        pipeline that takes the stream's messages.
    stream
        Pairs (message, label), or messages with the attributes `text` and `label`. It is read
        once.
    window
        How many of the last messages the windowed metrics look back; at least 1.
    every
        Messages between two points of the curve, at least 1. By default a tenth of the window,
        doubled whenever the curve has grown to 400 points.
    positive
        The positive label. By default, of two labels the larger in sorted order ("spam", not
        "ham"), and none where there are more.
    label_delay
        How many further messages are predicted before the label of one arrives and it is learned;
        at least 0. What still waits at the end of the stream is learned then.
    max_scores
        How many scores a model's ROC area keeps, 8 bytes each, before it becomes a histogram
        (see `RocAuc`); at least 0.

    Returns
    -------
    The result of each model, by name.

    Raises
    ------
    InputError
        A parameter is out of its range, or there is no model.

    Examples
    --------
    >>> from river import feature_extraction, naive_bayes
    >>> from streamnb import evaluation
    >>> model = feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()
    >>> stream = [("win cash now", "spam"), ("see you at noon", "ham")] * 10
    >>> result = evaluation.prequential({"river": model}, stream)["river"]
    >>> result.cumulative.accuracy, result.n_messages, result.n_unanswered
    (0.947..., 20, 1)

    References
    ----------
    A. P. Dawid (1984). Present position and potential developments: some personal views:
    statistical theory: the prequential approach. Journal of the Royal Statistical Society A 147.
    """
    results: dict[str, Result] = {}
    for results in iter_prequential(  # noqa: B007 - the last one is wanted
        models,
        stream,
        window=window,
        every=every,
        positive=positive,
        label_delay=label_delay,
        max_scores=max_scores,
    ):
        pass
    return results
