"""Text and HTML representations of models and explanations.

Messages may be malicious: HTML is escaped, and plain text contains no control characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from streamnb.errors import shown

__all__ = ["explanation_html", "explanation_text", "model_html", "model_text", "token_shown"]

_MOST_WORDS = 20
_MOST_CLASSES = 8
_CELL = "text-align:right;padding:0 .6em"
# Orange supports the class, blue opposes it; colour-blind people can distinguish them.
_FOR, _AGAINST = "230,159,0", "0,114,178"


def _escape(text: str) -> str:
    """Return a text escaped for HTML elements and attributes."""
    import html  # importing it at the top would slow down `import streamnb`

    return html.escape(text)


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


def _leads(
    baseline: Mapping[Any, float], words: Mapping[str, Mapping[Any, float]]
) -> tuple[dict[Any, float], Callable[[Mapping[Any, float]], float], list[str]]:
    """Return the scores, best first, a function for the lead of the best, and the words by lead."""
    sums = {
        label: base + sum(terms[label] for terms in words.values())
        for label, base in baseline.items()
    }
    scores = dict(sorted(sums.items(), key=lambda item: -item[1]))
    classes = list(scores)

    def lead(terms: Mapping[Any, float]) -> float:
        others = [terms[label] for label in classes[1:]]
        return terms[classes[0]] - sum(others) / max(len(others), 1)

    ordered = sorted(words, key=lambda word: (-abs(lead(words[word])), word)) if classes else []
    return scores, lead, ordered


def explanation_text(
    baseline: Mapping[Any, float], words: Mapping[str, Mapping[Any, float]]
) -> str:
    """Return an explanation as a table.

    Parameters
    ----------
    baseline
        Score of an empty message, by label.
    words
        Contribution of each word, by word and label.

    Examples
    --------
    >>> print(explanation_text({"ham": -0.5, "spam": -1.0}, {"win": {"ham": -4.0, "spam": -2.0}}))
    Explanation for spam: 1.50 ahead
              spam    ham   lead
    (start)  -1.00  -0.50  -0.50
    win      -2.00  -4.00  +2.00
    (score)  -3.00  -4.50  +1.50
    """
    scores, lead, ordered = _leads(baseline, words)
    classes = list(scores)
    if not classes:
        return "No explanation: the model has no classes"
    rows = [("(start)", baseline), *((word, words[word]) for word in ordered[:_MOST_WORDS])]
    rows.append(("(score)", scores))
    columns = classes[:_MOST_CLASSES]
    lines = [["", *map(_name, columns), "lead"]]
    lines += [
        [
            token_shown(name),
            *(f"{terms[label]:.2f}" for label in columns),
            f"{lead(terms):+.2f}",
        ]
        for name, terms in rows
    ]
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    table = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    title = f"Explanation for {_name(classes[0])}: {lead(scores):.2f} ahead"
    return "\n".join([title, *table, *_left_out(len(words), len(classes))])


def _left_out(words: int, classes: int) -> list[str]:
    notes = []
    if words > _MOST_WORDS:
        notes.append(f"… and {words - _MOST_WORDS:,} more words")
    if classes > _MOST_CLASSES:
        notes.append(f"… and {classes - _MOST_CLASSES:,} more classes")
    return notes


def explanation_html(
    baseline: Mapping[Any, float],
    words: Mapping[str, Mapping[Any, float]],
    corrections: Mapping[str, Mapping[Any, float]],
) -> str:
    """Return an explanation as an HTML table, each word coloured by its contribution.

    Parameters
    ----------
    baseline, words
        As in `explanation_text`.
    corrections
        The learned part of the contributions of words.
    """
    scores, lead, ordered = _leads(baseline, words)
    classes = list(scores)
    if not classes:
        return f"<p>{_escape(explanation_text(baseline, words))}</p>"
    columns = classes[:_MOST_CLASSES]
    most = max((abs(lead(terms)) for terms in words.values()), default=0.0) or 1.0
    corrected = bool(corrections)

    def row(name: str, terms: Mapping[Any, float], learned: Mapping[Any, float] | None) -> str:
        share = lead(terms)
        strength = min(abs(share) / most, 1.0) * 0.6 if learned is not None else 0.0
        colour = f"background:rgba({_FOR if share > 0 else _AGAINST},{strength:.2f})"
        cells = [f"{terms[label]:.2f}" for label in columns] + [f"{share:+.2f}"]
        if corrected:
            cells.append(f"{lead(learned):+.2f}" if learned else "")
        return f'<tr><th style="text-align:left;{colour}">{_escape(token_shown(name))}</th>' + (
            "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>"
        )

    heads = [*map(_name, columns), "lead", *(["learned online"] if corrected else [])]
    body = [row("(start)", baseline, None)]
    body += [row(word, words[word], corrections.get(word, {})) for word in ordered[:_MOST_WORDS]]
    body.append(row("(score)", scores, None))
    title = f"Explanation for {_name(classes[0])}: {lead(scores):.2f} ahead"
    head = "".join(f'<th style="{_CELL}">{_escape(name)}</th>' for name in heads)
    notes = "".join(f"<p>{_escape(note)}</p>" for note in _left_out(len(words), len(classes)))
    return (
        f"<div><p>{_escape(title)}</p><table><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{notes}</div>"
    )


def _learned(documents: float, words: int, classes: Sequence[Any]) -> str:
    names = ", ".join(map(_name, classes[:_MOST_CLASSES]))
    more = f" and {len(classes) - _MOST_CLASSES:,} more" if len(classes) > _MOST_CLASSES else ""
    number = f"{documents:,.0f}" if documents == round(documents) else f"{documents:,.2f}"
    plural = "message" if documents == 1 else "messages"
    return f"{number} {plural}, {words:,} word{'' if words == 1 else 's'}, classes {names}{more}"


def _call(name: str, changed: Iterable[tuple[str, Any]]) -> str:
    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in changed)})"


def model_text(
    name: str,
    changed: Mapping[str, Any],
    learned: tuple[float, int, Sequence[Any]],
) -> str:
    """Return a model in one line: its changed parameters, and a summary of the learned messages.

    Parameters
    ----------
    name
        Its class.
    changed
        Parameters that differ from their defaults.
    learned
        Weight of its messages, number of its words, and its classes.

    Examples
    --------
    >>> model_text("MNB", {"alpha": 0.5}, (3, 12, ["ham", "spam"]))
    '<MNB(alpha=0.5): 3 messages, 12 words, classes ham, spam>'
    """
    call = _printable(_call(name, changed.items()))
    return f"<{call}: {_learned(*learned)}>" if learned[2] else call


def model_html(
    name: str,
    parameters: Mapping[str, Any],
    changed: Mapping[str, Any],
    learned: tuple[float, int, Sequence[Any]],
) -> str:
    """Return a model as HTML: a summary, and all parameters in a collapsible table.

    Parameters
    ----------
    name, changed, learned
        As in `model_text`.
    parameters
        All parameters.
    """
    rows = "".join(
        f'<tr><th style="text-align:left">{_escape(key)}</th>'
        f"<td>{'<b>' if key in changed else ''}{_escape(_printable(shown(value)))}"
        f"{'</b>' if key in changed else ''}</td></tr>"
        for key, value in parameters.items()
    )
    what = _learned(*learned) if learned[2] else "untrained"
    call = _printable(_call(name, changed.items()))
    return (
        f"<details><summary><code>{_escape(call)}</code> {_escape(what)}</summary>"
        f"<table>{rows}</table></details>"
    )
