"""Drift detection: one of river's detectors on the errors of labelled decisions."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

from streamnb.headers import MOST, read_whole
from streamnb.parameters import check_bound, one_of

Detector = Literal["adwin", "ddm"]
DETECTORS: tuple[Detector, ...] = ("adwin", "ddm")
NO_DETECTOR = "none"
"""The value of settings and flags for no drift detection."""


class DriftAlarm:
    """Detect a rise of the error rate with one of river's detectors.

    The detector receives a 1 for each wrong decision and a 0 for each correct one, in the order in
    which their labels arrive: the prequential error. ADWIN also detects falling error rates, which
    raise no alarm.

    The state consists of past outcomes, so a restored alarm continues exactly. It keeps between
    `memory` and twice as many outcomes. When the record is full, a new detector replaces the old
    one, after it has received the last `memory` outcomes. An outcome costs less than a microsecond,
    and every `memory`-th one that many more.

    Parameters
    ----------
    detector
        `"adwin"` (adaptive windowing: compares the mean errors before and after each split) or
        `"ddm"` (the error exceeds its minimum by three standard deviations), with river's defaults.
    memory
        Minimum number of outcomes that the detector remembers, 1 or more. One takes a bit when
        saved and a byte in memory.

    Attributes
    ----------
    count
        Alarms so far.
    seen
        Outcomes so far.
    last
        The `at` of the last alarm; None before any.

    Raises
    ------
    InputError
        If the detector is unknown, or `memory` is out of range.

    Examples
    --------
    >>> alarm = DriftAlarm("adwin")
    >>> [place for place in range(600) if alarm.update(wrong=place >= 300)]
    [319]
    >>> alarm.count, alarm.seen
    (1, 600)

    References
    ----------
    [^1]: Bifet and Gavaldà (2007), Learning from time-changing data with adaptive windowing.
    [^2]: Gama, Medas, Castillo and Rodrigues (2004), Learning with drift detection.
    """

    count: int
    seen: int

    def __init__(self, detector: str = "adwin", memory: int = 16_384) -> None:
        self.detector: Any = one_of(*DETECTORS)("detector", detector)
        self.memory: int = check_bound("memory", memory, least=1)
        self.count = 0
        self.seen = 0
        self.last: int | None = None
        self._outcomes = bytearray()
        self._watching = self._fed(())

    def _fed(self, outcomes: Iterable[int]) -> Any:
        """Return a new detector that has received these outcomes."""
        from river import drift  # importing it at the top would double the import time

        kinds: dict[str, Any] = {"adwin": drift.ADWIN, "ddm": drift.binary.DDM}
        made = kinds[self.detector]()
        for outcome in outcomes:
            made.update(outcome)
        return made

    def update(self, wrong: bool, at: int | None = None) -> bool:
        """Record a decision; return whether it raises an alarm.

        Parameters
        ----------
        wrong
            Whether the decision differed from the label.
        at
            Arrival time of the label, in any unit; only stored as `last`.
        """
        if len(self._outcomes) == 2 * self.memory:
            del self._outcomes[: self.memory]
            self._watching = self._fed(self._outcomes)
        self._outcomes.append(bool(wrong))  # accepts numpy booleans
        self.seen += 1
        watching = self._watching
        # ADWIN has the mean of its window; DDM, which detects rising errors only, has none.
        before = getattr(watching, "estimation", 0.0)
        watching.update(int(wrong))
        if not (watching.drift_detected and getattr(watching, "estimation", 1.0) > before):
            return False
        self.count += 1
        self.last = at
        return True

    def renew(self) -> None:
        """Start a new detector for the errors of another model; counts are kept."""
        self._outcomes.clear()
        self._watching = self._fed(())

    def to_json(self) -> dict[str, Any]:
        """Return the state as JSON-compatible values."""
        packed = np.packbits(np.frombuffer(self._outcomes, dtype=np.uint8)).tobytes()
        return {
            "detector": self.detector,
            "memory": self.memory,
            "count": self.count,
            "seen": self.seen,
            "last": self.last,
            "length": len(self._outcomes),
            "outcomes": base64.b64encode(packed).decode(),
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> DriftAlarm:
        """Return the alarm that `to_json` described; any error means that the state is invalid."""
        made = cls(state["detector"], state["memory"])
        count, seen, length = (
            read_whole(name, state[name]) for name in ("count", "seen", "length")
        )
        last = state["last"]
        if last is not None:
            read_whole("the last alarm", last, least=-MOST)
        packed = np.frombuffer(base64.b64decode(state["outcomes"], validate=True), dtype=np.uint8)
        if not (0 <= count <= seen and length <= min(seen, 2 * made.memory)) or (
            packed.size != (length + 7) // 8
        ):
            raise ValueError("wrong number of outcomes")
        made.count, made.seen, made.last = count, seen, last
        made._outcomes = bytearray(np.unpackbits(packed, count=length).tobytes())
        made._watching = made._fed(made._outcomes)
        return made
