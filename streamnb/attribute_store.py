"""Counts of columns with numbers: the core counts categories, exact sums stand for Gaussians.

It does what `_core.CountStore` does for texts, message by message, in Python: each attribute costs
a few operations for each class.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from streamnb import _core
from streamnb.errors import InputError, ModelFileError
from streamnb.examples import Example, Examples, Row, Rows
from streamnb.losses import Loss, fit
from streamnb.moments import FARTHEST, NumberTable
from streamnb.parameters import check_number
from streamnb.statistics import Floats
from streamnb.weights import AttributeWeights

# Examples kept for fits, unless a model is told otherwise.
EXAMPLES = 10_000


@dataclasses.dataclass(frozen=True)
class Fit:
    """How weights are fitted.

    Attributes
    ----------
    loss
        What they minimise.
    multiclass
        `"pairs"`: weights for each two classes, which vote; `"direct"`: one fit of all.
    ridge
        As in `streamnb.losses.objective`.
    """

    loss: Loss
    multiclass: str
    ridge: float

    @classmethod
    def of(cls, loss: Loss | None, multiclass: Any, ridge: Any, numbers: bool) -> Fit | None:
        """Check what a model was given; None where it has no weights.

        Raises
        ------
        InputError
            If something is out of range, or there is nothing to weigh.
        """
        if loss is None:
            return None
        if not numbers:
            raise InputError(
                f"weights that minimise a loss are of attributes: combine {loss.name!r} with the "
                f"event 'gaussian'"
            )
        if multiclass not in ("pairs", "direct"):
            raise InputError(f"multiclass must be 'pairs' or 'direct', not {multiclass!r}")
        ridge = check_number("ridge", ridge)
        if not 0 <= ridge < math.inf:
            raise InputError(f"ridge must be 0 or more, and finite, not {ridge!r}")
        return cls(loss, multiclass, ridge)


class AttributeStore:
    """Counts, moments and recent examples of columns, and the weights in use.

    Parameters
    ----------
    native
        The counts of categories.
    settings
        Bounds: `max_words` of words and of attributes with numbers, `max_documents` of examples.
    """

    def __init__(self, native: _core.CountStore, settings: Mapping[str, int]) -> None:
        self.native = native
        self.settings = dict(settings)
        self.numbers = NumberTable(settings["max_words"])
        self.examples = Examples(settings["max_documents"])
        self.weights = AttributeWeights()
        # Weight of each class learned, and the classes in the order of their labels.
        self.learned: dict[int, float] = {}
        self.ranks: list[int] = []
        self.order: list[int] = []

    # --- learning -----------------------------------------------------------------------------

    def learn(self, row: Row, class_id: int, weight: Any) -> None:
        """Learn one row."""
        self.native.learn(row.words, class_id, weight)
        if weight:
            self._learned(row, class_id, float(weight))

    def learn_many(
        self, batch: Rows, class_ids: list[int], weight: Any, start: int, stop: int
    ) -> None:
        """Learn some rows of a batch."""
        words = _core.Batch(_NO_TOKENIZER, [row.words for row in batch])
        self.native.learn_many(words, class_ids, weight, start, stop)
        if weight:
            for row, class_id in zip(batch[start:stop], class_ids[start:stop], strict=True):
                self._learned(row, class_id, float(weight))

    def _learned(self, row: Row, class_id: int, weight: float) -> None:
        self.numbers.learn(row.numbers, class_id, weight)
        self.examples.learn(Example(row, class_id, weight))
        self.learned[class_id] = self.learned.get(class_id, 0.0) + weight

    def unlearn(self, row: Row, class_id: int, weight: Any) -> bool:
        """Unlearn one row; return whether its class has any left."""
        taken = _weight(weight)
        if not taken:
            return self.native.unlearn(row.words, class_id, weight)
        learned = self.learned.get(class_id, 0.0)
        evicted = learned - self.examples.weight_of(class_id)
        examples = self.examples.unlearn(row, class_id, taken, evicted)
        moments = self.numbers.without(row.numbers, class_id, taken)
        exists = self.native.unlearn(row.words, class_id, weight)
        self.numbers.replace(moments, class_id)
        self.examples.replace(examples)
        self.learned[class_id] = learned - taken
        if not exists:
            del self.learned[class_id]
        return exists

    def merge(self, other: AttributeStore, class_ids: list[int]) -> None:
        """Learn what another store has learned; its examples are the younger."""
        changed = self.numbers.merged(other.numbers, class_ids, 1)
        examples = [
            dataclasses.replace(each, class_id=class_ids[each.class_id])
            for each in other.examples.order
        ]
        learned = {class_ids[theirs]: weight for theirs, weight in other.learned.items()}
        self.native.merge(other.native, class_ids)
        self.numbers.change(changed)
        self.examples.replace([*self.examples.order, *examples])
        for class_id, weight in learned.items():
            self.learned[class_id] = self.learned.get(class_id, 0.0) + weight

    def subtract(self, other: AttributeStore, class_ids: list[int]) -> None:
        """Unlearn what another store has learned; of its examples, those that are still here."""
        changed = self.numbers.merged(other.numbers, class_ids, -1)
        self.native.subtract(other.native, class_ids)
        self.numbers.change(changed)
        for each in reversed(other.examples.order):
            mine = class_ids[each.class_id]
            kept = self.examples.unlearn(each.row, mine, each.weight, math.inf)
            self.examples.replace(kept)
        documents = np.frombuffer(self.native.counts()[2])
        self.learned = {i: float(n) for i, n in enumerate(documents) if n > 0}

    # --- scores -------------------------------------------------------------------------------

    def terms(self, row: Row, scoring: _core.Scoring) -> tuple[list[float], list[Any]]:
        """Return ln P(c) by class id, and ln P(x_j|c) of each value.

        Returns
        -------
        Priors, and of each value what it is called, its attribute, and its term for each of the
        classes in `order`.
        """
        priors, words = self.native.explain(row.words, scoring)
        owners = dict(zip(row.words, row.attributes, strict=True))
        order = self.order
        terms: list[Any] = [
            (word, owners[word], [by_id[class_id] for class_id in order]) for word, by_id in words
        ]
        for name, number in row.numbers.items():
            densities = self.numbers.log_densities(name, number, order)
            if densities is not None:
                terms.append((name, name, densities))
        return [priors[class_id] for class_id in order], terms

    def _ordered(self, row: Row, scoring: _core.Scoring) -> list[float]:
        priors, terms = self.terms(row, scoring)
        return self.weights.scores(self.order, priors, terms)

    def scores(self, row: Row, scoring: _core.Scoring) -> list[float]:
        """Return the score of each class id."""
        scores = [0.0] * len(self.ranks)
        for class_id, score in zip(self.order, self._ordered(row, scoring), strict=True):
            scores[class_id] = score
        return scores

    def predict(self, row: Row, scoring: _core.Scoring) -> int | None:
        """Return the class with the highest score, of equal ones the first."""
        if not self.order:
            return None
        scores = self._ordered(row, scoring)
        return self.order[scores.index(max(scores))]

    def probabilities(self, row: Row, scoring: _core.Scoring) -> list[float]:
        """Return the probability of each class id."""
        shares = [0.0] * len(self.ranks)
        if self.order:
            scores = self._ordered(row, scoring)
            highest = max(scores)
            raised = [math.exp(score - highest) for score in scores]
            for class_id, share in zip(self.order, raised, strict=True):
                shares[class_id] = share / sum(raised)
        return shares

    def predict_many(self, batch: Rows, scoring: _core.Scoring, labels: list[Any]) -> list[Any]:
        """Return the label of each row."""
        found = [self.predict(row, scoring) for row in batch]
        return [None if class_id is None else labels[class_id] for class_id in found]

    def scores_many(self, batch: Rows, scoring: _core.Scoring) -> bytes:
        """Return the scores of each row."""
        return np.array([self.scores(row, scoring) for row in batch], dtype=float).tobytes()

    def explain(self, row: Row, scoring: _core.Scoring) -> tuple[list[float], list[Any]]:
        """Return the scores taken apart."""
        priors, terms = self.terms(row, scoring)
        baseline, parts = self.weights.explain(self.order, priors, terms)

        def by_id(values: Sequence[float]) -> list[float]:
            found = [0.0] * len(self.ranks)
            for class_id, value in zip(self.order, values, strict=True):
                found[class_id] = value
            return found

        return by_id(baseline), [(name, by_id(part)) for name, part in parts]

    # --- weights ------------------------------------------------------------------------------

    def refit(self, how: Fit, scoring: _core.Scoring, anew: bool) -> None:
        """Fit the weights to the examples, aside, and swap them in.

        Parameters
        ----------
        how
            What to minimise, and how with several classes.
        scoring
            Of the categories.
        anew
            Whether to start from weights of 1, not from those in use.
        """
        examples = list(self.examples.order)
        # In the midst of a batch there may be classes whose labels have no order yet.
        known = len(self.ranks)
        order = sorted(self.learned, key=lambda i: (self.ranks[i] if i < known else known, i))
        if len(order) < 2 or not examples:
            self.weights = AttributeWeights()
            return
        names, priors, terms = self._table(examples, order, scoring)
        place = {class_id: i for i, class_id in enumerate(order)}
        classes = np.array([place[each.class_id] for each in examples])
        weights = np.array([each.weight for each in examples])
        before = AttributeWeights() if anew else self.weights
        fitted: dict[tuple[int, int] | None, Floats] = {}
        if how.multiclass == "direct" or len(order) == 2:
            start = before.start(None, names)
            fitted[None] = fit(how.loss, terms, priors, classes, weights, start, how.ridge)
        else:
            for i, one in enumerate(order):
                for j in range(i):
                    two, both = order[j], np.array([j, i])
                    some = np.flatnonzero((classes == i) | (classes == j))
                    pair = (min(one, two), max(one, two))
                    fitted[pair] = fit(
                        how.loss,
                        terms[np.ix_(some, both)],
                        priors[both],
                        (classes[some] == i).astype(np.int64),
                        weights[some],
                        before.start(pair, names),
                        how.ridge,
                    )
        self.weights = AttributeWeights.of(names, fitted, how.multiclass)

    def _table(
        self, examples: list[Example], order: list[int], scoring: _core.Scoring
    ) -> tuple[list[str], Floats, Floats]:
        """Return attributes, ln P(c), and ln P(x_j|c): `(examples, classes, attributes)`."""
        words = {word: 1.0 for each in examples for word in each.row.words}
        priors, found = self.native.explain(words, scoring)
        code = {word: i for i, (word, _) in enumerate(found)}
        # The last row is that of no word.
        logs = np.array([[by_id[i] for i in order] for _, by_id in found] + [[0.0] * len(order)])
        names = sorted(
            {name for each in examples for name in (*each.row.attributes, *each.row.numbers)}
        )
        place = {name: j for j, name in enumerate(names)}
        codes = np.full((len(examples), len(names)), len(found))
        numbers = np.full(codes.shape, np.nan)
        for i, each in enumerate(examples):
            for word, name in zip(each.row.words, each.row.attributes, strict=True):
                codes[i, place[name]] = code.get(word, len(found))
            for name, number in each.row.numbers.items():
                numbers[i, place[name]] = number
        terms = logs[codes].transpose(0, 2, 1).copy()
        for name, j in place.items():
            normals = self.numbers.normals(name, order)
            if normals is not None:
                mean, constant, deviation = (np.array(each) for each in zip(*normals, strict=True))
                away = np.abs(numbers[:, j, None] - mean) / deviation
                density = constant - 0.5 * np.minimum(away, FARTHEST) ** 2
                terms[:, :, j] += np.where(np.isnan(density), 0.0, density)
        return names, np.array([priors[i] for i in order]), terms

    # --- the rest of what a store does ----------------------------------------------------------

    def set_ranks(self, ranks: list[int]) -> None:
        """Say in which order the labels of the classes stand."""
        self.native.set_ranks(ranks)
        self.ranks = ranks
        self.order = sorted(self.learned, key=ranks.__getitem__)

    def declare(self, values: Mapping[str, int]) -> None:
        """Say how many values attributes have."""
        self.native.declare(values)

    def counts(self) -> Any:
        """Return the counts of categories."""
        return self.native.counts()

    def words(self) -> list[str]:
        """Return the categories."""
        return self.native.words()

    @property
    def version(self) -> int:
        """Grows with every change."""
        return self.native.version

    @property
    def n_documents(self) -> float:
        """Weight of what was learned."""
        return self.native.n_documents

    @property
    def n_words(self) -> int:
        """Different categories."""
        return self.native.n_words

    @property
    def n_cells(self) -> int:
        """Nonzero counts of categories, and Gaussians."""
        numbers = list(self.numbers.moments.values())
        return self.native.n_cells + sum(len(by_class) for by_class in numbers)

    @property
    def n_indexed(self) -> int:
        """Examples kept."""
        return len(self.examples.order)

    def __sizeof__(self) -> int:
        # A Gaussian takes about 400 bytes, a value of an example about 100.
        values = sum(len(e.row.words) + len(e.row.numbers) for e in list(self.examples.order))
        return self.native.__sizeof__() + 400 * self.n_cells + 100 * values

    def snapshot(self, parents: bool) -> bytes:
        """Return everything as canonical bytes; with `parents` the weights in use too."""
        places = {class_id: place for place, class_id in enumerate(self.order)}
        kept = {
            "numbers": self.numbers.state(places),
            "examples": self.examples.state(places),
            "weights": self.weights.state(places) if parents else None,
        }
        encoded = json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()
        head = len(encoded).to_bytes(8, "little")
        return head + encoded + self.native.snapshot(parents=False)

    @classmethod
    def restore(
        cls, tokenizer: _core.NativeTokenizer, snapshot: bytes, settings: Mapping[str, int]
    ) -> AttributeStore:
        """Return the store that a snapshot holds.

        Raises
        ------
        ModelFileError
            If it holds none.
        """
        end = 8 + int.from_bytes(snapshot[:8], "little")
        store = cls(_core.CountStore.restore(tokenizer, snapshot[end:]), settings)
        documents = np.frombuffer(store.native.counts()[2]).tolist()
        try:
            kept = json.loads(snapshot[8:end])
            store.numbers.restore(kept["numbers"], len(documents))
            store.examples.restore(kept["examples"], len(documents))
            if kept["weights"] is not None:
                store.weights = AttributeWeights.restored(kept["weights"])
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model can't be read: {error}") from error
        store.learned = {i: n for i, n in enumerate(documents) if n > 0}
        return store


def attributes_of(store: object) -> AttributeStore | None:
    """Return the store of columns that stands in for a `CountStore`, if it is one."""
    return store if isinstance(store, AttributeStore) else None


def open_store(
    tokenizer: _core.NativeTokenizer, settings: Mapping[str, int], snapshot: bytes | None
) -> _core.CountStore:
    """Return an empty store, or that of a snapshot, as the `CountStore` that it stands in for."""
    if snapshot is not None:
        store = AttributeStore.restore(tokenizer, snapshot, settings)
    else:
        # Its own index holds words only: examples are kept here.
        bounds = {**settings, "max_documents": 0, "max_pairs": 0}
        native = _core.CountStore(
            tokenizer, **bounds, frequencies=False, columns=True, own_pairs=False
        )
        store = AttributeStore(native, settings)
    return cast("_core.CountStore", store)


def _weight(weight: Any) -> float:
    """Return a weight that can be taken away.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        taken = float(weight)
    except (TypeError, ValueError, OverflowError):
        taken = math.nan
    if not 0 <= taken <= 2.0**53:
        raise InputError("the weight of a message must be a number from 0 to 2**53")
    return taken


# Rows have no texts.
_NO_TOKENIZER = _core.NativeTokenizer(
    lowercase=False,
    strip_accents=False,
    analyzer="word",
    ngram_range=(1, 1),
    max_token_length=None,
    max_tokens=None,
)
