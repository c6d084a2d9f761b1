"""Subsets of 20 Newsgroups, prepared as in the HONB paper as far as it describes the method."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.papers.experiment import CollectionRecipe
from streamnb import datasets

_WORD = re.compile(r"[a-z]{2,}")
_KEPT_HEADER = "subject:"
_PER_GROUP = 500
_WORDS = 2_000
_SEED = 1


def read_groups(
    recipe: CollectionRecipe, groups: Sequence[str]
) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Return the presence of words, the labels and the words of some newsgroups.

    Take 500 random articles of each group, with Subject as the only header. Stem the words that are
    not stop words and occur in at least three articles. Keep the 2,000 with the highest information
    gain over all articles, including the tested ones, as in the paper. The paper's stemmer and stop
    words are not published; Porter's stemmer and a list of function words replace them. The paper
    also kept From lines, whose names and addresses identify the groups and raise all figures.
    """
    texts: dict[str, list[str]] = {group: [] for group in groups}
    for message in datasets.read_text(recipe.source):
        if message.label in texts:
            texts[message.label].append(message.text)
    draw = random.Random(_SEED)
    labels, bags = [], []
    for group in groups:
        for text in draw.sample(texts[group], min(_PER_GROUP, len(texts[group]))):
            labels.append(group)
            bags.append(_words(text))
    frequency = Counter(word for bag in bags for word in bag)
    words = sorted(
        word for word, documents in frequency.items() if documents >= recipe.min_documents
    )
    column = {word: place for place, word in enumerate(words)}
    kept = [[column[word] for word in sorted(bag) if word in column] for bag in bags]
    indptr = np.cumsum([0, *map(len, kept)])
    indices = np.concatenate([np.array(row, dtype=np.int64) for row in kept])
    matrix = sparse.csr_array(
        (np.ones(len(indices)), indices, indptr), shape=(len(bags), len(words))
    )
    # Stable: words with equal gains are kept in alphabetical order.
    best = np.sort(np.argsort(-information_gain(matrix, labels), kind="stable")[:_WORDS])
    return sparse.csr_array(matrix[:, best]), labels, [words[place] for place in best]


def information_gain(matrix: sparse.csr_array, labels: Sequence[str]) -> NDArray[np.float64]:
    """Return the information gain of the presence of each word, in bits.

    Examples
    --------
    >>> matrix = sparse.csr_array([[1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 1, 1]])
    >>> information_gain(matrix, ["a", "a", "b", "b"]).round(3)
    array([1.   , 0.311, 0.   ])
    """
    classes, ids = np.unique(np.asarray(labels), return_inverse=True)
    members = sparse.csr_array(
        (np.ones(len(ids)), (ids, np.arange(len(ids)))), shape=(len(classes), len(ids))
    )
    present = (members @ (matrix > 0).astype(np.float64)).toarray()
    sizes = np.bincount(ids)[:, np.newaxis]
    joint = np.stack([present, sizes - present]) / len(ids)

    def entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return -shares * logs

    of_classes = entropy(joint.sum(axis=0)).sum(axis=0)
    of_words = entropy(joint.sum(axis=1)).sum(axis=0)
    gain: NDArray[np.float64] = of_classes + of_words - entropy(joint).sum(axis=(0, 1))
    return np.maximum(gain, 0.0)


def _words(text: str) -> set[str]:
    """Return the stems of an article."""
    head, blank, body = text.partition("\n\n")
    if not blank:
        head, body = "", text
    kept = [line for line in head.splitlines() if line.lower().startswith(_KEPT_HEADER)]
    lines = " ".join(line.partition(":")[2] for line in kept)
    found = set(_WORD.findall(f"{lines} {body}".lower()))
    return {stem(word) for word in found - STOP_WORDS}


# Function words: articles, pronouns, prepositions, conjunctions and auxiliaries, also cut at an
# apostrophe.
_STOP_WORDS = """
    a about above across after again against all almost alone along already also although
    always am among an and another any anybody anyone anything anywhere are aren around as
    at away back be became because become been before behind being below beside between both
    but by can cannot could couldn did didn do does doesn doing don done down during each
    either else enough even ever every everybody everyone everything everywhere few for from
    further had hadn has hasn have haven having he hence her here hers herself him himself
    his how however if in indeed instead into is isn it its itself just least less like ll
    many may me might mine more most much must my myself near neither never next no nobody
    none nor not nothing now nowhere of off often on once one only onto or other others
    otherwise our ours ourselves out over own per perhaps quite rather re really same shall
    shan she should shouldn since so some somebody someone something sometimes somewhere
    still such than that the their theirs them themselves then there therefore these they
    this those though through throughout thus till to together too toward towards under
    until up upon us ve very was wasn we well were weren what whatever when whenever where
    whether which while who whoever whole whom whose why will with within without won would
    wouldn yes yet you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# y is a vowel after a consonant.
_CONSONANT = r"(?:[^aeiouy]|(?<![^aeiou])y)"
_VOWEL = r"(?:[aeiou]|(?<=[^aeiou])y)"
_MEASURED = re.compile(rf"{_VOWEL}+{_CONSONANT}+")
_HAS_VOWEL = re.compile(_VOWEL)
_SHORT = re.compile(rf"{_CONSONANT}{_VOWEL}[^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeiouylsz])\1$")

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "abli": "able", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = {
    "al": "", "ance": "", "ence": "", "er": "", "ic": "", "able": "", "ible": "", "ant": "",
    "ement": "", "ment": "", "ent": "", "ou": "", "ism": "", "ate": "", "iti": "", "ous": "",
    "ive": "", "ize": "",
}  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a lower-case English word by Porter's algorithm.

    Examples
    --------
    >>> [stem(word) for word in ("relational", "hopping", "ponies", "adoption", "rate", "sky")]
    ['relat', 'hop', 'poni', 'adopt', 'rate', 'sky']

    References
    ----------
    M.F. Porter, An algorithm for suffix stripping, Program 14(3), 1980.
    """
    if len(word) < 3:
        return word
    word = _plural_and_past(word)
    if word.endswith("y") and _HAS_VOWEL.search(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(_replaced(word, _STEP_2, 1), _STEP_3, 1)
    if word.endswith(("sion", "tion")):
        word = word[:-3] if _measure(word[:-3]) > 1 else word
    else:
        word = _replaced(word, _STEP_4, 2)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _SHORT.search(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _measure(part: str) -> int:
    """Return m, the number of vowel-consonant sequences."""
    return len(_MEASURED.findall(part))


def _plural_and_past(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        part = word.removesuffix(ending)
        if part != word and _HAS_VOWEL.search(part):
            if part.endswith(("at", "bl", "iz")):
                return part + "e"
            if _DOUBLE.search(part):
                return part[:-1]
            return part + "e" if _measure(part) == 1 and _SHORT.search(part) else part
    return word


def _replaced(word: str, endings: dict[str, str], least: int) -> str:
    """Replace the longest matching ending if the rest has a measure of at least `least`."""
    for length in range(7, 1, -1):
        part, ending = word[:-length], word[-length:]
        if part and ending in endings:
            return part + endings[ending] if _measure(part) >= least else word
    return word
