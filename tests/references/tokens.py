"""Tokens as their definitions say, slow and obvious."""

from __future__ import annotations

import re

from river.feature_extraction import BagOfWords

SPARSE_WINDOW = 5


def words(text: str) -> list[str]:
    """Return the words of river's `BagOfWords`; a lone surrogate ends one."""
    return list(BagOfWords().process_text(re.sub("[\ud800-\udfff]", "\ufffd", text)))


def sparse_bigrams(words: list[str], window: int = SPARSE_WINDOW) -> list[str]:
    """Return the orthogonal sparse bigrams of Siefkes et al. (2004).

    Each word with each word that follows it within the window, their distance as spaces.
    """
    return [
        first + " " * distance + second
        for place, first in enumerate(words)
        for distance, second in enumerate(words[place + 1 : place + window], 1)
    ]
