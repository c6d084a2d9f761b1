"""Forgetting, literally: the documents that count, each with the weight that is left of it.

After document t, one of weight w that was learned at s has the weight w 2^(-(t - s) / half_life);
or the last `window` documents count, and no other.

With times, t and s are no numbers of documents but what the clock showed after them: the latest
time that came with one, to which it went on by a half-life at most.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from references.documents import Document, Documents
from references.online_weights import OnlineWeightsReference


def clock_of(times: Sequence[float | None], half_life: float) -> list[float]:
    """Return what the clock shows after each document; before the first time, that."""
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
    """Return the documents with the weights that are left of them after the last."""
    clock = range(len(stream)) if clock is None else clock
    return [
        (counts, label, w * 2.0 ** (-(clock[-1] - then) / half_life))
        for (counts, label, w), then in zip(stream, clock, strict=True)
    ]


class FadingOnlineWeights(OnlineWeightsReference):
    """Corrections keep to their own steps; the documents that they are added to count for less."""

    half_life: float
    passed = 1.0  # since the document before

    def learn(self, x: Mapping[str, float], y: Hashable, w: float = 1.0) -> None:
        """Take the steps by the documents before; then these count for less than the new one."""
        super().learn(x, y, w)
        left = 2.0 ** (-self.passed / self.half_life)
        *before, newest = self.documents
        self.documents = [*((words, label, left * v) for words, label, v in before), newest]


class WindowedOnlineWeights(OnlineWeightsReference):
    """Each document that comes unlearns the oldest."""

    window_size: int

    def learn(self, x: Mapping[str, float], y: Hashable, w: float = 1.0) -> None:
        """Take the steps by the documents before, then count the new one and not the oldest."""
        super().learn(x, y, w)
        if len(self.documents) > self.window_size:
            words, label, weight = self.documents[0]
            self.unlearn(dict.fromkeys(words, 1.0), label, weight)


class Forgetting:
    """The scores of a model that forgets, by its reference that does not.

    Parameters
    ----------
    reference
        Of the model, as `support.models.make_reference` returns it.
    half_life, window_size
        One of them.
    timed
        Whether the half-life is in seconds.
    """

    def __init__(
        self,
        reference: Any,
        half_life: float | None = None,
        window_size: int | None = None,
        timed: bool = False,
    ) -> None:
        self.reference, self.half_life, self.window_size = reference, half_life, window_size
        self.times: list[float | None] | None = [] if timed else None
        self.stream: list[Document] = []
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

    def clock(self) -> list[float] | None:
        """Return what the clock of times shows after each document; None where there are none."""
        assert self.half_life is not None
        return None if self.times is None else clock_of(self.times, self.half_life)

    def counting(self) -> list[Document]:
        """Return the documents that count, with what is left of their weights."""
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
