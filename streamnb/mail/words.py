"""A mail to words: headers, text, addresses and attachments, whatever is broken about it."""

from __future__ import annotations

import re
from collections import Counter
from email.message import EmailMessage

from streamnb.mail.headers import header_text
from streamnb.mail.html import read_html
from streamnb.mail.parts import MAX_HEADERS, MAX_WORD, decoded, parsed, parts

__all__ = ["MAX_TEXT", "mail_words"]

MAX_TEXT = 2**18  # characters of text taken from one mail
_MAX_URLS = 500

_WORD = re.compile(r"[\w$€£!%][\w$€£!%'.@-]*")
# https?://, ftp:// or www. in any case; that the first letter is a set makes the search fast.
_URL = re.compile(r"[HFWhfw](?i:(?<=h)ttps?://|(?<=f)tp://|(?<=w)ww\.)[^\s<>\"']{1,500}")
_URL_WORD = re.compile(r"[^\W_]{2,}")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
# Different for each mail: only that they are there tells something, and the host of an id.
_NUMBERED = frozenset({"date", "message-id", "in-reply-to", "references", "delivery-date"})


def mail_words(raw: bytes, room: int = MAX_TEXT) -> Counter[str]:
    r"""Return the words of a mail with their counts; never raises for any bytes.

    Parameters
    ----------
    raw
        The mail as it travels: RFC 5322, MIME or not.
    room
        Characters of its texts that are read, 1 or more.

    Examples
    --------
    >>> words = mail_words(b"From: Ann <ann@shop.example>\nSubject: Free!\n\nSee you")
    >>> sorted(word for word in words if word.startswith(("from:", "subject:")))
    ['from:Ann', 'from:ann@shop.example', 'from:shop.example', 'subject:Free!']
    """
    words: list[str] = []
    try:
        message = parsed(raw)
        _add_headers(words, message)
        left = room
        for part, kind in parts(message, words):
            left -= _add_part(words, part, kind, left)
            if left <= 0:
                words.append("mime:long")
                break
    except Exception:  # RecursionError for a thousand nested parts, and what else may come
        words.append("mime:broken")
        _add_text(words, raw[:room].decode("latin-1"))
    return Counter(words)


def _add_headers(words: list[str], message: EmailMessage) -> None:
    for number, (name, value) in enumerate(message.raw_items()):
        if number == MAX_HEADERS:
            words.append("header:many")
            return
        name = name.lower()
        words.append(f"header:{name[:MAX_WORD]}")
        _add_header(words, name[:MAX_WORD], header_text(name, value))


def _add_header(words: list[str], name: str, text: str) -> None:
    if name in _NUMBERED:
        words += [f"{name}:{host.lower()}" for host in _HOST.findall(text.rpartition("@")[2])]
        return
    found: list[str] = _WORD.findall(text)
    words += [f"{name}:{word}" for word in found if len(word) <= MAX_WORD]
    if "@" in text:
        hosts = [word.rpartition("@")[2] for word in found if "@" in word]
        words += [f"{name}:{host[:MAX_WORD]}" for host in hosts]


def _add_part(words: list[str], part: EmailMessage, kind: str, room: int) -> int:
    """Add the words of a part; return how many characters of text were read."""
    name = part.get_filename()
    if name:
        words += [f"attached:{word.lower()}" for word in _URL_WORD.findall(str(name)[:200])]
        extension = str(name).rpartition(".")[2]
        words.append(f"extension:{extension.lower()[:10]}")
    if not kind.startswith("text/"):
        return 0
    text = decoded(words, part, room)
    if text is None:
        return 0
    if kind == "text/html" or "<html" in text[:2000].lower():
        page = read_html(text)
        words += [f"html:{tag[:MAX_WORD]}" for tag in page.tags.elements()]
        words += ["html:comment"] * page.comments
        for url in page.urls[:_MAX_URLS]:
            _add_url(words, url)
        text = page.text[:room]
    _add_text(words, text)
    return len(text)


def _add_text(words: list[str], text: str) -> None:
    urls: list[str] = _URL.findall(text)
    for url in urls[:_MAX_URLS]:
        _add_url(words, url)
    found: list[str] = _WORD.findall(_URL.sub(" ", text) if urls else text)
    words += [word if len(word) <= MAX_WORD else "word:long" for word in found]


def _add_url(words: list[str], url: str) -> None:
    scheme, colon, rest = url[:1000].partition(":")
    words.append(f"url:{scheme.lower()[:10]}:" if colon else "url:relative")
    host, _, path = (rest if colon else scheme).lstrip("/").partition("/")
    labels = host.rpartition("@")[2].partition(":")[0].lower().split(".")
    # The host and each domain above it: example.com of mail7.example.com.
    starts = range(max(len(labels) - 4, 0), max(len(labels) - 1, 1))
    words += [f"host:{'.'.join(labels[start:])[:MAX_WORD]}" for start in starts]
    words += [f"url:{word.lower()[:MAX_WORD]}" for word in _URL_WORD.findall(path)]
