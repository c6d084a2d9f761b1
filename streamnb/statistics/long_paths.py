"""Paths of any order up to 4, Theorems 1 to 3 of the paper that introduces HONB."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from streamnb.statistics.counts import Floats

if TYPE_CHECKING:
    from scipy import sparse

# Theorems 1 to 3 count the choices of different *documents* by inclusion and exclusion: a signed
# sum over the ways to let documents coincide. The same over the ways to let *words* coincide leaves
# sums in which every word and document is chosen freely. Each such sum is a small graph (which
# words must occur in which documents). It is computed by products of matrices that eliminate one
# vertex at a time. Graphs that differ only in names are computed once.

# A graph: for each word, the bits of the documents that must contain it. The paths of the first
# word are counted.
Graph = tuple[int, ...]


def all_paths(presence: sparse.csr_array, weights: Floats, order: int) -> tuple[float, Floats]:
    """Return the number of all paths of an order, 1 to 4, and of those that contain each word.

    `presence` is 1 where a document contains a word: shape `(documents, words)`. Up to order 4,
    each eliminated vertex has at most two neighbours.
    """
    summed = _Sums(presence, weights)
    counts = np.zeros(presence.shape[1])
    total = 0.0
    for place, graphs in enumerate(path_graphs(order)):
        # Both directions are counted: a path once at this place, and reversed at the opposite one.
        at_place = np.zeros_like(counts)
        for graph, sign in graphs.items():
            at_place += sign * summed.of(graph)
        counts += at_place / 2 if 2 * place == order else at_place
        if place == 0:
            total = float(at_place.sum()) / 2
    return total, counts


@functools.cache
def path_graphs(order: int) -> tuple[dict[Graph, int], ...]:
    """Return the signed graphs that count the words at each place up to the middle."""
    places: list[Counter[Graph]] = [Counter() for _ in range(order // 2 + 1)]
    for words in _partitions(order + 1):
        for documents in _partitions(order):
            masks = [0] * (max(words) + 1)
            for place, document in enumerate(documents):
                masks[words[place]] |= 1 << document
                masks[words[place + 1]] |= 1 << document
            sign = _sign(words) * _sign(documents)
            for place, counter in enumerate(places):
                first = masks[words[place]]
                others = masks[: words[place]] + masks[words[place] + 1 :]
                counter[_canonical(first, others, max(documents) + 1)] += sign
    return tuple(
        {graph: sign for graph, sign in counter.items() if sign != 0} for counter in places
    )


def _partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the partitions of n items as block numbers, in order of first appearance."""
    for blocks in itertools.product(*(range(place + 1) for place in range(n))):
        if all(block <= max(blocks[:place], default=-1) + 1 for place, block in enumerate(blocks)):
            yield blocks


def _sign(blocks: tuple[int, ...]) -> int:
    """Return the inclusion-exclusion coefficient: Π (−1)^(b−1) (b−1)! over the blocks."""
    return math.prod((-1) ** (b - 1) * math.factorial(b - 1) for b in Counter(blocks).values())


def _canonical(first: int, others: list[int], documents: int) -> Graph:
    """Return the representative of all graphs that differ only in names."""

    def renamed(names: tuple[int, ...]) -> Graph:
        def rename(mask: int) -> int:
            return sum(1 << names[bit] for bit in range(documents) if mask >> bit & 1)

        return (rename(first), *sorted(map(rename, others)))

    return min(map(renamed, itertools.permutations(range(documents))))


# Describes a vector or a matrix. Vertices are words "w0" (whose paths are counted), "w1" … and
# documents "d0" …
_Key = tuple[object, ...]


class _Sums:
    """The sums of graphs over one class, with a cache of shared intermediate results."""

    def __init__(self, presence: sparse.csr_array, weights: Floats) -> None:
        self._presence = presence.toarray()
        self._ones = np.ones(presence.shape[1])
        self._weights = weights
        self._known: dict[_Key, Floats] = {}

    def of(self, graph: Graph) -> Floats:
        """Return the weight of all choices of the other words, for each first word."""
        vectors: dict[str, _Key] = {}
        edges: dict[str, dict[str, _Key]] = {}
        for number, mask in enumerate(graph):
            word = f"w{number}"
            vectors[word] = ("ones",)
            edges.setdefault(word, {})
            for bit in range(mask.bit_length()):
                if mask >> bit & 1:
                    document = f"d{bit}"
                    vectors[document] = ("weights",)
                    edges[word][document] = ("presence", True)
                    edges.setdefault(document, {})[word] = ("presence", False)
        while len(vectors) > 1:
            vertex = min(
                (vertex for vertex in vectors if vertex != "w0"),
                key=lambda vertex: (len(edges[vertex]), vertex),
            )
            self._eliminate(vertex, vectors, edges)
        return self._value(vectors["w0"])

    def _eliminate(
        self, vertex: str, vectors: dict[str, _Key], edges: dict[str, dict[str, _Key]]
    ) -> None:
        """Sum over all choices of a vertex with one or two neighbours."""
        vector, around = vectors.pop(vertex), sorted(edges.pop(vertex))
        sides = [edges[other].pop(vertex) for other in around]
        if len(around) == 1:
            (one,) = around
            vectors[one] = ("scale", *sorted((vectors[one], ("sum", sides[0], vector)), key=repr))
            return
        one, other = around
        # A matrix and its transpose share one description.
        product: _Key = ("chain", sides[0], vector, sides[1])
        for start, end, key in ((one, other, product), (other, one, _reversed(product))):
            present = edges[start].get(end)
            edges[start][end] = (
                key if present is None else ("times", *sorted((present, key), key=repr))
            )

    def _value(self, key: _Key) -> Floats:
        """Return the vector or matrix of a description."""
        if key not in self._known:
            # Reuse the transposed product if it is cached.
            turned = self._known.get(_reversed(key)) if key[0] == "chain" else None
            self._known[key] = self._computed(*key) if turned is None else turned.T
        return self._known[key]

    def _computed(self, kind: object, *parts: object) -> Floats:
        if kind == "ones":
            return self._ones
        if kind == "weights":
            return self._weights
        if kind == "presence":
            return self._presence.T if parts[0] else self._presence
        first, *rest = (self._value(part) for part in parts)  # type: ignore[arg-type]
        if kind == "chain":
            # Descriptions of matrices begin with the rows of the neighbour.
            vector, last = rest
            result: Floats = (first * vector) @ last.T
        elif kind == "sum":
            result = first @ rest[0]
        else:
            result = first * rest[0]
        return result


def _reversed(key: _Key) -> _Key:
    """Return the description of the transposed product."""
    kind, first, vector, last = key
    return kind, last, vector, first
