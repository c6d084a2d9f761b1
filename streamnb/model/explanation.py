"""Explanations: the contribution of each word to a decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping

from streamnb.errors import InputError, shown
from streamnb.model import reprs, word_reasons
from streamnb.parameters import check_bound
from streamnb.text.labels import Label


def rival(
    scores: Mapping[Hashable, float], label: Hashable, right: Hashable | None = None
) -> Hashable | None:
    """Return the label that a decision is compared with: the right one, or the next likely one."""
    if right in scores and right != label:
        return right
    return max((each for each in scores if each != label), key=scores.__getitem__, default=None)


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation:
    """The contribution of each word to each class, in log units.

    The joint log-likelihood of a class is its baseline plus the contributions of all words.

    Attributes
    ----------
    baseline
        Joint log-likelihood of an empty message, by label: the prior and, for the Bernoulli
        model, the absence of all words.
    words
        Contribution of each word of the message, by word and label.
    corrections
        The part of a contribution that online weights have learned, by word and label; empty for
        other models. The rest follows from the counts.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB()
    >>> for x, y in [("win cash now", "spam"), ("see you at noon", "ham")]:
    ...     model.learn_one(x, y)
    >>> explanation = model.explain_one("win at cash")
    >>> explanation.top("spam", 2)
    [('cash', 0.78...), ('win', 0.78...)]
    >>> Explanation({"ham": -0.5, "spam": -1.0}, {"win": {"ham": -4.0, "spam": -2.0}})
    Explanation for spam: 1.50 ahead
              spam    ham   lead
    (start)  -1.00  -0.50  -0.50
    win      -2.00  -4.00  +2.00
    (score)  -3.00  -4.50  +1.50
    """

    baseline: dict[Label, float]
    words: dict[str, dict[Label, float]]
    corrections: dict[str, dict[Label, float]] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return reprs.explanation_text(self)

    def renamed(self, names: Mapping[str, str]) -> Explanation:
        """Return the same explanation with other names for some words."""
        if not names:
            return self
        words, corrections = (
            {names.get(word, word): terms for word, terms in found.items()}
            for found in (self.words, self.corrections)
        )
        return dataclasses.replace(self, words=words, corrections=corrections)

    def in_words(self) -> Explanation:
        """Return the same explanation for people: by words and pairs instead of tokens.

        The contribution of letters is shared equally among the words of the message that contain
        them, so the sums stay the same. Tokens that no word contains have a readable form.

        Examples
        --------
        >>> from streamnb import OnlineNB
        >>> model = OnlineNB(warm_up=0)
        >>> for x, y in [("win cash now", "spam"), ("see you at noon", "ham")]:
        ...     model.learn_one(x, y)
        >>> sorted(model.explain_one("win at noon").in_words().words)
        ['(length)', 'at', 'at noon', 'noon', 'win', 'win at']
        """
        shared = word_reasons.shares([*self.words, *self.corrections.keys() - self.words.keys()])
        return dataclasses.replace(
            self,
            words=word_reasons.in_words(self.words, shared),
            corrections=word_reasons.in_words(self.corrections, shared),
        )

    def scores(self) -> dict[Label, float]:
        """Return the joint log-likelihoods, the sums of all contributions."""
        return {
            label: base + sum(contributions[label] for contributions in self.words.values())
            for label, base in self.baseline.items()
        }

    def lead(self, label: Label, terms: Mapping[Label, float]) -> float:
        """Return the term of a label minus the mean of the other labels' terms."""
        self._check(label)
        others = [terms[other] for other in self.baseline if other != label]
        return terms[label] - sum(others) / max(len(others), 1)

    def towards(self, label: Label, other: Label) -> list[tuple[str, float]]:
        """Return each word with its log odds of a label against another, the strongest first."""
        self._check(label, other)
        found = {word: terms[label] - terms[other] for word, terms in self.words.items()}
        return sorted(found.items(), key=lambda item: (-abs(item[1]), item[0]))

    def top(self, label: Label, n: int = 10) -> list[tuple[str, float]]:
        """Return the words with the largest contributions to a label.

        Parameters
        ----------
        label
            One of the labels of the explanation.
        n
            Number of words, 0 or more.

        Returns
        -------
        Pairs of word and lead, largest first. The lead is the contribution to the label minus the
        mean contribution to the other labels.

        Raises
        ------
        InputError
            If the label is not one of them, or `n` is negative.
        """
        self._check(label)
        check_bound("n", n, least=0)
        lead = {word: self.lead(label, terms) for word, terms in self.words.items()}
        return sorted(lead.items(), key=lambda item: (-item[1], item[0]))[:n]

    def _check(self, *labels: Label) -> None:
        for label in labels:
            if label not in self.baseline:
                raise InputError(
                    f"the explanation has no label {shown(label)}; its labels are "
                    f"{', '.join(map(shown, self.baseline)) or 'none yet: learn a message first'}"
                )


class LabelExplanation(Explanation):
    """An explanation of labels that do not compete: each has its own log odds.

    A lead is the log odds of the label alone.

    Examples
    --------
    >>> odds = {"win": {"corn": -4.0, "wheat": 2.0}}
    >>> explanation = LabelExplanation({"corn": -0.5, "wheat": -1.0}, odds)
    >>> explanation.top("wheat"), explanation.towards("corn")
    ([('win', 2.0)], [('win', -4.0)])
    """

    def towards(self, label: Label, other: Label | None = None) -> list[tuple[str, float]]:
        """Return each word with its log odds of a label, or of a label against another one."""
        if other is not None:
            return super().towards(label, other)
        self._check(label)
        found = {word: terms[label] for word, terms in self.words.items()}
        return sorted(found.items(), key=lambda item: (-abs(item[1]), item[0]))

    def lead(self, label: Label, terms: Mapping[Label, float]) -> float:
        """Return the term of a label."""
        self._check(label)
        return terms[label]
