"""Send dead letters back to where they came from, each of them once, however often it is run."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from typing import Protocol, TextIO

from streamnb_consumers.dead_letters.selection import Selection
from streamnb_consumers.dead_letters.sent import SentOffsets
from streamnb_consumers.errors import BadRecordError
from streamnb_consumers.records import DeadLetter, Partition, Record

__all__ = ["DeadLetterStore", "Report", "replay"]


class DeadLetterStore(Protocol):
    """Where dead letters lie, and where they are sent back. All timeouts are in seconds."""

    @property
    def ended(self) -> bool:
        """Whether all dead letters that were there at the start were read."""

    def start(self, timeout: float) -> Mapping[Partition, SentOffsets]:
        """Begin to read; return what was sent back before, of each partition."""

    def poll(self, max_records: int, timeout: float) -> list[Record]:
        """Return the next records, none twice."""

    def read(self, record: Record) -> DeadLetter:
        """Return the dead letter that a record holds.

        Raises
        ------
        BadRecordError
            If it holds none that can be sent.
        """

    def commit(
        self, dead_letters: list[DeadLetter], done: Mapping[Partition, SentOffsets], timeout: float
    ) -> None:
        """Send dead letters and note what is done, both or neither."""

    def close(self, timeout: float) -> None:
        """Let go of everything."""


@dataclasses.dataclass(slots=True)
class Report:
    """What a replay did: dead letters sent, those sent before, not chosen, and unusable."""

    sent: int = 0
    before: int = 0
    others: int = 0
    unusable: int = 0


def replay(
    store: DeadLetterStore,
    selection: Selection,
    *,
    dry_run: bool = False,
    batch: int = 500,
    timeout: float = 60.0,
    poll: float = 0.5,
    out: TextIO | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Report:
    """Send back the chosen dead letters that were not sent back before.

    Parameters
    ----------
    store
        Where they are.
    selection
        Which.
    dry_run
        Whether to list them only, one JSON object a line.
    batch
        Records of one transaction at most.
    timeout, poll
        Longest wait for a start or a commit, and for records, in seconds.
    out
        Where the list goes; None is standard output.
    tell
        Is told about each record that can't be sent.
    """
    report = Report()
    done = dict(store.start(timeout))
    positions = {place: each.base for place, each in done.items()}
    while not store.ended:
        dead_letters: list[DeadLetter] = []
        for record in store.poll(batch, poll):
            place = record.partition
            known = done.setdefault(place, SentOffsets())
            # Where no record is there will never be one: an empty line, a transaction's end.
            known.skip(positions.get(place, 0), record.offset)
            positions[place] = record.offset + 1
            if record.offset in known:
                report.before += 1
                continue
            try:
                dead_letter = store.read(record)
            except BadRecordError as error:
                report.unusable += 1
                tell(f"{place.source} {place.number}:{record.offset}: {error}")
                continue
            if dead_letter not in selection:
                report.others += 1
                continue
            report.sent += 1
            dead_letters.append(dead_letter)
            known.add([record.offset])
        if dry_run:
            for dead_letter in dead_letters:
                (out or sys.stdout).write(json.dumps(_shown(dead_letter)) + "\n")
        elif dead_letters:
            store.commit(dead_letters, done, timeout)
    return report


def _shown(dead_letter: DeadLetter) -> dict[str, object]:
    record = dead_letter.record
    return {
        "source": record.partition.source,
        "partition": record.partition.number,
        "offset": record.offset,
        "error": dead_letter.error,
        "bytes": None if record.value is None else len(record.value),
    }
