"""The words of a mail, slowly: each header parsed whenever it is asked for, each word counted.

The standard library's modern policy does all of the reading. `streamnb.mail.words`
has to find the same words without it.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from streamnb.mail.html import read_html

__all__ = ["SlowPolicy", "mail_words"]

MAX_TEXT = 2**18  # characters of text taken from one mail
_MAX_RAW = 2**21  # bytes of one mail that are looked at: attachments behind them tell nothing
_MAX_PARTS = 100
_MAX_DASHES = 1_000  # lines that may part a mail: the standard library takes their square
_MAX_HEADERS = 200
_MAX_HEADER = 1_000  # characters: the standard library takes quadratic time for some headers
_MAX_WORD = 40
_MAX_URLS = 500

_WORD = re.compile(r"[\w$€£!%][\w$€£!%'.@-]*")
_URL = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"']{1,500}", re.IGNORECASE)
_URL_WORD = re.compile(r"[^\W_]{2,}")
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)+")
# Different for each mail: only that they are there tells something, and the host of an id.
_NUMBERED = frozenset({"date", "message-id", "in-reply-to", "references", "delivery-date"})


class SlowPolicy(policy.EmailPolicy):
    """The modern policy, for headers from strangers: bounded, and never raising."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        cut = str(value)[:_MAX_HEADER]
        try:
            return super().header_fetch_parse(name, cut)
        except Exception:  # its parser of headers knows no bound to what it raises
            return " ".join(cut.split())


_POLICY: Any = SlowPolicy()
_PARSER: BytesParser[EmailMessage] = BytesParser(EmailMessage, policy=_POLICY)


def mail_words(raw: bytes) -> Counter[str]:
    """Return the words of a mail with their counts; never raises for any bytes."""
    words: Counter[str] = Counter()
    try:
        raw = raw[:_MAX_RAW]
        headers_only = raw.count(b"\n--") > _MAX_DASHES
        message = _PARSER.parsebytes(raw, headersonly=headers_only)
        _add_headers(words, message)
        room = MAX_TEXT
        for part in _parts(message, words):
            room -= _add_part(words, part, room)
            if room <= 0:
                words["mime:long"] += 1
                break
    except Exception:  # RecursionError for a thousand nested parts, and what else may come
        words["mime:broken"] += 1
        _add_text(words, raw[:MAX_TEXT].decode("latin-1"))
    return words


def _add_headers(words: Counter[str], message: EmailMessage) -> None:
    # Raw, so that only those are parsed that are looked at.
    for number, (name, raw) in enumerate(message.raw_items()):
        if number == _MAX_HEADERS:
            words["header:many"] += 1
            return
        name = name.lower()
        words[f"header:{name[:_MAX_WORD]}"] += 1
        _add_header(words, name[:_MAX_WORD], str(_POLICY.header_fetch_parse(name, raw)))


def _add_header(words: Counter[str], name: str, value: str) -> None:
    if name in _NUMBERED:
        words.update(f"{name}:{host.lower()}" for host in _HOST.findall(value.rpartition("@")[2]))
        return
    for word in _WORD.findall(value):
        if len(word) <= _MAX_WORD:
            words[f"{name}:{word}"] += 1
        if "@" in word:
            words[f"{name}:{word.rpartition('@')[2][:_MAX_WORD]}"] += 1


def _parts(message: EmailMessage, words: Counter[str]) -> Iterator[EmailMessage]:
    for number, part in enumerate(message.walk()):
        if number == _MAX_PARTS:
            words["mime:many"] += 1
            return
        kind = part.get_content_type()
        words[f"mime:{kind[:_MAX_WORD]}"] += 1
        for defect in part.defects:
            words[f"mime:{type(defect).__name__}"] += 1
        if not part.is_multipart():
            yield part


def _add_part(words: Counter[str], part: EmailMessage, room: int) -> int:
    """Add the words of a part; return how many characters of text were read."""
    name = part.get_filename()
    if name:
        words.update(f"attached:{word.lower()}" for word in _URL_WORD.findall(str(name)[:200]))
        extension = str(name).rpartition(".")[2]
        words[f"extension:{extension.lower()[:10]}"] += 1
    if part.get_content_maintype() != "text":
        return 0
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return 0
    charset = str(part.get_param("charset", "utf-8"))
    words[f"charset:{charset.lower()[:_MAX_WORD]}"] += 1
    text = _decode(words, content[: 4 * room], charset)[:room]
    if part.get_content_subtype() == "html" or "<html" in text[:2000].lower():
        page = read_html(text)
        words.update({f"html:{tag[:_MAX_WORD]}": n for tag, n in page.tags.items()})
        if page.comments:
            words["html:comment"] += page.comments
        for url in page.urls[:_MAX_URLS]:
            _add_url(words, url)
        text = page.text[:room]
    _add_text(words, text)
    return len(text)


def _decode(words: Counter[str], content: bytes, charset: str) -> str:
    """Return the text of a part, by its charset, else UTF-8, else Latin-1, which fits any bytes."""
    for name in (charset, "utf-8"):
        try:
            if codecs.lookup(name)._is_text_encoding:
                return content.decode(name)
        except (LookupError, ValueError, TypeError):  # unknown, or not what the bytes are
            words["mime:charset-wrong"] += 1
    return content.decode("latin-1")


def _add_text(words: Counter[str], text: str) -> None:
    for url in _URL.findall(text)[:_MAX_URLS]:
        _add_url(words, url)
    for word in _WORD.findall(_URL.sub(" ", text)):
        if len(word) <= _MAX_WORD:
            words[word] += 1
        else:
            words["word:long"] += 1


def _add_url(words: Counter[str], url: str) -> None:
    scheme, colon, rest = url[:1000].partition(":")
    words[f"url:{scheme.lower()[:10]}:" if colon else "url:relative"] += 1
    host, _, path = (rest if colon else scheme).lstrip("/").partition("/")
    labels = host.rpartition("@")[2].partition(":")[0].lower().split(".")
    # The host and each domain above it: example.com of mail7.example.com.
    for start in range(max(len(labels) - 4, 0), max(len(labels) - 1, 1)):
        words[f"host:{'.'.join(labels[start:])[:_MAX_WORD]}"] += 1
    words.update(f"url:{word.lower()[:_MAX_WORD]}" for word in _URL_WORD.findall(path))
