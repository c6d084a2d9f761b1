"""Fits of word weights next to the minimum of their loss: Newton, gradient and online steps.

python benchmarks/word_fits.py --stream sms --messages 2000

All methods weight the words of the same multinomial model of the first messages. The table has the
loss per message without the ridge, the accuracy on the next messages, and the processor time.

fit        the fit of LossMNB: at most 300 rounds of conjugate gradients, from equal weights
steps N    N steps of the full gradient, scaled by the diagonal of the second derivatives
online     one step for each message before it is learned, by AdaGrad: v_i falls by η g_i / √Σ g_i²
minimum    the fit with 20,000 rounds
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rounds import table

from streamnb import MNB, datasets
from streamnb.families.fitted_weights import LOSSES
from streamnb.statistics import word_fits
from streamnb.statistics.documents import Documents
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.losses import LIKELIHOOD, Loss, Objective
from streamnb.statistics.newton import SparseSteps, least

RATE = 0.3  # of the online rule: the best of 0.03, 0.1, 0.3 and 1 on 1,000 SMS


def gradient_steps(objective: Objective, start: Any, steps: int) -> Any:
    """Return the weights after some steps of the full gradient, halved until the loss falls."""
    point = objective.at(start)
    for _ in range(steps):
        diagonal = objective.slopes.diagonal(point.curvature()) + point.ridge
        length, moved = 1.0, point
        while length > 1e-6:
            moved = objective.at(np.maximum(point.w - length * point.gradient / diagonal, 0.0))
            if moved.value <= point.value:
                break
            length /= 2
        point = moved
    return point.w


def online(messages: Sequence[Any], loss: Loss, start: float, scale: float) -> dict[str, float]:
    """Return the weights by word after one step for each message, before it is learned."""
    model = MNB()
    weights: dict[str, float] = {}
    squares: dict[str, float] = {}
    for message in messages:
        if message.label in model.classes_ and len(model.classes_) > 1:
            explanation = model.explain_one(message.text)
            others = [label for label in model.classes_ if label != message.label]
            slopes = {
                word: np.array([scale * (terms[message.label] - terms[c]) for c in others])
                for word, terms in explanation.words.items()
            }
            base = explanation.baseline
            margins = np.array([scale * (base[message.label] - base[c]) for c in others])
            for word, slope in slopes.items():
                margins = margins + weights.get(word, start) * slope
            _, by_margin = loss.value(np.maximum(margins, -50.0)[None, :], np.ones(1))
            for word, slope in slopes.items():
                gradient = float(by_margin[0] @ slope)
                squares[word] = squares.get(word, 1e-12) + gradient * gradient
                step = RATE * gradient / math.sqrt(squares[word])
                weights[word] = max(0.0, weights.get(word, start) - step)
        model.learn_one(message.text, message.label)
    return weights


def measure(stream: str, n: int, names: Sequence[str]) -> list[list[str]]:
    messages = list(datasets.stream(stream, limit=2 * n).messages())
    learned, new = messages[:n], messages[n:]
    model = MNB(index_size=n)
    for message in learned:
        model.learn_one(message.text, message.label)
    indexed = Documents.of(model._store.sample(True))
    parameters = ScoringParameters("multinomial", "empirical", 1.0, float(model.n_words))
    margins = word_fits.Margins.of(indexed, parameters, leave_one_out=True)
    assert margins is not None
    words = sorted(filter(None, model._store.words()), key=str.encode)
    rows = []
    for name in names:
        loss, start, scale = LOSSES[name], word_fits.multiplier(margins), 1.0
        if loss.weighs_prior:
            scale, start = start, 1.0
            loss = Loss(LIKELIHOOD.name, multiplier=scale)
        ridge = word_fits.TEXT_RIDGE
        objective = Objective(loss, margins.offsets, margins.slopes, margins.weights, ridge)
        begin = np.full(len(words), start)

        before = time.process_time()
        by_word = online(learned, loss, start, scale)
        online_seconds = time.process_time() - before
        found = np.array([by_word.get(word, start) for word in words])
        fits = [("equal weights", begin, 0.0), ("online", found, online_seconds)]
        fits += [timed(f"steps {n}", gradient_steps, objective, begin, n) for n in (10, 100)]
        for what, rounds in (("fit", word_fits.MOST_ROUNDS), ("minimum", 20_000)):
            fits.append(timed(what, least, objective, begin, SparseSteps(rounds)))
        free = dataclasses.replace(objective, ridge=0.0)
        for what, found, seconds in fits:
            accuracy = right(model, new, dict(zip(words, found.tolist(), strict=True)))
            values = (f"{each.at(found).value:.4f}" for each in (objective, free))
            rows.append([name, what, *values, f"{accuracy:.2%}", f"{seconds:.1f}"])
            print(*rows[-1], flush=True)
    return rows


def timed(what: str, fit: Callable[..., Any], *arguments: Any) -> tuple[str, Any, float]:
    """Return the weights of a fit, and its processor time."""
    before = time.process_time()
    found = fit(*arguments)
    return what, found, time.process_time() - before


def right(model: MNB, messages: Sequence[Any], weights: dict[str, float]) -> float:
    """Return the accuracy of the model with weighted words."""
    hits = 0
    for message in messages:
        explanation = model.explain_one(message.text)
        scores = dict(explanation.baseline)
        for word, terms in explanation.words.items():
            for label, term in terms.items():
                scores[label] += weights.get(word, 1.0) * term
        hits += max(scores, key=scores.__getitem__) == message.label
    return hits / len(messages)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--stream", default="sms", help="a named stream (sms)")
    parser.add_argument("--messages", type=int, default=2000, help="learned, and tested (2000)")
    parser.add_argument("--losses", default=",".join(LOSSES), help="losses (all)")
    options = parser.parse_args(arguments)
    rows = measure(options.stream, options.messages, options.losses.split(","))
    heading = ["loss", "method", "objective", "loss per message", "accuracy", "seconds"]
    print(table(heading, rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
