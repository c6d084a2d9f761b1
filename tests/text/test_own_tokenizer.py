"""A tokenizer of the user's own."""

from __future__ import annotations

import pytest

from streamnb.errors import InputError
from support.batches import new
from support.models import structures

# --- tokenizer -----------------------------------------------------------------------------------


def by_blanks(text: str) -> list[str]:
    return text.split(" ")


@structures()
def test_own_tokenizer(name: str) -> None:
    model = new(name, tokenizer=by_blanks)
    model.learn_one("One-two Three! a", "x")
    model.learn_one("b a", "y")
    plain = new(name)
    plain.learn_one({"One-two": 1, "Three!": 1, "a": 1}, "x")
    plain.learn_one({"b": 1, "a": 1}, "y")
    x = {"Three!": 2, "a": 1}
    assert model.predict_proba_one("Three! a Three!") == plain.predict_proba_one(x)
    assert model.predict_many(["Three! a Three!"]) == [plain.predict_one(x)]
    model.unlearn_one("b a", "y")
    assert model.classes_ == ["x"]


def test_tokenizer_that_fails_or_answers_nonsense() -> None:
    def fails(text: str) -> list[str]:
        raise RuntimeError("the tokenizer's own error")

    model = new("MNB", tokenizer=fails)
    with pytest.raises(RuntimeError, match="own error"):
        model.learn_one("a", "ham")
    assert model.n_documents == 0
    for answer in (3, None, [[]], [{}]):
        model = new("MNB", tokenizer=lambda text, answer=answer: answer)
        with pytest.raises(InputError):
            model.learn_one("a", "ham")
        assert (model.n_documents, model.n_words) == (0, 0)
