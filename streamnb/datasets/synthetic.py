"""A seeded, synthetic stream of short messages with drift: no download, no real people."""

from __future__ import annotations

import random
import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from river.datasets import base

from streamnb.datasets.lines import Message
from streamnb.datasets.writing import Writer
from streamnb.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DriftPoint", "SyntheticSMS"]

_HOSTS_LIVE = 250  # messages after which spammers have moved to new hosts
_PADDED = 0.3  # share of the spam that has a sentence of chat added, at the end of a cycle


class DriftPoint(NamedTuple):
    """A change of the stream.

    Attributes
    ----------
    start, end
        Numbers of messages, from 0: the change begins at `start` and is over at `end`; both are
        the same for a sudden change.
    what
        What changes, in words.
    """

    start: int
    end: int
    what: str


class _Group(NamedTuple):
    """Templates on one theme and the part of the cycle in which they are used."""

    name: str
    weight: float
    start: int
    end: int | None
    ramp: int
    hosts: str
    texts: tuple[str, ...]

    def activity(self, place: int) -> float:
        """Return the weight at a place of the cycle: rising, full, falling or zero."""
        if place < self.start:
            return 0.0
        share = 1.0
        if self.start and place < self.start + self.ramp:
            share = (place - self.start + 1) / self.ramp
        if self.end is not None and place >= self.end:
            over = place - self.end
            share = min(share, 1 - over / self.ramp) if over < self.ramp else 0.0
        return self.weight * share


class _Plan(NamedTuple):
    """What the template file says."""

    cycle: int
    spam_rate: float
    waves: tuple[tuple[int, int, float], ...]
    drift: tuple[DriftPoint, ...]
    groups: dict[str, tuple[_Group, ...]]
    raw: dict[str, Any]

    def rate(self, place: int) -> float:
        """Return the share of spam at a place of the cycle."""
        for start, end, rate in self.waves:
            if start <= place < end:
                return rate
        return self.spam_rate


@cache
def _plan() -> _Plan:
    text = resources.files("streamnb.datasets").joinpath("templates.toml").read_text("utf-8")
    raw = tomllib.loads(text)
    groups = {
        label: tuple(
            _Group(
                entry["name"],
                float(entry["weight"]),
                entry.get("from", 0),
                entry.get("to"),
                entry.get("ramp", 0),
                entry.get("hosts", "general"),
                tuple(entry["texts"]),
            )
            for entry in raw[label]
        )
        for label in ("ham", "spam")
    }
    return _Plan(
        raw["cycle"],
        raw["spam_rate"],
        tuple((entry["from"], entry["to"], entry["rate"]) for entry in raw["wave"]),
        tuple(DriftPoint(entry["from"], entry["to"], entry["what"]) for entry in raw["drift"]),
        groups,
        raw,
    )


class SyntheticSMS(base.SyntheticDataset):  # type: ignore[misc, unused-ignore]
    """A synthetic stream of ham and spam with drift, written from our own templates.

    Ham is chat, family, work, appointments and jokes, in several people's ways of writing (text
    speak, typos, local particles). About 13 % is spam: prizes, premium numbers, ringtones, loans,
    crypto offers, delivery fees, dating, bank alerts with look-alike addresses. Some ham is made
    to look like spam (real delivery notices, one-time codes, offers) and some spam like ham. Names,
    towns and things have a long tail, so that the vocabulary keeps growing.

    The stream follows a calendar of 5,000 messages that repeats: campaigns come and go, the
    subjects of ham change with the season, spam uses more leetspeak and hides behind
    sentences of chat. `drift_points` lists the changes. The first messages of a longer stream are
    those of a shorter one with that seed, and a seed gives the same messages on every platform.

    river's `BagOfWords() | MultinomialNB()` has a prequential accuracy of about 0.98 on it.

    Parameters
    ----------
    n
        Number of messages, at least 0; None for a stream without end.
    seed
        Seed of the stream; any integer.

    Raises
    ------
    InputError
        A negative number of messages.

    Examples
    --------
    >>> from streamnb import datasets
    >>> stream = datasets.SyntheticSMS(n=1000, seed=1)
    >>> pairs = list(stream)
    >>> len(pairs), sorted({label for _, label in pairs})
    (1000, ['ham', 'spam'])
    >>> pairs == list(datasets.SyntheticSMS(n=2000, seed=1).take(1000))
    True
    >>> stream.drift_points[0].start
    1200
    """

    def __init__(self, n: int | None = 5000, seed: int = 42) -> None:
        if n is not None and n < 0:
            raise InputError(f"n is {n}; it should be at least 0")
        super().__init__(  # type: ignore[no-untyped-call, unused-ignore]
            task=base.BINARY_CLF, n_features=1, n_samples=n, n_classes=2
        )
        self.n = n
        self.seed = seed

    @property
    def drift_points(self) -> list[DriftPoint]:
        """The changes of one cycle of the calendar, in the order in which they begin."""
        return list(_plan().drift)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of a message's text and its label, `"ham"` or `"spam"`."""
        for label, _, text in self._written():
            yield text, label

    def messages(self) -> Iterator[Message]:
        """Yield the same stream as messages; the id tells the number and the template's group."""
        for number, (label, group, text) in enumerate(self._written(), 1):
            yield Message(f"{number}/{group}", label, text)

    def _written(self) -> Iterator[tuple[str, str, str]]:
        plan = _plan()
        raw = plan.raw
        writer = Writer(
            random.Random(self.seed), raw["slots"], raw["hosts"], raw["tail"], raw["speak"]
        )
        number = 0
        while self.n is None or number < self.n:
            place = number % plan.cycle
            label = "spam" if writer.chance(plan.rate(place)) else "ham"
            group = _choose(plan.groups[label], place, writer)
            template, hosts = writer.pick(group.texts), group.hosts
            if "{scam}" in template:  # ham that quotes spam
                quoted = _choose(plan.groups["spam"], place, writer)
                template = template.replace("{scam}", writer.pick(quoted.texts))
                hosts = quoted.hosts
            text = writer.fill(template, hosts, number // _HOSTS_LIVE)
            if label == "spam":
                progress = place / plan.cycle
                text = _as_spammers_write(text, progress, writer)
                if writer.chance(_PADDED * progress):
                    text += " " + writer.fill(writer.pick(plan.groups["ham"][0].texts))
            elif group.name not in ("notices", "warnings"):
                text = _as_people_write(text, group, raw["slots"]["slang"], writer)
            yield label, group.name, text
            number += 1


def _choose(groups: tuple[_Group, ...], place: int, writer: Writer) -> _Group:
    weights = [group.activity(place) for group in groups]
    # Integers out of a million: no sum of floats decides which group it is.
    left = writer.pick(range(1_000_000)) * sum(weights) / 1_000_000
    for group, weight in zip(groups, weights, strict=True):
        left -= weight
        if left < 0:
            return group
    return groups[weights.index(max(weights))]


def _as_people_write(text: str, group: _Group, slang: list[str], writer: Writer) -> str:
    if writer.chance(0.3) and group.name in ("chat", "family", "work"):
        text += ". " + writer.fill(writer.pick(group.texts))
    style = writer.pick(range(10))
    if style < 4:
        text = writer.text_speak(text.lower(), 0.7)
    elif style < 6:
        text = text.replace(".", "...").replace("?", " ?")
    if style in (0, 4):
        text += " " + writer.pick(slang)
    return writer.typos(text, 0.03)


def _as_spammers_write(text: str, progress: float, writer: Writer) -> str:
    # From a message in twenty to one in three as the calendar goes on.
    if writer.chance(0.05 + 0.3 * progress):
        text = writer.leetspeak(text, 0.35)
    style = writer.pick(range(10))
    if style == 0:
        return text.upper()
    if style < 4:
        return writer.text_speak(text, 0.5)
    return text
