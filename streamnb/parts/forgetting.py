"""Forgetting: messages count for less with those after them or in time, or leave a window."""

from __future__ import annotations

import dataclasses
import datetime
import math
import re
from collections.abc import Iterable
from typing import Any

from streamnb.errors import InputError, shown
from streamnb.parameters import check_above_zero, check_bound, check_number
from streamnb.parts.axes.composition import Composition

_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_TIME = re.compile(r"(\d+(?:\.\d+)?)(s|min|h|d|w)")


@dataclasses.dataclass(frozen=True)
class Forgetting:
    """How a model forgets, if it does.

    Attributes
    ----------
    half_life
        After so many messages a message counts for half: after message t one that was learned at s
        counts for 2^(−(t − s) / half_life) of its weight. Above 0; None: for as much for ever. As a
        text it is in time, `"90s"`, `"15min"`, `"12h"`, `"30d"` or `"4w"`, a second at least, and t
        and s are times: those that come with the messages.
    window
        How many messages count, the last ones: 1 or more; None: all of them.

    Raises
    ------
    InputError
        If one of them is out of range, or both are given.

    Examples
    --------
    >>> Forgetting(half_life=0)
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: half_life must be a number above 0, not 0
    """

    half_life: float | str | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        if self.timed:
            seconds_of(str(self.half_life))
        elif self.half_life is not None:
            check_above_zero("half_life", self.half_life)
        if self.window is not None:
            check_bound("window", self.window, least=1)
        if self.half_life is not None and self.window is not None:
            raise InputError(
                "give half_life or window, not both: what leaves a window is gone, what has a "
                "half-life never is"
            )

    @property
    def timed(self) -> bool:
        """Whether the half-life is in time."""
        return isinstance(self.half_life, str)

    def bounds(self, parts: Composition, index_size: int | None, max_pairs: int) -> dict[str, Any]:
        """Return what the messages that count ask of the count store: keywords of it.

        Parameters
        ----------
        parts
            The parts of the model.
        index_size, max_pairs
            As in `NaiveBayes`.

        Raises
        ------
        InputError
            If a part does not forget so, or a bound is out of range.
        """
        pairs = check_bound("max_pairs", max_pairs, least=0)
        if self.half_life is None and self.window is None:
            documents = parts.index_size if index_size is None else index_size
            documents = check_bound("index_size", documents, least=0)
            return {"index_size": documents, "max_pairs": pairs}
        if parts.event.columns:
            raise InputError("half_life and window are of models of texts; this one is of columns")
        if self.window is not None:
            if index_size is not None:
                raise InputError(
                    "window= is how many messages the index keeps: leave index_size at None"
                )
            # Who pairs no words needs no table of the pairs in the window.
            pairs = pairs if parts.index_size else 0
            messages = check_bound("window", self.window, least=1)
            return {"index_size": messages, "max_pairs": pairs, "windowed": True}
        for part in parts.all:
            if not part.decays:
                raise InputError(
                    f"half_life= is of models that read counts of words alone (MNB, CNB, OVA, BNB, "
                    f"OnlineNB, NBCF and Rwc…): {part.axis}={part.name!r} does not follow counts "
                    f"that all shrink with every message; use window= instead"
                )
        if index_size:
            raise InputError(
                "half_life= keeps no messages: leave index_size at None, or use window="
            )
        bounds: dict[str, Any] = {"index_size": 0, "max_pairs": 0}
        if isinstance(self.half_life, str):
            return {**bounds, "half_life": seconds_of(self.half_life), "timed": True}
        return {**bounds, "half_life": float(self.half_life or 0)}


def seconds_of(half_life: str) -> float:
    """Return the seconds of a half-life in time.

    Raises
    ------
    InputError
        If it is none.

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
    """Return when a message came as seconds since 1970; NaN for None and for NaN.

    Raises
    ------
    InputError
        If it is neither a number, nor a `datetime`, nor None.

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
    """Return when each message of a batch came; `time` is as in `learn_many`.

    Raises
    ------
    InputError
        If it does not fit.
    """
    if not isinstance(time, Iterable) or isinstance(time, (str, bytes)):
        return [seconds_at(time)] * messages
    times = [seconds_at(each) for each in time]
    if len(times) != messages:
        raise InputError(f"{messages} messages and {len(times)} times: give one time for each")
    return times
