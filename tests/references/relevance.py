"""Slow literal version of correlation-based selection of words, from its definition.

References
----------
Hall (2000), Correlation-based feature selection for discrete and numeric class machine learning,
and the readings of docs/reference/families/.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from references.documents import Array, Documents

# Numbers this close differ only by rounding: the order of the words' bytes then decides.
TIE = 1e-9


def uncertainty(weights: Array, presence: Array, groups: Sequence[Array]) -> Array:
    """Return 2 I(X; Y) / (H(X) + H(Y)) of each column with a partition of the documents."""
    n = weights.sum()
    shares = [(weights @ group) / n for group in groups]
    groups_entropy = -sum(share * math.log(share) for share in shares if share > 0)
    information, entropy = np.zeros(presence.shape[1]), np.zeros(presence.shape[1])
    for present in (presence, 1 - presence):
        n_f = weights @ present
        share = np.where(n_f > 0, n_f / n, 1.0)
        entropy -= share * np.log(share)
        for group in groups:
            joint = (weights * group) @ present
            some = joint > 0
            chance = np.where(some, n_f * (weights @ group), 1.0)
            information += joint / n * np.log(np.where(some, joint * n, 1.0) / chance)
    both = entropy + groups_entropy
    return np.divide(2 * information, both, out=np.zeros_like(both), where=both > TIE)


def in_bytes(word: Any) -> bytes:
    """Return a word, or the words of an n-gram with a space between."""
    return (" ".join(word) if isinstance(word, tuple) else str(word)).encode()


def selected(docs: Documents, first: int, max_candidates: int) -> list[Any]:
    """Return the words of forward search over the documents from `first` on, in search order.

    The search does not know words that occur only in earlier documents.
    """
    weights, labels = docs.weights[first:], docs.labels[first:]
    present = (docs.counts[first:] > 0).astype(float)
    names = sorted(docs.words, key=in_bytes)
    classes = [np.array([label == c for label in labels], float) for c in sorted(set(labels))]
    presence = present[:, [docs.words[name] for name in names]]
    of_class = uncertainty(weights, presence, classes)
    # The best candidates; ties go to the first names.
    ranked = sorted(of_class, reverse=True)
    least = ranked[max_candidates - 1] if max_candidates <= len(ranked) else 0.0
    least = max(least, 2 * TIE)
    above = [k for k, value in enumerate(of_class) if value > least + TIE]
    equal = [k for k, value in enumerate(of_class) if abs(value - least) <= TIE]
    left = sorted([*above, *equal[: max(max_candidates - len(above), 0)]])
    chosen: list[int] = []
    beside: dict[int, Array] = {}
    merit = 0.0
    while left:
        merits = []
        for k in left:
            together = [*chosen, k]
            pairs = sum(beside[i][j] for a, i in enumerate(together) for j in together[a + 1 :])
            relevance = sum(of_class[i] for i in together)
            merits.append(relevance / math.sqrt(len(together) + 2 * pairs))
        highest = max(merits)
        if highest <= merit + TIE:
            break
        best = next(k for k, one in zip(left, merits, strict=True) if one >= highest - TIE)
        merit = merits[left.index(best)]
        chosen.append(best)
        left.remove(best)
        own = presence[:, best]
        beside[best] = uncertainty(weights, presence, (own, 1 - own))
    return [names[k] for k in chosen]
