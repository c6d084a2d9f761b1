"""Processor time of the decisions of a cascade next to the time of its model alone.

The teacher is perfect. The same messages go through a cascade, and through a second model that
predicts each message and learns those that the cascade learned, with the same labels and weights.
The two take turns in blocks of 100 messages. The ratio is the cost of `decide_one`, over the cost
of `predict_one` and of `learn_one` of the learned messages. The goal is at most 1.1.

    python benchmarks/bench_cascade.py
    python benchmarks/bench_cascade.py SMS R8 --limit 2000
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.peers.cascade import GOAL, STREAMS, messages
from benchmarks.rounds import one_thread, table
from streamnb.active import SELF_TRAINED
from streamnb.audits import Decision
from streamnb.cascade import Cascade

DEFAULT = ("SMS", "R8", "SpamAssassin", "Enron 1-3")
BLOCK = 100

Rows = list[tuple[str, str]]


def decided(cascade: Cascade, rows: Rows) -> Iterator[Decision]:
    """Yield the decisions of a cascade with a perfect teacher."""
    for x, y in rows:
        decision = cascade.propose_one(x)
        yield cascade.answer_one(x, decision, y) if decision.asked else decision


def measured(name: str, limit: int | None, self_training: bool) -> list[str]:
    """Return a row of the table, with a digest of all decisions."""
    rows = messages(name)[:limit]
    options = {"agreement": GOAL, "self_training": self_training}
    decisions = list(decided(Cascade(STREAMS[name].model(), **options), rows))
    alone, cascade = STREAMS[name].model(), Cascade(STREAMS[name].model(), **options)
    spent: list[tuple[float, float]] = []
    for at in range(0, len(rows), BLOCK):
        block, known = rows[at : at + BLOCK], decisions[at : at + BLOCK]

        def of_cascade(block: Rows = block) -> None:
            for _ in decided(cascade, block):
                pass

        def of_model(block: Rows = block, known: list[Decision] = known) -> None:
            for (x, _), decision in zip(block, known, strict=True):
                alone.predict_one(x)
                if decision.asked:
                    alone.learn_one(x, decision.label)
                elif decision.learned:
                    alone.learn_one(x, decision.label, w=SELF_TRAINED)

        seconds = {}
        for run in (of_cascade, of_model) if at // BLOCK % 2 else (of_model, of_cascade):
            began = time.process_time()
            run()
            seconds[run] = time.process_time() - began
        spent.append((seconds[of_cascade], seconds[of_model]))
    both, one = (1e6 * sum(each) / len(rows) for each in zip(*spent, strict=True))
    median = statistics.median(a / b for a, b in spent)
    row = [f"{name}, {'with' if self_training else 'without'}", f"{one:.1f}", f"{both:.1f}"]
    digest = hashlib.sha256(repr(decisions).encode()).hexdigest()[:16]
    return [*row, f"{both / one:.2f}", f"{median:.2f}", digest]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("streams", nargs="*", default=DEFAULT, help=f"of {', '.join(STREAMS)}")
    parser.add_argument("--limit", type=int, metavar="N", help="first N messages of each stream")
    args = parser.parse_args()
    print(one_thread())
    found = [
        measured(name, args.limit, self_training)
        for name in args.streams
        for self_training in (True, False)
    ]
    head = ["stream, self_training", "model, µs", "cascade, µs", "ratio", "median", "decisions"]
    print(table(head, found))


if __name__ == "__main__":
    main()
