"""Ask a teacher about single messages, wait for a bounded time, and keep its answers on disk."""

from __future__ import annotations

import hashlib
import itertools
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any, NamedTuple

from streamnb.errors import InvalidAnswerError, TeacherAwayError, TeacherError
from streamnb.model import persistence
from streamnb.teachers import Teacher
from streamnb_consumers.jsons import canonical, compact, parse
from streamnb_consumers.records import Features
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)


_Key = tuple[str, str]  # id of a message, digest of its features


class Answer(NamedTuple):
    """An answer of the teacher.

    Attributes
    ----------
    name, label
        Id of the message, and its label.
    seconds
        Time from the request to the answer; 0 if an earlier run has received it.
    """

    name: str
    label: str
    seconds: float


class Asker:
    """A teacher that answers within a time, or later.

    Each answer is on disk before it is used, so no message with an answer is asked again, also
    after a kill. Requests that a kill interrupts are repeated. When the file has twice as many
    answers as it keeps, the newest replace it.

    Parameters
    ----------
    teacher
        The teacher.
    seconds
        Maximum wait for an answer, in seconds.
    path
        File of the answers; None keeps them in memory only.
    parallel
        Maximum number of requests at the same time, also of those nobody waits for any more.
    kept
        Number of latest answers to keep, 1 or more. A message whose answer is older is asked again
        if it is read again.

    Attributes
    ----------
    teacher, seconds
        As given.

    Examples
    --------
    >>> from streamnb.teachers import FunctionTeacher
    >>> asker = Asker(FunctionTeacher(lambda text: "spam" if "win" in text else "ham"), 5.0)
    >>> asker.ask("a", "win cash").label, asker.ask("b", "see you").label, list(asker.late())
    ('spam', 'ham', [])
    """

    def __init__(
        self,
        teacher: Teacher,
        seconds: float,
        path: Path | None = None,
        parallel: int = 4,
        kept: int = 100_000,
    ) -> None:
        self.teacher = teacher
        self.seconds, self._parallel, self._kept = seconds, parallel, kept
        self._known: dict[_Key, str] = {}
        self._running: dict[_Key, tuple[Future[Any], float]] = {}  # with the time of the request
        self._path, self._file = path, None
        if path is not None:
            self._read(path)
            self._file = path.open("ab")
            self._shorten()

    def _read(self, path: Path) -> None:
        data = path.read_bytes() if path.exists() else b""
        whole = data.rpartition(b"\n")[0]
        for line in whole.splitlines():
            name, digest, label = parse(line)
            self._known[name, digest] = label
        if len(whole) + bool(whole) != len(data):  # a kill interrupted the last line
            os.truncate(path, len(whole) + bool(whole))

    def _shorten(self) -> None:
        """Forget the oldest of too many answers; a kill leaves the old file or the new one."""
        if self._path is None or self._file is None or len(self._known) < 2 * self._kept:
            return
        self._known = dict(
            itertools.islice(self._known.items(), len(self._known) - self._kept, None)
        )
        lines = (compact([*key, label]) + b"\n" for key, label in self._known.items())
        persistence.write(self._path, b"".join(lines))
        self._file.close()
        self._file = self._path.open("ab")

    def ask(self, name: str, features: Features) -> Answer | TeacherError:
        """Return the answer to a message, or the error for which there is none in time.

        An answer that comes later is returned by `late`.

        Raises
        ------
        TeacherRefusedError
            If the teacher refuses every request.
        """
        key = name, _digest(features)
        if key in self._known:
            return Answer(name, self._known[key], 0.0)
        if not self.begin(name, features):
            return TeacherAwayError(f"{self._parallel} answers are late already")
        try:
            self._running[key][0].result(self.seconds)
        except TimeoutError:
            return TeacherAwayError(f"the teacher has not answered within {self.seconds:g} s")
        return self._received(key)

    @property
    def cost(self) -> float:
        """Cost of the requests, as the teacher counts it."""
        return float(getattr(self.teacher, "cost", 0.0))

    @property
    def is_busy(self) -> bool:
        """Whether answers are late."""
        return bool(self._running)

    def begin(self, name: str, features: Features) -> bool:
        """Ask without waiting; return False if too many answers are late."""
        key = name, _digest(features)
        if key in self._known:  # a kill came before it was learned
            found: Future[Any] = Future()
            found.set_result(self._known[key])
            self._running[key] = found, time.monotonic()
        elif key not in self._running:
            if len(self._running) >= self._parallel:
                return False
            ask = self.teacher.answer_many
            future = in_thread("teacher", lambda: ask([features])[0])
            self._running[key] = future, time.monotonic()
        return True

    def late(self, seconds: float = 0.0) -> Iterator[Answer]:
        """Yield the answers that nobody waited for; wait for one so many seconds."""
        wait((future for future, _ in self._running.values()), seconds, FIRST_COMPLETED)
        for key in [key for key, (future, _) in self._running.items() if future.done()]:
            answer = self._received(key)
            if isinstance(answer, Answer):
                yield answer

    def _received(self, key: _Key) -> Answer | TeacherError:
        """Return the answer to a request that has ended, and keep it."""
        future, begun = self._running.pop(key)
        answer = future.result()
        if isinstance(answer, TeacherError):
            kind = "invalid" if isinstance(answer, InvalidAnswerError) else "none"
            _LOG.warning("the answer to message %s is %s: %s", key[0], kind, answer)
            return answer
        label, seconds = str(answer), time.monotonic() - begun
        if self._file is not None and key not in self._known:
            self._file.write(compact([*key, label]) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._known[key] = label
            self._shorten()
        return Answer(key[0], label, seconds)


def _digest(features: Features) -> str:
    return hashlib.blake2b(canonical(features), digest_size=16).hexdigest()
