"""The text of HTML, compared with the tree that the markup was written from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from references.html import BLOCKS, HIDING, INLINE, Node, markup, visible
from streamnb import _core
from support.linear import assert_linear

WORDS = st.text(st.sampled_from("abcé< &>'\"-! \n"), max_size=8)
PLAIN = st.text(st.sampled_from("abcé &;! "), max_size=8)
LEAVES = st.one_of(
    WORDS.map(lambda text: Node("text", text)),
    PLAIN.map(lambda text: Node("comment", text)),
    PLAIN.map(lambda text: Node("style", text)),
    PLAIN.map(lambda text: Node("picture", text)),
    st.just(Node("break", "br")),
)


def elements(
    kind: str, names: tuple[str, ...], children: st.SearchStrategy[Node]
) -> st.SearchStrategy[Node]:
    return st.builds(
        Node, st.just(kind), st.sampled_from(names), st.lists(children, max_size=4).map(tuple)
    )


def inline(children: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    """A link does not contain links."""
    return elements("inline", tuple(name for name in INLINE if name != "a"), children)


# A paragraph contains no blocks, and an inline element of a page only inline ones.
INLINES = st.recursive(LEAVES, inline, max_leaves=8)
PARAGRAPHS = elements("block", ("p", "h1"), INLINES) | elements("inline", ("a",), LEAVES)
CONTAINERS = tuple(name for name in BLOCKS if name not in ("p", "h1", "li"))
NODES = st.recursive(
    INLINES | PARAGRAPHS,
    lambda children: elements("block", CONTAINERS, children) | elements("hidden", HIDING, children),
    max_leaves=20,
)


@given(st.lists(NODES, max_size=6).map(tuple))
def test_the_visible_text_is_that_of_the_tree(nodes: tuple[Node, ...]) -> None:
    text, _, _, tags, _ = _core.read_html(markup(nodes), room=10_000)
    assert text == visible(nodes)
    assert all(count > 0 for _, count in tags)


@given(st.text(max_size=200), st.integers(1, 50))
def test_any_text_is_read_within_its_room(text: str, room: int) -> None:
    found, hidden, urls, _, _ = _core.read_html(text, room=room)
    assert len(found) <= room
    assert len(hidden) <= room
    assert len(urls) <= 200
    assert "\x1e" not in found + hidden + "".join(urls)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("&amp;&lt;&eacute;&hellip;&#x41;&#66;&#150;&nbsp;&bogus;&", "&<é…AB– &bogus;&"),
        ("caf&eacute &copy 2026 &notit;", "café © 2026 ¬it;"),
        ("a<b", "a"),
        ("a < b > c", "a < b > c"),
        ("a</>b<?php x ?>c<!doctype html>d", "abcd"),
        ('<p title="a>b">c</p>', "c"),
        ("<p title='a\">b'>c</p>", "c"),
        ("<a href=x>y</a><a href = 'z'>w</a>", "yw"),
        ("<style>a</styles>b</style>c", "c"),
        ("<xmp><b>a</b></xmp>", "<b>a</b>"),
        ("<input type=hidden value=a><input type=text value=b>", "b"),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", "a b\nc\nd"),
    ],
)
def test_syntax_is_read_as_browsers_do(html: str, text: str) -> None:
    assert _core.read_html(html, room=100)[0] == text


def test_addresses_are_listed_once_and_without_content() -> None:
    html = "<a href='http://x.example/a?b&amp;c'>1</a><img src='data:a,b'><a href=y>2<a href=y>"
    assert _core.read_html(html, room=10)[2] == ["http://x.example/a?b&c", "y"]


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<a b='", "<!--", "<!-- -->", "<style>", "</style>", "<p>", "<b>", "</b>", "<td>",
     "&", "&#", "&a", "<font color=red>", "<p style='a:b;", "<a href=x", "-->", "</p>",
     "<div></b>"],
)  # fmt: skip
def test_hostile_html_takes_linear_time(piece: str) -> None:
    assert_linear(lambda size: _core.read_html(piece * (size // len(piece)), room=10**9))


@pytest.mark.parametrize(
    ("css", "head", "body"),
    [
        (".a", "{display:none}</style>", "<p class=a>"),
        (".a", " p{display:none}</style>", "<div class=a><p></p>"),
        (".b", " p{display:none}</style><div class='" + "a " * 300 + "'>", "<p></p>"),
        (".c.b{display:none}", "</style><p class='", "b "),
        (".c p{display:none}", "</style><div class='" + "b " * 20_000 + "'>", "<p></p>"),
        ("a{/*x*}", "</style>", "b"),
        ("a{b:(';", "</style>", "b"),
    ],
)
def test_hostile_style_sheets_take_linear_time(css: str, head: str, body: str) -> None:
    def read(size: int) -> None:
        half = size // 2
        page = "<style>" + css * (half // len(css)) + head + body * (half // len(body))
        _core.read_html(page, room=10**9)

    assert_linear(read)


def test_rules_for_outer_elements_hold_on_a_page_with_many_elements() -> None:
    page = "<style>.a p{display:none}</style><div class=a>" + "<i></i>" * 10_000 + "<p>b</p></div>c"
    assert _core.read_html(page, room=100)[0] == "c"
