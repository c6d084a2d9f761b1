"""A mail to words: headers, text, addresses and attachments, whatever is broken about it.

Every step survives any bytes: a part that cannot be decoded is read as well as it can be, and
leaves a word that says so, because broken mail is more often spam.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from streamnb_consumers.messages.headers import HeaderPolicy, header_text
from streamnb_consumers.messages.html import read_html

__all__ = ["MAX_TEXT", "mail_words"]

MAX_TEXT = 2**18  # characters of text taken from one mail
_MAX_RAW = 2**21  # bytes of one mail that are looked at: attachments behind them tell nothing
_MAX_PARTS = 100
_MAX_DASHES = 1_000  # lines that may part a mail: the standard library takes their square
_MAX_HEADERS = 200
_MAX_WORD = 40
_MAX_URLS = 500

_WORD = re.compile(r"[\w$€£!%][\w$€£!%'.@-]*")
# https?://, ftp:// or www. in any case; that the first letter is a set makes the search fast.
_URL = re.compile(r"[HFWhfw](?i:(?<=h)ttps?://|(?<=f)tp://|(?<=w)ww\.)[^\s<>\"']{1,500}")
_URL_WORD = re.compile(r"[^\W_]{2,}")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
# Different for each mail: only that they are there tells something, and the host of an id.
_NUMBERED = frozenset({"date", "message-id", "in-reply-to", "references", "delivery-date"})

_POLICY: Any = HeaderPolicy()
_PARSER: BytesParser[EmailMessage] = BytesParser(EmailMessage, policy=_POLICY)


def mail_words(raw: bytes) -> Counter[str]:
    r"""Return the words of a mail with their counts; never raises for any bytes.

    Parameters
    ----------
    raw
        The mail as it travels: RFC 5322, MIME or not.

    Examples
    --------
    >>> words = mail_words(b"From: Ann <ann@shop.example>\nSubject: Free!\n\nSee you")
    >>> sorted(word for word in words if word.startswith(("from:", "subject:")))
    ['from:Ann', 'from:ann@shop.example', 'from:shop.example', 'subject:Free!']
    """
    words: list[str] = []
    try:
        raw = raw[:_MAX_RAW]
        headers_only = raw.count(b"\n--") > _MAX_DASHES
        message = _PARSER.parsebytes(raw, headersonly=headers_only)
        _add_headers(words, message)
        room = MAX_TEXT
        for part, kind in _parts(message, words):
            room -= _add_part(words, part, kind, room)
            if room <= 0:
                words.append("mime:long")
                break
    except Exception:  # RecursionError for a thousand nested parts, and what else may come
        words.append("mime:broken")
        _add_text(words, raw[:MAX_TEXT].decode("latin-1"))
    return Counter(words)


def _add_headers(words: list[str], message: EmailMessage) -> None:
    for number, (name, value) in enumerate(message.raw_items()):
        if number == _MAX_HEADERS:
            words.append("header:many")
            return
        name = name.lower()
        words.append(f"header:{name[:_MAX_WORD]}")
        _add_header(words, name[:_MAX_WORD], header_text(name, value))


def _add_header(words: list[str], name: str, text: str) -> None:
    if name in _NUMBERED:
        words += [f"{name}:{host.lower()}" for host in _HOST.findall(text.rpartition("@")[2])]
        return
    found: list[str] = _WORD.findall(text)
    words += [f"{name}:{word}" for word in found if len(word) <= _MAX_WORD]
    if "@" in text:
        hosts = [word.rpartition("@")[2] for word in found if "@" in word]
        words += [f"{name}:{host[:_MAX_WORD]}" for host in hosts]


def _parts(message: EmailMessage, words: list[str]) -> Iterator[tuple[EmailMessage, str]]:
    """Yield the parts that hold no others, each with its type."""
    for number, part in enumerate(message.walk()):
        if number == _MAX_PARTS:
            words.append("mime:many")
            return
        kind = part.get_content_type()
        words.append(f"mime:{kind[:_MAX_WORD]}")
        words += [f"mime:{type(defect).__name__}" for defect in part.defects]
        if not part.is_multipart():
            yield part, kind


def _add_part(words: list[str], part: EmailMessage, kind: str, room: int) -> int:
    """Add the words of a part; return how many characters of text were read."""
    name = part.get_filename()
    if name:
        words += [f"attached:{word.lower()}" for word in _URL_WORD.findall(str(name)[:200])]
        extension = str(name).rpartition(".")[2]
        words.append(f"extension:{extension.lower()[:10]}")
    if not kind.startswith("text/"):
        return 0
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return 0
    charset = str(part.get_param("charset", "utf-8"))
    words.append(f"charset:{charset.lower()[:_MAX_WORD]}")
    text = _decode(words, content[: 4 * room], charset)[:room]
    if kind == "text/html" or "<html" in text[:2000].lower():
        page = read_html(text)
        words += [f"html:{tag[:_MAX_WORD]}" for tag in page.tags.elements()]
        words += ["html:comment"] * page.comments
        for url in page.urls[:_MAX_URLS]:
            _add_url(words, url)
        text = page.text[:room]
    _add_text(words, text)
    return len(text)


def _decode(words: list[str], content: bytes, charset: str) -> str:
    """Return the text of a part, by its charset, else UTF-8, else Latin-1, which fits any bytes."""
    for name in (charset, "utf-8"):
        try:
            if codecs.lookup(name)._is_text_encoding:
                return content.decode(name)
        except (LookupError, ValueError, TypeError):  # unknown, or not what the bytes are
            words.append("mime:charset-wrong")
    return content.decode("latin-1")


def _add_text(words: list[str], text: str) -> None:
    urls: list[str] = _URL.findall(text)
    for url in urls[:_MAX_URLS]:
        _add_url(words, url)
    found: list[str] = _WORD.findall(_URL.sub(" ", text) if urls else text)
    words += [word if len(word) <= _MAX_WORD else "word:long" for word in found]


def _add_url(words: list[str], url: str) -> None:
    scheme, colon, rest = url[:1000].partition(":")
    words.append(f"url:{scheme.lower()[:10]}:" if colon else "url:relative")
    host, _, path = (rest if colon else scheme).lstrip("/").partition("/")
    labels = host.rpartition("@")[2].partition(":")[0].lower().split(".")
    # The host and each domain above it: example.com of mail7.example.com.
    starts = range(max(len(labels) - 4, 0), max(len(labels) - 1, 1))
    words += [f"host:{'.'.join(labels[start:])[:_MAX_WORD]}" for start in starts]
    words += [f"url:{word.lower()[:_MAX_WORD]}" for word in _URL_WORD.findall(path)]
