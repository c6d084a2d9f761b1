"""JSON lines on standard input and output."""

from __future__ import annotations

import os
import select
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, TextIO

from streamnb_consumers.io.protocols import Batch, BufferedSink, Source
from streamnb_consumers.jsons import compact
from streamnb_consumers.records import DeadLetter, Outputs, Partition, Record

_BLOCK = 65_536
_STDIN = Partition("stdin", 0)


def decision_lines(outputs: Outputs) -> bytes:
    """Return the decisions as lines of JSON."""
    return b"".join(compact(each.to_json()) + b"\n" for each in outputs.decisions)


def dead_letter_line(dead_letter: DeadLetter) -> bytes:
    """Return a dead letter as a line of JSON."""
    return compact(dead_letter.to_json()) + b"\n"


class StdinSource(Source):
    """Read lines of a file descriptor as they arrive; skip empty lines.

    Parameters
    ----------
    file
        A binary file with a descriptor; None is standard input.
    max_bytes
        Maximum length of a line. Longer lines are cut, so they are invalid JSON and become dead
        letters.
    clock
        Returns seconds since 1970, for the time of arrival.
    begun
        Bytes that were already read.
    """

    def __init__(
        self,
        file: BinaryIO | None = None,
        max_bytes: int = 2**24,
        clock: Callable[[], float] = time.time,
        begun: bytes = b"",
    ) -> None:
        self._descriptor = (sys.stdin.buffer if file is None else file).fileno()
        self._max_bytes, self._clock = max_bytes, clock
        self._rest = bytearray()
        self._lines: deque[bytes] = deque()
        self._offset = 0
        self._at_end = False
        self._take(begun)

    @property
    def ended(self) -> bool:
        """Whether all lines were delivered."""
        return self._at_end and not self._lines

    def start(self, offsets: Mapping[Partition, int], timeout: float) -> Mapping[Partition, int]:
        """Continue with the offsets of a snapshot, because the input is new."""
        self._offset = max(self._offset, offsets.get(_STDIN, 0))
        return {}

    def poll(self, max_records: int, timeout: float) -> Batch:
        """Return the available lines; wait only for the first one."""
        if not self._lines and not self._at_end:
            self._read(timeout)
        while len(self._lines) < max_records and not self._at_end and self._read(0.0):
            pass
        records: list[Record] = []
        arrived = int(self._clock() * 1000)
        while self._lines and len(records) < max_records:
            value = self._lines.popleft()
            records.append(Record(_STDIN, self._offset, value, timestamp=arrived))
            self._offset += 1
        return Batch(records)

    def _read(self, timeout: float) -> bool:
        """Read one block; return whether there was one."""
        if not select.select([self._descriptor], [], [], timeout)[0]:
            return False
        block = os.read(self._descriptor, _BLOCK)
        self._at_end = not block
        self._take(block or b"\n")  # a last line may have no end
        return bool(block)

    def _take(self, block: bytes) -> None:
        *lines, rest = block.split(b"\n")
        for line in lines:
            self._rest += line[: self._room()]
            whole = bytes(self._rest).removesuffix(b"\r")
            self._rest.clear()
            if whole:
                self._lines.append(whole)
        self._rest += rest[: self._room()]

    def _room(self) -> int:
        return max(0, self._max_bytes + 1 - len(self._rest))


class StdoutSink(BufferedSink):
    """Write decisions to standard output, and dead letters to a file or to standard error.

    Nothing is written before the commit, because a write cannot be undone.

    Parameters
    ----------
    file
        A binary file with a descriptor; None is standard output.
    dead_letters
        File to append dead letters to; None reports the errors on standard error.
    errors
        Standard error, or another text file.
    """

    def __init__(
        self,
        file: BinaryIO | None = None,
        dead_letters: Path | None = None,
        errors: TextIO | None = None,
    ) -> None:
        super().__init__()
        self._descriptor = (sys.stdout.buffer if file is None else file).fileno()
        self._errors = errors or sys.stderr
        self._file = None if dead_letters is None else dead_letters.open("ab")

    def commit(self, offsets: Mapping[Partition, int], token: object, timeout: float) -> None:
        """Write all lines.

        Raises
        ------
        TimeoutError
            If the reader of the output accepts nothing within the timeout.
        """
        for dead_letter in self._open.dead_letters:
            if self._file is None:
                self._errors.write(f"line {dead_letter.record.offset + 1}: {dead_letter.error}\n")
            else:
                self._file.write(dead_letter_line(dead_letter))
        if self._file is not None:
            self._file.flush()
        waiting = memoryview(decision_lines(self._open))
        while waiting:
            if not select.select([], [self._descriptor], [], timeout)[1]:
                raise TimeoutError(f"standard output accepted nothing for {timeout:g} seconds")
            # A pipe that is ready takes this much without waiting.
            written = os.write(self._descriptor, waiting[: select.PIPE_BUF])
            waiting = waiting[written:]
        self.abort()

    def close(self, timeout: float) -> None:
        """Close the file of dead letters."""
        if self._file is not None:
            self._file.close()
