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
from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError
from streamnb.evaluation.calibration import SKIP
from streamnb.evaluation.runs import Labels, Options, Run, Step
from streamnb.parameters import check_most
from streamnb.text.labels import check_label

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from streamnb.evaluation.results import Result
    from streamnb.evaluation.scoring import Classifier
    from streamnb.model.threshold import Cutoffs

__all__ = ["iter_prequential", "prequential"]

_MOST_POINTS = 400
_BLOCK = 256


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
    pos_label: Hashable | None = None,
    label_delay: int = 0,
    max_scores: int = 1_000_000,
    calibration_skip: int = SKIP,
    with_probabilities: bool = True,
    drift: str | None = None,
    cutoffs: Cutoffs | None = None,
) -> Iterator[dict[str, Result]]:
    """Evaluate models side by side, and yield their results so far along the stream.

    Takes the parameters of `prequential`, and yields at each point of the curve. The last results
    yielded are those of the whole stream; only they tell the ROC curve, and the memory, which take
    long to find out.
    """
    measured = (window, max_scores, calibration_skip, with_probabilities, label_delay)
    options = Options(*measured, drift, cutoffs)
    every = check_most("every", every, 1)
    labels = Labels(None if pos_label is None else check_label(pos_label))
    runs = [Run(name, model, labels, options) for name, model in _named(models).items()]
    if not runs:
        raise InputError("no model to evaluate")
    overhead = _timer_overhead()
    step = every or max(1, options.window // 10)
    waiting: deque[tuple[Any, Hashable]] = deque()
    n_messages = 0

    def results(at_end: bool) -> dict[str, Result]:
        counts = n_messages, n_messages - len(waiting)
        return {run.name: run.result(*counts, overhead, at_end) for run in runs}

    source = iter(stream)
    while block := list(itertools.islice(source, min(step - n_messages % step, _BLOCK))):
        steps: list[Step] = []
        for item in block:
            x, y = _pair(item)
            n_messages += 1
            if y is None:
                raise InputError(f"message {n_messages} of the stream has no label")
            labels.add(y)
            waiting.append((x, y))
            due = waiting.popleft() if len(waiting) > label_delay else None
            counts = n_messages > calibration_skip
            steps.append(Step(x, y, labels.both_known, counts, due))
            if due is not None:
                labels.learned.add(due[1])
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
            yield results(at_end=False)
    while waiting:
        x, y = waiting.popleft()
        for run in runs:
            run.learn(x, y)
    yield results(at_end=True)


def prequential(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
    stream: Iterable[Any],
    *,
    window: int = 500,
    every: int | None = None,
    pos_label: Hashable | None = None,
    label_delay: int = 0,
    max_scores: int = 1_000_000,
    calibration_skip: int = SKIP,
    with_probabilities: bool = True,
    drift: str | None = None,
    cutoffs: Cutoffs | None = None,
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
    pos_label
        The positive label. By default, of two labels the larger in sorted order ("spam", not
        "ham"), and none where there are more.
    label_delay
        How many further messages are predicted before the label of one arrives and it is learned;
        at least 0. What still waits at the end of the stream is learned then.
    max_scores
        How many scores a model's ROC area keeps, 8 bytes each, before it becomes a histogram
        (see `RocAuc`); at least 0.
    calibration_skip
        Messages at the beginning that the calibration error leaves out; at least 0.
    with_probabilities
        Whether models are asked for probabilities besides, for log loss and calibration. The
        time for it is not counted, but spent: as much as a prediction.
    drift
        The detector that watches each model's errors for drift, `"adwin"` or `"ddm"` (see
        `DriftAlarm`); None for none. Nothing follows from its alarms but their record.
    cutoffs
        Cuts by which "unsure" is an answer, counted besides (`Result.answers`); of two labels.

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
        pos_label=pos_label,
        label_delay=label_delay,
        max_scores=max_scores,
        calibration_skip=calibration_skip,
        with_probabilities=with_probabilities,
        drift=drift,
        cutoffs=cutoffs,
    ):
        pass
    return results
