"""Stop words and Porter's stemmer, with which papers prepare English texts."""

from __future__ import annotations

import re

__all__ = ["STOP_WORDS", "stem"]

# Function words: articles, pronouns, prepositions, conjunctions, auxiliaries, and what apostrophes
# leave of them.
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

# A consonant and a vowel, by the letters before: y is a vowel after a consonant.
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
    """Return the stem of a lower-case English word, as Porter's algorithm has it.

    Examples
    --------
    >>> [stem(word) for word in ("relational", "hopping", "ponies", "adoption", "rate", "sky")]
    ['relat', 'hop', 'poni', 'adopt', 'rate', 'sky']

    References
    ----------
    [^1]: M.F. Porter, An algorithm for suffix stripping, Program 14(3), 1980.
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
    """Return m: how often vowels are followed by consonants."""
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
    """Replace the longest ending that fits where the part before it measures enough."""
    for length in range(7, 1, -1):
        part, ending = word[:-length], word[-length:]
        if part and ending in endings:
            return part + endings[ending] if _measure(part) >= least else word
    return word
