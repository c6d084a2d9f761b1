"""What every count store does: that of the core, for texts, and that of columns with numbers."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeAlias, TypeVar

from streamnb import _core

Message = TypeVar("Message", contravariant=True)
Batch = TypeVar("Batch", contravariant=True)
Store = TypeVar("Store", bound="CountStore[Any, Any]", contravariant=True)
"""The store that statistics are computed from: any, or one that does more than this protocol."""


class CountStore(Protocol[Message, Batch]):
    """Counts of messages, and the scores that they give.

    `_core.CountStore` has them for texts and for columns of categories,
    `streamnb.columns.store.AttributeStore` for columns with numbers. A `Message` is read and its
    words are told apart; classes are small ids, in no order until `set_ranks` says which.
    """

    def learn(self, x: Message, class_id: int, weight: Any, /) -> None:
        """Learn one message; nothing changes where it raises."""

    def learn_known(self, x: Message, handle: int, weight: Any, /) -> bool:
        """Learn one message of a class that has messages, by the handle of its label.

        Returns
        -------
        False, with nothing changed, where the class has none, or belongs to another label by now,
        or where the store can't learn in passing.
        """

    def learn_many(
        self,
        batch: Batch,
        class_ids: array[int],
        weight: Any,
        start: int,
        stop: int,
        threads: int,
        /,
    ) -> None:
        """Learn the messages of a batch from one place up to another, on up to so many threads.

        Where something raises meanwhile, as the handler of a signal may, the first are learned.
        """

    def expect_times(self, times: list[float], /) -> None:
        """Say when the messages came that are learned next, for a half-life in time."""

    def have_documents(self, class_ids: list[int], /) -> list[bool]:
        """Return of each of some classes whether it has messages."""

    def unlearn(self, x: Message, class_id: int, weight: Any, /) -> bool:
        """Unlearn one message; return whether its class has any left."""

    def merge(self, other: Self, class_ids: list[int], /) -> None:
        """Learn what another store has learned, whose class ids have these here."""

    def subtract(self, other: Self, class_ids: list[int], /) -> None:
        """Unlearn what another store has learned."""

    def set_ranks(self, ranks: list[tuple[int, int]], /) -> None:
        """Say in which order the labels of the classes stand: new ranks of some class ids."""

    def declare(self, values: Mapping[str, int], /) -> None:
        """Say how many values attributes of columns have."""

    def predict(self, x: Message, scoring: _core.Scoring, /) -> int | None:
        """Return the class with the highest score, of equal ones the first; None without any."""

    def scores(self, x: Message, scoring: _core.Scoring, /) -> list[float]:
        """Return the score of each class id."""

    def probable_scores(self, x: Message, scoring: _core.Scoring, /) -> list[float]:
        """Return the scores whose soft maximum is the probability of each class id."""

    def probabilities(self, x: Message, scoring: _core.Scoring, /) -> list[float]:
        """Return the probability of each class id."""

    def predict_many(
        self, batch: Batch, scoring: _core.Scoring, labels: list[Any], threads: int, /
    ) -> list[Any]:
        """Return the label of each message."""

    def scores_many(self, batch: Batch, scoring: _core.Scoring, threads: int, /) -> bytes:
        """Return the scores of each message as float64: shape `(messages, class ids)`."""

    def probable_scores_many(self, batch: Batch, scoring: _core.Scoring, threads: int, /) -> bytes:
        """Return the same whose soft maximum is the probability of each class id."""

    def predictions_many(self, batch: Batch, scoring: _core.Scoring, threads: int, /) -> bytes:
        """Return both and the probabilities, float64 `messages × 3 × class ids`."""

    def explain(
        self, x: Any, scoring: _core.Scoring, /
    ) -> tuple[list[float], list[tuple[str, list[float]]]]:
        """Return what a message's scores begin with, and the part of each word or attribute."""

    def corrections(self, x: Any, scoring: _core.Scoring, /) -> list[tuple[str, list[float]]]:
        """Return what of the parts of known words was learned besides the counts."""

    def counts(self) -> tuple[int, int, bytes, bytes, bytes, bytes, bytes, bytes, bytes]:
        """Return a copy of the counts, for `streamnb.statistics.counts.Counts.from_arrays`."""

    def take_emptied(self) -> list[int]:
        """Return the classes that the window has left without messages since this was called."""

    def words(self) -> list[str]:
        """Return the words by id; an empty one where an id is free."""

    def snapshot(self, statistics: bool) -> bytes:
        """Return everything as canonical bytes; statistics in use only where `statistics`."""

    @property
    def term_weighting(self) -> str:
        """What the count of a word in a message becomes."""

    @property
    def version(self) -> int:
        """Grows with every change."""

    @property
    def n_documents(self) -> float:
        """Weight of the messages learned."""

    @property
    def n_words(self) -> int:
        """Different words learned."""

    @property
    def n_cells(self) -> int:
        """Nonzero counts of a word in a class."""

    @property
    def n_indexed(self) -> int:
        """Messages that are kept."""

    def __sizeof__(self) -> int:
        """Return the bytes that the counts take."""


AnyStore: TypeAlias = CountStore[Any, Any]
"""A store of whatever messages."""
