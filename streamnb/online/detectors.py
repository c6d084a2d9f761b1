"""The names of the detectors of drift: light, for whoever only wants to know which there are."""

from __future__ import annotations

from typing import Literal

__all__ = ["DETECTORS", "NO_DETECTOR", "Detector"]

Detector = Literal["adwin", "ddm"]
DETECTORS: tuple[Detector, ...] = ("adwin", "ddm")
NO_DETECTOR = "none"
"""What settings and flags say where nothing is detected."""
