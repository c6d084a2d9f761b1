"""Higher-order naive Bayes, from the definition of a path.

There are two methods without matrices: `enumerated` walks every path, and `second_order` adds the
paths through each new document.

References
----------
Higher-order paper (HONB): the definition of a higher-order path in section III, Equations 8 to 11.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from references.documents import Documents
from references.independent import Reference

# A document: its words, and its number of copies.
Copies = tuple[frozenset[Any], float]
Paths = tuple[float, Mapping[Any, float]]


def walks(documents: list[frozenset[Any]], order: int) -> Iterator[list[Any]]:
    """Yield the words of every path, once in each direction."""

    def extended(words: list[Any], used: list[int]) -> Iterator[list[Any]]:
        if len(used) == order:
            yield words
            return
        for place, document in enumerate(documents):
            if place not in used and words[-1] in document:
                for word in document.difference(words):
                    yield from extended([*words, word], [*used, place])

    for word in frozenset[Any]().union(*documents):
        yield from extended([word], [])


def enumerated(documents: list[frozenset[Any]], order: int, pure: bool = False) -> Paths:
    """Return the number of all paths, and of the paths with each word, by walking them."""
    total, counts = 0, Counter[Any]()
    for words in walks(documents, order):
        ends = {words[0], words[-1]}
        if pure and any(ends <= document for document in documents):
            continue
        total += 1
        counts.update(words)
    return total / 2, {word: count / 2 for word, count in counts.items()}


_SECOND_ORDER: dict[tuple[Copies, ...], Paths] = {(): (0.0, {})}


def second_order(documents: tuple[Copies, ...]) -> Paths:
    """Return the number of second-order paths, and of the paths with each word."""
    known = len(documents)
    while documents[:known] not in _SECOND_ORDER:
        known -= 1
    for n in range(known, len(documents)):
        paths = _one_more(_SECOND_ORDER[documents[:n]], documents[:n], *documents[n])
        _SECOND_ORDER[documents[: n + 1]] = paths
    return _SECOND_ORDER[documents]


def _one_more(
    before: Paths, documents: tuple[Copies, ...], new: frozenset[Any], copies: float
) -> Paths:
    total, counts = before[0], Counter(before[1])
    # i ~ new ~ j ~ old ~ k; two copies of the new document, in either order, count half each.
    others = [(old, copies * weight) for old, weight in documents]
    others.append((new, copies * (copies - 1) / 2))
    for old, weight in others:
        for j in new & old:
            through = 0
            for i in new - {j}:
                ends = len(old - {j, i})
                counts[i] += ends * weight
                through += ends
            for k in old - {j}:
                counts[k] += len(new - {j, k}) * weight
            counts[j] += through * weight
            total += through * weight
    return total, counts


class PathsReference(Reference):
    """Scores of HONB given past documents: the Bernoulli model on paths.

    Parameters
    ----------
    name
        `"HONB"`.
    order, pure
        As there; other than second-order paths are enumerated, so each document counts once.
    words
        The words that paths go through; None is all.
    parameters
        As at `Reference`.
    """

    def __init__(
        self,
        name: str,
        order: int = 2,
        pure: bool = False,
        words: frozenset[Any] | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__("BNB", **parameters)
        self.order, self.pure, self.words = order, pure, words

    def joint_log_likelihood(self, docs: Documents, x: Mapping[Any, float]) -> dict[Any, float]:
        """Return the score of each class for the document `x`: Equation 11."""
        present = {word for word, count in x.items() if count > 0}
        if self.oov == "skip":
            present &= docs.words.keys()
        paths = {c: self._paths(docs, c) for c in docs.classes}
        vocabulary = docs.words.keys() | present
        unknown = max((self.vocabulary_size or 0) - len(vocabulary), 0)
        scores = {}
        for c, (total, counts) in paths.items():
            score = self._prior(c, {c: total for c, (total, _) in paths.items()})
            share = {w: (counts.get(w, 0.0) + self.alpha) for w in vocabulary}
            score += sum(math.log(share[w] / (total + 2 * self.alpha)) for w in present)
            score += sum(
                math.log((total + 2 * self.alpha - share[w]) / (total + 2 * self.alpha))
                for w in vocabulary - present
            )
            score += unknown * math.log((total + self.alpha) / (total + 2 * self.alpha))
            scores[c] = score
        return scores

    def _prior(self, c: Hashable, totals: dict[Hashable, float]) -> float:
        if self.prior == "uniform":
            return 0.0
        if self.prior == "laplace":
            return math.log((totals[c] + 1) / (sum(totals.values()) + len(totals)))
        # Equation 10; a class without paths counts as if it had one.
        return math.log(max(totals[c], 1) / sum(max(total, 1) for total in totals.values()))

    def _paths(self, docs: Documents, c: Hashable) -> Paths:
        names = list(docs.words)
        members: list[Copies] = [
            (frozenset(names[column] for column in row.nonzero()[0]), float(weight))
            for row, label, weight in zip(docs.counts, docs.labels, docs.weights, strict=True)
            if label == c
        ]
        if self.words is not None:
            members = [(document & self.words, weight) for document, weight in members]
        if self.order == 2 and not self.pure:
            total, counts = second_order(tuple(members))
            # Fractions of documents: such paths do not exist, but the formulas for copies apply.
            total = max(total, 0.0)
            return total, {word: min(max(n, 0.0), total) for word, n in counts.items()}
        return enumerated([document for document, _ in members], self.order, self.pure)
