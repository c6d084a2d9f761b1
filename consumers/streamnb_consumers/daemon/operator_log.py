"""Lines of the log for operators: dead letters by kind, and how the process stopped."""

from __future__ import annotations

import logging
import re
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable

from streamnb_consumers.records import DeadLetter

_LOG = logging.getLogger(__name__)

_EVERY = 60.0  # seconds between two counts of dead letters
_KINDS = 100  # kinds whose first dead letter is logged; all others are one more kind
_OTHERS = "other kinds"
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|[\w.-]*\d[\w.,-]*")


def kind_of(error: str) -> str:
    """Return an error without the values that differ from record to record.

    Examples
    --------
    >>> kind_of("the label 'eggs' is not one of ham, spam; offset 1,234")
    'the label … is not one of ham, spam; offset …'
    """
    return _VARIABLE.sub("…", error)[:200]


class DeadLetterLog:
    """Log the first dead letter of each kind, and then a count per minute.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition, Record
    >>> log = DeadLetterLog(clock=iter([0.0, 61.0, 61.0]).__next__)
    >>> log.note([DeadLetter(Record(Partition("sms", 0), 7, b"x"), "not JSON: line 1")] * 3)
    >>> log.tell()
    >>> log.counts
    Counter()
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: set[str] = set()
        self._due = clock() + _EVERY
        self.counts: Counter[str] = Counter()

    def note(self, dead_letters: Iterable[DeadLetter]) -> None:
        """Count committed dead letters."""
        for each in dead_letters:
            kind = kind_of(each.error)
            if kind not in self._known:
                if len(self._known) >= _KINDS:
                    kind = _OTHERS
                self._known.add(kind)
                place = each.record.partition
                _LOG.info(
                    "first dead letter of a kind: %s %d, offset %d: %s",
                    *(*place, each.record.offset, each.error),
                )
            self.counts[kind] += 1

    def tell(self) -> None:
        """Log the counts of the last minute, if there were any."""
        if self._clock() < self._due:
            return
        self._due = self._clock() + _EVERY
        if self.counts:
            common = "; ".join(f"{count:,} × {kind}" for kind, count in self.counts.most_common(5))
            _LOG.info("%d dead letters in the last minute: %s", self.counts.total(), common)
            self.counts.clear()


def stopped(number: int | None, status: int, error: BaseException | None = None) -> None:
    """Log the end of the process: its signal, exit status and error."""
    reason = signal.Signals(number).name if number is not None else "the input ended"
    if error is not None:
        reason = f"{type(error).__name__}: {error}"
    _LOG.info("stopped with status %d: %s", status, reason)
