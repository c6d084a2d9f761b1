"""Weights added to the log odds of words, learned by a step a message."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from streamnb import _core
from streamnb.parameters import check_bound, check_choice, check_flag, check_from_zero
from streamnb.parts.axes.composition import Composition, Setup, Weights


@dataclasses.dataclass(frozen=True)
class OnlineWeights(Weights, name="online"):
    """Words have corrections, which follow the errors of the scores, message by message.

    Attributes
    ----------
    nb_weight
        What the mean log odds of a message's words are multiplied by: 0 to 1e6.
    learning_rate
        Of corrections: 0 (none) to 1e6.
    bias_rate
        The same of what each class begins with.
    rate_decay
        How soon steps become shorter, 0 (never) to 1e6: AdaGrad.
    loss
        What steps make smaller: `"logistic"`, `"deviance"`, `"exponential"` or `"squared"`.
    correction
        What the correction of a word does: `"additive"`, it is added to its log odds; or
        `"multiplicative"`, it multiplies them, as the paper's weights.
    damping
        How much less frequent words are corrected, 0 (not at all) to 1.
    margin
        No step is taken from an error below: 0 to 1.
    warm_up
        Messages of a class, and of others, that came when both were known before it takes steps
        and probabilities are calibrated: 0 on.
    calibrated
        Whether probabilities are calibrated along the stream.
    forgetting_factor
        What the calibration remembers from one message to the next: above 0, to 1.

    References
    ----------
    [^1]: Kim, T. and Lee, J.-S.: Exponential Loss Minimization for Learning Weighted Naive Bayes
          Classifiers, Equation 14.
    [^2]: Duchi, J., Hazan, E. and Singer, Y., 2011. Adaptive subgradient methods for online
          learning and stochastic optimization. JMLR 12.
    [^3]: Platt, J., 1999. Probabilistic outputs for support vector machines and comparisons to
          regularized likelihood methods.
    """

    weighs: ClassVar[bool] = True
    decays: ClassVar[bool] = True
    # The bias learns what a prior would say, and a word that is not known says nothing.
    prior: ClassVar[str | None] = "uniform"
    oov: ClassVar[str | None] = "skip"

    nb_weight: float = 5.0
    learning_rate: float = 8.0
    bias_rate: float = 1.0
    rate_decay: float = 64.0
    damping: float = 0.1
    margin: float = 0.05
    warm_up: int = 5
    calibrated: bool = True
    forgetting_factor: float = 0.999
    loss: str = "logistic"
    correction: str = "additive"

    def __post_init__(self) -> None:
        self._check("calibrated", check_flag)
        for field in dataclasses.fields(self):
            if field.name in ("loss", "correction"):
                self._check(field.name, check_choice)
            elif field.name == "warm_up":
                object.__setattr__(self, "warm_up", check_bound("warm_up", self.warm_up, least=0))
            elif field.name != "calibrated":
                self._check(field.name, check_from_zero)

    @property
    def calibrates(self) -> bool:
        """Whether probabilities are calibrated."""
        return self.calibrated

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for a store that keeps corrections."""
        return {"online_weights": True}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for scores that are corrected."""
        return {"weights": "online", **dataclasses.asdict(self)}

    def prepare(self, store: _core.CountStore, setup: Setup) -> None:
        """Say which scores are corrected by the messages that are learned."""
        store.correct_online(setup.make_scoring())
