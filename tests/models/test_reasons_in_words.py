"""Explanations in words: the letters of a message are summed to the words that contain them."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from typing import Any

import pytest

from streamnb import LNB, MNB, Explanation, OnlineNB, Tokenizer
from streamnb.cli.classify import decision
from streamnb.datasets import Message
from support.models import structures

LEARNED = [
    ("Subject: Win!\n\nWIN cash now, free entry £5!!!", "spam"),
    ("See you at noon, Bob.", "ham"),
    ("免费现金 now: win-win", "spam"),
    ("See the café at 12:30?", "ham"),
] * 5
TEXTS = [
    "Win at noon, bob! £5!!! now",
    "Subject: free café\n\nSee you, win-win cash",
    "免费 noon",
    "see see see",
    "x",
    "",
    "\t\x0b\x0c win \x1e \x1f",
    "a: b=c d\\e user=win",
]
MARKS = "\t\x0b\x0c"
TOKENIZERS = {
    "default": OnlineNB.default_tokenizer,
    "letters alone": Tokenizer(characters_within_words=(1, 4)),
    "characters and words": Tokenizer(words=(1, 2), characters=(2, 5), boundaries="unicode"),
    "fields": dataclasses.replace(
        OnlineNB.default_tokenizer, fields=("user",), texts=("title",), per_field="user"
    ),
}


def learned(tokenizer: Tokenizer | None) -> OnlineNB:
    model = OnlineNB(tokenizer=tokenizer, warm_up=0)
    for number, (text, label) in enumerate([*LEARNED, ("see win", "other"), ("noon", "other")]):
        model.learn_one(record(tokenizer, text, f"u{number % 2}"), label)
    return model


def record(tokenizer: Tokenizer | None, text: str, user: str = "u1") -> Any:
    has_fields = tokenizer is not None and tokenizer.has_fields
    return {"text": text, "user": user, "title": "see now"} if has_fields else text


def words_of_tokens(explanation: Explanation) -> dict[str, dict[Any, float]]:
    """Return the contributions by word, from the definition, for messages without fields."""
    found: dict[str, dict[Any, float]] = {}
    plain = [token for token in explanation.words if not set(token) & set(MARKS)]
    for token, terms in explanation.words.items():
        names = [token]
        if token[0] == "\x0b":
            letters = token[1:]
            names = [word for word in plain if " " not in word and letters in f" {word} "]
            joined = [pair for pair in plain if " " in pair]
            names = names or [pair for pair in joined if letters in f" {pair.replace(' ', '')} "]
        if token[0] == "\x0c":
            names = ["(length)"]
        for name in names:
            for label, term in terms.items():
                sums = found.setdefault(name, dict.fromkeys(terms, 0.0))
                sums[label] += term / len(names)
    return found


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_words_add_up_to_the_score(kind: str, text: str) -> None:
    model = learned(TOKENIZERS[kind])
    x = record(TOKENIZERS[kind], text)
    before = model.to_bytes()
    tokens = model.explain_one(x)
    words = tokens.in_words()
    for label, score in model.joint_log_likelihood_one(x).items():
        assert words.scores()[label] == pytest.approx(score, rel=1e-9, abs=1e-9)
        for part, by_word in ((tokens.words, words.words), (tokens.corrections, words.corrections)):
            sums = [math.fsum(terms[label] for terms in each.values()) for each in (part, by_word)]
            assert sums[0] == pytest.approx(sums[1], rel=1e-9, abs=1e-9)
    assert model.to_bytes() == before
    assert all(name.isprintable() for name in words.words)
    json.dump(sorted(words.words), io.StringIO())


def test_each_word_has_its_letters_as_the_definition_says() -> None:
    model = learned(None)
    for text in ("win at noon bob", "noon, see you: now!", "see see wins"):
        explanation = model.explain_one(text)
        known = words_of_tokens(explanation)
        words = explanation.in_words().words
        assert words.keys() == known.keys()
        for word, terms in known.items():
            assert words[word] == pytest.approx(terms, rel=1e-9, abs=1e-12)
        assert not [word for word in words if word.startswith("letters")]


def test_a_fragment_is_no_reason() -> None:
    """The default tokenizer has seven tokens of letters for each token of a word."""
    model = learned(None)
    top = model.explain_one("win the cash").in_words().top("spam", 3)
    assert {word for word, _ in top} <= {"win", "cash", "the", "win the", "the cash", "(length)"}
    assert top[0][0] in ("win", "cash")
    assert top[0][1] > 0


@structures()
def test_other_models_are_explained_alike(name: str) -> None:
    from support.batches import learned as learned_model

    model = learned_model(name)
    explanation = model.explain_one("free cash at noon")
    assert explanation.in_words().scores() == pytest.approx(explanation.scores(), rel=1e-9)


def test_a_row_keeps_its_attributes() -> None:
    model = LNB()
    model.learn_one({"age": 3.0, "job": "a b"}, "x")
    model.learn_one({"age": 9.0, "job": "c"}, "y")
    explanation = model.explain_one({"age": 3.0, "job": "a b"})
    assert explanation.in_words().words.keys() == explanation.words.keys()


def test_commands_name_words_and_raw_tokens_on_request() -> None:
    model, message = learned(None), Message("1", "", "win cash")
    named = [each["word"] for each in decision(model, message, 50)["words"]]
    assert set(named) == {"win", "cash", "win cash", "(length)"}
    raw = [each["word"] for each in decision(model, message, 50, raw=True)["words"]]
    assert set(raw) == set(model.explain_one("win cash").words)
    assert any(word.startswith("\x0b") for word in raw)
    assert MNB().explain_one("win").in_words().words == {"win": {}}
