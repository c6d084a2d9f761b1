"""Ensembles: all of river's work with our models; this one uses instance weights."""

from __future__ import annotations

from typing import Any

from river import ensemble

from streamnb.families.independent import MNB
from streamnb.model.base import Message, NaiveBayes
from streamnb.parameters import check_bound, check_model

# Weights are multiples of this, so that sums of weights are exact.
_STEP = 1 / 1024
# Counts above it are not exact; a message that all members misclassify can reach it.
_HEAVIEST = 2.0**32


class WeightedBoosting(ensemble.AdaBoostClassifier):
    """Online boosting whose members learn a message with its weight.

    The first member learns a message with weight λ = 1, and each further member with the weight
    that the previous one passes on. A member adds λ to its sum λ_right if it predicted the label,
    otherwise to its sum λ_wrong. It passes on

        λ (λ_right + λ_wrong) / (2 λ_right)  or  λ (λ_right + λ_wrong) / (2 λ_wrong)

    respectively, so that right and wrong messages have the same total weight for the next member.
    In a vote a member counts ln ((1 − ε) / ε), ε = λ_wrong / (λ_right + λ_wrong). There are two
    differences from `river.ensemble.AdaBoostClassifier`. There a member learns a message Poisson(λ)
    times, because most learners take no weights; here it learns it once, with weight λ, and nothing
    is random. Here a member predicts the message before it learns it, there afterwards.

    Messages are texts, mappings or rows, as for the model. λ is rounded to multiples of 1/1024 and
    stays below 2**32. Memory and time are those of `n_models` models. There is no unlearning.

    Parameters
    ----------
    model
        The model to clone for each member: any model of this package.
    n_models
        Number of members, 2 or more.

    Raises
    ------
    InputError
        If `n_models` is out of range.

    Examples
    --------
    >>> from streamnb import MNB
    >>> from streamnb.ensembles import WeightedBoosting
    >>> model = WeightedBoosting(MNB(), n_models=3)
    >>> model.learn_one("Free entry: WIN cash now", "spam")
    >>> model.learn_one("see you at noon", "ham")
    >>> model.predict_one("free cash, call now")
    'spam'

    References
    ----------
    [^1]: Oza (2005), Online bagging and boosting.
    """

    def __init__(self, model: NaiveBayes[Any], n_models: int = 10) -> None:
        super().__init__(check_model("model", model), check_bound("n_models", n_models, least=2))

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"model": MNB(), "n_models": 3}

    @property
    def reads_columns(self) -> bool:
        """Whether a message maps attributes to values instead of being a text."""
        return bool(self.model.reads_columns)

    def learn_one(self, x: Message, y: Any, w: float = 1.0, **kwargs: Any) -> None:
        """Learn one message of weight λ = w; see `NaiveBayes.learn_one`."""
        weight = w
        for place, member in enumerate(self):
            right = member.predict_one(x) == y
            member.learn_one(x, y, w=weight, **kwargs)
            if not weight:
                return
            kept = self.correct_weight if right else self.wrong_weight
            kept[place] += weight
            known = self.correct_weight[place] + self.wrong_weight[place]
            weight = round(weight * known / (2 * kept[place]) / _STEP) * _STEP
            weight = min(weight, _HEAVIEST)
