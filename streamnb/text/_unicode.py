"""What this Python knows of characters, for the native tokeniser.

The tokens are those of Python's ``str`` and ``re``, whose Unicode version is the interpreter's.
So the native code asks here, once for each page of 256 code points that messages use.
"""

from __future__ import annotations

import re
import unicodedata

_PAGE_SIZE = 256
_OTHER, _WORD, _SPACE = range(3)
_CAPITAL_SIGMA = "\u03a3"
_SURROGATE = re.compile("[\ud800-\udfff]")


def _kind(character: str) -> int:
    if character.isalnum() or character == "_":
        return _WORD
    return _SPACE if character.isspace() else _OTHER


def _strip_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def fold(text: str, lowercase: bool, strip_accents: bool) -> str:
    """Fold a text: strip its accents, lower its case.

    Examples
    --------
    >>> fold("CAFÉ ΟΔΟΣ", lowercase=True, strip_accents=True)
    'cafe οδος'
    """
    if strip_accents and not text.isascii():
        text = _strip_accents(text)
    return text.lower() if lowercase else text


def page_facts(
    lowercase: bool, strip_accents: bool, page: int
) -> list[tuple[str, bytes, int, bool]]:
    """Tell for each character of a page: its folded text, the kinds of that text's characters.

    Then its own kind, and whether lowering meets a capital sigma, whose small form depends on
    what stands around it.
    """
    facts = []
    for code in range(page * _PAGE_SIZE, (page + 1) * _PAGE_SIZE):
        character = chr(code)
        if _SURROGATE.match(character):
            facts.append(("", b"", _OTHER, False))
            continue
        stripped = fold(character, lowercase=False, strip_accents=strip_accents)
        folded = stripped.lower() if lowercase else stripped
        kinds = bytes(map(_kind, folded))
        facts.append((folded, kinds, _kind(character), _CAPITAL_SIGMA in stripped))
    return facts


def without_surrogates(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, which separates tokens just as it does.

    Examples
    --------
    >>> without_surrogates("win" + chr(0xD800) + "cash")
    'win\ufffdcash'
    """
    return _SURROGATE.sub("\ufffd", text)
