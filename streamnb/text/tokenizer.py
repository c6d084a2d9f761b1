"""How a text becomes tokens."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    r"""Cut texts into tokens, natively.

    With the defaults these are the tokens of river's `feature_extraction.BagOfWords()`: accents
    stripped, case lowered, then each match of `\b\w[\w\-]+\b`, with the character tables of the
    running Python.

    Parameters
    ----------
    lowercase
        Whether to lower the case.
    strip_accents
        Whether to decompose characters (NFKD) and drop the combining ones.
    analyzer
        What a token is: `"word"`, `"char"` (n-grams of characters), or `"char_wb"` (n-grams of the
        characters of each word, padded with a space), as in scikit-learn; or `"osb"`, the
        orthogonal sparse bigrams of Siefkes et al. (2004, window 5): each word with each of the
        next four, joined by as many spaces as the second stands words behind the first. As in
        the paper and in CRM114, single words are not among them.
    ngram_range
        Shortest and longest n-gram, 1 ≤ min ≤ max ≤ 255. N-grams of words are joined by a space.
        `"osb"` takes (1, 1) only.
    max_token_length
        Longer words are dropped: characters, 1 or more; None for no bound.
    max_tokens
        Tokens taken from one message, the rest is ignored: 1 or more; None for no bound. Whoever
        writes the messages decides how long they are, so set it where messages come from
        strangers.

    Raises
    ------
    InputError
        If an option is out of range.

    Examples
    --------
    >>> from streamnb import Tokenizer
    >>> Tokenizer()("Free entry: WIN a café-bar!")
    ['free', 'entry', 'win', 'cafe-bar']
    >>> Tokenizer(ngram_range=(1, 2), max_tokens=4)("Free entry to win")
    ['free', 'entry', 'to', 'win']
    >>> Tokenizer(analyzer="char_wb", ngram_range=(3, 3))("win!")
    [' wi', 'win', 'in!', 'n! ']
    >>> Tokenizer(analyzer="osb")("Claim your prize")
    ['claim your', 'claim  prize', 'your prize']
    """

    lowercase: bool = True
    strip_accents: bool = True
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    max_token_length: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("lowercase", "strip_accents"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if not isinstance(self.analyzer, str):
            raise InputError(f"analyzer must be a name, as in 'char', not {self.analyzer!r}")
        _check_range("ngram_range", self.ngram_range)
        for name in ("max_token_length", "max_tokens"):
            _check_bound(name, getattr(self, name))
        self.native()

    def native(self) -> _core.NativeTokenizer:
        """Return the native tokeniser with these options."""
        return _native(
            self.lowercase,
            self.strip_accents,
            self.analyzer,
            tuple(self.ngram_range),
            self.max_token_length,
            self.max_tokens,
        )

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text, in order."""
        return self.native().tokens(text)


def _is_size(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and 0 <= int(value) < 2**32


def _check_range(name: str, value: Any) -> None:
    if not (isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_size, value))):
        raise InputError(
            f"{name} must be a pair of whole numbers from 1 to 255, as in (2, 5), not {value!r}"
        )


def _check_bound(name: str, value: Any) -> None:
    if value is not None and not (_is_size(value) and value > 0):
        raise InputError(f"{name} must be None or a whole number from 1 on, not {value!r}")


@functools.cache
def _native(
    lowercase: bool,
    strip_accents: bool,
    analyzer: str,
    ngram_range: tuple[int, int],
    max_token_length: int | None,
    max_tokens: int | None,
) -> _core.NativeTokenizer:
    return _core.NativeTokenizer(
        lowercase=lowercase,
        strip_accents=strip_accents,
        analyzer=analyzer,
        ngram_range=ngram_range,
        max_token_length=max_token_length,
        max_tokens=max_tokens,
    )
