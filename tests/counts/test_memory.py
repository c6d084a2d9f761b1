"""Small counts take little memory, and other counts are just as exact."""

from __future__ import annotations

import random
from typing import Any

import pytest

import streamnb
from references.documents import Documents
from streamnb import MNB
from support.models import make_model, make_reference
from support.streams import assert_same_scores, sms_stream


def test_cells_of_text_messages_take_forty_bytes_words_included() -> None:
    model = MNB()
    for counts, label, _ in sms_stream(5574):
        model.learn_one(counts, label)
    assert model.n_cells > 9_000
    assert model.memory_bytes / model.n_cells < 40


def test_words_of_many_classes_take_eight_bytes_a_cell() -> None:
    """Blocks have a power of two of cells: at most sixteen bytes per cell, plus the word."""
    model, labels = MNB(), [f"label {i}" for i in range(1_000)]
    model.learn_many([" ".join(f"w{i}" for i in range(50))] * 1_000, labels)
    before = model.memory_bytes
    model.learn_many([" ".join(f"v{i}" for i in range(50))] * 1_000, labels)
    assert model.n_cells == 100_000
    assert (model.memory_bytes - before) / 50_000 < 17


@pytest.mark.parametrize("name", ["MNB", "CNB", "OVA", "BNB", "TWCNB"])
def test_counts_of_any_size_equal_the_reference(name: str) -> None:
    """Counts beyond 2^20 and fractional weights, unlearned in another order."""
    draw, model, reference = random.Random(4), make_model(name), make_reference(name)
    stream: list[Any] = []
    for n in range(60):
        words = draw.sample(range(12), draw.randint(1, 5))
        counts = {f"w{word}": float(draw.choice([1, 2, 3, 2**19, 2**21])) for word in words}
        weight = draw.choice([1.0, 1.0, 1.0, 2.0**20, 0.25])
        stream.append((counts, draw.choice("abc"), weight))
        model.learn_one(*stream[-1])
        if n % 3 == 2:
            model.unlearn_one(*stream.pop(draw.randrange(len(stream))))
        query = dict.fromkeys([*counts, "never learned"], 1.0)
        expected = reference.joint_log_likelihood(Documents.from_list(stream), query)
        assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
    kept = streamnb.NaiveBayes.from_bytes(model.to_bytes())
    assert kept.to_bytes() == model.to_bytes()
    draw.shuffle(stream)
    for message in stream:
        model.unlearn_one(*message)
    assert (model.n_words, model.n_cells) == (0, 0)
    assert model.to_bytes() == make_model(name).to_bytes()
