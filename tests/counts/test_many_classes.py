"""Counts of many classes equal a dictionary after every batch and after merging halves."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from streamnb import BNB, CNB, MNB, Tokenizer, datasets
from streamnb.statistics.counts import Counts
from support.data import require_data
from support.profiles import also_in_soak


def stream(classes: int, messages: int, seed: int = 0) -> list[tuple[str, str]]:
    """Frequent words in all classes, others in a few neighbouring classes."""
    rng = random.Random(seed)
    made = []
    for _ in range(messages):
        label = rng.randrange(classes)
        own = [f"of{(label + rng.randrange(9)) // 2}-{rng.randrange(9)}" for _ in range(5)]
        words = [f"w{int(rng.paretovariate(0.6)) % 400}" for _ in range(5)]
        made.append((" ".join(own + words), f"label {label:02}"))
    return made


def counted(
    messages: list[tuple[str, str]], read: Any = str.split
) -> dict[tuple[str, str], tuple[int, int]]:
    """Tokens and documents of each word by label."""
    cells: dict[tuple[str, str], tuple[int, int]] = {}
    for text, label in messages:
        for word, count in Counter(read(text)).items():
            tokens, documents = cells.get((word, label), (0, 0))
            cells[word, label] = tokens + count, documents + 1
    return cells


def cells_of(model: Any) -> dict[tuple[str, str], tuple[int, int]]:
    counts = Counts.of(model._store)
    words, labels = model._store.words(), model._labels.names
    tokens, documents = counts.tokens.tocoo(), counts.documents.tocoo()
    found = {
        (words[w], labels[c]): int(n) for w, c, n in zip(*tokens.coords, tokens.data, strict=True)
    }
    return {
        (words[w], labels[c]): (found[words[w], labels[c]], int(n))
        for w, c, n in zip(*documents.coords, documents.data, strict=True)
    }


@pytest.mark.parametrize("classes", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("make", [MNB, CNB, BNB])
def test_a_word_of_all_classes_before_gets_one_of_its_neighbours(make: Any, classes: int) -> None:
    """The cells of `one` fill their block, and those of `other` follow in memory."""
    labels = [f"label {n:02}" for n in range(2 * classes)]
    messages = [("one", label) for label in labels[:classes]]
    messages += [("other", label) for label in labels[classes:]]
    messages += [("one", label) for label in labels[classes:]]
    model = make()
    for place, (text, label) in enumerate(messages):
        model.learn_one(text, label)
        assert cells_of(model) == counted(messages[: place + 1])


@pytest.mark.parametrize("classes", [5, 9, 40, 200])
@pytest.mark.parametrize("make", [MNB, CNB, BNB])
def test_every_count_is_there_and_no_other(make: Any, classes: int) -> None:
    messages = stream(classes, 1_500)
    one_by_one, batches = make(), make()
    for start in range(0, len(messages), 250):
        batch = messages[start : start + 250]
        for text, label in batch:
            one_by_one.learn_one(text, label)
        batches.learn_many([text for text, _ in batch], [label for _, label in batch])
        expected = counted(messages[: start + 250])
        assert cells_of(one_by_one) == expected
        assert cells_of(batches) == expected
    for text, label in messages[500:1_000]:
        one_by_one.unlearn_one(text, label)
    assert cells_of(one_by_one) == counted(messages[:500] + messages[1_000:])


@pytest.mark.parametrize("classes", [5, 9, 40, 200])
def test_merged_parts_have_the_counts_of_the_whole(classes: int) -> None:
    messages = stream(classes, 6_000)
    merged = MNB()
    for start in range(0, len(messages), 1_500):
        part = MNB()
        for text, label in messages[start : start + 1_500]:
            part.learn_one(text, label)
        merged.merge(part)
    assert cells_of(merged) == counted(messages)


@pytest.mark.parametrize("name", also_in_soak(["reuters21578"], ["20news_bydate"]))
def test_posts_and_news_are_counted_as_a_dictionary_counts_them(name: str) -> None:
    require_data(f"text/{name}.jsonl.xz")
    messages = [(m.text, m.label) for m in datasets.read_text(name)][:3_000]
    texts, labels = [text for text, _ in messages], [label for _, label in messages]
    whole, merged = MNB(), MNB()
    whole.learn_many(texts, labels)
    for start in range(0, len(texts), 1_000):
        part = MNB()
        part.learn_many(texts[start : start + 1_000], labels[start : start + 1_000])
        merged.merge(part)
    expected = counted(messages, Tokenizer())
    assert cells_of(whole) == expected
    assert merged.to_bytes() == whole.to_bytes()
