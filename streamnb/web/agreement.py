"""Agreement between the annotators of a page."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamnb.text.labels import MessageLabel

Opinions = Mapping[str, Mapping[str, MessageLabel]]
"""The label of each annotator for each message: id → annotator → label."""

PAGE, UNDO = "page", "undo"
"""Sources of labels: a person at the page who gives a label, or takes one back."""

_MOST_PAIRS = 50  # of annotators that are shown


def opinions(history: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, MessageLabel]]:
    """Return the last label that each annotator gave to each message.

    A label counts if it was neither refused nor taken back.

    Parameters
    ----------
    history
        The labels in their order: `id`, `annotator`, `label`, `source` and `status`. A label with
        the source `undo` takes the last label of its annotator back.

    Examples
    --------
    >>> ann = {"id": "1", "annotator": "ann", "label": "a", "source": "page", "status": "learned"}
    >>> opinions([ann])
    {'1': {'ann': 'a'}}
    >>> opinions([ann, ann | {"label": "b", "source": "undo"}])
    {}
    """
    given: dict[tuple[str, str], list[MessageLabel | None]] = {}
    for entry in history:
        if entry["annotator"] and not entry["status"].startswith("refused"):
            labels = given.setdefault((entry["id"], entry["annotator"]), [])
            if entry["source"] != UNDO:
                labels.append(entry["label"])
            elif labels:
                labels.pop()
    found: dict[str, dict[str, MessageLabel]] = {}
    for (name, annotator), labels in given.items():
        label = labels[-1] if labels else None
        if label is not None:
            found.setdefault(name, {})[annotator] = label
    return found


def contested(given: Opinions) -> frozenset[str]:
    """Return the ids of the messages to which annotators gave different labels."""
    return frozenset(name for name, labels in given.items() if len(set(labels.values())) > 1)


def agreement(given: Opinions) -> list[dict[str, Any]]:
    """Return the agreement of each pair of annotators, the pairs with most messages first.

    Each pair has the number of `messages` that both labelled, the share of `same` labels, and
    Cohen's `kappa`: with p the share of same labels, and q the share that two annotators with these
    numbers of labels have by chance, kappa = (p − q) / (1 − q). It is None if q is 1. Two sets of
    labels are the same label if they are equal.

    References
    ----------
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20(1).

    Examples
    --------
    >>> labels = {"ann": "ham", "ben": "ham"}
    >>> agreement({"1": labels, "2": labels, "3": {"ann": "spam", "ben": "spam"}})
    [{'annotators': ('ann', 'ben'), 'messages': 3, 'same': 1.0, 'kappa': 1.0}]
    """
    common: dict[tuple[str, str], list[tuple[MessageLabel, MessageLabel]]] = {}
    for labels in given.values():
        for one, other in itertools.combinations(sorted(labels), 2):
            common.setdefault((one, other), []).append((labels[one], labels[other]))
    pairs = sorted(common.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [
        {"annotators": pair, "messages": len(labels), **_same(labels)}
        for pair, labels in pairs[:_MOST_PAIRS]
    ]


def _same(labels: Sequence[tuple[MessageLabel, MessageLabel]]) -> dict[str, float | None]:
    n = len(labels)
    equal = sum(one == other for one, other in labels)
    ours, theirs = (Counter(side) for side in zip(*labels, strict=True))
    by_chance = sum(count * theirs[label] for label, count in ours.items())  # of n² pairs
    kappa = None if by_chance == n * n else (n * equal - by_chance) / (n * n - by_chance)
    return {"same": equal / n, "kappa": kappa}
