"""How models and explanations look: to a person in plain text, and in a notebook, come what may."""

from __future__ import annotations

import re
from html.parser import HTMLParser

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
ALLOWED = {
    "div",
    "p",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "details",
    "summary",
    "code",
    "b",
}


class Tags(HTMLParser):
    """Finds the elements, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles |= {value or "" for name, value in attrs if name == "style"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")


def harmless(page: str) -> Tags:
    tags = Tags(page)
    assert tags.open == []
    assert tags.tags <= ALLOWED
    assert tags.attributes <= {"style"}
    assert all(re.fullmatch(r"[a-z0-9:;,.() -]*", style) for style in tags.styles)
    return tags


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_message_is_text(text: str) -> None:
    # Words as they come, labels too.
    for model in (MNB(tokenizer=str.split), OnlineNB(tokenizer=lambda x: [x, *x.split()])):
        model.learn_one(text, text)
        model.learn_one("see you", "ham")
        explanation = model.explain_one(text + " you")
        page = harmless(explanation._repr_html_())
        assert "lead" in page.text
        word = text.split()[0]
        if word.isprintable():
            assert word in page.text
        shown = repr(explanation) + repr(model)
        assert all(character.isprintable() or character == "\n" for character in shown)
        harmless(model._repr_html_())
    harmless(MNB(pos_label=text, threshold=0.5)._repr_html_())


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
    page = explanation._repr_html_()
    # The strongest word has the deepest colour, one against the class the other one.
    assert "230,159,0,0.60" in page
    assert "0,114,178,0.07" in page
    assert "learned online" in page
    assert "+0.50" in page
    assert "learned online" not in Explanation({"a": 0.0}, {})._repr_html_()


def test_explanations_without_classes_or_with_many() -> None:
    empty = MNB().explain_one("win")
    assert "the model has no classes" in repr(empty)
    assert "the model has no classes" in harmless(empty._repr_html_()).text
    model = MNB()
    for number in range(30):
        model.learn_one(f"word{number} common", number)
    explanation = model.explain_one(" ".join(f"word{number}" for number in range(30)))
    for shown in (repr(explanation), harmless(explanation._repr_html_()).text):
        assert "10 more words" in shown
        assert "22 more classes" in shown
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
    page = harmless(model._repr_html_())
    assert "1.50 messages" in page.text
    assert "index_size" in page.text
    assert "<b>&#x27;gain-ratio&#x27;</b>" in model._repr_html_()
    assert "untrained" in MNB()._repr_html_()
