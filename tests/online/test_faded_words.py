"""Words whose weight has decayed to nothing leave a model with a half-life."""

from __future__ import annotations

from typing import Any

import pytest

import streamnb
from references.bounds import GROUP
from references.forgetting import Forgetting
from streamnb import MNB, MultiLabelNB, OnlineNB
from support.models import make_model, make_reference
from support.streams import assert_same_scores

ONE_GROUP = 2 * GROUP - 1  # words


def stream(n: int) -> list[tuple[str, str]]:
    """Return messages with a common word, and a word of their own."""
    return [(f"hello own{at}", "spam" if at % 3 else "ham") for at in range(n)]


@pytest.mark.parametrize("model", [MNB, OnlineNB, MultiLabelNB])
def test_no_byte_of_a_faded_word_is_left(model: Any) -> None:
    found = model(half_life=1.0, max_features=ONE_GROUP, tokenizer=streamnb.Tokenizer())
    many = model is MultiLabelNB
    found.learn_one("xyzzy hello", {"ham"} if many else "ham")
    for at, (text, label) in enumerate(stream(64)):
        assert b"xyzzy" in found.to_bytes(), at
        found.learn_one(text, {label} if many else label)
    for text, label in stream(2):
        found.learn_one(text, {label} if many else label)
    assert b"xyzzy" not in found.to_bytes()
    assert b"hello" in found.to_bytes()


@pytest.mark.parametrize("half_life", [61.1, "1h"])
def test_every_group_has_its_turn(half_life: float | str) -> None:
    """15,625 groups: by the clock of messages one after the other, by times in random order."""
    model = MNB(half_life=half_life)
    old = [f"old{at}" for at in range(300)]
    model.learn_one(dict.fromkeys(old, 1.0), "ham", time=0)
    n = 20_000 if isinstance(half_life, float) else 60_000
    for at in range(1, n):
        model.learn_one({"new": 1.0}, "spam", time=at * 600.0)
    left = model.n_words - 1
    assert left == 0 if isinstance(half_life, float) else left < 0.1 * len(old)


@pytest.mark.parametrize("name", ["MNB", "BNB", "CNB", "NBCF", "OnlineNB"])
def test_words_leave_as_in_the_reference(name: str) -> None:
    model = make_model(name, half_life=0.5, max_features=1_000)
    reference = Forgetting(make_reference(name), half_life=0.5, max_features=1_000)
    left = []
    for at in range(300):
        counts = {f"w{7 * at % 900}": 1.0, f"v{11 * at % 50}": 2.0, "hello": 1.0}
        label = "spam" if at % 3 else "ham"
        model.learn_one(counts, label)
        reference.learn(counts, label)
        if at % 16 < 2:
            scores = model.joint_log_likelihood_one(counts)
            assert_same_scores(scores, reference.joint_log_likelihood(counts), at)
        left.append(len({word for x, _, _ in reference.stream for word in x}) - model.n_words)
    assert left == [0] * 300
    assert model.n_words < 150


def test_copies_and_restored_models_forget_the_same_words() -> None:
    model = OnlineNB(half_life=0.7, max_features=200)
    for at, (text, label) in enumerate(stream(400)):
        model.learn_one(text, label)
        if at % 37 == 0:
            model = streamnb.NaiveBayes.from_bytes(model.to_bytes())
    other = OnlineNB(half_life=0.7, max_features=200)
    texts, labels = zip(*stream(400), strict=True)
    other.learn_many(list(texts), list(labels))
    assert other.to_bytes() == model.to_bytes()


def test_a_message_of_faded_words_is_unlearned() -> None:
    model = MNB(half_life=1.0, max_features=ONE_GROUP)
    model.learn_one("xyzzy hello", "ham")
    for text, label in stream(70):
        model.learn_one(text, label)
    before = model.class_count_["ham"]
    model.unlearn_one("xyzzy hello", "ham", 2.0**-70)
    assert model.class_count_["ham"] <= before
