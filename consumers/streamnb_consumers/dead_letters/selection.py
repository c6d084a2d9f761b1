"""Which dead letters are meant."""

from __future__ import annotations

import dataclasses

from streamnb_consumers.records import DeadLetter

__all__ = ["Selection"]


@dataclasses.dataclass(frozen=True, slots=True)
class Selection:
    """Which dead letters are meant; what is not said holds for all.

    Attributes
    ----------
    error
        A part of the error.
    source
        The topic or file that the record came from.
    partition
        Its partition there.
    first, last
        Its offset there, from and to.

    Examples
    --------
    >>> from streamnb_consumers.records import Partition, Record
    >>> dead_letter = DeadLetter(Record(Partition("sms", 0), 7, b"oops"), "not JSON")
    >>> dead_letter in Selection(error="JSON", first=5), dead_letter in Selection(source="mail")
    (True, False)
    """

    error: str = ""
    source: str | None = None
    partition: int | None = None
    first: int = 0
    last: int | None = None

    def __contains__(self, dead_letter: DeadLetter) -> bool:
        record = dead_letter.record
        return (
            self.error in dead_letter.error
            and self.source in (None, record.partition.source)
            and self.partition in (None, record.partition.number)
            and self.first <= record.offset
            and (self.last is None or record.offset <= self.last)
        )
