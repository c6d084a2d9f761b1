"""Weights of attributes and the scores that use them: Equations 5, 8, 20 and 22 to 24."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from streamnb.statistics.counts import Floats

Pair = tuple[int, int]
# Name and attribute of each value, and ln P(x_j|c) for each class.
Terms = Sequence[tuple[str, str, list[float]]]

# The smallest share of votes, so that its logarithm exists.
_LEAST = 1e-300
_UNWEIGHTED: tuple[float, Mapping[str, float]] = (1.0, {})


@dataclasses.dataclass(frozen=True)
class AttributeWeights:
    """Immutable weights of attributes, for all classes together or for each two classes.

    Attributes
    ----------
    by_pair
        Weight of the prior, and of each attribute, by pair of class ids (the lower first); None is
        all pairs. Missing pairs and attributes have weight 1.
    votes
        Whether pairs of classes vote if there are more than two classes.
    twice
        Attributes that are estimated as if each message had been learned twice.
    """

    by_pair: Mapping[Pair | None, tuple[float, Mapping[str, float]]] = dataclasses.field(
        default_factory=dict
    )
    votes: bool = False
    twice: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: list[str], fitted: Mapping[Pair | None, Floats], votes: bool) -> Self:
        """Return fitted weights: each array has the weight of the prior, then of each attribute."""
        by_pair = {}
        for pair, weights in fitted.items():
            first, *rest = weights.tolist()
            by_pair[pair] = first, dict(zip(names, rest, strict=True))
        return cls(by_pair, votes)

    def _votes(
        self, order: Sequence[int], priors: Sequence[float], terms: Terms
    ) -> tuple[list[float], list[list[float]]]:
        """Return the logarithm of each class's share of votes: Equations 22 to 24.

        Return also the contribution of each value to f, summed over the other classes.
        """
        k = len(order)
        votes = [0.0] * k
        parts = [[0.0] * k for _ in terms]
        for i in range(k):
            for j in range(i):
                one, two = order[i], order[j]
                pair = (one, two) if one < two else (two, one)
                weight, weights = self.by_pair.get(pair, _UNWEIGHTED)
                margin = weight * (priors[i] - priors[j])
                for part, (_, attribute, each) in zip(parts, terms, strict=True):
                    share = weights.get(attribute, 1.0) * (each[i] - each[j])
                    part[i] += share
                    part[j] -= share
                    margin += share
                # Equation 22 without overflow.
                odds = math.exp(-abs(margin))
                more, less = 1.0 / (1.0 + odds), odds / (1.0 + odds)
                votes[i] += more if margin > 0 else less
                votes[j] += less if margin > 0 else more
        pairs = k * (k - 1) / 2
        return [math.log(max(vote / pairs, _LEAST)) for vote in votes], parts

    def scores(self, order: Sequence[int], priors: Sequence[float], terms: Terms) -> list[float]:
        """Return the score of each class.

        With votes it is the logarithm of Σ_j p_ij over the number of pairs, else
        w₀ ln P(c) + Σ_j w_j ln P(x_j|c).
        """
        if self.votes and len(order) > 2:
            return self._votes(order, priors, terms)[0]
        weight, weights = self.by_pair.get(None, _UNWEIGHTED)
        scores = [weight * prior for prior in priors]
        for _, attribute, each in terms:
            weight = weights.get(attribute, 1.0)
            if weight:
                for place, term in enumerate(each):
                    scores[place] += weight * term
        return scores

    def explain(
        self, order: Sequence[int], priors: Sequence[float], terms: Terms
    ) -> tuple[list[float], list[tuple[str, list[float]]]]:
        """Return the scores as a baseline and the contribution of each value.

        With votes, a contribution is the mean of the value's part of f over the other classes, and
        the baseline is the rest of the score.
        """
        if self.votes and len(order) > 2:
            scores, sums = self._votes(order, priors, terms)
            parts = [[part / (len(order) - 1) for part in each] for each in sums]
            baseline = [score - sum(each[i] for each in parts) for i, score in enumerate(scores)]
            return baseline, [(name, part) for (name, _, _), part in zip(terms, parts, strict=True)]
        weight, weights = self.by_pair.get(None, _UNWEIGHTED)
        return [weight * prior for prior in priors], [
            (name, [weights.get(attribute, 1.0) * term for term in each])
            for name, attribute, each in terms
        ]

    def of_classes(self, class_ids: Collection[int]) -> Self:
        """Return the weights without the pairs of other classes, whose ids may be reused."""
        pairs = self.by_pair
        gone = [each for each in pairs if each is not None and not set(each) <= set(class_ids)]
        if not gone:
            return self
        kept = {pair: of for pair, of in pairs.items() if pair not in gone}
        return dataclasses.replace(self, by_pair=kept)

    def mean(self) -> dict[str, float]:
        """Return the weight of each attribute, on average over the pairs of classes."""
        pairs = [weights for _, weights in self.by_pair.values()]
        names = dict.fromkeys(name for weights in pairs for name in weights)
        return {name: sum(each.get(name, 1.0) for each in pairs) / len(pairs) for name in names}

    def state(self, places: Mapping[int, int]) -> dict[str, Any]:
        """Return the weights for `restored`; `places` has the rank of each class."""
        kept: list[Any] = []
        for pair, (prior, weights) in self.by_pair.items():
            if pair is None or (pair[0] in places and pair[1] in places):
                ids = None if pair is None else sorted(places[class_id] for class_id in pair)
                hexed = {name: weight.hex() for name, weight in weights.items()}
                kept.append([ids, prior.hex(), hexed])
        kept.sort(key=lambda each: each[0] or [])
        return {"votes": self.votes, "pairs": kept, "twice": sorted(self.twice)}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Self:
        """Return the weights that `state` described."""
        by_pair = {}
        for ids, prior, hexed in state["pairs"]:
            pair = None if ids is None else (int(ids[0]), int(ids[1]))
            weights = {name: float.fromhex(weight) for name, weight in hexed.items()}
            by_pair[pair] = float.fromhex(prior), weights
        return cls(by_pair, bool(state["votes"]), frozenset(map(str, state["twice"])))
