"""Text and HTML representations of models and explanations.

Messages may be malicious: HTML is escaped, and plain text contains no control characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamnb.errors import shown

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


# Name, cells, and share of the largest lead (0 in the first and the last row) of each row.
_Row = tuple[str, list[str], float]


def _table(explanation: Any, corrections: bool) -> tuple[str, list[str], list[_Row], list[str]]:
    """Return the title, the heads, the rows and the notes of an explanation with classes."""
    words = explanation.words
    scores = dict(sorted(explanation.scores().items(), key=lambda item: -item[1]))
    best, columns = next(iter(scores)), list(scores)[:_MOST_CLASSES]
    leads = {word: explanation.lead(best, terms) for word, terms in words.items()}
    most = max(map(abs, leads.values()), default=0.0) or 1.0

    def cells(terms: Mapping[Any, float], learned: Mapping[Any, float] | None = None) -> list[str]:
        numbers = [f"{terms[label]:.2f}" for label in columns]
        numbers.append(f"{explanation.lead(best, terms):+.2f}")
        if corrections:
            numbers.append(f"{explanation.lead(best, learned):+.2f}" if learned else "")
        return numbers

    rows: list[_Row] = [("(start)", cells(explanation.baseline), 0.0)]
    for word in sorted(words, key=lambda word: (-abs(leads[word]), word))[:_MOST_WORDS]:
        learned = explanation.corrections.get(word)
        rows.append((token_shown(word), cells(words[word], learned), leads[word] / most))
    rows.append(("(score)", cells(scores), 0.0))
    heads = [*map(_name, columns), "lead", *(["learned online"] if corrections else [])]
    limits = ((len(words), _MOST_WORDS, "words"), (len(scores), _MOST_CLASSES, "classes"))
    notes = [f"… and {n - limit:,} more {things}" for n, limit, things in limits if n > limit]
    title = f"Explanation for {_name(best)}: {explanation.lead(best, scores):.2f} ahead"
    return title, heads, rows, notes


def explanation_text(explanation: Any) -> str:
    """Return an explanation as a table."""
    if not explanation.baseline:
        return "No explanation: the model has no classes"
    title, heads, rows, notes = _table(explanation, corrections=False)
    lines = [["", *heads], *([name, *cells] for name, cells, _ in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    table = [
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])])
        for line in lines
    ]
    return "\n".join([title, *table, *notes])


def explanation_html(explanation: Any) -> str:
    """Return an explanation as an HTML table, each word coloured by its contribution."""
    if not explanation.baseline:
        return f"<p>{_escape(explanation_text(explanation))}</p>"
    title, heads, rows, notes = _table(explanation, corrections=bool(explanation.corrections))
    head = "".join(f'<th style="{_CELL}">{_escape(name)}</th>' for name in heads)
    body = ""
    for name, cells, share in rows:
        colour = f"background:rgba({_FOR if share > 0 else _AGAINST},{abs(share) * 0.6:.2f})"
        body += f'<tr><th style="text-align:left;{colour}">{_escape(name)}</th>'
        body += "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells) + "</tr>"
    after = "".join(f"<p>{_escape(note)}</p>" for note in notes)
    return (
        f"<div><p>{_escape(title)}</p><table><thead><tr><th></th>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{after}</div>"
    )


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


def model_html(model: Any, parameters: Mapping[str, Any], changed: Mapping[str, Any]) -> str:
    """Return a model as HTML: a summary, and all parameters in a collapsible table."""
    rows = ""
    for name, value in parameters.items():
        text = _escape(_printable(shown(value)))
        cell = f"<b>{text}</b>" if name in changed else text
        rows += f'<tr><th style="text-align:left">{_escape(name)}</th><td>{cell}</td></tr>'
    what = _learned(model) if model.classes_ else "untrained"
    return (
        f"<details><summary><code>{_escape(_call(model, changed))}</code> {_escape(what)}</summary>"
        f"<table>{rows}</table></details>"
    )
