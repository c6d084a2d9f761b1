"""The tokenizer and its options."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.text.records import record_text

# The kinds of tokens that can be combined.
_KINDS = ("words", "characters", "characters_within_words")


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    r"""Split texts into tokens, in native code.

    The defaults give the tokens of river's `feature_extraction.BagOfWords()`: accents
    stripped, case lowered, then each match of `\b\w[\w\-]+\b`. The character tables are compiled
    in, so the tokens do not depend on the version of Python.

    `analyzer` and `ngram_range` select one kind of token, as in scikit-learn. `words`,
    `characters` and `characters_within_words` select several kinds in one pass.
    Tokens of different kinds never collide: if there are several kinds, n-grams of characters begin
    with a tab, and n-grams within words with a vertical tab ("\v"). Words come first, shorter
    n-grams before longer ones, then characters. Values of fields come before
    all texts, copies of words after them. `max_tokens` keeps the first ones.

    Parameters
    ----------
    lowercase
        Whether to lower the case.
    strip_accents
        Whether to decompose characters (NFKD) and drop the combining ones.
    analyzer
        The kind of token: `"word"`, `"char"` (n-grams of characters), or `"char_wb"` (n-grams of
        the characters of each word, padded with a space), as in scikit-learn.
    ngram_range
        Shortest and longest n-gram, 1 ≤ min ≤ max ≤ 255. N-grams of words are joined by a space.
    max_token_length
        Longer words are dropped. Number of characters, 1 or more; None for no limit.
    max_tokens
        Maximum number of tokens of a message; the rest is ignored. 1 or more; None for no limit.
        Set it if the senders of messages are not trusted.
    words
        Shortest and longest n-gram of words; None for none. This option and the next two replace
        `analyzer`.
    characters
        Shortest and longest n-gram of characters across words, as in `"char"`.
    characters_within_words
        Shortest and longest n-gram of characters within words, as in `"char_wb"`.
    boundaries
        Where words begin and end. `"python"`: each match of `\b\w[\w\-]+\b`. `"unicode"`: the text
        is split at white space and at the word boundaries of Unicode Standard Annex 29. Marks stay
        with their letters (Hindi), and symbols, punctuation and emoji are words, too. A repeated
        symbol is one word ("!!!" for three or more). In scripts without spaces (Han, Hiragana,
        Katakana, Thai, Lao, Khmer, Myanmar) each character is a word, n-grams have no spaces, and
        `words=(1, 1)` includes the pairs.
    max_bytes
        Maximum number of bytes read of a message (UTF-8); the rest is ignored. 1 or more; None for
        no limit.
    deobfuscate
        Whether to replace look-alikes of Latin letters first. Compatibility characters (full-width
        and styled letters) are decomposed (NFKC). Invisible characters (zero-width, soft hyphens)
        are dropped. Letters of other scripts become the Latin letters they look like, in a word
        with a Latin letter, and so do digits and symbols inside a word ("v1agra", "fr€€").
    length
        Whether to add the length of the message: three tokens before all others, "\\fk:b" for
        k = 1, 2, 4, where b = ⌊k · log₂(characters + 1)⌋. Coarse steps are learned from few
        messages, fine steps are more precise. An empty text has none.
    fields
        Names of the values that come with a text, such as its sender: each value is one token,
        "sender=ann". The message is a record, `{"text": ..., "sender": ...}`.
    texts
        Names of further texts that come with a text. Their tokens begin with the name, a colon and
        a space ("subject: free").
    numbers
        Those of `fields` whose values are quantities, such as a price. A number becomes the token
        of its bin, "price=8..12" from 8 to below 12; a text is read as a number. There are two bins
        between a power of two and the next, with edges at 1, 1.5, 2, 3, 4, 6, 8 and so on.
    per_field
        One of the other `fields`, such as the user: the words and word pairs of the text have a
        copy for each value, "user=bob: free". A model then learns words for all users together, and
        the differences of each user.
    subject
        Whether to add the subject of a mail or news post. If a text begins with headers, the tokens
        of the first `Subject:` come before all others, each with the prefix "subject: ". The text
        also contains them without the prefix.
    hashed
        Whether tokens are keyed hashes, so that a model contains no words. The secret is the
        environment variable `STREAMNB_WORD_KEY`, of 16 characters or more. True becomes the key's
        fingerprint, so a model refuses to work with another key. Explanations name the words of
        the message. See docs/how-to/delete-messages.md.

    Raises
    ------
    InputError
        If an option is invalid, or the key is missing or another one.

    Examples
    --------
    >>> from streamnb import Tokenizer
    >>> Tokenizer()("Free entry: WIN a café-bar!")
    ['free', 'entry', 'win', 'cafe-bar']
    >>> Tokenizer(ngram_range=(1, 2), max_tokens=4)("Free entry to win")
    ['free', 'entry', 'to', 'win']
    >>> Tokenizer(analyzer="char_wb", ngram_range=(3, 3))("win!")
    [' wi', 'win', 'in!', 'n! ']
    >>> Tokenizer(subject=True)("From: Ann\nSubject: Free entry\n\nCall now")
    ['subject: free', 'subject: entry', 'from', 'ann', 'subject', 'free', 'entry', 'call', 'now']
    >>> Tokenizer(fields=("user", "hour"), per_field="user")(
    ...     {"text": "Free entry", "user": "bob", "hour": 9}
    ... )
    ['user=bob', 'hour=9', 'free', 'entry', 'user=bob: free', 'user=bob: entry']
    >>> Tokenizer(fields=("price",), numbers=("price",))({"text": "Gold ring", "price": 9.99})
    ['price=8..12', 'gold', 'ring']
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
    characters: tuple[int, int] | None = None
    characters_within_words: tuple[int, int] | None = None
    boundaries: str = "python"
    max_bytes: int | None = None
    deobfuscate: bool = False
    length: bool = False
    fields: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    per_field: str | None = None
    subject: bool = False
    hashed: bool | str = False

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if isinstance(value, list):  # from JSON
                object.__setattr__(self, name, tuple(value))
        for field in dataclasses.fields(self):
            _check(field.name, str(field.type), getattr(self, field.name))
        if unknown := [name for name in self.numbers if name not in self.fields]:
            raise InputError(
                f"numbers must be some of fields, {self.fields}, not {shown(unknown[0])}"
            )
        names = tuple(name for name in self.fields if name not in self.numbers)
        if self.per_field is not None and self.per_field not in names:
            raise InputError(
                f"per_field must be None or one of fields that is not in numbers, {names}, not "
                f"{shown(self.per_field)}"
            )
        if self.hashed is True:
            object.__setattr__(self, "hashed", _fingerprint(_word_key()))
        self.native()

    def native(self) -> _core.NativeTokenizer:
        """Return the native tokenizer with these options."""
        options = dataclasses.asdict(self)
        analyzer, sizes = options.pop("analyzer"), options.pop("ngram_range")
        del options["texts"], options["numbers"], options["per_field"]
        options["hash_key"] = _hash_key(options.pop("hashed"))
        if all(options[kind] is None for kind in _KINDS):
            options |= _kind(analyzer, sizes)
        elif (analyzer, sizes) != ("word", (1, 1)):
            given = " and ".join(kind for kind in _KINDS if options[kind] is not None)
            raise InputError(
                f"analyzer={shown(analyzer)}, ngram_range={sizes} cannot be combined with {given}: "
                f"select each kind of token with {', '.join(_KINDS)}"
            )
        return _native(**options | {"fields": self.has_fields})

    def plain(self, text: str) -> dict[str, str]:
        """Return the tokens of a text before they are hashed, by the names that models have."""
        native = self.native()
        return {native.name_of(token): token for token in native.plain_tokens(text)}

    @property
    def has_fields(self) -> bool:
        """Whether messages may be mappings of names to texts and values."""
        return bool(self.fields or self.texts)

    def __call__(self, text: str | Mapping[str, Any]) -> list[str]:
        """Return the tokens of a message, in order."""
        return self.native().tokens(self.join(text))

    def join(self, message: Any) -> Any:
        """Return a message with fields as one text, for this tokenizer and its models.

        Parameters
        ----------
        message
            A record: a mapping with its text under a usual name, such as "text" or "body".
            `fields` and `texts` are optional keys; if there are any, other keys are ignored. A
            value is a str, a number or a bool; its first 256 characters count. None and "" are
            missing values. The characters U+001E and U+001F become spaces. Other messages are
            returned unchanged.

        Raises
        ------
        InputError
            If a value has another type, or there is no text.
        """
        names = (*self.fields, *self.texts)
        plain = record_text(message, names if self.has_fields else None)
        if plain is None or not self.has_fields:
            return message if plain is None else plain
        found = []
        for name in self.fields:
            value = message.get(name)
            if name in self.numbers:
                value = _bin(name, value)
            elif isinstance(value, (bool, int, float, np.number, np.bool_)):
                value = str(value)
            if value := _plain(name, value)[:_LONGEST_VALUE]:
                found.append(f"\x1e{name}{'*' * (name == self.per_field)}=\x1f{value}")
        found.append(f"\x1e\x1f{_plain('text', plain)}")
        texts = ((name, _plain(name, message.get(name))) for name in self.texts)
        found += [f"\x1e{name}\x1f{text}" for name, text in texts if text]
        return "".join(found)


_WORD_KEY, _SHORTEST_KEY = "STREAMNB_WORD_KEY", 16


def _word_key() -> str:
    """Return the secret of hashed tokens."""
    key = os.environ.get(_WORD_KEY, "")
    if len(key) < _SHORTEST_KEY:
        raise InputError(
            f"hashed tokens need a secret: set {_WORD_KEY} to {_SHORTEST_KEY} characters or more, "
            f"not {len(key)}, for example with `openssl rand -hex 32`"
        )
    return key


def _fingerprint(key: str) -> str:
    return hashlib.sha256(f"streamnb fingerprint {key}".encode()).hexdigest()[:16]


def _hash_key(hashed: bool | str) -> tuple[int, int] | None:
    """Return the key of the tokens' hashes; None without hashes."""
    if not hashed:
        return None
    key = _word_key()
    if hashed != (found := _fingerprint(key)):
        raise InputError(
            f"the tokens were hashed with the key {hashed}, and {_WORD_KEY} is the key {found}: "
            f"set the secret of the model"
        )
    digest = hashlib.sha256(f"streamnb words {key}".encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def _bin(name: str, value: Any) -> str:
    """Return the bin of a number; "" for a missing one.

    A tokenizer has no state, so the bins are the same for each message of a stream.
    """
    try:
        number = math.nan if value is None or value == "" else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if math.isinf(number):
        raise InputError(
            f"{name!r} must be a finite number, a text of one, or None, not {shown(value)}: "
            f"leave it out of numbers={name!r} if its values are names"
        )
    if math.isnan(number):
        return ""
    if number == 0:
        return "0"
    mantissa, exponent = math.frexp(abs(number))
    quarters = (2, 3) if mantissa < 0.75 else (3, 4)
    low, high = (each * math.ldexp(0.25, exponent) for each in quarters)
    return f"{low:g}..{high:g}" if number > 0 else f"{-high:g}..{-low:g}"


_NO_SEPARATORS = {0x1E: " ", 0x1F: " "}
_LONGEST_VALUE = 256
_NAME = re.compile(r"[^\x00-\x20=*:]{1,64}")


def _plain(name: str, text: Any) -> str:
    """Return a text or value without the separators of fields; "" for None."""
    if text is not None and not isinstance(text, str):
        raise InputError(
            f"the field {name!r} must be a str, a number, a bool or None, not "
            f"{type(text).__name__}: {shown(text)}"
        )
    return (text or "").translate(_NO_SEPARATORS)


def _kind(analyzer: str, sizes: tuple[int, int]) -> dict[str, Any]:
    """Return the kind of token that an analyzer and its n-gram range select."""
    kinds = {"word": "words", "char": "characters", "char_wb": "characters_within_words"}
    if analyzer not in kinds:
        raise InputError(f"analyzer must be 'word', 'char' or 'char_wb', not {shown(analyzer)}")
    if not 1 <= sizes[0] <= sizes[1] <= 255:
        raise InputError(f"ngram_range must be 1 ≤ shortest ≤ longest ≤ 255, not {sizes}")
    return {kinds[analyzer]: sizes}


def _is_size(value: Any) -> bool:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and 0 <= int(value) < 2**32


def _is_field(name: Any) -> bool:
    is_name = isinstance(name, str) and name != "text" and _NAME.fullmatch(name) is not None
    return is_name and len(name.encode(errors="replace")) <= 64


_FINGERPRINT = re.compile("[0-9a-f]{16}")

# Values of each type of option, and their description.
_ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "bool": (lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
    "bool | str": (
        lambda value: (
            isinstance(value, bool)
            or (isinstance(value, str) and bool(_FINGERPRINT.fullmatch(value)))
        ),
        "True, False or the fingerprint of a key",
    ),
    "str": (lambda value: isinstance(value, str) and value.isascii(), "a name"),
    "int": (lambda value: _is_size(value) and value > 0, "None or a whole number of 1 or more"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, tuple) and all(map(_is_field, value)),
        "a tuple of names other than 'text', of 1 to 64 bytes without blanks, '=', '*' and ':'",
    ),
    "tuple[int, int]": (
        lambda value: isinstance(value, tuple) and len(value) == 2 and all(map(_is_size, value)),
        "a pair of whole numbers from 1 to 255, as in (2, 5)",
    ),
}


def _check(name: str, kind: str, value: Any) -> None:
    is_allowed, allowed = _ALLOWED[kind.removesuffix(" | None")]
    if not (is_allowed(value) or (value is None and kind.endswith("| None"))):
        raise InputError(f"{name} must be {allowed}, not {shown(value)}")


@functools.cache
def _native(**options: Any) -> _core.NativeTokenizer:
    return _core.NativeTokenizer(**options)
