"""Prequential evaluation: predict each message of a stream, then learn it.

The stream is read once for all models, and only calls of a model count towards its time. Models
take turns after short blocks of messages. If they took turns after every message, the caches would
be full of other models' data, and fast models would look slow.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from streamnb.errors import InputError
from streamnb.evaluation.calibration import SKIP
from streamnb.evaluation.results import Result
from streamnb.evaluation.runs import LabelNoise, Labels, Options, Run, Step
from streamnb.evaluation.scoring import Classifier
from streamnb.parameters import optional, whole
from streamnb.text.labels import check_label

_MOST_POINTS = 400
_BLOCK = 256


def _timer_overhead() -> float:
    """Return the duration of an empty timed section, in nanoseconds (median of many)."""
    clock = time.perf_counter_ns
    spent = []
    for _ in range(2000):
        start = clock()
        spent.append(clock() - start)
    return float(sorted(spent)[1000])


def _named(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
) -> dict[str, Classifier]:
    if isinstance(models, Mapping):
        return dict(models)
    named: dict[str, Classifier] = {}
    numbers: Counter[str] = Counter()
    for model in models if isinstance(models, Sequence) else [models]:
        name = type(model).__name__
        numbers[name] += 1
        named[name if numbers[name] == 1 else f"{name} #{numbers[name]}"] = model
    return named


def _pair(item: Any) -> tuple[Any, Hashable]:
    """Return the content and the label of a pair, or of a message with attributes."""
    if hasattr(item, "text") and hasattr(item, "label"):
        return item.text, item.label
    x, y = item
    return x, y


def prequential(
    models: Classifier | Sequence[Classifier] | Mapping[str, Classifier],
    stream: Iterable[Any],
    *,
    window: int = 500,
    every: int | None = None,
    pos_label: Hashable | None = None,
    label_delay: int = 0,
    label_noise: float = 0.0,
    label_share: float = 1.0,
    ask: str = "random",
    max_labels: int | None = None,
    self_training: bool = False,
    noise_seed: int = 42,
    calibration_skip: int = SKIP,
    drift: str | None = None,
    explain_errors: int = 0,
) -> dict[str, Result]:
    """Evaluate models side by side on one stream: predict each message, then learn it.

    Parameters
    ----------
    models
        A model, a sequence of models, or a mapping of names to models. Any river classifier or
        pipeline for the stream's messages works.
    stream
        Pairs (message, label), or objects with the attributes `text` and `label`.
    window
        Number of messages of the rolling metrics, at least 1.
    every
        Messages between two points of the curve, at least 1. The default is a tenth of the window,
        doubled whenever the curve reaches 400 points.
    pos_label
        The positive label. The default for two labels is the last in sorted order ("spam", not
        "ham"); more labels have no default.
    label_delay
        Messages that are predicted between a message and its label, at least 0. Labels that are
        pending at the end of the stream are learned then.
    label_noise
        Share of the messages that are learned with a wrong label, 0 to 1. A wrong label is a random
        other label of the messages so far. Metrics use the true labels.
    label_share
        Share of the messages that are learned, 0 to 1.
    ask
        Which ones: `"random"`, or `"uncertain"` for those that each model requests, as in
        `streamnb.active.LabelRequester`. A model without probabilities learns random messages.
    max_labels
        Maximum number of messages that are learned, at least 0; None for no limit.
    self_training
        Whether models of streamnb learn their own confident predictions for the other messages
        (`streamnb.active.self_train`).
    noise_seed
        Seed of the wrong labels and of the requests.
    calibration_skip
        Number of first messages that the calibration error leaves out; at least 0.
    drift
        Drift detector on each model's errors: `"adwin"`, `"ddm"` (see `DriftAlarm`) or None.
        Detections are recorded only.
    explain_errors
        Number of the last wrong decisions that the result of each model keeps, at least 0. The
        model explains them in words before it learns the message.

    Returns
    -------
    The results of each model, by name.

    Raises
    ------
    InputError
        If a parameter is out of range, or no model is given.

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
    labelled = (label_delay, label_share, ask, max_labels, self_training, noise_seed)
    options = Options(window, *labelled, calibration_skip, explain_errors, drift)
    every = optional(whole(1))("every", every)
    labels = Labels(None if pos_label is None else check_label(pos_label))
    noise = LabelNoise(label_noise, options.noise_seed)
    runs = [Run(name, model, labels, options) for name, model in _named(models).items()]
    if not runs:
        raise InputError("no model to evaluate")
    overhead = _timer_overhead()
    step = every or max(1, options.window // 10)
    n_messages = 0
    source = iter(stream)
    while block := list(itertools.islice(source, min(step - n_messages % step, _BLOCK))):
        steps: list[Step] = []
        for item in block:
            x, y = _pair(item)
            n_messages += 1
            if y is None:
                raise InputError(f"message {n_messages} of the stream has no label")
            labels.counts[y] += 1
            steps.append((x, y, noise.given(y, labels.counts)))
        for run in runs:
            run.take(steps)
        if n_messages % step == 0:
            for run in runs:
                run.mark(n_messages)
            if every is None and len(runs[0].curve) >= _MOST_POINTS:
                # Double the distance, so that the length of the curve stays bounded.
                step *= 2
                for run in runs:
                    run.curve = run.curve[1::2]
    for run in runs:
        run.finish()
    return {run.name: run.result(n_messages, overhead) for run in runs}
