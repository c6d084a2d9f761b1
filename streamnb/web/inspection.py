"""Reasons of a decision: contribution of each word, decisive words, similar messages."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from streamnb.model.reprs import token_shown

__all__ = ["inspect", "nearest", "pieces"]

_MOST_TEXT = 20_000  # characters that are inspected
_MOST_PIECES = 150  # words that are left out in turn: one prediction each
_MOST_TOKENS = 20
_MOST_TOGETHER = 6  # words that are left out together to change a decision
_PIECE = re.compile(r"\S+")


def pieces(text: str) -> list[str]:
    """Return the words of a text, separated by whitespace."""
    return _PIECE.findall(text[:_MOST_TEXT])


def inspect(model: Any, text: str) -> dict[str, Any]:
    """Return a decision of a model with its reasons, as the page shows them.

    Parameters
    ----------
    model
        A model of streamnb that reads texts.
    text
        The message.

    Returns
    -------
    `label`, `against` (the second most probable class) and `probabilities`; `lead`, the score of
    `label` minus the score of `against`, and `prior`, the lead of an empty message; `pieces`, each
    word with the lead that it adds; `tokens`, the tokens of the model with the lead that counts and
    corrections add; `without`, words whose absence changes the decision.
    """
    text = text[:_MOST_TEXT]
    shares = model.predict_proba_one(text)
    label = model.predict_one(text)
    against = max((one for one in shares if one != label), key=shares.__getitem__, default=None)
    seen: dict[str, Any] = {
        "label": _name(label),
        "against": _name(against),
        "probabilities": {_name(one): share for one, share in shares.items()},
    }
    if against is None:
        return {**seen, "lead": None, "prior": None, "pieces": [], "tokens": [], "without": []}
    lead = _lead(model, text, label, against)
    explanation = model.explain_one(text)
    effects = _effects(model, text, label, against, lead)
    return {
        **seen,
        "lead": lead,
        "prior": explanation.baseline[label] - explanation.baseline[against],
        "pieces": [{"text": piece, "adds": effects.get(piece)} for piece in pieces(text)],
        "tokens": _tokens(explanation, label, against),
        "without": _turning(model, text, label, effects),
    }


def _name(label: Hashable) -> str | None:
    return None if label is None else str(label)


def _lead(model: Any, text: str, label: Hashable, against: Hashable) -> float:
    scores = model.joint_log_likelihood_one(text)
    return float(scores[label] - scores[against])


def _without(text: str, gone: Iterable[str]) -> str:
    left_out = set(gone)
    return _PIECE.sub(lambda found: "" if found[0] in left_out else found[0], text)


def _effects(
    model: Any, text: str, label: Hashable, against: Hashable, lead: float
) -> dict[str, float]:
    """Return the lead that each word adds: the lead minus the lead of the text without it."""
    different = list(dict.fromkeys(pieces(text)))[:_MOST_PIECES]
    return {
        piece: lead - _lead(model, _without(text, [piece]), label, against) for piece in different
    }


def _tokens(explanation: Any, label: Hashable, against: Hashable) -> list[dict[str, Any]]:
    found = []
    for token, terms in explanation.words.items():
        added = terms[label] - terms[against]
        corrected = explanation.corrections.get(token)
        correction = corrected[label] - corrected[against] if corrected else 0.0
        if added:
            found.append(
                {"token": token_shown(str(token)), "adds": added, "correction": correction}
            )
    found.sort(key=lambda one: (-abs(one["adds"]), one["token"]))
    return found[:_MOST_TOKENS]


def _turning(model: Any, text: str, label: Hashable, effects: Mapping[str, float]) -> list[str]:
    """Find words whose absence changes the decision: one, or several of the most important."""
    helpful = sorted((piece for piece in effects if effects[piece] > 0), key=lambda p: -effects[p])
    for piece in helpful[:_MOST_TOGETHER]:
        if model.predict_one(_without(text, [piece])) != label:
            return [piece]
    for number in range(2, min(len(helpful), _MOST_TOGETHER) + 1):
        if model.predict_one(_without(text, helpful[:number])) != label:
            return helpful[:number]
    return []


def nearest(text: str, others: Mapping[int, str], most: int = 5) -> list[tuple[int, float]]:
    """Return the most similar messages, by the cosine of their words weighted by rarity.

    Parameters
    ----------
    text
        A message.
    others
        Number → text of the stored messages.
    most
        Maximum number of messages, at least 0.

    Returns
    -------
    Pairs of number and similarity in (0, 1], the most similar first.

    Examples
    --------
    >>> nearest("win cash", {1: "win cash now", 2: "see you at noon"})
    [(1, 0.8...)]
    """
    bags = {number: set(pieces(other.lower())) for number, other in others.items()}
    asked = set(pieces(text.lower()))
    present = Counter(word for bag in bags.values() for word in bag)
    rare = {word: math.log1p(len(bags) / n) for word, n in present.items()}
    # A word that no other message has reduces every similarity.
    unknown = math.log1p(len(bags) + 1)

    def length(bag: set[str]) -> float:
        return math.sqrt(sum(rare.get(word, unknown) ** 2 for word in bag))

    found = []
    for number, bag in bags.items():
        if shared := bag & asked:
            cosine = sum(rare[word] ** 2 for word in shared) / (length(bag) * length(asked))
            found.append((number, cosine))
    return sorted(found, key=lambda pair: (-pair[1], -pair[0]))[:most]
