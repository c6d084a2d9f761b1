"""How a text becomes tokens."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown

# The kinds of tokens that may be asked for together.
_KINDS = ("words", "sparse_bigrams", "characters", "characters_within_words")

# Words that a window of analyzer "osb" spans (Siefkes et al. 2004).
_SPARSE_WINDOW = 5


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    r"""Cut texts into tokens, natively.

    With the defaults these are the tokens of river's `feature_extraction.BagOfWords()`: accents
    stripped, case lowered, then each match of `\b\w[\w\-]+\b`. The character tables are compiled
    in, so the tokens do not depend on the version of Python.

    One kind of token is named by `analyzer` and `ngram_range`, as in scikit-learn. Several kinds
    in one pass are asked for by `words`, `sparse_bigrams`, `characters` and
    `characters_within_words`. No token of one kind is equal to one of another: words hold no
    white space, and n-grams of characters begin with a tab, those within words with a vertical
    tab ("\v"), where there are other kinds beside them. Words come first, shortest n-grams before
    longer ones, then sparse bigrams, then characters: `max_tokens` keeps the first of these.

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
    words
        Shortest and longest n-gram of words; None for none. It replaces `analyzer`, as the next
        three do.
    sparse_bigrams
        Window of the sparse bigrams, in words: 2 to 255; None for none. Pairs side by side are
        those of `words`, where it has them.
    characters
        Shortest and longest n-gram of characters, across words, as `"char"` gives them.
    characters_within_words
        Shortest and longest n-gram of characters within words, as `"char_wb"` gives them.
    boundaries
        Where words begin and end. `"python"`: each match of `\b\w[\w\-]+\b`. `"unicode"`: the text
        is cut at white space and at the word boundaries of Unicode's Standard Annex 29, so that
        marks stay with their letters (Hindi) and symbols, punctuation and emoji are words, too;
        the same symbol in a row is one word ("!!!", also for more than three). In scripts without
        spaces (Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar) each character is a word, and
        n-grams have no space there; `words=(1, 1)` gives the pairs as well.
    max_bytes
        Bytes of a message (UTF-8) that are read, the rest is ignored: 1 or more; None for no bound.
    deobfuscate
        Whether to undo disguises of letters first: compatibility characters (NFKC, full-width and
        styled letters) become what they stand for, characters without a shape (zero-width, soft
        hyphens) are dropped, letters of other scripts that look like Latin ones become these in
        a word with a Latin letter, and so do digits and symbols inside a word ("v1agra", "fr€€").
    length
        Whether to give the length of the message, too: three tokens before all others, "\\fk:b" for
        k = 1, 2, 4, where b = ⌊k · log₂(characters + 1)⌋: coarse steps are learned soon, fine ones
        tell more; none for an empty text. Spam fills the room that a message has.
    fields
        Whether the text has fields, as `join_fields` writes them: each is cut by itself, and its
        tokens begin with its name, a colon and a space ("subject: free").
    subject
        Whether the subject of a mail or a news post says more than its other words: where a text
        begins with headers, as mails do, the tokens of the first `Subject:` come before all
        others, with "subject: " before each; they are among the tokens of the text, too.

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
    >>> Tokenizer(subject=True)("From: Ann\nSubject: Free entry\n\nCall now")
    ['subject: free', 'subject: entry', 'from', 'ann', 'subject', 'free', 'entry', 'call', 'now']
    >>> Tokenizer(deobfuscate=True)("fr€€ v1agra")
    ['free', 'viagra']
    >>> Tokenizer(words=(1, 1), characters=(3, 3), boundaries="unicode")("Win €5!!!")
    ['win', '€', '5', '!!!', '\twin', '\tin ', '\tn €', '\t €5', '\t€5!', '\t5!!', '\t!!!']
    """

    lowercase: bool = True
    strip_accents: bool = True
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    max_token_length: int | None = None
    max_tokens: int | None = None
    words: tuple[int, int] | None = None
    sparse_bigrams: int | None = None
    characters: tuple[int, int] | None = None
    characters_within_words: tuple[int, int] | None = None
    boundaries: str = "python"
    max_bytes: int | None = None
    deobfuscate: bool = False
    length: bool = False
    fields: bool = False
    subject: bool = False

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, list):  # as JSON has it
                object.__setattr__(self, name, tuple(value))
        for name in ("lowercase", "strip_accents", "deobfuscate", "length", "fields", "subject"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"{name} must be True or False, not {shown(getattr(self, name))}")
        for name in ("analyzer", "boundaries"):
            if not (isinstance(value := getattr(self, name), str) and value.isascii()):
                raise InputError(f"{name} must be a name, not {shown(value)}")
        _check_sizes("ngram_range", self.ngram_range)
        for name in ("words", "characters", "characters_within_words"):
            if getattr(self, name) is not None:
                _check_sizes(name, getattr(self, name))
        for name in ("sparse_bigrams", "max_token_length", "max_tokens", "max_bytes"):
            _check_bound(name, getattr(self, name))
        self.native()

    def native(self) -> _core.NativeTokenizer:
        """Return the native tokeniser with these options."""
        options = dataclasses.asdict(self)
        analyzer, sizes = options.pop("analyzer"), options.pop("ngram_range")
        if all(options[kind] is None for kind in _KINDS):
            options |= _kind(analyzer, sizes)
        elif (analyzer, sizes) != ("word", (1, 1)):
            given = " and ".join(kind for kind in _KINDS if options[kind] is not None)
            raise InputError(
                f"analyzer={shown(analyzer)}, ngram_range={sizes} can't be given beside {given}: "
                f"ask for each kind of token by {', '.join(_KINDS)}"
            )
        return _native(**options)

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text, in order."""
        return self.native().tokens(text)


def join_fields(fields: Mapping[str, str]) -> str:
    r"""Write the fields of a message as one text, for a `Tokenizer` with `fields=True`.

    To any other tokenizer the names are words among the others.

    Parameters
    ----------
    fields
        The text of each field by its name, of at most 64 bytes; the name "" is that of text whose
        tokens get no name. The characters U+001E and U+001F become spaces.

    Raises
    ------
    InputError
        If a name is too long, or names or texts are no str.

    Examples
    --------
    >>> from streamnb import Tokenizer
    >>> mail = join_fields({"subject": "Free entry", "from": "Ann", "": "Call now"})
    >>> Tokenizer(fields=True)(mail)
    ['call', 'now', 'subject: free', 'subject: entry', 'from: ann']
    """
    named = []
    for name, text in fields.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise InputError(f"a field must be a str by its name, not {shown(name)}: {shown(text)}")
        if len(name.encode(errors="replace")) > 64:
            raise InputError(f"the name of a field must be of at most 64 bytes, not {shown(name)}")
        if name:
            named.append(
                f"\x1e{name.translate(_NO_SEPARATORS)}\x1f{text.translate(_NO_SEPARATORS)}"
            )
    return fields.get("", "").translate(_NO_SEPARATORS) + "".join(named)


_NO_SEPARATORS = {0x1E: " ", 0x1F: " "}


def _kind(analyzer: str, sizes: tuple[int, int]) -> dict[str, Any]:
    """Return the kind of token that an analyzer and its n-gram range name."""
    if analyzer == "osb":
        if sizes != (1, 1):
            raise InputError(
                f"ngram_range must be (1, 1) where analyzer is 'osb', not {sizes}: its tokens are "
                "pairs of words"
            )
        return {"sparse_bigrams": _SPARSE_WINDOW}
    kinds = {"word": "words", "char": "characters", "char_wb": "characters_within_words"}
    if analyzer not in kinds:
        raise InputError(
            f"analyzer must be 'word', 'char', 'char_wb' or 'osb', not {shown(analyzer)}"
        )
    if not 1 <= sizes[0] <= sizes[1] <= 255:
        raise InputError(f"ngram_range must be 1 ≤ shortest ≤ longest ≤ 255, not {sizes}")
    return {kinds[analyzer]: sizes}


def _is_size(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and 0 <= int(value) < 2**32


def _check_sizes(name: str, value: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 2 and all(map(_is_size, value))):
        raise InputError(
            f"{name} must be a pair of whole numbers from 1 to 255, as in (2, 5), "
            f"not {shown(value)}"
        )


def _check_bound(name: str, value: Any) -> None:
    if value is not None and not (_is_size(value) and value > 0):
        raise InputError(f"{name} must be None or a whole number from 1 on, not {shown(value)}")


@functools.cache
def _native(**options: Any) -> _core.NativeTokenizer:
    return _core.NativeTokenizer(**options)
