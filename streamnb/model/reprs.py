"""Text representations of models and explanations.

Messages may be malicious: the text contains no control characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from streamnb.errors import shown

_MOST_WORDS = 20
_MOST_CLASSES = 8


def _printable(text: str) -> str:
    """Return a text without line breaks and control characters."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def token_shown(token: str) -> str:
    r"""Return the readable form of a token.

    A word is shown unchanged. Letters within words are shown with … where the word continues:
    `letters win…` begins a word and `letters win` is a whole one. The native tokenizer marks
    letters, character n-grams and the length with a control character.

    Parameters
    ----------
    token
        A token of a model or an explanation.

    Examples
    --------
    >>> [token_shown(token) for token in ("win", "win cash", "\x0b wi", "\x0bin ", "\x0bi")]
    ['win', 'win cash', 'letters wi…', 'letters …in', 'letters …i…']
    >>> token_shown("\tn c"), token_shown("\x0c6")
    ('characters “n c”', 'length 6')
    """
    for mark in "\t\x0b\x0c":
        field, found, rest = token.partition(mark)
        if not found:
            continue
        field, rest = _printable(field), _printable(rest)
        if mark == "\t":
            return f"{field}characters “{rest}”"
        if mark == "\x0c":
            return f"{field}length {rest}"
        begins, ends = rest.startswith(" "), len(rest) > 1 and rest.endswith(" ")
        letters = rest.removeprefix(" ").removesuffix(" ")
        if not letters:
            return f"{field}edge of a word"
        return f"{field}letters {'' if begins else '…'}{letters}{'' if ends else '…'}"
    return _printable(token)


def _name(label: Any) -> str:
    return _printable(label) if isinstance(label, str) else _printable(shown(label))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as aligned text: the first column to the left, the others to the right.

    Parameters
    ----------
    rows
        Rows of the same length; the first is the header.

    Examples
    --------
    >>> print(aligned([("model", "kappa"), ("MNB", "0.88")]))
    model  kappa
    MNB     0.88
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def explanation_text(explanation: Any) -> str:
    """Return an explanation as a table."""
    if not explanation.baseline:
        return "No explanation: the model has no classes"
    words = explanation.words
    scores = dict(sorted(explanation.scores().items(), key=lambda item: -item[1]))
    best, columns = next(iter(scores)), list(scores)[:_MOST_CLASSES]
    leads = {word: explanation.lead(best, terms) for word, terms in words.items()}

    def line(name: str, terms: Mapping[Any, float]) -> list[str]:
        numbers = [f"{terms[label]:.2f}" for label in columns]
        return [name, *numbers, f"{explanation.lead(best, terms):+.2f}"]

    strongest = sorted(words, key=lambda word: (-abs(leads[word]), word))[:_MOST_WORDS]
    lines = [
        ["", *map(_name, columns), "lead"],
        line("(start)", explanation.baseline),
        *(line(token_shown(word), words[word]) for word in strongest),
        line("(score)", scores),
    ]
    limits = ((len(words), _MOST_WORDS, "words"), (len(scores), _MOST_CLASSES, "classes"))
    notes = [f"… and {n - limit:,} more {things}" for n, limit, things in limits if n > limit]
    title = f"Explanation for {_name(best)}: {explanation.lead(best, scores):.2f} ahead"
    return "\n".join([title, aligned(lines), *notes])


def _learned(model: Any) -> str:
    documents, words, classes = model.n_documents, model.n_words, model.classes_
    names = ", ".join(map(_name, classes[:_MOST_CLASSES]))
    more = f" and {len(classes) - _MOST_CLASSES:,} more" if len(classes) > _MOST_CLASSES else ""
    number = f"{documents:,.0f}" if documents == round(documents) else f"{documents:,.2f}"
    plural = "message" if documents == 1 else "messages"
    return f"{number} {plural}, {words:,} word{'' if words == 1 else 's'}, classes {names}{more}"


def _call(model: Any, changed: Mapping[str, Any]) -> str:
    parameters = ", ".join(f"{name}={shown(value)}" for name, value in changed.items())
    return _printable(f"{type(model).__name__}({parameters})")


def model_text(model: Any, changed: Mapping[str, Any]) -> str:
    """Return a model in one line: its changed parameters, and a summary of the learned messages.

    Examples
    --------
    >>> from streamnb import MNB
    >>> model = MNB(alpha=0.5)
    >>> model.learn_one("win cash", "spam")
    >>> model
    <MNB(alpha=0.5): 1 message, 2 words, classes spam>
    """
    call = _call(model, changed)
    return f"<{call}: {_learned(model)}>" if model.classes_ else call
