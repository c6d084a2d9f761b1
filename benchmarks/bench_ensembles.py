"""Prequential comparison of a model with ensembles of it, river's and our own, on real texts.

python benchmarks/bench_ensembles.py --stream sms --members 5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from river import base, ensemble
from rounds import table

from streamnb import datasets
from streamnb.ensembles import WeightedBoosting
from streamnb.evaluation import prequential
from streamnb.model_specs import build, model_spec

STREAMS = ("sms", "spamassassin")
# River's ensembles that pass messages unchanged to their members.
RIVER = (
    ensemble.AdaBoostClassifier,
    ensemble.ADWINBoostingClassifier,
    ensemble.BOLEClassifier,
    ensemble.BaggingClassifier,
    ensemble.ADWINBaggingClassifier,
    ensemble.LeveragingBaggingClassifier,
)


def contestants(spec: str, members: int) -> dict[str, Callable[[], base.Classifier]]:
    """Yield the model and its ensembles by name, each created when it is needed."""

    def river(kind: Callable[..., base.Classifier]) -> Callable[[], base.Classifier]:
        return lambda: kind(build(model_spec(spec)), n_models=members, seed=1)

    return {
        spec: lambda: build(model_spec(spec)),
        "WeightedBoosting": lambda: WeightedBoosting(build(model_spec(spec)), members),
        **{f"river {kind.__name__}": river(kind) for kind in RIVER},
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--stream", action="append", help="a named stream (sms, spamassassin)")
    parser.add_argument("--model", default="MNB", metavar="SPEC", help="of the members (MNB)")
    parser.add_argument("--members", type=int, default=5, help="of each ensemble (5)")
    options = parser.parse_args(arguments)
    for stream in options.stream or STREAMS:
        messages = list(datasets.stream(stream))
        rows = []
        for name, make in contestants(options.model, options.members).items():
            result = prequential({name: make()}, messages)[name]
            scores, speed = result.cumulative, result.messages_per_second
            figures = (100 * (scores.accuracy or 0), scores.one_minus_auc_percent or 0)
            rows.append((name, *(f"{figure:.2f}" for figure in figures), f"{speed or 0:,.0f}"))
        header = ("", "accuracy %", "1 - AUC %", "messages/s")
        print(f"{stream}, {options.members} members\n{table(header, rows)}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
