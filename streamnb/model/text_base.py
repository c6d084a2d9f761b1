"""The base of models that read texts, and of families with one model for each event model."""

from __future__ import annotations

import dataclasses
import inspect
from typing import ClassVar

from streamnb.model.base import NaiveBayes
from streamnb.model.composition import Composition, Event

_DOCUMENTATION = """

`{module}.{family}` documents the parameters, methods and errors.

Examples
--------
>>> from streamnb import {name}
>>> model = {name}({example})
>>> model.learn_one("win cash now", "spam")
>>> model.learn_one("see you at noon", "ham")
>>> model.predict_one("cash, now")
'spam'

References
----------
[^1]: {paper}, {equations}.
"""


@dataclasses.dataclass(eq=False, repr=False)
class TextNaiveBayes(NaiveBayes):
    """Base of the models that read texts.

    A family of models defines a subclass with its component. Its published models are subclasses of
    that, which only name their event model and the equations of the paper:

        class HCNB(HiddenNB, event="complement", equations="Equations 15, 17 and 18")

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

    composition = Composition(Event())
    example: ClassVar[str] = ""

    term_weighting: str = "counts"

    def __init_subclass__(
        cls,
        event: str | None = None,
        equations: str = "",
        paper: str = "Hidden multinomial naive Bayes (HMNB paper)",
    ) -> None:
        super().__init_subclass__()
        if event is None:
            return
        family = cls.__bases__[0]
        cls.composition = dataclasses.replace(cls.composition, event=Event.named(event))
        cls.__doc__ = inspect.cleandoc(cls.__doc__ or "") + _DOCUMENTATION.format(
            module=family.__module__,
            family=family.__name__,
            name=cls.__name__,
            example=cls.example,
            paper=paper,
            equations=equations,
        )
