"""A mail to one text: its headers, then its parts, decoded and otherwise as they came."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage

from streamnb.mail.headers import header_text
from streamnb.mail.parts import MAX_HEADERS, decoded, parsed, parts

__all__ = ["MAX_BODY_TEXT", "mail_text"]

_MAX_HEADER_TEXT = 8_192  # characters of the headers of a mail, and of its parts together
MAX_BODY_TEXT = 8_192  # the same of texts: the first page tells, and a mail's writer pays for more


def mail_text(raw: bytes, room: int = MAX_BODY_TEXT) -> str:
    r"""Return a mail as a text for a tokenizer; never raises for any bytes.

    Each header is a line, its encoded words decoded. Texts are decoded from their transfer encoding
    and charset, and HTML stays HTML: what is hidden from a reader tells of who hides it. Of what
    has no text there are the headers, which name types and attachments.

    Parameters
    ----------
    raw
        The mail as it travels: RFC 5322, MIME or not.
    room
        Characters of its texts that are read, 1 or more.

    Examples
    --------
    >>> mail_text(b"Subject: =?utf-8?q?caf=C3=A9?=\n\n<b>Free</b>")
    'Subject: café\n<b>Free</b>'
    """
    headers: list[str] = []
    texts: list[str] = []
    try:
        message = parsed(raw)
        headers += _header_lines(message)
        left = room
        for part, kind in parts(message, []):
            if part is not message:
                headers += _header_lines(part)
            text = decoded([], part, left) if kind.startswith("text/") else None
            if text is not None and left > 0:
                texts.append(text)
                left -= len(text)
    except Exception:  # RecursionError for a thousand nested parts, and what else may come
        texts.append(raw[:room].decode("latin-1"))
    lines = "\n".join(headers)[:_MAX_HEADER_TEXT]
    text = "\n".join([lines, *texts] if lines else texts)
    # A charset may give half of a pair of UTF-16, which no topic and no model takes.
    return text if text.isascii() else text.encode(errors="replace").decode()


def _header_lines(message: EmailMessage) -> Iterator[str]:
    for number, (name, value) in enumerate(message.raw_items()):
        if number == MAX_HEADERS:
            return
        yield f"{name}: {header_text(name.lower(), value)}"
