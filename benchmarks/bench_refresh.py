"""99th percentile of prediction times, at rest and while another thread refreshes.

Each model learns a stream. Then predictions are timed in turn while another thread sleeps, and
while it refreshes. Time in the run queue of the processor is excluded, as in `bench_growth.py`.
Calls follow each other directly, and in a second pass release the interpreter lock before each
call, like a program that waits for messages. Such a call also waits for the lock.

    python benchmarks/bench_refresh.py --messages 20000 --model GRWMNB --model GRSMNB
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

# Set before numpy is imported, because its thread pools read these settings then.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import growth  # noqa: E402
import numpy as np  # noqa: E402
from rounds import Target, table  # noqa: E402

from streamnb.model_specs import build, model_spec  # noqa: E402

MODELS = ("RwcMNB", "GRWMNB", "GRSMNB", "DFWMNB", "DTWMNB", "DWMNB")
ASKED = 400
WANTED_RATIO = 3


def percentiles(
    predict: Callable[[str], Any], texts: Sequence[str], model: Any, rounds: int
) -> Any:
    """Return the 99th percentiles in µs, at rest and during a refresh, and the refresh in s.

    For models without statistics both percentiles are at rest.
    """
    seconds = growth.refresh_seconds(model)
    rest: list[int] = []
    busy: list[int] = []
    for _ in range(rounds):
        rest += growth.beside(predict, texts, lambda: time.sleep(max(seconds, 0.05)))
        busy += growth.beside(predict, texts, model.refresh)
    if seconds < growth.NO_REFRESH:
        busy = rest
    return *(float(np.percentile(taken, 99)) / 1000 for taken in (rest, busy)), seconds


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--messages", type=int, default=20_000, help="learned before (20000)")
    parser.add_argument("--rounds", type=int, default=9, help="refreshes of each model (9)")
    parser.add_argument("--model", action="append", metavar="SPEC", help="a model (default: all)")
    parser.add_argument("--stream", help="the only stream, by name (default: each there is)")
    options = parser.parse_args(arguments)
    for stream, pairs in growth.streams().items():
        if options.stream not in (None, stream):
            continue
        rows, targets = [], []
        for spec in options.model or MODELS:
            model, source = build(model_spec(spec)), pairs()
            learned = growth.take(source, options.messages)
            model.learn_many([text for text, _ in learned], [label for _, label in learned])
            texts = [text for text, _ in growth.take(source, ASKED)]

            def after_waiting(text: str, model: Any = model) -> None:
                time.sleep(0)
                model.predict_one(text)

            rest, busy, seconds = percentiles(model.predict_one, texts, model, options.rounds)
            waiting = percentiles(after_waiting, texts, model, options.rounds)[:2]
            figures = (seconds * 1000, rest, busy, busy / rest, *waiting)
            rows.append((spec, *(f"{figure:.1f}" for figure in figures)))
            text = f"p99 of predict_one beside a refresh against that at rest ({spec})"
            targets.append(Target(text, busy / rest, WANTED_RATIO, at_most=True))
        header = ("", "refresh ms", "p99 at rest us", "beside us", "x", "waiting us", "beside us")
        print(f"{stream}, {options.messages:,} messages\n{table(header, rows)}\n")
        print(*(target.line() for target in targets), "", sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
