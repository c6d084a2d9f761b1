"""The thread that replays the stream for the page at an adjustable rate."""

from __future__ import annotations

import logging
import threading
import time

from streamnb.errors import InputError
from streamnb.web.session import Session

MOST_RATE = 100_000.0  # messages per second
_MOST_STEPS = 100  # single messages that were requested and not taken yet
_TICK = 0.05  # seconds between two checks of the clock
_LOG = logging.getLogger(__name__)


class Replay:
    """Take messages of a session's stream at a rate, until it is paused or the stream ends.

    Parameters
    ----------
    session
        The session.
    rate
        Messages per second, above 0 and at most 100,000.

    Attributes
    ----------
    error
        The error that ended the stream; empty without one.

    Raises
    ------
    InputError
        The rate is out of its range.
    """

    def __init__(self, session: Session, rate: float = 5.0) -> None:
        self._session = session
        self._playing = False
        self._steps = 0
        self._stopped = False
        self._due = 0.0  # time of the next message, by the monotonic clock
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self.rate = rate
        self.error = ""

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
        return self._playing and not self._session.ended and not self.error

    def start(self) -> None:
        """Start the thread, paused."""
        self._thread = threading.Thread(target=self._run, name="streamnb-replay", daemon=True)
        self._thread.start()

    def play(self) -> None:
        """Take messages."""
        self._set(playing=True)

    def pause(self) -> None:
        """Take no more messages."""
        self._set(playing=False)

    def step(self) -> None:
        """Pause, and take one message as soon as the stream has one."""
        self._set(playing=False, steps=1)

    def _set(self, playing: bool, steps: int = 0) -> None:
        with self._changed:
            self._playing = playing
            self._steps = min(self._steps + steps, _MOST_STEPS) if steps else 0
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread. A thread that waits for a message ends with the process."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _run(self) -> None:
        try:
            while self._wait() and self._session.step():
                pass
        except Exception as error:
            _LOG.exception("the stream stopped")
            self.error = str(error) or type(error).__name__

    def _wait(self) -> bool:
        """Wait until the next message is due; return False at the end."""
        with self._changed:
            while not self._stopped:
                if self._steps:
                    self._steps -= 1
                    return True
                now = time.monotonic()
                if not self._playing:
                    self._changed.wait()
                    self._due = time.monotonic()
                elif now >= self._due:
                    # Do not catch up after a pause or a slow message.
                    self._due = max(self._due + 1 / self._rate, now - 2 * _TICK)
                    return True
                else:
                    self._changed.wait(min(self._due - now, _TICK))
        return False
