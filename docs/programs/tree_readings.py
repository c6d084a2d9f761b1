"""Accuracy of trees by `min_samples_leaf`: a table of docs/internals/reproduced-tables.md.

python docs/programs/tree_readings.py --collection re1

Each collection keeps the words of at least three documents. A row contains the accuracy of `MNB`
in ten folds, and the differences of `MNBTree` for each value of `min_samples_leaf`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from rare_words import accuracy, rows_of

from benchmarks.papers.readers import read_counts
from streamnb.datasets import shuffled

COLLECTIONS = ("re0", "re1", "fbis", "la1s")
LEAST = (10, 30, 50, 100, 200)
FOLDS, RARE = 10, 3


def documents(collection: str) -> tuple[list[tuple[Mapping[str, float], str]], int]:
    """Return a shuffled collection and the number of its words."""
    counts = read_counts(collection)
    rows = list(rows_of(counts))
    frequency = Counter(word for row in rows for word in row)
    kept = {word for word, documents in frequency.items() if documents >= RARE}
    cut = [{word: f for word, f in row.items() if word in kept} for row in rows]
    return shuffled(zip(cut, counts.labels, strict=True), seed=1), len(kept)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--collection", action="append", help="(re0, re1, fbis, la1s)")
    options = parser.parse_args(arguments)
    print("| | MNB |", *(f"{least} |" for least in LEAST))
    for collection in options.collection or COLLECTIONS:
        found, words = documents(collection)
        common = f"vocabulary_size={words}, refresh_every=1000000000"
        trees = [f"MNBTree(min_samples_leaf={least}, {common})" for least in LEAST]
        sums = dict.fromkeys([f"MNB(prior='laplace', {common})", *trees], 0.0)
        for fold in range(FOLDS):
            asked = found[fold::FOLDS]
            learned = [one for i, one in enumerate(found) if i % FOLDS != fold]
            for spec in sums:
                sums[spec] += accuracy(spec, learned, asked) / FOLDS
        plain, *grown = sums.values()
        print(f"| {collection} | {plain:.2f} |", *(f"{mean - plain:+.2f} |" for mean in grown))
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
