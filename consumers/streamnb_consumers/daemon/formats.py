"""Detect the input format: JSON lines, or mail in one of its containers."""

from __future__ import annotations

import os
import re
import sys

from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError

_BLOCK = 65_536
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*\{")


def first_bytes(kind: str, settings: Settings) -> bytes:
    """Wait for the first bytes of standard input if they decide the format.

    They do unless a setting names the format. A service with a health port always reads lines.
    """
    named = settings.format != "auto" or settings.input != "-"
    if kind != "spam" or named or settings.bootstrap_servers or settings.http_port:
        return b""
    begun = b""
    while not begun.strip() and (block := os.read(sys.stdin.fileno(), _BLOCK)):
        begun += block
    return begun


def recognised(kind: str, settings: Settings, begun: bytes = b"") -> str:
    r"""Return the format of the input, of which `begun` are the first bytes on standard input.

    Raises
    ------
    SettingsError
        If such messages cannot have the format.

    Examples
    --------
    >>> recognised("spam", Settings(), b'{"id"'), recognised("spam", Settings(), b"From: ann")
    ('jsonl', 'mail')
    """
    if kind != "spam" and settings.format not in ("auto", "jsonl"):
        raise SettingsError(f"format is {settings.format}, but {kind} is read from JSON lines")
    if settings.format != "auto":
        return settings.format
    if kind != "spam" or settings.bootstrap_servers:
        return "jsonl"
    if settings.input == "-":
        return "mail" if begun.strip() and not _JSON.match(begun) else "jsonl"
    from streamnb.datasets.mail import mail_format

    return mail_format(settings.input) or "jsonl"  # whoever opens it says what is wrong
