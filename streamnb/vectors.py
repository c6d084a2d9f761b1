"""A model mixed with the classes' sums of text vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from river import base

from streamnb.errors import InputError, NotLearnedError, needed_for, shown
from streamnb.families.independent import MNB
from streamnb.model.stored import memory_bytes
from streamnb.parameters import check_model

Encoder = Callable[[Sequence[str]], Any]
Floats = npt.NDArray[np.float64]
Sums = npt.NDArray[np.int64]

WORDLLAMA = "wordllama"
# Components of unit vectors are multiples of 1/_ONE, so sums are exact in any order.
_ONE = 2**20
# The factor of cosines in the softmax. From 10 to 30, accuracy changes by .1 on banking77 and TREC
# questions.
_SHARPNESS = 15.0
# Shares of the model and the vectors before any label, and their rates. Slopes are bounded.
_START = np.array([0.7, 0.5])
_RATE, _MOST = 0.05, 4.0
_LEAST = 1e-6  # probability


class WithVectors(base.Wrapper, base.Classifier):  # type: ignore[type-arg]
    """A model of texts, mixed with static text vectors as a second opinion.

    Vectors know that two words mean the same before a label says so. They help English topics and
    intents, above all with few labels, and do not help spam or other languages.

    Each class has the sum S_k of the vectors of its messages. With the unit vector v of a message,
    the probabilities of the vectors are proportional to exp(15 cos(v, S_k)), and the mixture is

        P(k) ∝ p_1(k)**a_1 · p_2(k)**a_2,   d_i = ln p_i(y) − Σ_k P(k) ln p_i(k)
        a_i  = max(start_i + .05 Σ d_i / √(1 + Σ d_i²), 0)

    as the heads of `OnlineNB`: shares a_i start at .7 (the model) and .5 (the vectors), and follow
    the log loss of the labels; d_i is at most 4, and probabilities at least 1e-6.

    Sums are exact, so learning and unlearning a message, or merging two models, leaves the sums
    of the messages that remain. Shares keep the steps of unlearned messages. A class takes 8 bytes
    for each component of a vector. The weight of a message reaches the model alone, and
    `explain_one` explains the model alone. There is no model file; pickle works.

    Parameters
    ----------
    model
        The model of the texts, for example `OnlineNB()`.
    vectors
        `"wordllama"` for the package of this name (`pip install 'streamnb[vectors]'`: 256
        components, 16 MB, without network), or a function from a list of texts to an array of
        shape (texts, components). A message that is a mapping is encoded by its texts, or by its
        keys if it has none.

    Raises
    ------
    InputError
        If a parameter is invalid, or vectors have another shape or infinite components.
    MissingDependencyError
        If the package is not installed.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> from streamnb.vectors import WithVectors
    >>> def lengths(texts):
    ...     return [[len(text), text.count(" ")] for text in texts]
    >>> model = WithVectors(OnlineNB(), vectors=lengths)
    >>> model.learn_one("Free entry: WIN cash now", "spam")
    >>> model.learn_one("noon", "ham")
    >>> model.predict_one("lunch")
    'ham'
    """

    _FORWARDED: ClassVar = frozenset({"explain_one", "n_words", "class_count_", "reads_columns"})

    def __init__(self, model: base.Classifier, vectors: str | Encoder = WORDLLAMA) -> None:
        self.model: Any = check_model("model", model)
        if vectors != WORDLLAMA and not callable(vectors):
            raise InputError(
                f"vectors must be {WORDLLAMA!r} or a function from a list of texts to an array, "
                f"not {shown(vectors)}"
            )
        self.vectors = vectors
        # The labels, and of each its messages and the sum of their vectors.
        self._labels: list[Any] = []
        self._documents: list[int] = []
        self._sums: Sums = np.zeros((0, 0), np.int64)
        self._slopes, self._squares = np.zeros(2), np.zeros(2)

    @classmethod
    def _unit_test_params(cls) -> Any:
        yield {"model": MNB(), "vectors": _letters}

    @property
    def _wrapped_model(self) -> Any:
        return self.model

    # --- learning -----------------------------------------------------------------------------

    def learn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Learn one message: its step of the shares, then its vector and the model.

        Raises
        ------
        InputError
            If the model or the encoder refuses it; nothing changes.
        """
        vector = self._vector(x)
        logs, labels = self._logs(x, vector)
        self.model.learn_one(x, y, **kwargs)
        if y in labels and len(labels) > 1:
            slopes = logs[:, labels.index(y)] - logs @ _softmax(self.shares @ logs)
            slopes = slopes.clip(-_MOST, _MOST)
            self._slopes += slopes
            self._squares += slopes**2
        self._add(y, vector, 1)

    def unlearn_one(self, x: Any, y: Any, **kwargs: Any) -> None:
        """Unlearn one message that both have learned.

        Raises
        ------
        NotLearnedError
            If the model has not learned it; nothing changes.
        """
        if y not in self._labels:
            raise NotLearnedError(f"no message with label {shown(y)} has been learned")
        vector = self._vector(x)
        self.model.unlearn_one(x, y, **kwargs)
        self._add(y, -vector, -1)

    def merge(self, other: WithVectors) -> None:
        """Add everything that another model of the same vectors has learned.

        Raises
        ------
        InputError
            If the other model has other vectors or parameters; nothing changes.
        """
        if not isinstance(other, WithVectors) or other.vectors != self.vectors:
            raise InputError(f"other must be a WithVectors of the same vectors, not {shown(other)}")
        self.model.merge(other.model)
        for label, sums, documents in zip(
            other._labels, other._sums, other._documents, strict=True
        ):
            self._add(label, sums, documents)
        self._slopes += other._slopes
        self._squares += other._squares

    def _add(self, label: Any, sums: Sums, documents: int) -> None:
        if label not in self._labels:
            self._sums = np.vstack([self._sums.reshape(-1, len(sums)), np.zeros_like(sums)])
            self._labels.append(label)
            self._documents.append(0)
        place = self._labels.index(label)
        self._sums[place] += sums
        self._documents[place] += documents
        if not self._documents[place]:
            self._sums = np.delete(self._sums, place, axis=0)
            del self._labels[place], self._documents[place]

    # --- predicting ---------------------------------------------------------------------------

    @property
    def shares(self) -> Floats:
        """The shares of the model and of the vectors, a_1 and a_2."""
        shares: Floats = _START + _RATE * self._slopes / np.sqrt(1 + self._squares)
        return shares.clip(0)

    def predict_one(self, x: Any, **kwargs: Any) -> Any:
        """Return the most probable label; None before any learning."""
        found = self.predict_proba_one(x)
        return max(found, key=found.__getitem__, default=None)

    def predict_proba_one(self, x: Any, **kwargs: Any) -> dict[Any, float]:
        """Return the probability of each label."""
        logs, labels = self._logs(x, self._vector(x))
        return dict(zip(labels, _softmax(self.shares @ logs).tolist(), strict=True))

    def _logs(self, x: Any, vector: Sums) -> tuple[Floats, list[Any]]:
        """Return the log probabilities of the model and of the vectors, and their labels."""
        found = self.model.predict_proba_one(x)
        labels = [*self._labels, *(label for label in found if label not in self._labels)]
        shares = np.zeros((2, len(labels)))
        shares[0] = [found.get(label, 0.0) for label in labels]
        if self._labels:
            # Products are added in one fixed order, not by a BLAS kernel.
            sums, unit = self._sums.astype(float), vector.astype(float)
            lengths = np.sqrt((sums**2).sum(axis=1) * (unit**2).sum())
            products = (sums * unit).sum(axis=1)
            cosines = np.divide(products, lengths, out=np.zeros(len(sums)), where=lengths > 0)
            shares[1, : len(sums)] = _softmax(_SHARPNESS * cosines)
        return np.log(shares.clip(_LEAST)), labels

    def _vector(self, x: Any) -> Sums:
        """Return the unit vector of a message in multiples of 1/_ONE; 0 if it has no length."""
        encode: Any = _wordllama() if self.vectors == WORDLLAMA else self.vectors
        found = np.asarray(encode([_text(x)]), np.float64)
        width = self._sums.shape[1]
        if found.ndim != 2 or len(found) != 1 or found.shape[1] != (width or found.shape[1]):
            raise InputError(
                f"vectors must return an array of shape (1, {width or 'components'}) for one text, "
                f"not {found.shape}"
            )
        if not np.isfinite(found).all():
            raise InputError("vectors must return finite components")
        length = np.sqrt((found[0] ** 2).sum())
        unit: Sums = np.rint(found[0] * (_ONE / length if length else 0.0)).astype(np.int64)
        return unit

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model that the vectors do not change."""
        if name not in self._FORWARDED:
            raise AttributeError(f"a WithVectors has no attribute {name!r}")
        return getattr(self.model, name)

    @property
    def memory_bytes(self) -> int:
        """Memory of the model and the sums in bytes."""
        return (memory_bytes(self.model) or 0) + self._sums.nbytes


def _softmax(scores: Floats) -> Floats:
    powers: Floats = np.exp(scores - scores.max(initial=-np.inf))
    return powers / powers.sum() if powers.size else powers


def _text(x: Any) -> str:
    if not isinstance(x, Mapping):
        return str(x)
    texts = [value for value in x.values() if isinstance(value, str)]
    return "\n".join(texts or map(str, x))


def _letters(texts: Sequence[str]) -> list[list[float]]:
    """Return the numbers of some letters in each text, for tests."""
    return [[float(text.count(letter)) for letter in "aeinorst "] for text in texts]


@lru_cache(maxsize=1)
def _wordllama() -> Encoder:
    with needed_for("vectors='wordllama'", "vectors"):
        import wordllama
    # The package contains its files, but looks for the tokenizer in its cache only.
    folder = Path(wordllama.__file__).parent
    loaded = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    encode: Encoder = loaded.embed
    return encode
