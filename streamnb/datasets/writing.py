"""Filling message templates: slots, made-up names and numbers, and ways of writing.

All chance comes from `random.Random.random`, the one method whose sequence Python keeps for a
seed, and everything computed from it is exact in IEEE arithmetic. So a seed gives the same
messages on every platform.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Writer"]

T = TypeVar("T")
_SLOT = re.compile(r"\{(\w+)\}")
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "ch", "st")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ee")
_TOWN_ENDINGS = ("ton", "ham", "ford", "wick", "by")
_LEET = str.maketrans({"o": "0", "i": "1", "e": "3", "a": "@", "s": "5"})
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_THOUSANDS = ("500", "750", "900", "1000", "1250", "1500", "2000", "2500", "5000", "10000", "100k")
_COMMON_RANKS = 30  # half of all names, towns and things used; the rest is a long tail


class Writer:
    """Writes messages from templates.

    Parameters
    ----------
    rng
        Source of all chance.
    slots
        The values of each slot; they may contain slots themselves.
    hosts
        Kinds of host names for made-up addresses.
    tail
        The first names, towns and things, before made-up ones follow.
    speak
        Words and what they become in text speak.
    """

    def __init__(
        self,
        rng: random.Random,
        slots: Mapping[str, Sequence[str]],
        hosts: Mapping[str, Sequence[str]],
        tail: Mapping[str, Sequence[str]],
        speak: Mapping[str, str],
    ) -> None:
        self._rng, self._slots, self._hosts, self._tail = rng, slots, hosts, tail
        self._speak = speak
        self._host_kind = "general"
        self._epoch = 0
        self._made: dict[str, Callable[[], str]] = {
            "time": self._time,
            "code": self._code,
            "mobile": lambda: "07700900" + self._digits(3),
            "premium": lambda: "09098790" + self._digits(3),
            "short": lambda: "8" + self._digits(4),
            "k": lambda: self.pick(_THOUSANDS),
            "p": lambda: self.pick(("10", "25", "50", "100", "150")),
            "tag": self._tag,
            "url": lambda: self._address(self._host_kind),
            "realurl": lambda: self._address("real"),
        }

    def pick(self, values: Sequence[T]) -> T:
        """Return one of the values, each as likely."""
        return values[int(self._rng.random() * len(values))]

    def chance(self, share: float) -> bool:
        """Return True in this share of the calls, between 0 and 1."""
        return self._rng.random() < share

    def fill(self, template: str, hosts: str = "general", epoch: int = 0) -> str:
        """Return the template with all slots filled.

        Parameters
        ----------
        template
            Text with `{slot}` in it.
        hosts
            Kind of the host names in addresses.
        epoch
            Number that changes as hosts are given up for new ones.
        """
        self._host_kind, self._epoch = hosts, epoch
        return self._fill(template)

    def _fill(self, template: str) -> str:
        return _SLOT.sub(lambda found: self._slot(found[1]), template)

    def _slot(self, name: str) -> str:
        if name in self._tail:
            return self._from_tail(name)
        if name in self._made:
            return self._made[name]()
        if name in self._slots:
            return self._fill(self.pick(self._slots[name]))
        return self._digits(int(name[1:]), first=True)  # n1, d2 ...

    def _digits(self, size: int, first: bool = False) -> str:
        """Return so many digits; the first is not 0 where it begins a number."""
        return "".join(
            self.pick("123456789" if first and place == 0 else "0123456789")
            for place in range(size)
        )

    def _rank(self) -> int:
        """Return a rank whose chance to exceed k is c/(k + c): Zipf-like, without end."""
        return int(_COMMON_RANKS / (1.0 - self._rng.random())) - _COMMON_RANKS

    def _from_tail(self, kind: str) -> str:
        common = self._tail[kind]
        rank = self._rank()
        if rank < len(common):
            return common[rank]
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

    def _tag(self) -> str:
        return _syllables(self._epoch * 29 + int(self._rng.random() * 4))

    def _address(self, kind: str) -> str:
        host = self._fill(self.pick(self._hosts[kind]))
        if self.chance(0.4) and kind != "real":
            return host
        return f"{host}/{_syllables(int(self._rng.random() * 40000))[:4]}{self._digits(2)}"

    def text_speak(self, text: str, share: float) -> str:
        """Return the text with this share of its known words in text speak."""
        return " ".join(
            self._speak[word] if word in self._speak and self.chance(share) else word
            for word in text.split(" ")
        )

    def typos(self, text: str, share: float) -> str:
        """Return the text with a letter lost, doubled or swapped in this share of its words."""
        return " ".join(
            self._typo(word) if word.isalpha() and len(word) > 3 and self.chance(share) else word
            for word in text.split(" ")
        )

    def _typo(self, word: str) -> str:
        place = 1 + int(self._rng.random() * (len(word) - 2))
        kind = int(self._rng.random() * 3)
        if kind == 0:
            return word[:place] + word[place + 1 :]
        if kind == 1:
            return word[:place] + word[place] + word[place:]
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]

    def leetspeak(self, text: str, share: float) -> str:
        """Return the text with digits and signs for letters in this share of its long words."""
        return " ".join(
            word.translate(_LEET)
            if len(word) > 3 and "." not in word[:-1] and self.chance(share)
            else word
            for word in text.split(" ")
        )


def _syllables(number: int) -> str:
    """Return a made-up word, another for each number."""
    number %= 10**9
    word = ""
    while True:
        number, onset = divmod(number, len(_ONSETS))
        number, vowel = divmod(number, len(_VOWELS))
        word += _ONSETS[onset] + _VOWELS[vowel]
        if number == 0 and len(word) > 3:
            return word
