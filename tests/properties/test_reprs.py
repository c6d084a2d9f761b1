"""How models and explanations look in plain text, whatever the messages contain."""

from __future__ import annotations

import pytest

from streamnb import MNB, ComposedNB, OnlineNB, Tokenizer
from streamnb.model.explanation import Explanation

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "\"'><svg/onload=alert(1)>",
    "&lt;b&gt; &amp;#60;",
    "javascript:alert(1) <a href='javascript:alert(1)'>x</a>",
    "<!-- --!> <style>*{display:none}</style>",
    "\x1b[2J\x1b]0;title\x07 \u202e \r\n\x00 \u2028",
    "]]> <![CDATA[ {{7*7}} ${7*7}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_message_is_text(text: str) -> None:
    # Words as they come, labels too.
    for model in (MNB(tokenizer=str.split), OnlineNB(tokenizer=lambda x: [x, *x.split()])):
        model.learn_one(text, text)
        model.learn_one("see you", "ham")
        explanation = model.explain_one(text + " you")
        shown = repr(explanation) + repr(model)
        assert all(character.isprintable() or character == "\n" for character in shown)


def test_an_explanation_in_words() -> None:
    explanation = Explanation(
        {"ham": -0.5, "spam": -1.0},
        {"win": {"ham": -4.0, "spam": -2.0}, "at": {"ham": -1.0, "spam": -1.25}},
        {"win": {"ham": 0.0, "spam": 0.5}},
    )
    assert repr(explanation).splitlines() == [
        "Explanation for spam: 1.25 ahead",
        "          spam    ham   lead",
        "(start)  -1.00  -0.50  -0.50",
        "win      -2.00  -4.00  +2.00",
        "at       -1.25  -1.00  -0.25",
        "(score)  -4.25  -5.50  +1.25",
    ]


def test_explanations_without_classes_or_with_many() -> None:
    empty = MNB().explain_one("win")
    assert "the model has no classes" in repr(empty)
    model = MNB()
    for number in range(30):
        model.learn_one(f"word{number} common", number)
    explanation = model.explain_one(" ".join(f"word{number}" for number in range(30)))
    assert "10 more words" in repr(explanation)
    assert "22 more classes" in repr(explanation)
    assert len(repr(model)) < 200
    assert "and 22 more" in repr(model)


def test_a_model_in_a_line() -> None:
    assert repr(MNB()) == "MNB()"
    model = MNB(alpha=0.5, tokenizer=Tokenizer(words=(1, 2)))
    assert repr(model).startswith("MNB(alpha=0.5, tokenizer=Tokenizer(")
    model = ComposedNB(weights="gain-ratio")
    model.learn_one("win cash", "spam")
    assert repr(model) == ("<ComposedNB(weights='gain-ratio'): 1 message, 2 words, classes spam>")
    model.learn_one("see", "ham", 0.5)
    assert "1.50 messages, 3 words, classes ham, spam" in repr(model)
