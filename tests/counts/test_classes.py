"""Classes and words come, go and tie at any time."""

from __future__ import annotations

import pytest

import streamnb
from support.batches import COLUMNS, learned, new
from support.models import BETWEEN_MESSAGES, EXACT, INDEPENDENT, MODELS, structures

# --- classes and words at any time ----------------------------------------------------------------


# Models that learn a thousand classes quickly.
QUICK = (*INDEPENDENT, "HMNB", "NBCF", "RwcOVA", "OVATree")


@structures()
def test_new_classes_and_words_at_any_time(name: str) -> None:
    model = new(name)
    model.learn_one({"a": 1}, "first")
    assert model.classes_ == ["first"]
    assert model.predict_proba_one({"never": 1}) == {"first": 1.0}
    model.learn_one({"b": 2}, "second")
    model.learn_many([{"c": 1}, {}], ["third", "fourth"])
    assert model.classes_ == ["first", "fourth", "second", "third"]
    assert set(model.predict_proba_one({})) == set(model.classes_)
    decides = name not in BETWEEN_MESSAGES
    assert not decides or model.predict_one({"b": 3}) == "second"
    assert model.n_words == 3
    assert model.n_documents == 4
    assert model.memory_bytes > 0
    model.unlearn_one({"b": 2}, "second")
    assert model.classes_ == ["first", "fourth", "third"]
    assert model.n_words == 2
    model.learn_one({"b": 2}, "second")
    assert not decides or model.predict_one({"b": 3}) == "second"


@structures()
def test_labels_of_mixed_types(name: str) -> None:
    model = new(name)
    labels = ["text", 3, 2.5, ("a", 1), b"bytes"]
    for i, label in enumerate(labels):
        model.learn_one({f"w{i}": 2, "all": 1}, label)
    assert set(model.classes_) == set(labels)
    shuffled = new(name)
    for i, label in reversed(list(enumerate(labels))):
        shuffled.learn_one({f"w{i}": 2, "all": 1}, label)
    assert shuffled.classes_ == model.classes_
    for i, label in enumerate(labels):
        # If all scores are equal, the first label wins.
        expected = model.classes_[0] if name in BETWEEN_MESSAGES else label
        assert model.predict_one({f"w{i}": 2}) == expected


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.soak) for name in MODELS if name not in QUICK)],
)
def test_a_thousand_classes(name: str) -> None:
    model = getattr(streamnb, name)()
    for i in range(1000):
        model.learn_one({f"w{i}": 1, "all": 1}, i)
    assert model.classes_ == list(range(1000))
    assert model.predict_one({"w321": 5}) == (0 if name in BETWEEN_MESSAGES else 321)


@structures()
def test_predictions_do_not_change_the_model(name: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    model.predict_one("words nobody learned so far")
    model.predict_many(["words nobody", "learned so far"])
    model.explain_one("more words nobody learned")
    assert model.to_bytes() == before
    assert model.n_words == len(COLUMNS)


@structures(EXACT)
def test_ties_are_decided_alike_in_any_order(name: str) -> None:
    one, two = new(name), new(name)
    for label in ("x", "y", "z"):
        one.learn_one({"a": 1}, label)
    for label in ("z", "x", "y"):
        two.learn_one({"a": 1}, label)
    assert one.predict_one({"a": 1}) == two.predict_one({"a": 1}) == one.predict_many(["aa"])[0]
