"""Event models of texts: how a class gives a word its probability."""

from __future__ import annotations

from typing import Any, ClassVar

from streamnb import _core
from streamnb.errors import InputError
from streamnb.parts.axes.choice import InUse
from streamnb.parts.axes.composition import Composition, Event, Setup

# The empirical prior and, for Bernoulli, leaving out words that are no attributes yet are what
# river and scikit-learn do. A complement is empty while one class is known: it needs smoothing.


class Bernoulli(Event, name="bernoulli"):
    """A word is present or absent, and both count.

    References
    ----------
    [^1]: McCallum, A. and Nigam, K., 1998. A comparison of event models for naive Bayes text
          classification. AAAI-98 workshop on learning for text categorization.
    """

    decays: ClassVar[bool] = True
    oov: ClassVar[str] = "skip"
    counts: ClassVar[bool] = False

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for each class's histogram of document frequencies."""
        return {**super().store_options(parts), "frequencies": True}


class Multinomial(Event, name="multinomial"):
    """A word is drawn as often as it occurs: Equations 1, 4 and 6 of the HMNB paper."""

    decays: ClassVar[bool] = True


class Complement(Event, name="complement"):
    """The class whose complement fits worst: Equations 2, 5 and 7 of the HMNB paper."""

    decays: ClassVar[bool] = True
    prior: ClassVar[str] = "laplace"


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


class OneVersusAll(Event, name="one-versus-all"):
    """The difference of multinomial and complement: Equation 3 of the HMNB paper."""

    decays: ClassVar[bool] = True
    prior: ClassVar[str] = "laplace"
