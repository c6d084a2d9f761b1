"""Complements whose weights of words add up to 1 in each class."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from streamnb import _core
from streamnb.errors import InputError
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Event, Setup


@dataclasses.dataclass(frozen=True)
class NormalisedComplement(Event, name="normalised-complement"):
    """The complement, each class's weights ln P(w|c̄) divided by their sum over all words.

    References
    ----------
    [^1]: Rennie, J. D. et al., 2003. Tackling the poor assumptions of naive Bayes text
          classifiers. ICML, section 3.2 and Table 4.
    """

    prior: ClassVar[str] = "uniform"

    def in_use(self, setup: Setup) -> InUse:
        """Refuse other parts than plain ones.

        Raises
        ------
        InputError
            If there are any: the sums of weights are of all counts of the stream as they are.
        """
        plain = Composition(self)
        for part, allowed in zip(setup.parts.all, plain.all, strict=True):
            if part != allowed:
                raise InputError(
                    f"the event {self.name!r} has weights that add up to 1 over all words, and "
                    f"goes with plain parts only: {part.axis} must be {allowed.name!r}, "
                    f"not {part.name!r}"
                )
        return InUse()

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Let the store keep what the weights are divided by."""
        store.normalise(setup.make_scoring())
