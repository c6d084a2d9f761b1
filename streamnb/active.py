"""Learn from few labels: request those that a model learns most from, and learn without a label.

`LabelRequester` decides from probabilities. `BudgetSampler` combines it with a classifier, in the
interface of `river.active`. `self_train` learns a message with the label that the model predicts.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Hashable, Mapping
from typing import Any

from river.active.base import ActiveLearningClassifier

from streamnb import _core
from streamnb.parameters import check_above_zero, check_bound, check_from_zero

# Chosen on SMS, SpamAssassin and CSDMC2010: docs/internals/online-nb.md has the figures.
_REPAID = 0.5  # share of the credit that repays the advance
_EXPLORED = 0.1  # share of the credit that is spent on random messages
# The nth message since the last new class is requested with at least this probability over n.
_FIRST = 2.0
_LEAST, _MOST = 0.2, 5.0  # margin with a probability of 1/2 for an empty and a full budget, nats
_STEEPNESS = 2.0
_SIMILAR = 0.5  # Jaccard similarity of near-duplicates
_REMEMBERED = 128  # requested messages
_SHINGLE, _READ, _SKETCH = 4, 2048, 64  # characters, characters, hashes

# Self-training: docs/internals/label-experiments.md has the figures.
_SURE = 0.99  # probability of the label
_FAMILIAR = 20.0  # learned messages of the label, and of the runner-up
SELF_TRAINED = 0.1  # weight of the message


Sketch = frozenset[int]
"""The smallest hashes of the parts of a message."""


class LabelRequester:
    """Select messages whose labels are worth requesting, within a budget.

    The probability of a request is 1 / (1 + (m / b)²), where m is the log odds of the two most
    likely labels. The scale b grows exponentially with the unspent budget, so requests keep to the
    budget whatever the confidence of the model. A share of the budget goes to random messages,
    and more at the beginning. If the budget is full, any message is requested. Near-duplicates of
    the last 128 requested messages are skipped.

    Parameters
    ----------
    capacity
        Maximum number of unspent requests, 1 or more.
    advance
        Number of requests that may be spent at the beginning. Half of the later budget repays them.
    seed
        Seed of the random numbers.

    Examples
    --------
    >>> requester = LabelRequester(advance=1)
    >>> requester.ask("win cash", {}, 0.5), requester.ask("win money", {"spam": 1.0}, 0.5)
    (True, False)

    References
    ----------
    N. Cesa-Bianchi, C. Gentile, L. Zaniboni (2006). Worst-case analysis of selective sampling for
    linear classification. Journal of Machine Learning Research 7.
    """

    def __init__(self, capacity: float = 60.0, advance: float = 60.0, seed: int = 42) -> None:
        self._capacity = max(1.0, check_above_zero("capacity", capacity))
        self._unspent = self._debt = check_from_zero("advance", advance)
        self._seed = check_bound("seed", seed, 0)
        self._seen = self._known = self._since = 0
        self._recent: dict[Hashable, Sketch] = {}

    def ask(
        self, x: Any, probabilities: Mapping[Any, float], credit: float, key: Hashable = None
    ) -> bool:
        """Return whether to request the label of a message.

        Parameters
        ----------
        x
            The message: a text, or a mapping.
        probabilities
            Probability of each label; empty before any learning.
        credit
            Requests that the budget has gained since the last call: the share of messages to
            request, or the requests per second times the seconds.
        key
            Id of the message, for `forget`; None for a number.
        """
        self._seen += 1
        full = self._add(credit)
        if self._unspent < 1.0:
            return False
        if not full and self._drawn() >= self._probability(probabilities, credit):
            return False
        sketch = sketch_of(x)
        if any(similarity(sketch, each) >= _SIMILAR for each in self._recent.values()):
            return False
        self._unspent -= 1.0
        self._remember(self._seen if key is None else key, sketch)
        return True

    def _add(self, credit: float) -> bool:
        """Add credit to the budget; return whether some is lost because the budget is full."""
        most = max(self._capacity, self._unspent)  # the advance may be larger
        repaid = min(self._debt, _REPAID * credit)
        unspent = self._unspent + credit - repaid
        self._unspent = min(unspent, most)
        debt = self._debt - repaid - (unspent - self._unspent)
        self._debt = max(0.0, debt)
        return debt < 0.0

    def _drawn(self) -> float:
        """Return a random number from 0 to 1, which depends on the seed and the message number."""
        text = f"{self._seed}:{self._seen}".encode()
        digest = hashlib.blake2b(text, digest_size=8).digest()
        return math.ldexp(int.from_bytes(digest), -64)

    def _probability(self, probabilities: Mapping[Any, float], credit: float) -> float:
        if len(probabilities) > self._known:
            self._known, self._since = len(probabilities), self._seen - 1
        least = max(_EXPLORED * credit, _FIRST / (self._seen - self._since))
        if len(probabilities) < 2:
            return max(least, credit)
        second, first = sorted(probabilities.values())[-2:]
        margin = math.log(first / second) if second > 0.0 else math.inf
        unspent = min(2.0, self._unspent / max(self._capacity, self._debt))
        scale = _LEAST * math.pow(_MOST / _LEAST, unspent)
        return max(least, 1.0 / (1.0 + math.pow(margin / scale, _STEEPNESS)))

    def remember(self, key: Hashable, x: Any) -> None:
        """Skip near-duplicates of a message, as if its label had just been requested."""
        self._remember(key, sketch_of(x))

    def _remember(self, key: Hashable, sketch: Sketch) -> None:
        self._recent.pop(key, None)
        self._recent[key] = sketch
        if len(self._recent) > _REMEMBERED:
            del self._recent[next(iter(self._recent))]

    def forget(self, key: Hashable) -> None:
        """Request near-duplicates of a message again."""
        self._recent.pop(key, None)

    def to_json(self) -> list[float]:
        """Return the budget as plain values, without the requested messages."""
        return [self._unspent, self._debt, self._seen, self._known, self._since]

    def restore(self, state: Any) -> None:
        """Restore a budget from `to_json`; an invalid one raises ValueError or TypeError."""
        unspent, debt, *counts = map(float, state)
        seen, known, since = counts
        if not all(0.0 <= each < math.inf for each in (unspent, debt, *counts)) or since > seen:
            raise ValueError("a budget of requests needs finite numbers from 0 on")
        self._unspent, self._debt = unspent, debt
        self._seen, self._known, self._since = int(seen), int(known), int(since)


def sketch_of(x: Any) -> Sketch:
    """Return the smallest hashes of a message's parts: substrings of a text, keys of a mapping."""
    if isinstance(x, str) or not isinstance(x, Mapping):  # the check of a type is fast
        return frozenset(_core.text_sketch(str(x), _SHINGLE, _READ, _SKETCH))
    parts = {f"{key} {value if isinstance(value, str) else ''}" for key, value in x.items()}
    hashes = (zlib.crc32(part.encode("utf-8", "replace")) for part in parts)
    return frozenset(sorted(hashes)[:_SKETCH])


def similarity(one: Sketch, other: Sketch) -> float:
    """Return the estimated Jaccard similarity of two messages.

    Examples
    --------
    >>> texts = ("win cash now", "win cash now!", "see you at noon")
    >>> one, near, far = map(sketch_of, texts)
    >>> similarity(one, near), similarity(one, far)
    (0.9, 0.0)
    """
    joint = sorted(one | other)[:_SKETCH]
    return len((one & other).intersection(joint)) / max(1, len(joint))


class BudgetSampler(ActiveLearningClassifier):
    """A classifier that requests labels for a share of the messages.

    `predict_one` and `predict_proba_one` return the prediction, and whether to request the label.
    Unlike `river.active.EntropySampler`, it keeps to a budget.

    Parameters
    ----------
    classifier
        Any classifier of river or streamnb.
    share
        Share of the messages to request, above 0.
    capacity, advance, seed
        See `LabelRequester`.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> from streamnb.datasets import stream
    >>> model, requested = BudgetSampler(OnlineNB(), share=0.1, capacity=10), 0
    >>> for x, y in stream("synthetic-sms", limit=1000):
    ...     label, ask = model.predict_one(x)
    ...     if ask:
    ...         requested += 1
    ...         model.learn_one(x, y)
    >>> 80 <= requested <= 120
    True
    """

    def __init__(
        self,
        classifier: Any,
        share: float = 0.02,
        capacity: float = 60.0,
        advance: float = 60.0,
        seed: int = 42,
    ) -> None:
        super().__init__(classifier, seed)
        self.share: float = check_above_zero("share", share)
        self.capacity, self.advance = capacity, advance
        self._requester = LabelRequester(capacity, advance, seed)

    def _ask_for_label(self, x: Any, y_pred: Mapping[Any, float]) -> bool:
        return self._requester.ask(x, y_pred, self.share)


def confident_label(model: Any, probabilities: Mapping[Any, float]) -> Any:
    """Return the label that a model may learn without a user, or None.

    Its probability is at least 0.99, and the model has learned 20 messages of it, and as many of
    the second most likely label.

    Parameters
    ----------
    model
        A model of streamnb.
    probabilities
        The probability of each label, from this model.
    """
    if len(probabilities) < 2:
        return None
    second, first = sorted(probabilities, key=probabilities.__getitem__)[-2:]
    if probabilities[first] < _SURE:
        return None
    known = model.class_count_
    return first if min(known.get(each, 0.0) for each in (first, second)) >= _FAMILIAR else None


def self_train(model: Any, x: Any) -> Any:
    """Learn a message without a label, if the model is certain about it.

    The model learns its own prediction, with a weight of 0.1 (`confident_label` states when). With
    few labels this halves the errors of some streams. Errors confirm themselves, so do not use it
    for a label that users never give.

    Parameters
    ----------
    model
        A model of streamnb.
    x
        The message: a text, or a mapping.

    Returns
    -------
    The learned label, or None.

    Examples
    --------
    >>> from streamnb import OnlineNB
    >>> model = OnlineNB()
    >>> for _ in range(20):
    ...     model.learn_one("win free cash", "spam")
    ...     model.learn_one("see you at noon", "ham")
    >>> self_train(model, "win free cash now"), self_train(model, "hello")
    ('spam', None)
    >>> round(model.class_count_["spam"], 1)
    20.1

    References
    ----------
    K. Nigam, A. McCallum, S. Thrun, T. Mitchell (2000). Text classification from labeled and
    unlabeled documents using EM. Machine Learning 39.
    """
    label = confident_label(model, model.predict_proba_one(x))
    if label is not None:
        # A challenged model does not compare its errors on its own labels.
        getattr(model, "relearn_one", model.learn_one)(x, label, w=SELF_TRAINED)
    return label
