"""Ask a teacher about single messages, wait for a bounded time, and keep its answers on disk."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from streamnb.errors import InvalidAnswerError, TeacherAwayError, TeacherError
from streamnb.teachers import Teacher
from streamnb_consumers.jsons import canonical, compact, parse
from streamnb_consumers.records import Features
from streamnb_consumers.threads import in_thread

_LOG = logging.getLogger(__name__)


class Asker:
    """A teacher that answers within a time, or later.

    Each answer is on disk before it is used, so no message with an answer is asked again, also
    after a kill. Requests that a kill interrupts are repeated.

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

    Attributes
    ----------
    teacher, seconds
        As given.

    Examples
    --------
    >>> from streamnb.teachers import FunctionTeacher
    >>> asker = Asker(FunctionTeacher(lambda text: "spam" if "win" in text else "ham"), 5.0)
    >>> asker.ask("a", "win cash"), asker.ask("b", "see you"), list(asker.late())
    ('spam', 'ham', [])
    """

    def __init__(
        self, teacher: Teacher, seconds: float, path: Path | None = None, parallel: int = 4
    ) -> None:
        self.teacher = teacher
        self.seconds, self._parallel = seconds, parallel
        self._known: dict[tuple[str, str], str] = {}
        self._running: dict[tuple[str, str], Future[Any]] = {}
        self._file = None
        if path is not None:
            self._read(path)
            self._file = path.open("ab")

    def _read(self, path: Path) -> None:
        data = path.read_bytes() if path.exists() else b""
        whole = data.rpartition(b"\n")[0]
        for line in whole.splitlines():
            name, digest, label = parse(line)
            self._known[name, digest] = label
        if len(whole) + bool(whole) != len(data):  # a kill interrupted the last line
            os.truncate(path, len(whole) + bool(whole))

    def ask(self, name: str, features: Features) -> str | TeacherError:
        """Return the label of a message, or the error for which there is none in time.

        An answer that comes later is returned by `late`.

        Raises
        ------
        TeacherRefusedError
            If the teacher refuses every request.
        """
        key = name, _digest(features)
        if key in self._known:
            return self._known[key]
        if not self.begin(name, features):
            return TeacherAwayError(f"{self._parallel} answers are late already")
        future = self._running[key]
        try:
            answer = future.result(self.seconds)
        except TimeoutError:
            return TeacherAwayError(f"the teacher has not answered within {self.seconds:g} s")
        del self._running[key]
        return self._received(key, answer)

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
            self._running[key] = Future()
            self._running[key].set_result(self._known[key])
        elif key not in self._running:
            if len(self._running) >= self._parallel:
                return False
            ask = self.teacher.answer_many
            self._running[key] = in_thread("teacher", lambda: ask([features])[0])
        return True

    def late(self, seconds: float = 0.0) -> Iterator[tuple[str, str]]:
        """Yield ids and labels of answers that nobody waited for; wait for one so many seconds."""
        wait(self._running.values(), seconds, FIRST_COMPLETED)
        for key in [key for key, future in self._running.items() if future.done()]:
            answer = self._received(key, self._running.pop(key).result())
            if not isinstance(answer, TeacherError):
                yield key[0], answer

    def _received(self, key: tuple[str, str], answer: Any) -> str | TeacherError:
        if isinstance(answer, TeacherError):
            kind = "invalid" if isinstance(answer, InvalidAnswerError) else "none"
            _LOG.warning("the answer to message %s is %s: %s", key[0], kind, answer)
            return answer
        label = str(answer)
        if self._file is not None and key not in self._known:
            self._file.write(compact([*key, label]) + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
            self._known[key] = label
        return label


def _digest(features: Features) -> str:
    return hashlib.blake2b(canonical(features), digest_size=16).hexdigest()
