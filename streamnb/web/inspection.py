"""Reasons of a decision: contribution of each word, decisive words, similar messages."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from streamnb.model.explanation import rival
from streamnb.model.reprs import token_shown
from streamnb.text.labels import MessageLabel, label_names, sort_key

T = TypeVar("T")

_MOST_TEXT = 20_000  # characters whose words are coloured
_MOST_INSPECTED = 50_000  # characters of a text whose decision is explained
_MOST_EXPLAINED = 2_000  # characters of a text that is explained at its arrival
_MOST_TOKENS = 20
_MOST_LABELS = 6  # of a message that are explained
_MOST_TOGETHER = 6  # words that are left out together to change a decision
_MOST_COMPARED = 300  # distinct words of a message that are compared with other messages
_UNEXPLAINED: dict[str, Any] = {"words": [], "tokens": [], "without": []}
_PIECE = re.compile(r"\S+")
_LENGTH = "\x0c"  # mark of the tokens of the length: no single word has them


def pieces(text: str) -> list[str]:
    """Return the first words of a text, separated by whitespace."""
    return _PIECE.findall(text[:_MOST_TEXT])


def inspect(model: Any, text: str, given: MessageLabel | None = None) -> dict[str, Any]:
    """Return a decision of a model with its reasons, as the page shows them.

    The score of `label` minus the score of `against` is `lead`. It is the sum of `prior`, of the
    contribution of each word, and of `rest`, the contribution of the tokens that no shown word
    contains. A token of several words is shared equally among them.

    Parameters
    ----------
    model
        A model of streamnb that reads texts.
    text
        The message.
    given
        Its labels, of which a model of several labels explains each one.

    Returns
    -------
    `label`, `against` (the second most probable class) and `probabilities`; `lead`, `prior` and
    `rest`; `pieces`, the words with their contributions; `words`, the strongest words and pairs;
    `tokens`, the tokens of the model with the contributions of counts and corrections; `without`,
    words whose absence changes the decision; `hidden`, the number of characters that the decision
    used and `pieces` leaves out. A text of more than 50,000 characters has the decision only, and
    `lead` is None. A model of several labels has no `against`; its `reasons` are those of each
    label by name, where `lead` is the score of the label.
    """
    shares = model.predict_proba_one(text)
    label = decided(model, text)
    against = None if isinstance(label, tuple) else rival(shares, label)
    seen: dict[str, Any] = {
        "label": _name(label),
        "against": _name(against),
        "probabilities": {_name(one): share for one, share in shares.items()},
        "hidden": max(0, len(text) - _MOST_TEXT),
    }
    is_long = len(text) > _MOST_INSPECTED
    if is_long:
        seen["hidden"] = len(text)
    if isinstance(label, tuple):
        named = _explained_labels(shares, label, given)
        reasons = _Reasons(model, text) if named and not is_long else None
        found = {_name(each): reasons and reasons.of(each) for each in named}
        return {**seen, "reasons": found}
    if against is None or is_long:
        seen["hidden"] = len(text)
        return {**seen, "lead": None, "prior": None, "pieces": [], **_UNEXPLAINED}
    return {**seen, **_Reasons(model, text).of(label, against)}


def decided(model: Any, text: str) -> Any:
    """Return the decision of a model: a label, or a sorted tuple of several."""
    label = model.predict_one(text)
    return tuple(sorted(label, key=sort_key)) if getattr(model, "label_sets", False) else label


def strongest(
    model: Any, text: str, label: Hashable, right: str | None = None
) -> tuple[str | None, list[tuple[str, float]]]:
    """Return the rival of a decision, and the words that contribute most for or against it.

    A wrong decision is compared with the right label. A long text has no words unless the decision
    is wrong: explaining each mail would slow down the stream.
    """
    if _is_too_long(text, right is not None and right != str(label)):
        return None, []
    explanation = model.explain_one(text)
    against = rival(explanation.scores(), label, right)
    if against is None:
        return None, []
    return _name(against), _top(explanation.in_words().towards(label, against))


def strongest_of_each(
    model: Any, text: str, shares: Mapping[Hashable, float], found: Any, given: Any
) -> dict[Any, list[tuple[str, float]]]:
    """Return the words that contribute most to each label of a decision, or of the message.

    Parameters
    ----------
    model, text
        A model of several labels, and a message.
    shares
        The probability of each label.
    found, given
        The labels of the decision, and those of the message; None if they are unknown.
    """
    is_wrong = given is not None and given != tuple(map(_name, found))
    if _is_too_long(text, is_wrong):
        return {}
    named = _explained_labels(shares, found, given)
    if not named:
        return {}
    explanation = model.explain_one(text).in_words()
    return {_name(each): _top(explanation.towards(each)) for each in named}


def _is_too_long(text: str, is_wrong: bool) -> bool:
    return len(text) > (_MOST_INSPECTED if is_wrong else _MOST_EXPLAINED)


def _explained_labels(shares: Mapping[Hashable, float], found: Any, given: Any) -> list[Hashable]:
    """Return the labels of a decision and of its message, and the most likely one, in order."""
    ordered = sorted(shares, key=lambda each: -shares[each])
    wanted = {*found, *ordered[:1]}
    named = label_names(given)
    return [each for each in ordered if each in wanted or _name(each) in named][:_MOST_LABELS]


def _name(label: Any) -> Any:
    if isinstance(label, tuple):
        return tuple(map(_name, label))
    return None if label is None else str(label)


def _term(terms: Mapping[Hashable, float] | None, label: Hashable, against: Hashable) -> float:
    if not terms:
        return 0.0
    return terms[label] - (0.0 if against is None else terms[against])


def _top(leads: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(token, adds) for token, adds in leads[:_MOST_TOKENS] if adds]


class _Reasons:
    """The reasons of the decisions of a model on a text, label by label."""

    def __init__(self, model: Any, text: str) -> None:
        self._model, self._text = model, text
        self._explanation = model.explain_one(text)
        self._in_words = self._explanation.in_words()
        self._words, self._places = _places(model, text, self._explanation.words)

    def of(self, label: Hashable, against: Hashable = None) -> dict[str, Any]:
        """Return the reasons of a label against another one, or of one of several labels."""
        explanation = self._explanation
        pair = (label,) if against is None else (label, against)
        leads = explanation.towards(*pair)
        prior = _term(explanation.baseline, label, against)
        effects = _effects(self._words, self._places, dict(leads))
        lead = prior + math.fsum(adds for _, adds in leads)
        return {
            "lead": lead,
            "prior": prior,
            "rest": lead - prior - math.fsum(adds for _, adds in effects),
            "pieces": [{"text": piece, "adds": adds} for piece, adds in effects],
            "words": _top(self._in_words.towards(*pair)),
            "tokens": [
                {"token": token_shown(token), "adds": adds, "correction": correction}
                for token, adds in _top(leads)
                for correction in [_term(explanation.corrections.get(token), label, against)]
            ],
            "without": _turning(self._model, self._text, label, effects),
        }


def _places(
    model: Any, text: str, known: Collection[str]
) -> tuple[list[str], dict[str, list[int]]]:
    """Return the words of a text, and the places of the words that contain each token.

    The tokens of a word, or of a pair of adjacent words, are those that the model finds in them
    alone.
    """
    words = pieces(text)

    @functools.cache
    def tokens_of(part: str) -> frozenset[str]:
        found = model.tokens_one(part)
        return frozenset(token for token in found if token in known and _LENGTH not in token)

    places: dict[str, list[int]] = {}
    for place, (word, following) in enumerate(zip(words, [*words[1:], ""], strict=True)):
        own = tokens_of(word)
        for token in own:
            places.setdefault(token, []).append(place)
        if following:
            for token in tokens_of(f"{word} {following}") - own - tokens_of(following):
                places.setdefault(token, []).extend((place, place + 1))
    return words, places


def _effects(
    words: Sequence[str], places: Mapping[str, Sequence[int]], leads: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Return each word of a text with the contribution of its tokens."""
    adds = [0.0] * len(words)
    for token, found in places.items():
        for place in found:
            adds[place] += leads[token] / len(found)
    return list(zip(words, adds, strict=True))


def _without(text: str, gone: Iterable[str]) -> str:
    left_out = set(gone)
    return _PIECE.sub(lambda found: "" if found[0] in left_out else found[0], text)


def _turning(
    model: Any, text: str, label: Hashable, effects: Iterable[tuple[str, float]]
) -> list[str]:
    """Find words without which the label is not decided: one, or several important ones."""

    def has_label(part: str) -> bool:
        found = decided(model, part)
        return label in found if isinstance(found, tuple) else bool(label == found)

    if not has_label(text):
        return []
    total: dict[str, float] = {}
    for piece, adds in effects:
        total[piece] = total.get(piece, 0.0) + adds
    helpful = sorted((piece for piece in total if total[piece] > 0), key=lambda one: -total[one])
    helpful = helpful[:_MOST_TOGETHER]
    groups = [[piece] for piece in helpful]
    groups += [helpful[:number] for number in range(2, len(helpful) + 1)]
    for group in groups:
        if not has_label(_without(text, group)):
            return group
    return []


def word_set(text: str) -> frozenset[str]:
    """Return the words that `nearest` compares: at most 300, in lower case."""
    words = dict.fromkeys(pieces(text.lower()))
    return frozenset(itertools.islice(words, _MOST_COMPARED))


def nearest(
    words: frozenset[str], others: dict[T, frozenset[str]], most: int = 5
) -> list[tuple[T, float]]:
    """Return the most similar messages, by the cosine of their words weighted by rarity.

    Parameters
    ----------
    words
        The words of a message, by `word_set`.
    others
        Number or id → words of the stored messages.
    most
        Maximum number of messages, at least 0.

    Returns
    -------
    Pairs of number or id and similarity in (0, 1], the most similar first, then the newest.

    Examples
    --------
    >>> nearest(word_set("win cash"), {1: word_set("win cash now"), 2: word_set("see you")})
    [(1, 0.8...)]
    """
    present = Counter(word for bag in others.values() for word in bag)
    rare = {word: math.log1p(len(others) / n) for word, n in present.items()}
    # A word that no other message has reduces every similarity.
    unknown = math.log1p(len(others) + 1)

    def length(bag: frozenset[str]) -> float:
        return math.sqrt(sum(rare.get(word, unknown) ** 2 for word in bag))

    found = []
    for name, bag in reversed(others.items()):
        if shared := bag & words:
            cosine = sum(rare[word] ** 2 for word in shared) / (length(bag) * length(words))
            found.append((name, min(cosine, 1.0)))
    return sorted(found, key=lambda pair: -pair[1])[:most]
