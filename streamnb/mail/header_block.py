r"""A mail's headers as bytes: the header that the filter writes, and values of others.

Programs disagree on line ends. A sender must not be able to forge the header of this filter for any
of them. So lines begin after CR, LF or both, and headers end at the last possible place: the first
line that is empty between two LF.
"""

from __future__ import annotations

import re
from functools import lru_cache

STATUS_HEADER = "X-Spam-Status"  # default name of the header that filters write
_FROM_LINE = re.compile(rb"(?:From |>From )[^\n]*\n")


@lru_cache(maxsize=16)
def _field(name: str) -> re.Pattern[bytes]:
    """Return the pattern of a header with the lines that continue it."""
    rest = rb"[^\r\n]*+(?:\r\n|\r|\n|\Z)"
    return re.compile(
        rb"(?:\A|(?<=[\r\n]))" + re.escape(name.encode()) + rb"[ \t]*+:" + rest
        # An empty \Z would match endlessly.
        + rb"(?:[ \t]" + rest + rb")*+",
        re.IGNORECASE,
    )  # fmt: skip


def header_end(raw: bytes) -> int:
    r"""Return the end of the headers, after the first empty line.

    Examples
    --------
    >>> header_end(b"Subject: hi\n\ntext")
    13
    """
    for empty in (b"\n", b"\r\n"):
        if raw.startswith(empty):
            return len(empty)
    # A regular expression would take most of the time of a mail's text.
    found = [(raw.find(end), len(end)) for end in (b"\n\n", b"\n\r\n")]
    return min((at + size for at, size in found if at >= 0), default=len(raw))


def without_header(raw: bytes, name: str) -> bytes:
    r"""Return a mail without all headers of a name, including folded lines.

    Examples
    --------
    >>> raw = b"Subject: hi\nX-SPAM-status : No,\n score=9\nTo: you\n\nX-Spam-Status: text"
    >>> without_header(raw, "X-Spam-Status")
    b'Subject: hi\nTo: you\n\nX-Spam-Status: text'
    """
    end = header_end(raw)
    if name.lower().encode() not in raw[:end].lower():
        return raw
    # If the last header has no line end, no body follows.
    return _field(name).sub(b"", raw[:end]) + raw[end:]


def with_header(raw: bytes, name: str, value: str) -> bytes:
    r"""Return a mail with a new first header, after the line `From ` of an mbox.

    Examples
    --------
    >>> with_header(b"Subject: hi\r\n\r\ntext", "X-Spam-Status", "No")
    b'X-Spam-Status: No\r\nSubject: hi\r\n\r\ntext'
    """
    begun = _FROM_LINE.match(raw)
    at = begun.end() if begun else 0
    first = raw.find(b"\n")
    end = b"\r\n" if raw[max(first - 1, 0) : first] == b"\r" else b"\n"
    line = f"{name}: {value}".encode() + end
    if raw[at : at + 1] in (b" ", b"\t"):
        line += end  # a continuation line would join this header: make it text
    before = raw[:at].removesuffix(end)
    if b"\r" in before:  # some readers see an empty line here
        before = before.replace(b"\r", b" ")
    return before + end * bool(at) + line + raw[at:]


def first_value(raw: bytes, name: str) -> bytes | None:
    r"""Return the value of the first header of a name in lower case on one line, or None.

    Examples
    --------
    >>> first_value(b"Message-ID:\n <1@x.example>\n\n", "message-id")
    b'<1@x.example>'
    """
    head = raw[: header_end(raw)]
    at = head.lower().find(name.encode())  # the regular expression is slow without it
    found = _field(name).search(head, at) if at >= 0 else None
    return None if found is None else b" ".join(found.group().partition(b":")[2].split()) or None
