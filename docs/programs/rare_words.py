"""Accuracy of dependent words by `min_df`: a table of docs/internals/dependent-words.md.

python docs/programs/rare_words.py --collection la1s --model HMNB

Each collection is shuffled. Four fifths are learned and up to 600 messages of the last fifth are
predicted, for two of five folds.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.papers.readers import Counts, read_counts
from streamnb import datasets
from streamnb.datasets import shuffled
from streamnb.model_specs import build, model_spec

# Messages of each collection. `min_df` was chosen on the first two and confirmed on the others.
COLLECTIONS = {"la1s": 4_000, "r8": 8_000, "20news": 3_000, "sms": 6_000, "spamassassin": 2_500}
MODELS = ("HMNB", "HCNB", "HOVA", "SEMNB")
LEAST = (1, 2, 3, 5)
FOLDS, TRIED, TESTED = 5, 2, 600

Labelled = tuple[str | Mapping[str, float], str]


def rows_of(counts: Counts) -> Iterator[Mapping[str, float]]:
    """Yield each document as a mapping from words to counts."""
    for start, stop in itertools.pairwise(counts.matrix.indptr):
        words = (counts.vocabulary[column] for column in counts.matrix.indices[start:stop])
        yield dict(zip(words, counts.matrix.data[start:stop].tolist(), strict=True))


def messages(collection: str) -> list[Labelled]:
    """Return the first messages of a shuffled collection."""
    found: list[Labelled]
    if collection in datasets.stream_names():
        found = list(datasets.stream(collection))
    else:
        counts = read_counts(collection)
        found = list(zip(rows_of(counts), counts.labels, strict=True))
    return shuffled(found, seed=7)[: COLLECTIONS.get(collection)]


def accuracy(spec: str, learned: Sequence[Labelled], asked: Sequence[Labelled]) -> float:
    """Return the accuracy in percent, with statistics refreshed after learning."""
    model = build(model_spec(spec))
    model.learn_many(*map(list, zip(*learned, strict=True)))
    model.refresh()
    found = model.predict_many([x for x, _ in asked])
    pairs = zip(found, asked, strict=True)
    return 100 * sum(label == y for label, (_, y) in pairs) / len(asked)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--collection", action="append", help="(la1s, r8, 20news, sms, …)")
    parser.add_argument("--model", action="append", help="(HMNB, HCNB, HOVA, SEMNB)")
    options = parser.parse_args(arguments)
    print("| | model |", *(f"{least} |" for least in LEAST))
    for collection, model in itertools.product(
        options.collection or COLLECTIONS, options.model or MODELS
    ):
        found = messages(collection)
        sums = dict.fromkeys(LEAST, 0.0)
        for fold in range(TRIED):
            asked = found[fold::FOLDS][:TESTED]
            learned = [one for i, one in enumerate(found) if i % FOLDS != fold]
            for least in LEAST:
                spec = f"{model}(min_df={least}, refresh_every=1000000000)"
                sums[least] += accuracy(spec, learned, asked) / TRIED
        print(
            f"| {collection} | {model} |", *(f"{mean:.2f} |" for mean in sums.values()), flush=True
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
