"""The base of the models that read texts."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb.model.base import Message, NaiveBayes
from streamnb.model.choices import TermWeighting
from streamnb.model.composition import Composition, Event
from streamnb.model.readiness import Evidence
from streamnb.text.labels import L


@dataclasses.dataclass(eq=False, repr=False)
class TextNaiveBayes(NaiveBayes[L]):
    """Base of the models that read texts.

    Parameters
    ----------
    term_weighting
        Transformation of the count f of a word in a message, before it is learned or scored:
        `"counts"`, f itself; `"presence"`, 1 (scikit-learn's `binary=True`); `"log"`, ln(1 + f)
        (near its `sublinear_tf`, which is 1 + ln f); `"unit"`, f divided by the Euclidean length of
        the message (its `norm="l2"`); `"presence-unit"` and `"log-unit"`, one after the other. With
        unit lengths use a smaller `alpha`, for example 0.01. Fractional values are rounded to
        nonzero multiples of 2**-20, which keeps unlearning and merging exact.

    Notes
    -----
    `NaiveBayes` documents the other parameters, methods and errors.
    """

    composition: ClassVar[Composition] = Composition(Event())

    term_weighting: TermWeighting = "counts"

    def evidence_one(self, x: Message) -> Evidence:
        """Return how much the model knows about the words of a message."""
        if self._reader is not None:
            x = self._reader(x)
        return Evidence(*self._counts.evidence(x, self._scoring))
