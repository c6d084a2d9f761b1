"""A header's value to its text, parsed where that tells more than its source, and once.

The standard library's parser of headers is exact, and slow: up to a millisecond a header. Most
headers are plain: parsed, they have the words that their source has. A pattern tells which are, and
the others' texts are kept, because a mail's reader asks for `Content-Type` a dozen times a part.
"""

from __future__ import annotations

import re
from email import policy
from email.headerregistry import HeaderRegistry
from functools import lru_cache
from typing import Any

__all__ = ["HeaderPolicy", "header_text"]

_MAX_HEADER = 1_000  # characters: the standard library takes quadratic time for some headers
_KEPT = 1_024  # texts of headers that had to be parsed, at most 4 MB

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]++"
_ADDRESS = rf"{_ATOM}(?:\.{_ATOM})*+@{_ATOM}(?:\.{_ATOM})*+"
_NAME = rf'(?:(?:{_ATOM}|"[ !#-\[\]-~]*+")(?:[ \t]++|(?=<)))*+'
_MAILBOX = rf"(?:{_ADDRESS}|{_NAME}<{_ADDRESS}>)"
# No *, ' or %, which announce RFC 2231's sections and encodings.
_TOKEN = r"[A-Za-z0-9!#$&+.^_`{|}~-]++"
_QUOTED = r'"[!#-\[\]-~]++(?: [!#-\[\]-~]++)*+"'
_PARAMETER = re.compile(rf";[ \t]*+({_TOKEN})=({_TOKEN}|{_QUOTED})")
_WITH_PARAMETERS = re.compile(
    rf"{_TOKEN}(?:/{_TOKEN})?+(?:;[ \t]*+{_TOKEN}=(?:{_TOKEN}|{_QUOTED}))*+"
)
# The headers that have a syntax, and what their source is if its words are those of its text.
_PLAIN: dict[str, re.Pattern[str] | None] = {
    **dict.fromkeys(HeaderRegistry().registry),
    **dict.fromkeys(
        ("from", "sender", "to", "cc", "bcc", "reply-to", "resent-from", "resent-to"),
        re.compile(rf"{_MAILBOX}(?:,[ \t]*+{_MAILBOX})*+"),
    ),
    "content-disposition": _WITH_PARAMETERS,
    "content-transfer-encoding": re.compile(r"[A-Za-z0-9-]+"),
    "content-type": _WITH_PARAMETERS,
    "date": re.compile(r"[^.@]*"),  # a date is written anew; no word of it is taken, only hosts
    "message-id": re.compile(rf"<{_ADDRESS}>"),
    "mime-version": re.compile(r"[0-9]\.[0-9]"),
}
del _PLAIN["subject"]  # any text


class HeaderPolicy(policy.EmailPolicy):
    """The modern policy, for headers from strangers: bounded, never raising, and texts at once."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """Return a header's text, where the modern policy returns a parsed header."""
        return header_text(name.lower(), value)


def header_text(name: str, value: str) -> str:
    r"""Return the text of a header: its encoded words decoded, without comments; never raises.

    Parameters
    ----------
    name
        Its name in lower case.
    value
        What follows the colon, folded or not. 1,000 characters of it are read.

    Examples
    --------
    >>> header_text("subject", "=?utf-8?q?caf=C3=A9?=\r\n today"), header_text("to", "a@b.c (me)")
    ('café today', 'a@b.c')
    """
    cut = value[:_MAX_HEADER]
    line = cut.replace("\n", "").replace("\r", "")
    if "=?" not in line:
        if name not in _PLAIN:
            # Bytes that are no ASCII came as lone surrogates.
            return line if line.isascii() else _utf8(line)
        term_weighting = _PLAIN[name]
        if term_weighting is not None and term_weighting.fullmatch(line):
            if term_weighting is not _WITH_PARAMETERS:
                return line
            names = [found[1] for found in _PARAMETER.finditer(line)]
            if len(names) == len(set(names)):  # which counts of several, the parser decides
                return line
    return _parsed_text(name if name in _PLAIN else "subject", cut)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@lru_cache(maxsize=_KEPT)
def _parsed_text(name: str, value: str) -> str:
    try:
        return str(policy.default.header_fetch_parse(name, value))
    except Exception:  # its parser of headers knows no bound to what it raises
        return " ".join(value.split())
