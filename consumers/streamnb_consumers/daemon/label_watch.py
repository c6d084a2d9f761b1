"""Notice labels that cannot meet their messages, because they are in other partitions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from streamnb_consumers.pipeline.window import JoinWindow

_LOG = logging.getLogger(__name__)

_EVERY = 60.0  # seconds between two searches
_SAMPLE = 1_000  # waiting labels per search, so that it takes milliseconds
# Waiting labels that are too many if few others were learned: a worker sees only its own windows.
_MANY = 100
_PARTITIONER = (
    "Write each label with the key of its message and the same partitioner: murmur2, which is the "
    "default of the Java client and of kafka-python; for clients of librdkafka set partitioner = "
    "murmur2_random"
)


class LabelWatch:
    """Count waiting labels whose messages are in the window of another partition.

    Parameters
    ----------
    clock
        Monotonic seconds.

    Attributes
    ----------
    misplaced
        Number of such labels at the last search.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._due = clock() + _EVERY
        self._learned = 0
        self._told: set[str] = set()
        self.misplaced = 0

    def look(self, windows: Mapping[int, JoinWindow], learned: int) -> None:
        """Search once a minute; `learned` is the number of training events of the model."""
        if self._clock() < self._due:
            return
        self._due = self._clock() + _EVERY
        found = [
            (name, number, other)
            for number, window in windows.items()
            for name in window.newest_labels(_SAMPLE // max(1, len(windows)))
            for other, candidate in windows.items()
            if other != number and candidate.get(name) is not None
        ]
        self.misplaced = len(found)
        waiting = sum(window.waiting for window in windows.values())
        if found:
            name, number, other = found[0]
            self._tell(
                "misplaced",
                f"{len(found)} of the latest labels cannot meet their messages: for example, the "
                f"label of {name!r} is in partition {number}, and its message is in partition "
                f"{other}",
            )
        elif waiting >= _MANY and waiting > 10 * (learned - self._learned):
            self._tell(
                "waiting",
                f"{waiting} labels wait for messages, and {learned - self._learned} were learned "
                f"in the last minute: the messages may be in other partitions, or older than the "
                f"join window",
            )
        self._learned = learned

    def _tell(self, kind: str, text: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            _LOG.warning("%s. %s (logged once; metrics: misplaced_labels)", text, _PARTITIONER)
