"""The alarm of drift: a detector of river's on the errors of decisions whose labels came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamnb.errors import InputError, shown
from streamnb.online.detectors import DETECTORS
from streamnb.parameters import check_bound

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DriftAlarm"]


class DriftAlarm:
    """Watch whether decisions go wrong more often than they did, by a detector of river's.

    The detector sees a 1 for each wrong decision and a 0 for each right one, in the order in which
    their labels come: the prequential error. A change for the better, which ADWIN reports as well,
    is no alarm.

    Its state is the outcomes that it has seen, so that it can be saved and begins again exactly
    where it was. It keeps the last `memory` to twice as many: at twice as many a fresh detector
    takes over, which has seen the last `memory` of them. Up to there it is river's own, step by
    step. An outcome costs less than a microsecond, and one in `memory` that many more.

    Parameters
    ----------
    detector
        `"adwin"` (adaptive windows: the mean of the errors before and after each cut) or `"ddm"`
        (the error beyond its smallest by three standard deviations), with river's defaults.
    memory
        Outcomes that the detector remembers at least, 1 or more; an eighth of a byte each when
        saved, one in memory.

    Attributes
    ----------
    count
        Alarms so far.
    seen
        Outcomes so far.
    last
        When the last alarm was raised, as `update` was told; None before any.

    Raises
    ------
    InputError
        If there is no such detector, or `memory` is out of range.

    Examples
    --------
    >>> alarm = DriftAlarm("adwin")
    >>> [place for place in range(600) if alarm.update(wrong=place >= 300)]
    [319]
    >>> alarm.count, alarm.seen
    (1, 600)

    References
    ----------
    A. Bifet and R. Gavaldà (2007). Learning from time-changing data with adaptive windowing. SDM.

    J. Gama, P. Medas, G. Castillo and P. Rodrigues (2004). Learning with drift detection. SBIA.
    """

    def __init__(self, detector: str = "adwin", memory: int = 16_384) -> None:
        if not (isinstance(detector, str) and detector in DETECTORS):
            raise InputError(
                f"the detector of drift must be {' or '.join(DETECTORS)}, not {shown(detector)}"
            )
        self.detector = detector
        self.memory = check_bound("memory", memory, least=1)
        self.count = 0
        self.seen = 0
        self.last: int | None = None
        self._outcomes = bytearray()
        self._watching = self._fed(())

    def _fed(self, outcomes: Iterable[int]) -> Any:
        """Return a fresh detector that has seen these outcomes."""
        from river import drift  # takes long, and only those who watch need it

        kinds: dict[str, Any] = {"adwin": drift.ADWIN, "ddm": drift.binary.DDM}
        made = kinds[self.detector]()
        for outcome in outcomes:
            made.update(outcome)
        return made

    def update(self, wrong: bool, at: int | None = None) -> bool:
        """Take whether a decision was wrong; tell whether this raises the alarm.

        Parameters
        ----------
        wrong
            Whether the decision differed from the label.
        at
            When the label came, in the user's own unit; it is kept as `last` and not looked at.
        """
        if len(self._outcomes) == 2 * self.memory:
            del self._outcomes[: self.memory]
            self._watching = self._fed(self._outcomes)
        self._outcomes.append(bool(wrong))  # numpy's, too
        self.seen += 1
        watching = self._watching
        # Of ADWIN the mean of its window; what detects rising errors alone has none.
        before = getattr(watching, "estimation", 0.0)
        watching.update(int(wrong))
        if not (watching.drift_detected and getattr(watching, "estimation", 1.0) > before):
            return False
        self.count += 1
        self.last = at
        return True

    def renew(self) -> None:
        """Begin with a fresh detector: errors from now on are another model's. Counts stay."""
        self._outcomes.clear()
        self._watching = self._fed(())

    def to_json(self) -> dict[str, Any]:
        """Return the state, of less than 0.6 bytes an outcome that is remembered."""
        import base64

        import numpy as np

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
        """Return the alarm that `to_json` described.

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is something else.
        """
        import base64

        import numpy as np

        made = cls(state["detector"], state["memory"])
        count, seen, length = (state[name] for name in ("count", "seen", "length"))
        last = state["last"]
        if not all(type(each) is int for each in (count, seen, length, last or 0)):
            raise TypeError("counts and times of outcomes must be whole numbers")
        packed = np.frombuffer(base64.b64decode(state["outcomes"], validate=True), dtype=np.uint8)
        if not (0 <= count <= seen and length <= min(seen, 2 * made.memory)) or (
            packed.size != (length + 7) // 8
        ):
            raise ValueError("the outcomes are not as many as they should be")
        made.count, made.seen, made.last = count, seen, last
        made._outcomes = bytearray(np.unpackbits(packed, count=length).tobytes())
        made._watching = made._fed(made._outcomes)
        return made
