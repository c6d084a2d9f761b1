"""Forgetting: messages decay with the number of later messages or in time, or leave a window."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Iterable
from typing import Any

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.model.composition import Composition
from streamnb.parameters import check_above_zero, check_bound, check_number
from streamnb.text.tokenizer import Tokenizer

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|min|h|d|w)")


@dataclasses.dataclass(frozen=True)
class Forgetting:
    """The forgetting of a model.

    Attributes
    ----------
    half_life
        Number of messages after which a message counts half: after message t, a message learned at
        s counts as 2^(−(t − s) / half_life) of its weight. Above 0; None never forgets. As a text
        it is a time, `"90s"`, `"15min"`, `"12h"`, `"30d"` or `"4w"`, at least a second; then t and
        s are the times that come with the messages.
    window_size
        Number of last messages that count: 1 or more; None means all.

    Examples
    --------
    >>> Forgetting(half_life=1000, window_size=1000)
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: give half_life or window_size, not both
    """

    half_life: float | str | None = None
    window_size: int | None = None

    def __post_init__(self) -> None:
        if self.half_life is not None and self.window_size is not None:
            raise InputError("give half_life or window_size, not both")

    @property
    def timed(self) -> bool:
        """Whether the half-life is in time."""
        return isinstance(self.half_life, str)

    def store_options(self, composition: Composition, index_size: int | None) -> dict[str, Any]:
        """Return the options of the count store.

        Parameters
        ----------
        composition
            The components of the model.
        index_size
            As in `NaiveBayes`.
        """
        if self.half_life is None and self.window_size is None:
            documents = composition.index_size if index_size is None else index_size
            documents = check_bound("index_size", documents, least=0)
            return {"index_size": documents}
        if composition.event.columns and self.half_life is not None:
            raise InputError(
                "half_life needs a model of texts, not of columns: use window_size instead"
            )
        if self.window_size is not None:
            if index_size is not None:
                raise InputError(
                    "window_size= also sets the size of the index: leave index_size at None"
                )
            messages = check_bound("window_size", self.window_size, least=1)
            return {"index_size": messages, "windowed": True}
        for component in composition.components:
            if not component.decays:
                raise InputError(
                    f"half_life= needs a model that reads word counts alone (MNB, CNB, OVA, BNB, "
                    f"OnlineNB, NBCF and Rwc…): {component.axis}={component.name!r} does not "
                    f"support decaying counts; use window_size= instead"
                )
        if index_size:
            raise InputError(
                "half_life= keeps no messages: leave index_size at None, or use window_size="
            )
        if isinstance(self.half_life, str):
            return {"index_size": 0, "half_life": seconds_of(self.half_life), "timed": True}
        return {"index_size": 0, "half_life": check_above_zero("half_life", self.half_life)}


def seconds_of(half_life: str) -> float:
    """Return the seconds of a half-life in time.

    Examples
    --------
    >>> seconds_of("1.5h")
    5400.0
    >>> seconds_of("a month")
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: half_life must be a number above 0, of messages, or a time from \
"1s" on as in "15min", "12h", "30d" or "4w", not 'a month'
    """
    read = _TIME.fullmatch(half_life)
    seconds = float(read[1]) * _SECONDS[read[2]] if read else 0.0
    if read is None or not 1 <= seconds < math.inf:
        raise InputError(
            'half_life must be a number above 0, of messages, or a time from "1s" on as in '
            f'"15min", "12h", "30d" or "4w", not {shown(half_life)}'
        )
    return seconds


def seconds_at(time: Any) -> float:
    """Return a time as seconds since 1970; NaN for None and for NaN.

    Examples
    --------
    >>> seconds_at(datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)), seconds_at(None)
    (1767225600.0, nan)
    """
    if time is None:
        return math.nan
    if isinstance(time, datetime.datetime):
        return time.timestamp()
    seconds = check_number("time", time)
    if math.isinf(seconds):
        raise InputError(f"time must be seconds since 1970, a datetime or None, not {shown(time)}")
    return seconds


def times_of(time: Any, messages: int) -> list[float]:
    """Return the time of each message of a batch; `time` is as in `learn_many`."""
    if not isinstance(time, Iterable) or isinstance(time, (str, bytes)):
        return [seconds_at(time)] * messages
    times = [seconds_at(each) for each in time]
    if len(times) != messages:
        raise InputError(f"{messages} messages and {len(times)} times: give one time for each")
    return times


def forget_word(counts: _core.CountStore, word: str, hashed: Tokenizer | None = None) -> int:
    """Remove a word, and all tokens that contain it, as if no message had contained them.

    The messages stay learned with their other words, and unlearning them stays exact for those.
    Tokens of some characters of the word stay.

    Parameters
    ----------
    counts
        The counts of a model.
    word
        The word, as the tokenizer folds it; not empty.
    hashed
        The tokenizer of a model of hashes. It cannot find tokens that contain the word: the tokens
        of the word alone are removed, and runs of several words stay.

    Returns
    -------
    Number of removed tokens.

    Raises
    ------
    InputError
        If the word is empty.

    Examples
    --------
    >>> from streamnb import MNB, Tokenizer
    >>> model = MNB(tokenizer=Tokenizer(words=(1, 2)))
    >>> model.learn_one("meet ann today", "ham")
    >>> model.forget_word("ann"), model.n_words
    (3, 2)
    """
    if not word.strip():
        raise InputError(f"the word to forget must have characters, not {word!r}")
    if hashed is not None:
        return counts.forget_words(list(hashed.plain(word)))
    part = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return counts.forget_words(list(filter(part.search, counts.words())))
