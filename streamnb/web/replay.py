"""The thread that replays the stream for the page at an adjustable rate."""

from __future__ import annotations

import threading
import time

from streamnb.errors import InputError
from streamnb.web.session import Session

__all__ = ["MOST_RATE", "Replay"]

MOST_RATE = 100_000.0  # messages per second
_TICK = 0.05  # seconds between two checks of the clock


class Replay:
    """Take messages of a session's stream at a rate, until it is paused or the stream ends.

    Parameters
    ----------
    session
        The session.
    rate
        Messages per second, above 0 and at most 100,000.

    Raises
    ------
    InputError
        The rate is out of its range.
    """

    def __init__(self, session: Session, rate: float = 5.0) -> None:
        self._session = session
        self._playing = threading.Event()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.rate = rate

    @property
    def rate(self) -> float:
        """Messages per second, above 0 and at most 100,000."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        if not 0 < rate <= MOST_RATE:
            raise InputError(f"rate is {rate}; it must be above 0 and at most {MOST_RATE:,.0f}")
        self._rate = float(rate)

    @property
    def playing(self) -> bool:
        """Whether the replay takes messages."""
        return self._playing.is_set() and not self._session.ended

    def start(self) -> None:
        """Start the thread, paused."""
        self._thread = threading.Thread(target=self._run, name="streamnb-replay", daemon=True)
        self._thread.start()

    def play(self) -> None:
        """Take messages."""
        self._playing.set()

    def pause(self) -> None:
        """Take no more messages."""
        self._playing.clear()

    def stop(self) -> None:
        """End the thread. A thread that waits for a message ends with the process."""
        self._stopped.set()
        self._playing.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        due, last = 0.0, time.monotonic()
        while not self._stopped.is_set():
            if not self._playing.is_set():
                self._playing.wait()
                due, last = 1.0, time.monotonic()
            now = time.monotonic()
            # Do not catch up after a pause or a slow message.
            due = min(due + (now - last) * self._rate, max(1.0, self._rate * 2 * _TICK))
            last = now
            while due >= 1.0 and self._playing.is_set() and not self._stopped.is_set():
                due -= 1.0
                if not self._session.step():
                    return
            self._stopped.wait(_TICK)
