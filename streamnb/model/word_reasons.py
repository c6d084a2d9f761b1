"""Reasons in words: contributions of tokens, summed to the words and pairs that contain them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from streamnb.model.reprs import token_shown
from streamnb.text.labels import Label

Terms = dict[Label, float]
_CHARACTERS, _LETTERS, _LENGTH = "\t\x0b\x0c"
LENGTH = "(length)"
"""The name of all tokens of the length of a message."""


def shares(tokens: Collection[str]) -> dict[str, list[str]]:
    r"""Return the words and pairs for people that share the contribution of each token equally.

    Words and pairs of the message stand for themselves. Letters go to the words that contain them,
    or else to the pairs: letters of "noon," to the pair of "noon" and ",". A token that no word and
    no pair contains has its readable form.

    Parameters
    ----------
    tokens
        The distinct tokens of a message.

    Examples
    --------
    >>> shares(["win", "wine", "win now", "\x0b wi", "\x0bine", "\x0bzz ", "\x0c6", "\tn n"])
    {'win': ['win'], 'wine': ['wine'], 'win now': ['win now'], '\x0b wi': ['win', 'wine'],
     '\x0bine': ['wine'], '\x0bzz ': ['letters …zz'], '\x0c6': ['(length)'], '\tn n': ['win now']}
    """
    grams: dict[str, list[tuple[str, str]]] = {}  # by field: the tokens, and their letters
    found: dict[str, list[str]] = {}
    for token in tokens:
        for mark in (_CHARACTERS, _LETTERS):
            field, present, gram = token.partition(mark)
            if present:
                grams.setdefault(field, []).append((token, gram))
        found[token] = [LENGTH if token.startswith(_LENGTH) else token_shown(token)]
    for field, marked in grams.items():
        plain = [
            token.removeprefix(field)
            for token in tokens
            if token.startswith(field) and not any(mark in token for mark in "\t\x0b\x0c")
        ]
        sizes = {len(gram) for _, gram in marked}
        # A value of a field, `user=bob`, is not a word of the text.
        words = [word for word in plain if " " not in word and "=" not in word[1:-1]]
        pairs = [pair for pair in plain if " " in pair and ": " not in pair]
        by_word = _containing({word: word for word in words}, sizes)
        by_pair = {
            _CHARACTERS: _containing({pair: pair for pair in pairs}, sizes),
            _LETTERS: _containing({pair: pair.replace(" ", "") for pair in pairs}, sizes),
        }
        for token, gram in marked:
            mark = token[len(field)]
            if names := by_word.get(gram) or by_pair[mark].get(gram):
                found[token] = [token_shown(field + name) for name in names]
    return found


def in_words(
    contributions: Mapping[str, Terms], shared: Mapping[str, list[str]]
) -> dict[str, Terms]:
    """Return contributions by word, with the same sum for each label."""
    summed: dict[str, Terms] = {}
    for token, terms in contributions.items():
        names = shared[token]
        for name in names:
            sums = summed.setdefault(name, dict.fromkeys(terms, 0.0))
            for label, term in terms.items():
                sums[label] += term / len(names)
    return summed


def _containing(spellings: Mapping[str, str], sizes: Collection[int]) -> dict[str, list[str]]:
    """Return the words or pairs whose spelling contains each string of these sizes."""
    found: dict[str, dict[str, None]] = {}
    for name, spelling in spellings.items():
        padded = f" {spelling} "
        for size in sizes:
            for start in range(len(padded) - size + 1):
                found.setdefault(padded[start : start + size], {})[name] = None
    return {gram: list(names) for gram, names in found.items()}
