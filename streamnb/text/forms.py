"""The form of documents: what the counts of a message's words become before they are learned.

The arithmetic is native (`core/src/counts/form.rs`), as it is done for each message; here are the
names.
"""

from __future__ import annotations

from typing import Protocol

from streamnb.errors import InputError, shown

FORMS = ("counts", "presence", "log", "unit", "presence-unit", "log-unit")


class Event(Protocol):
    """An event model, as far as a form depends on it: its name, and whether it counts words."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def counts(self) -> bool:
        """Whether it asks how often a word is there."""


def check_form(term_weighting: object, event: Event) -> str:
    """Return the name of a form that an event model can tell from others.

    Raises
    ------
    InputError
        If there is none of this name, or the event model looks at no counts.

    Examples
    --------
    >>> from streamnb.families import Bernoulli, Multinomial
    >>> check_form("log-unit", Multinomial())
    'log-unit'
    >>> check_form("log-unit", Bernoulli())
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: term_weighting='log-unit' changes nothing for the event \
'bernoulli', which reads presence only: leave it at 'counts'
    """
    if not isinstance(term_weighting, str) or term_weighting not in FORMS:
        names = ", ".join(map(repr, FORMS))
        raise InputError(f"term_weighting must be one of {names}, not {shown(term_weighting)}")
    if term_weighting != "counts" and not event.counts:
        raise InputError(
            f"term_weighting={shown(term_weighting)} changes nothing for the event "
            f"{event.name!r}, which reads presence only: leave it at 'counts'"
        )
    return term_weighting
