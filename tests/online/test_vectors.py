"""`WithVectors` equals the formulas of its docstring, over lists, at every message."""

from __future__ import annotations

import math
import pickle
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from river import base

from streamnb import MNB, OnlineNB
from streamnb.datasets import read_text, shuffled
from streamnb.errors import InputError, NotLearnedError
from streamnb.model_specs import build, model_spec
from streamnb.vectors import WithVectors
from support.data import require_data
from support.estimators import river_checks

WORDS = [
    "win",
    "cash",
    "now",
    "prize",
    "call",
    "see",
    "you",
    "at",
    "noon",
    "lunch",
    "bank",
    "card",
    "lost",
    "pin",
    "rate",
]


def letters(texts: Sequence[str]) -> list[list[float]]:
    return [[text.count(each) + 0.25 for each in "aeinoprst"] for text in texts]


class Literal:
    """The formulas over lists of vectors, with the shares as sums over all messages."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.vectors: dict[str, list[list[float]]] = {}
        self.slopes: list[tuple[float, float]] = []

    @staticmethod
    def vector(text: str) -> list[float]:
        plain = letters([text])[0]
        length = math.sqrt(sum(each * each for each in plain))
        return [round(each / length * 2**20) / 2**20 for each in plain]

    def cosine(self, text: str, label: str) -> float:
        mine = self.vector(text)
        sums = [sum(column) for column in zip(*self.vectors[label], strict=True)]
        product = sum(a * b for a, b in zip(mine, sums, strict=True))
        return product / math.sqrt(sum(a * a for a in mine) * sum(b * b for b in sums))

    def opinions(self, text: str) -> list[dict[str, float]]:
        found = self.model.predict_proba_one(text)
        powers = {label: math.exp(15 * self.cosine(text, label)) for label in self.vectors}
        second = {label: power / sum(powers.values()) for label, power in powers.items()}
        return [{label: max(p, 1e-6) for label, p in each.items()} for each in (found, second)]

    def shares(self) -> list[float]:
        steps = list(zip(*self.slopes, strict=True)) or [(), ()]
        return [
            max(start + 0.05 * sum(mine) / math.sqrt(1 + sum(d * d for d in mine)), 0.0)
            for start, mine in zip((0.7, 0.5), steps, strict=True)
        ]

    def predict_proba_one(self, text: str) -> dict[str, float]:
        first, second = self.opinions(text)
        one, two = self.shares()
        scores = {label: first[label] ** one * second[label] ** two for label in first}
        return {label: score / sum(scores.values()) for label, score in scores.items()}

    def learn_one(self, text: str, label: str) -> None:
        if label in self.vectors and len(self.vectors) > 1:
            mixed = self.predict_proba_one(text)
            slopes = [
                math.log(each[label]) - sum(p * math.log(each[k]) for k, p in mixed.items())
                for each in self.opinions(text)
            ]
            self.slopes.append(tuple(min(max(slope, -4.0), 4.0) for slope in slopes))  # type: ignore[arg-type]
        self.model.learn_one(text, label)
        self.vectors.setdefault(label, []).append(self.vector(text))


def messages(n: int, seed: int) -> list[tuple[str, str]]:
    rng = random.Random(seed)
    labels = ("spam", "ham", "bank")
    places = [rng.randrange(3) for _ in range(n)]
    return [
        (" ".join(rng.choices(WORDS[5 * each : 5 * each + 5] + WORDS[::4], k=4)), labels[each])
        for each in places
    ]


@pytest.mark.parametrize("make", [MNB, OnlineNB])
def test_equals_the_formulas_at_every_message(make: Callable[[], Any]) -> None:
    model, literal = WithVectors(make(), letters), Literal(make())
    for text, label in messages(120, seed=1):
        found = model.predict_proba_one(text)
        assert found == pytest.approx(literal.predict_proba_one(text), abs=1e-9)
        assert model.predict_one(text) == max(found, key=found.__getitem__, default=None)
        model.learn_one(text, label)
        literal.learn_one(text, label)
    assert model.shares == pytest.approx(literal.shares(), abs=1e-9)
    assert model.shares != pytest.approx([0.7, 0.5], abs=1e-3)


def test_unlearned_messages_leave_the_sums_and_the_model() -> None:
    stream = messages(60, seed=2)
    model, kept = WithVectors(MNB(), letters), WithVectors(MNB(), letters)
    for text, label in stream:
        model.learn_one(text, label)
    random.Random(3).shuffle(stream)
    for text, label in stream[:40]:
        model.unlearn_one(text, label)
    for text, label in stream[40:]:
        kept.learn_one(text, label)
    kept._slopes, kept._squares = model._slopes, model._squares  # shares keep their steps
    for text, _ in stream:
        # The labels have another order, so sums of their powers may round differently.
        assert model.predict_proba_one(text) == pytest.approx(
            kept.predict_proba_one(text), rel=1e-12
        )
    for text, label in stream[40:]:
        model.unlearn_one(text, label)
    assert model.predict_proba_one("win cash") == {}
    assert model._sums.shape[0] == 0
    with pytest.raises(NotLearnedError, match="no message with label 'spam'"):
        model.unlearn_one("win cash", "spam")


def test_merged_models_have_the_sums_of_both() -> None:
    stream = messages(90, seed=4)
    parts = [WithVectors(MNB(), letters) for _ in range(2)]
    whole = WithVectors(MNB(), letters)
    for place, (text, label) in enumerate(stream):
        parts[place % 2].learn_one(text, label)
        whole.learn_one(text, label)
    parts[0].merge(parts[1])
    by_label = [
        {label: sums.tolist() for label, sums in zip(each._labels, each._sums, strict=True)}
        for each in (parts[0], whole)
    ]
    assert by_label[0] == by_label[1]
    with pytest.raises(InputError, match="of the same vectors, not"):
        whole.merge(WithVectors(MNB(), list))  # type: ignore[arg-type]


def test_pickles_are_equal_and_continue() -> None:
    models = [WithVectors(MNB(), letters) for _ in range(2)]
    for model in models:
        for text, label in messages(30, seed=5):
            model.learn_one(text, label)
    assert pickle.dumps(models[0]) == pickle.dumps(models[1])
    copy = pickle.loads(pickle.dumps(models[0]))
    for each in (copy, models[0]):
        each.learn_one("win the lost card", "bank")
    assert copy.predict_proba_one("noon") == models[0].predict_proba_one("noon")
    assert models[0].memory_bytes == models[0].model.memory_bytes + 3 * 9 * 8
    assert copy.explain_one("win cash") == copy.model.explain_one("win cash")


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        (3, "must be 'wordllama' or a function"),
        ("glove", "must be 'wordllama' or a function"),
        (lambda texts: [1.0], r"shape \(1, components\) for one text, not \(1,\)"),
        (lambda texts: [[1.0], [2.0]], r"not \(2, 1\)"),
        (lambda texts: [[math.nan]], "finite"),
        (lambda texts: [[1.0] * len(texts[0])], r"shape \(1, 3\) for one text, not \(1, 5\)"),
    ],
)
def test_invalid_vectors_are_refused_whole(vectors: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        learn_two(vectors)


def learn_two(vectors: Any) -> None:
    """Learn two messages; the model and the sums have learned the same."""
    model = WithVectors(MNB(), vectors)
    try:
        model.learn_one("abc", "one")
        model.learn_one("abcde", "two")
    finally:
        assert model.model.n_documents == sum(model._documents)


@pytest.mark.parametrize(
    ("model", "check"), river_checks({"WithVectors": WithVectors(MNB(), letters)})
)
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    check(model.clone())


def test_texts_without_a_vector_have_the_opinion_of_the_model() -> None:
    model = WithVectors(MNB(), lambda texts: [[float("a" in texts[0]), 0.0]])
    for text, label in [("a cat", "one"), ("a car", "two"), ("dog", "two")]:
        model.learn_one(text, label)
    alone = model.model.predict_proba_one("dog")
    found = model.predict_proba_one("dog")
    assert max(found, key=found.__getitem__) == max(alone, key=alone.__getitem__) == "two"


def test_wordllama_helps_with_few_labels() -> None:
    require_data("text/banking77.jsonl.xz")
    pytest.importorskip("wordllama")
    stream = [(each.text, each.label) for each in shuffled(read_text("banking77"), seed=0)][:800]
    models = [build(model_spec(spec)) for spec in ("OnlineNB", "WithVectors(model=OnlineNB())")]
    right = []
    for model in models:
        for text, label in stream[:500]:
            model.learn_one(text, label)
        right.append(sum(model.predict_one(text) == label for text, label in stream[500:]))
    assert right[1] >= right[0] + 24, right  # 8 points
