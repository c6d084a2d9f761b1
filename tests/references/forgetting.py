"""Forgetting, literally: the documents with their remaining weights.

After document t, a document of weight w that was learned at s has the weight w 2^(-(t - s) /
half_life). With a window, only the last `window` documents count.

After each document, one group of words loses the words with a weight below 2^-64 in each class. The
clock chooses the group. Such words leave all documents, as if these had never contained them.

With times, t and s are clock readings instead of document numbers: the latest time so far, where
each document advances the clock by at most one half-life.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from references.bounds import GROUP, siphash
from references.documents import Document, Documents
from references.online_weights import OnlineWeightsReference


def clock_of(times: Sequence[float | None], half_life: float) -> list[float]:
    """Return the clock reading after each document; before the first time, -infinity."""
    known = [time for time in times if time is not None]
    now, shown, begun = (known or [0.0])[0], [], False
    for time in times:
        if time is not None:
            now = min(max(time, now), now + half_life) if begun else time
            begun = True
        shown.append(now)
    return shown


def faded(
    stream: Sequence[Document], half_life: float, clock: Sequence[float] | None = None
) -> list[Document]:
    """Return the documents with their remaining weights after the last one."""
    clock = range(len(stream)) if clock is None else clock
    return [
        (counts, label, w * 2.0 ** (-(clock[-1] - then) / half_life))
        for (counts, label, w), then in zip(stream, clock, strict=True)
    ]


GONE = 2.0**-64
"""Weight below which a word leaves."""


class FadingOnlineWeights(OnlineWeightsReference):
    """Online weights whose terms decay as the weights of documents do.

    A document takes its steps with the scores before it. Then all earlier documents, terms and
    sums of the estimate of wrong labels decay relative to the new document. Squares of terms decay
    twice. Terms are rounded relative to the beginning of the stream, or of the last 256 half-lives.
    """

    half_life: float
    passed = 1.0  # since the document before
    power = 0.0

    def learn(self, x: Mapping[str, float], y: Hashable, w: float = 1.0) -> None:
        """Take the steps with the documents before; then these decay relative to the new one."""
        self.power = (self.power + self.passed / self.half_life) % 256
        for head in self.heads():
            head.grain = 2.0**-32 / 2.0**self.power
            head.square_grain = 2.0**-40 / 4.0**self.power
        super().learn(x, y, w)
        left = self.left()
        *before, newest = self.documents
        self.documents = [*((words, label, left * v) for words, label, v in before), newest]
        for sums in self.noise.classes.values():
            sums.update({name: left * value for name, value in sums.items()})
        self.noise.gain *= left
        self.noise.v = {word: left * v for word, v in self.noise.v.items()}
        self.noise.end_change()
        self.flips = self.noise.rates()

    def drop(self, gone: set[str]) -> None:
        """Forget words as if no document had contained them."""
        self.documents = [(words - gone, label, v) for words, label, v in self.documents]
        for head in self.heads():
            for key in [key for key in head.sums if key[0] in gone]:
                del head.sums[key], head.squares[key]
        self.noise.v = {word: v for word, v in self.noise.v.items() if word not in gone}

    def forget(self, x: Mapping[str, float], y: Hashable, w: float = 1.0) -> None:
        """Forget a document of which this weight is left."""
        words = frozenset(word for word, count in x.items() if count > 0)
        same = [v for known, label, v in self.documents if (known, label) == (words, y)]
        super().forget(x, y, min(same, key=lambda v: abs(v - w)))

    def left(self) -> float:
        """The share of a document that is left after the time that has passed."""
        return 2.0 ** (-self.passed / self.half_life)

    def before_steps(self) -> None:
        """Let all terms decay."""
        left = self.left()
        for head in self.heads():
            for sums in (head.sums, head.bias_sums):
                sums.update({key: left * value for key, value in sums.items()})
            for squares in (head.squares, head.bias_squares):
                squares.update({key: left**2 * value for key, value in squares.items()})
            head.share_sum *= left
            head.share_squares *= left**2
        self.steps = [step.faded(left) for step in self.steps]


class WindowedOnlineWeights(OnlineWeightsReference):
    """Online weights in a window: each new document removes the counts of the oldest."""

    window_size: int

    def learn(self, x: Mapping[str, float], y: Hashable, w: float = 1.0) -> None:
        """Take the steps with the documents before, then add the new one and remove the oldest."""
        super().learn(x, y, w)
        if len(self.documents) > self.window_size:
            words, label, weight = self.documents[0]
            self.forget(dict.fromkeys(words, 1.0), label, weight)


class Forgetting:
    """Scores of a forgetting model, by the reference of the model without forgetting.

    Parameters
    ----------
    reference
        The reference from `support.models.make_reference`.
    half_life, window_size
        Exactly one of the two.
    timed
        Whether the half-life is in seconds.
    max_features
        Bound of the model, which is not reached.
    """

    def __init__(
        self,
        reference: Any,
        half_life: float | None = None,
        window_size: int | None = None,
        timed: bool = False,
        max_features: int = 1_000_000,
    ) -> None:
        self.reference, self.half_life, self.window_size = reference, half_life, window_size
        self.times: list[float | None] | None = [] if timed else None
        self.groups = max_features // GROUP
        self.stream: list[Document] = []
        self.n_counted = 0  # documents since the last division of all counts
        self.start = 0.0  # half-lives before the first of them
        self.online = isinstance(reference, OnlineWeightsReference)
        if self.online:
            kind = FadingOnlineWeights if half_life else WindowedOnlineWeights
            reference.__class__ = kind
            reference.half_life, reference.window_size = half_life, window_size

    def learn(
        self, x: Mapping[Any, float], y: Hashable, w: float = 1.0, time: float | None = None
    ) -> None:
        """Learn a document."""
        self.stream.append((x, y, w))
        if self.times is not None:
            self.times.append(time)
            clock = self.clock()
            assert clock is not None
            self.reference.passed = clock[-1] - clock[-2] if len(clock) > 1 else 0.0
        if self.online:
            self.reference.learn(x, y, w)
        if self.half_life is not None:
            self.drop(self.gone())

    def gone(self) -> set[Any]:
        """Return the words that leave after the last document."""
        assert self.half_life is not None
        clock = self.clock()
        if clock is None:
            self.n_counted += 1
            power = self.start + self.n_counted / max(self.half_life, 1 / 1024)
            if power >= 256:
                self.n_counted, self.start = 0, power % 256
            place = self.n_counted
        else:
            place = siphash(bytes(16), struct.pack("<d", clock[-1]))
        weights: dict[tuple[Any, Hashable], float] = {}
        for counts, label, w in self.counting():
            for word in (word for word, count in counts.items() if count > 0):
                weights[word, label] = weights.get((word, label), 0.0) + w
        kept = {word for (word, _), weight in weights.items() if weight >= GONE}
        gone = {word for word, _ in weights} - kept
        in_turn = place % self.groups
        return {word for word in gone if siphash(bytes(16), word.encode()) % self.groups == in_turn}

    def drop(self, gone: set[Any]) -> None:
        """Forget words as if no document had contained them."""
        if not gone:
            return
        self.stream = [
            ({word: count for word, count in counts.items() if word not in gone}, label, w)
            for counts, label, w in self.stream
        ]
        if self.online:
            self.reference.drop(gone)

    def clock(self) -> list[float] | None:
        """Return the time clock after each document; None without times."""
        assert self.half_life is not None
        return None if self.times is None else clock_of(self.times, self.half_life)

    def counting(self) -> list[Document]:
        """Return the documents that still count, with their remaining weights."""
        if self.window_size is not None:
            return self.stream[-self.window_size :]
        assert self.half_life is not None
        return faded(self.stream, self.half_life, self.clock())

    def joint_log_likelihood(self, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class."""
        if self.online:
            return self.reference.scores(x)  # type: ignore[no-any-return]
        documents = Documents.from_list(self.counting())
        return self.reference.joint_log_likelihood(documents, x)  # type: ignore[no-any-return]
