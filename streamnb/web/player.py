"""The thread that reads the stream for the page, as fast as somebody wants to look at it."""

from __future__ import annotations

import threading
import time

from streamnb.errors import InputError
from streamnb.web.session import Session

__all__ = ["MOST_RATE", "Player"]

MOST_RATE = 100_000.0  # messages a second
_TICK = 0.05  # seconds between two looks at the clock


class Player:
    """Takes messages of a session's stream at a rate, until it is paused or the stream ends.

    Parameters
    ----------
    session
        The session.
    rate
        Messages a second, above 0.

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
        """Messages a second, above 0, 100,000 at most."""
        return self._rate

    @rate.setter
    def rate(self, rate: float) -> None:
        if not 0 < rate <= MOST_RATE:
            raise InputError(
                f"rate is {rate}; it should lie above 0, and be {MOST_RATE:,.0f} at most"
            )
        self._rate = float(rate)

    @property
    def playing(self) -> bool:
        """Whether messages are taken."""
        return self._playing.is_set() and not self._session.ended

    def start(self) -> None:
        """Start the thread, paused."""
        self._thread = threading.Thread(target=self._run, name="streamnb-player", daemon=True)
        self._thread.start()

    def play(self) -> None:
        """Take messages from now on."""
        self._playing.set()

    def pause(self) -> None:
        """Take no more messages."""
        self._playing.clear()

    def stop(self) -> None:
        """End the thread; where it waits for a message it ends with the process."""
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
            # What a pause or a slow message held up is not caught up with.
            due = min(due + (now - last) * self._rate, max(1.0, self._rate * 2 * _TICK))
            last = now
            while due >= 1.0 and self._playing.is_set() and not self._stopped.is_set():
                due -= 1.0
                if not self._session.step():
                    return
            self._stopped.wait(_TICK)
