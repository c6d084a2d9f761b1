"""A seeded, synthetic stream of short messages with drift; it needs no data.

All randomness comes from `random.Random.random`, whose sequence is the same in all versions of
Python. So a seed gives the same messages on every platform.
"""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from streamnb.datasets.records import Message
from streamnb.parameters import optional, whole

T = TypeVar("T")
_HOST_LIFETIME = 250  # messages until spammers use new hosts
_PADDED = 0.3  # share of spam with an added sentence of chat, at the end of a cycle
_SLOT = re.compile(r"\{(\w+)\}")
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "ch", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ee")
_TOWN_ENDINGS = ("ton", "ham", "ford", "wick", "by")
_LEET = str.maketrans({"o": "0", "i": "1", "e": "3", "a": "@", "s": "5"})
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_THOUSANDS = ("500", "750", "900", "1000", "1250", "1500", "2000", "2500", "5000", "10000", "100k")
_COMMON_RANKS = 30  # ranks of half of all names, towns and things; the others are rare


@cache
def _templates() -> dict[str, Any]:
    """Return the content of `templates.toml`, which explains its fields."""
    text = resources.files("streamnb.datasets").joinpath("templates.toml").read_text("utf-8")
    return tomllib.loads(text)


class SyntheticSMS:
    """A synthetic stream of ham and spam with drift, written from templates.

    About 13 % is spam. Some ham looks like spam, and some spam like ham. Names, towns and things
    have a long tail, so the vocabulary keeps growing. The calendar of 5,000 messages repeats;
    `templates.toml` lists its changes. A shorter stream is a prefix of a longer one with the same
    seed. river's `BagOfWords() | MultinomialNB()` has a prequential accuracy of about 0.98 on it.

    Parameters
    ----------
    n
        Number of messages, at least 0; None for an endless stream.
    seed
        Any integer.

    Raises
    ------
    InputError
        If `n` is negative.

    Examples
    --------
    >>> from streamnb import datasets
    >>> stream = datasets.SyntheticSMS(n=1000, seed=1)
    >>> pairs = list(stream)
    >>> len(pairs), sorted({label for _, label in pairs})
    (1000, ['ham', 'spam'])
    >>> pairs == list(datasets.SyntheticSMS(n=2000, seed=1))[:1000]
    True
    """

    def __init__(self, n: int | None = 5000, seed: int = 42) -> None:
        self.n: Any = optional(whole(0))("n", n)
        self.seed = seed

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of text and label (`"ham"` or `"spam"`)."""
        for message in self.messages():
            yield message.text, message.label

    def messages(self) -> Iterator[Message]:
        """Yield messages whose ids contain their numbers and groups of templates."""
        writer, cycle = _Writer(random.Random(self.seed)), _templates()["cycle"]
        for number in itertools.count() if self.n is None else range(self.n):
            label, name, text = writer.write(number % cycle, number // _HOST_LIFETIME, cycle)
            yield Message(f"{number + 1}/{name}", label, text)


def _spam_rate(place: int) -> float:
    waves = _templates()["wave"]
    rates = (wave["rate"] for wave in waves if wave["from"] <= place < wave["to"])
    return float(next(rates, _templates()["spam_rate"]))


def _activity(group: dict[str, Any], place: int) -> float:
    """Return the weight of a group at a place of the cycle."""
    start, end, ramp = group.get("from", 0), group.get("to"), group.get("ramp", 0)
    if place < start:
        return 0.0
    share = (place - start + 1) / ramp if start and place < start + ramp else 1.0
    if end is not None and place >= end:
        share = min(share, 1 - (place - end) / ramp) if place - end < ramp else 0.0
    return float(group["weight"] * share)


class _Writer:
    """Writes messages from templates; `hosts` and `epoch` choose the hosts of addresses."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._templates = rng, _templates()
        self.hosts, self.epoch = "general", 0
        self._made: dict[str, Callable[[], str]] = {
            "time": self._time,
            "code": self._code,
            "mobile": lambda: "07700900" + self._digits(3),
            "premium": lambda: "09098790" + self._digits(3),
            "short": lambda: "8" + self._digits(4),
            "k": lambda: self.pick(_THOUSANDS),
            "p": lambda: self.pick(("10", "25", "50", "100", "150")),
            "tag": lambda: _syllables(self.epoch * 29 + int(self._rng.random() * 4)),
            "url": lambda: self._address(self.hosts),
            "realurl": lambda: self._address("real"),
        }

    def write(self, place: int, epoch: int, cycle: int) -> tuple[str, str, str]:
        """Return the label, the group of templates and the text of the message at a place."""
        label = "spam" if self.chance(_spam_rate(place)) else "ham"
        group = self._group(label, place)
        template, hosts = self.pick(group["texts"]), group.get("hosts", "general")
        if "{scam}" in template:  # ham that quotes spam
            quoted = self._group("spam", place)
            template = template.replace("{scam}", self.pick(quoted["texts"]))
            hosts = quoted.get("hosts", "general")
        self.hosts, self.epoch = hosts, epoch
        text = self._fill(template)
        if label == "spam":
            text = self._as_spam(text, place / cycle)
        elif group["name"] not in ("notices", "warnings"):
            text = self._as_chat(text, group)
        return label, group["name"], text

    def pick(self, values: Sequence[T]) -> T:
        return values[int(self._rng.random() * len(values))]

    def chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _group(self, label: str, place: int) -> dict[str, Any]:
        """Return a group of templates, drawn by its weight."""
        groups: list[dict[str, Any]] = self._templates[label]
        weights = [_activity(group, place) for group in groups]
        left = self.pick(range(1_000_000)) * sum(weights) / 1_000_000
        for group, weight in zip(groups, weights, strict=True):
            left -= weight
            if left < 0:
                return group
        return groups[weights.index(max(weights))]

    def _fill(self, template: str) -> str:
        """Return the template with all slots filled."""
        return _SLOT.sub(lambda found: self._slot(found[1]), template)

    def _slot(self, name: str) -> str:
        if name in self._templates["tail"]:
            return self._from_tail(name)
        if name in self._made:
            return self._made[name]()
        if name in self._templates["slots"]:
            return self._fill(self.pick(self._templates["slots"][name]))
        return self._digits(int(name[1:]), "123456789")  # n1, d2 ...

    def _digits(self, size: int, first: str = "0123456789") -> str:
        """Return digits; the first one is one of `first`."""
        return "".join(self.pick(first if place == 0 else "0123456789") for place in range(size))

    def _from_tail(self, kind: str) -> str:
        """Return a name, town or thing; its rank exceeds k with probability c / (k + c)."""
        common = self._templates["tail"][kind]
        rank = int(_COMMON_RANKS / (1.0 - self._rng.random())) - _COMMON_RANKS
        if rank < len(common):
            return str(common[rank])
        made = _syllables(rank - len(common))
        if kind == "town":
            return made.capitalize() + _TOWN_ENDINGS[rank % len(_TOWN_ENDINGS)]
        return made.capitalize() if kind == "name" else made

    def _time(self) -> str:
        hour, minute = 1 + int(self._rng.random() * 12), self.pick(("00", "15", "30", "45", "10"))
        half = self.pick(("am", "pm", "pm"))
        return self.pick((f"{hour}{half}", f"{hour}.{minute}{half}", f"{hour}:{minute}", str(hour)))

    def _code(self) -> str:
        if self.chance(0.5):
            return self._digits(6)
        return self.pick(_LETTERS) + self.pick(_LETTERS) + self._digits(4)

    def _address(self, kind: str) -> str:
        host = self._fill(self.pick(self._templates["hosts"][kind]))
        if self.chance(0.4) and kind != "real":
            return host
        return f"{host}/{_syllables(int(self._rng.random() * 40000))[:4]}{self._digits(2)}"

    def _as_chat(self, text: str, group: dict[str, Any]) -> str:
        """Return ham with text speak, slang and typos."""
        if self.chance(0.3) and group["name"] in ("chat", "family", "work"):
            text += ". " + self._fill(self.pick(group["texts"]))
        style = self.pick(range(10))
        if style < 4:
            text = self._text_speak(text.lower(), 0.7)
        elif style < 6:
            text = text.replace(".", "...").replace("?", " ?")
        if style in (0, 4):
            text += " " + self.pick(self._templates["slots"]["slang"])
        return _each_word(
            text, lambda word: word.isalpha() and len(word) > 3 and self.chance(0.03), self._typo
        )

    def _as_spam(self, text: str, progress: float) -> str:
        """Return spam with leetspeak, capitals or text speak; `progress` is in [0, 1)."""
        if self.chance(0.05 + 0.3 * progress):
            text = _each_word(
                text,
                lambda word: len(word) > 3 and "." not in word[:-1] and self.chance(0.35),
                lambda word: word.translate(_LEET),
            )
        style = self.pick(range(10))
        if style == 0:
            text = text.upper()
        elif style < 4:
            text = self._text_speak(text, 0.5)
        if self.chance(_PADDED * progress):
            self.hosts = "general"
            text += " " + self._fill(self.pick(self._templates["ham"][0]["texts"]))
        return text

    def _text_speak(self, text: str, share: float) -> str:
        speak = self._templates["speak"]
        return _each_word(
            text, lambda word: word in speak and self.chance(share), speak.__getitem__
        )

    def _typo(self, word: str) -> str:
        """Return the word with a letter lost, doubled or swapped."""
        place = 1 + int(self._rng.random() * (len(word) - 2))
        middle = ("", 2 * word[place], word[place + 1] + word[place])
        kind = int(self._rng.random() * 3)
        return word[:place] + middle[kind] + word[place + (2 if kind == 2 else 1) :]


def _each_word(text: str, chosen: Callable[[str], bool], change: Callable[[str], str]) -> str:
    return " ".join(change(word) if chosen(word) else word for word in text.split(" "))


def _syllables(number: int) -> str:
    """Return a made-up word, a different one for each number."""
    number %= 10**9
    word = ""
    while number or len(word) <= 3:
        number, onset = divmod(number, len(_ONSETS))
        number, vowel = divmod(number, len(_VOWELS))
        word += _ONSETS[onset] + _VOWELS[vowel]
    return word
