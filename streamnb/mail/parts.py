"""A mail's parts, each with its type and its text.

Every step survives any bytes: a part that cannot be decoded is read as well as it can be, and
leaves a word that says so, because broken mail is more often spam.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from typing import Any

from streamnb.mail.headers import HeaderPolicy

__all__ = ["MAX_HEADERS", "MAX_WORD", "decoded", "parsed", "parts"]

MAX_HEADERS = 200
MAX_WORD = 40
_MAX_RAW = 2**21  # bytes of one mail that are looked at: attachments behind them tell nothing
_MAX_PARTS = 100
_MAX_DASHES = 1_000  # lines that may part a mail: the standard library takes their square

_POLICY: Any = HeaderPolicy()
_PARSER: BytesParser[EmailMessage] = BytesParser(EmailMessage, policy=_POLICY)


def parsed(raw: bytes) -> EmailMessage:
    """Return a mail's parts, of its first 2 MiB; of one with very many lines of dashes one part."""
    raw = raw[:_MAX_RAW]
    return _PARSER.parsebytes(raw, headersonly=raw.count(b"\n--") > _MAX_DASHES)


def parts(message: EmailMessage, words: list[str]) -> Iterator[tuple[EmailMessage, str]]:
    """Yield the parts that hold no others, each with its type."""
    for number, part in enumerate(message.walk()):
        if number == _MAX_PARTS:
            words.append("mime:many")
            return
        kind = part.get_content_type()
        words.append(f"mime:{kind[:MAX_WORD]}")
        words += [f"mime:{type(defect).__name__}" for defect in part.defects]
        if not part.is_multipart():
            yield part, kind


def decoded(words: list[str], part: EmailMessage, room: int) -> str | None:
    """Return up to `room` characters of a part's text; None where it has none."""
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes):
        return None
    charset = str(part.get_param("charset", "utf-8"))
    words.append(f"charset:{charset.lower()[:MAX_WORD]}")
    return _decode(words, content[: 4 * room], charset)[:room]


def _decode(words: list[str], content: bytes, charset: str) -> str:
    """Return the text of a part, by its charset, else UTF-8, else Latin-1, which fits any bytes."""
    for name in (charset, "utf-8"):
        try:
            if codecs.lookup(name)._is_text_encoding:
                return content.decode(name)
        except (LookupError, ValueError, TypeError):  # unknown, or not what the bytes are
            words.append("mime:charset-wrong")
    return content.decode("latin-1")
