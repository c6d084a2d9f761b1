"""Streams of texts, real and synthetic, their prefixes, and a model that follows a stream."""

from __future__ import annotations

import json
import lzma
import random
from functools import cache
from typing import TYPE_CHECKING, Any

from river import feature_extraction, naive_bayes

from references.documents import Document, Documents
from support.data import require_data
from support.models import (
    make_model,
    make_reference,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


TOLERANCE = 1e-9
MESSAGES = 300
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "alpha 0.5, laplace, smooth": {"alpha": 0.5, "prior": "laplace", "oov": "smooth"},
    "empirical, skip": {"prior": "empirical", "oov": "skip"},
    "alpha 0.5, uniform, skip": {"alpha": 0.5, "prior": "uniform", "oov": "skip"},
    "uniform, smooth, m fixed": {"prior": "uniform", "oov": "smooth", "vocabulary_size": 4000},
    "alpha 0.5, m fixed": {"alpha": 0.5, "vocabulary_size": 2500},
}


@cache
def sms_stream(n: int = MESSAGES) -> list[Document]:
    """Return the first SMS messages as bags of words, tokenised as in river."""
    bag = feature_extraction.BagOfWords()
    path = require_data("text/sms_spam.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(n), strict=False)]
    return [(bag.transform_one(record["text"]), record["label"], 1.0) for record in records]


@cache
def synthetic_stream(n: int = 120, weighted: bool = False, seed: int = 7) -> list[Document]:
    """Return messages of three classes; the third comes late, and some messages are empty."""
    rng = random.Random(seed)
    vocabulary = [f"w{i}" for i in range(45)]
    favourites = {"a": vocabulary[:15], "b": vocabulary[10:30], "c": vocabulary[25:]}
    stream: list[Document] = []
    for i in range(n):
        label = rng.choice("aaab" if i < 30 else "aaabbc")
        words = rng.choices(favourites[label], k=rng.randrange(6))
        words += rng.choices(vocabulary, k=rng.randrange(4))
        counts = {word: float(words.count(word)) for word in sorted(set(words))}
        weight = rng.choice([0.25, 0.5, 1.0, 1.5, 3.0]) if weighted else 1.0
        if weighted:
            counts = {word: count * rng.choice([0.5, 1.0, 1.25]) for word, count in counts.items()}
        stream.append((counts, label, weight))
    return stream


def assert_same_parts(explanation: Any, parts: Any, label: Any, words: Iterable[Any]) -> None:
    """The bias and each word's evidence and correction equal those of the reference."""
    assert abs(explanation.baseline[label] - parts.bias) <= TOLERANCE
    for word in words:
        correction = explanation.corrections[word][label]
        assert abs(correction - parts.corrections[word]) <= TOLERANCE, word
        evidence = explanation.words[word][label] - correction
        assert abs(evidence - parts.evidence[word]) <= TOLERANCE, word


def assert_same_scores(got: dict[Any, float], expected: dict[Any, float], where: object) -> None:
    assert got.keys() == expected.keys(), where
    for label, score in expected.items():
        assert abs(got[label] - score) <= TOLERANCE, (where, label, got[label], score)


@cache
def prefixes(stream: Callable[..., list[Document]], **parameters: Any) -> list[Documents]:
    """Return the documents before each message of a stream, and finally all documents."""
    documents = Documents.from_list(stream(**parameters))
    return [documents.first(n) for n in range(len(documents.labels) + 1)]


def follow(
    name: str, parameters: dict[str, Any], stream: list[Document], past: list[Documents]
) -> None:
    """Score the next message and a fixed one at every prefix of the stream, then learn."""
    model = make_model(name, refresh_every=1, **parameters)
    reference = make_reference(name, **parameters)
    # Repeated words, an unknown word, fractional counts and a zero.
    words = list(past[-1].words)
    fixed = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (counts, label, weight) in enumerate([*stream, ({}, None, 1.0)]):
        for x in (counts, fixed):
            assert_same_scores(
                model.joint_log_likelihood_one(x), reference.joint_log_likelihood(past[n], x), n
            )
        if n < len(stream):
            model.learn_one(counts, label, weight)


# --- the reference by hand -----------------------------------------------------------------------

TINY: list[Document] = [({"a": 1, "b": 1}, "ham", 1.0), ({"a": 2, "c": 1}, "spam", 1.0)]


def learned(model: Any, stream: Iterable[Document]) -> Any:
    """Return a model that has learned a stream, message by message."""
    for x, y, w in stream:
        model.learn_one(x, y, w)
    return model


THEMES = {
    "ham": ["see", "you", "at", "noon", "home", "call", "mum", "later"],
    "spam": ["win", "cash", "now", "claim", "prize", "call", "free", "txt"],
    "news": ["vote", "party", "goal", "match", "minister", "call", "rain"],
}


def noisy_messages(
    n: int, labels: tuple[str, ...] = ("ham", "spam"), seed: int = 0, noise: float = 0.3
) -> Iterator[tuple[str, str]]:
    """Return short texts of the label's words, mixed with a share of common words."""
    rng = random.Random(seed)
    everything = sorted({word for words in THEMES.values() for word in words})
    for _ in range(n):
        label = rng.choice(labels)
        words = [
            rng.choice(everything if rng.random() < noise else THEMES[label])
            for _ in range(rng.randint(1, 5))
        ]
        yield " ".join(words), label


def river_mnb() -> Any:
    """Return river's multinomial model with its bag of words."""
    return feature_extraction.BagOfWords() | naive_bayes.MultinomialNB()


_SIDES = {"ham": ["noon", "lunch", "home", "later"], "spam": ["win", "cash", "free", "prize"]}


def swapping(parts: tuple[int, ...], seed: int = 3, noise: float = 0.1) -> list[tuple[str, str]]:
    """Return messages of three words whose labels are swapped in each new part."""
    rng, stream = random.Random(seed), []
    for part, length in enumerate(parts):
        for _ in range(length):
            side = rng.choice(["ham", "spam"])
            text = " ".join(rng.choices(_SIDES[side], k=3))
            flipped = (part % 2 == 1) != (rng.random() < noise)
            stream.append((text, {"ham": "spam", "spam": "ham"}[side] if flipped else side))
    return stream


def count_wrong(model: Any, stream: list[tuple[str, str]]) -> int:
    """Return the number of messages that a model predicts wrong before it learns them."""
    count = 0
    for x, y in stream:
        count += model.predict_one(x) != y
        model.learn_one(x, y)
    return count
