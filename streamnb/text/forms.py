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


def check_form(form: object, event: Event) -> str:
    """Return the name of a form that an event model can tell from others.

    Raises
    ------
    InputError
        If there is none of this name, or the event model looks at no counts.

    Examples
    --------
    >>> from streamnb.parts import Bernoulli, Multinomial
    >>> check_form("log-unit", Multinomial())
    'log-unit'
    >>> check_form("log-unit", Bernoulli())
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: form='log-unit' changes nothing for the event 'bernoulli', which \
asks whether a word is there and not how often: leave it at 'counts'
    """
    if not isinstance(form, str) or form not in FORMS:
        raise InputError(f"form must be one of {', '.join(map(repr, FORMS))}, not {shown(form)}")
    if form != "counts" and not event.counts:
        raise InputError(
            f"form={shown(form)} changes nothing for the event {event.name!r}, which asks whether "
            f"a word is there and not how often: leave it at 'counts'"
        )
    return form
