"""HTML to the words that a reader sees, and the addresses that it leads to.

The parser reports events and builds no tree: a message of many nested tags, which takes parsers
that do build one minutes, takes it a tenth of a second.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from streamnb.errors import MissingDependencyError

__all__ = ["Page", "read_html"]

_HIDDEN = frozenset({"script", "style", "noscript", "template"})
_ADDRESSES = frozenset({"href", "src", "action", "background"})
# These do not part words: "V<b>iag</b>ra" is one.
_INLINE = frozenset({"a", "b", "em", "font", "i", "small", "span", "strong", "u", "tt", "big"})


class Page:
    """What a page of HTML shows and where it leads; the target of lxml's parser.

    Attributes
    ----------
    text
        The visible words, once the page is read.
    urls
        Addresses of links, pictures and forms, in order.
    tags
        How often each tag was opened, once the page is read.
    comments
        Comments, which no reader sees.
    """

    def __init__(self) -> None:
        self.text = ""
        self.urls: list[str] = []
        self.tags: Counter[str] = Counter()
        self.comments = 0
        self._opened: list[str] = []
        self._pieces: list[str] = []
        self._hidden = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Note a tag that opens."""
        self._opened.append(tag)
        if tag in _HIDDEN:
            self._hidden += 1
        for name, value in attributes.items():
            if name in _ADDRESSES and value:
                self.urls.append(value)
            elif name in ("alt", "title"):
                self._pieces.append(f" {value} ")
        if tag not in _INLINE:
            self._pieces.append(" ")

    def end(self, tag: str) -> None:
        """Note a tag that closes."""
        if tag in _HIDDEN and self._hidden:
            self._hidden -= 1
        if tag not in _INLINE:
            self._pieces.append(" ")

    def data(self, text: str) -> None:
        """Note text between tags."""
        if not self._hidden:
            self._pieces.append(text)

    def comment(self, text: str) -> None:
        """Count a comment."""
        self.comments += 1

    def close(self) -> Page:
        """Return the page, read to its end."""
        self.tags = Counter(self._opened)
        self.text = "".join(self._pieces)
        self._pieces.clear()
        return self


def read_html(html: str) -> Page:
    """Read HTML of any quality, in time linear in its length.

    Parameters
    ----------
    html
        The page or a piece of one.

    Raises
    ------
    MissingDependencyError
        If lxml is not installed.

    Examples
    --------
    >>> page = read_html("<p>V<b>iag</b>ra <a href='http://x.example/y'>here<script>1")
    >>> page.text.split(), page.urls
    (['Viagra', 'here'], ['http://x.example/y'])
    """
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingDependencyError(
            "mail needs lxml for HTML: pip install 'streamnb[consumers]'"
        ) from error
    page = Page()
    target: Any = page
    parser = etree.HTMLParser(target=target, encoding="utf-8", recover=True, no_network=True)
    try:
        parser.feed(html.encode("utf-8", "replace"))
        parser.close()
    except (etree.LxmlError, ValueError, AssertionError):
        pass  # nothing in it that could be a page: what was read so far stands
    return page if page.text else page.close()
