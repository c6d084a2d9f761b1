"""Figures 1 to 4 of the paper that introduces NBCF."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse

import streamnb
from benchmarks.papers.competitors import TEXT_COMPETITORS
from benchmarks.papers.experiment import CollectionRecipe, Experiment, ModelRecipe
from benchmarks.papers.splits import RandomSamples
from streamnb import Tokenizer, datasets


def read_texts(
    recipe: CollectionRecipe, largest: int | None, most: int | None = None
) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Return counts, labels and words of the texts that have exactly one label.

    Parameters
    ----------
    recipe
        Recipe of the collection; `source` is its name in the folder `text/` of the data folder.
    largest
        Number of the largest classes to keep; None for all.
    most
        Maximum number of texts of a class, drawn at random; None for all.
    """
    messages = [
        message
        for message in datasets.read_text(recipe.source)
        if message.label and "|" not in message.label
    ]
    sizes = Counter(message.label for message in messages)
    kept = {label for label, _ in sizes.most_common(largest)}
    messages = [message for message in messages if message.label in kept]
    if most is not None:
        draw, places = random.Random(1), range(len(messages))
        by_class = ([i for i in places if messages[i].label == label] for label in sorted(kept))
        drawn = sorted(i for each in by_class for i in draw.sample(each, min(most, len(each))))
        messages = [messages[i] for i in drawn]
    tokens = Tokenizer().native().tokens
    words: dict[str, int] = {}
    starts, columns, counts = [0], [], []
    for message in messages:
        for word, count in Counter(tokens(message.text)).items():
            columns.append(words.setdefault(word, len(words)))
            counts.append(count)
        starts.append(len(columns))
    matrix = sparse.csr_array(
        (np.array(counts, dtype=np.float64), columns, starts), shape=(len(messages), len(words))
    )
    return matrix, [message.label for message in messages], list(words)


def of_learned_words(model: str, vocabulary_size: int, **parameters: Any) -> Any:
    """Return a model whose m is the number of learned words."""
    return getattr(streamnb, model)(**parameters)


_MODELS = (
    ModelRecipe("NBCF", "NBCF", {"factor": 0.1}),
    ModelRecipe("NB", "MNB", {"alpha": 1.0}, of_learned_words),
    ModelRecipe("NB-all", "MNB", {"alpha": 1.0}),
    ModelRecipe("NBCF-auto", "NBCF", {"factor": "auto"}),
    ModelRecipe("NBCF-optimal", "NBCF", {"factor": "optimal", "refresh_every": 10**9}),
    *(
        ModelRecipe(
            f"NBCF-optimal {weight:g}",
            "NBCF",
            {"factor": "optimal", "bias_weight": weight, "refresh_every": 10**9},
        )
        for weight in (10.0, 0.1)
    ),
    ModelRecipe("NB-ml", "NBCF", {"factor": 0.0}),
    *TEXT_COMPETITORS,
)


_BALANCED, _MOST = "reuters-10 balanced", 500
_COLLECTIONS = (
    CollectionRecipe(
        _BALANCED,
        "reuters21578",
        reader=read_texts,
        options=(10, _MOST),
        note=(
            f"{_BALANCED}: the stories with exactly one topic, for the ten largest topics, at most "
            f"{_MOST} of each: 2,939. The paper has about 3,000 of topics of almost one size; the "
            "small topics have 116 to 408 stories"
        ),
    ),
    CollectionRecipe(
        "reuters-10",
        "reuters21578",
        reader=read_texts,
        options=(10,),
        note="reuters-10: all stories with exactly one topic, for the ten largest topics: 8,246",
    ),
    CollectionRecipe("20news", "20news_bydate", reader=read_texts, options=(None,)),
)


def _experiment(
    name: str, protocol: RandomSamples, tables: tuple[str, ...], claim: str
) -> Experiment:
    return Experiment(
        name=name,
        paper=(
            'J. Chen, Z. Dai, J. Duan, H. Matzinger, I. Popescu, "Improved Naive Bayes with '
            'optimal correlation factor for text classification", SN Applied Sciences 1, 1129, 2019'
        ),
        summary=f"a correlation factor instead of smoothing: {claim}",
        tables=tables,
        collections=_COLLECTIONS,
        models=_MODELS,
        runs=0,
        folds=5,
        protocol=protocol,
        notes=(
            f"the paper draws without numbers, and claims: {claim}",
            (
                "factors: 0.1 as in the paper (NBCF), learned (NBCF-auto), by Theorem 5.1 with "
                "c1 = c2 = 1 (NBCF-optimal) and c1 / c2 = 10 or 0.1"
            ),
            (
                "NB uses Laplace's estimate with the number of learned words as m, NB-all with the "
                "number of words of the whole collection; NB-ml is Equation 3.5 as printed, which "
                "can give a class the probability 0"
            ),
        ),
        by_class=True,
    )


NBCF_PAPER = _experiment(
    "nbcf",
    RandomSamples(0.1),
    ("nbcf-figure2",),
    "with 10 % learned, NBCF is better than NB on both collections (Figure 2)",
)
NBCF_PAPER_90 = _experiment(
    "nbcf-90",
    RandomSamples(0.9),
    ("nbcf-figure3",),
    "with 90 % learned, NBCF is better than NB on Reuters and worse on 20 newsgroups (Figure 3)",
)
NBCF_LEARNED = _experiment(
    "nbcf-learned",
    RandomSamples(0.1, tests_learned=True),
    ("nbcf-figure4",),
    "on the learned 10 %, NB is better than NBCF (Figure 4)",
)

FACTORS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 1.5, 2.0)
"""Factors of Figure 1, which draws 0 to 2."""
NBCF_FACTORS = dataclasses.replace(
    _experiment("nbcf-factors", RandomSamples(0.1), (), "t around 0.1 is the best (Figure 1)"),
    models=tuple(ModelRecipe(f"{factor:g}", "NBCF", {"factor": factor}) for factor in FACTORS),
    by_class=False,
)
