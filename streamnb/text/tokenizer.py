"""How a text becomes tokens."""

from __future__ import annotations

import dataclasses
import functools

from streamnb import _core


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
        characters of each word, padded with a space), as in scikit-learn.
    ngram_range
        Shortest and longest n-gram, 1 ≤ min ≤ max ≤ 255. N-grams of words are joined by a space.
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
    """

    lowercase: bool = True
    strip_accents: bool = True
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    max_token_length: int | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
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
