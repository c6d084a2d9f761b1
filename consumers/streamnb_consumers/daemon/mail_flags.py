"""The flags of `streamnb-spam` for single mails, compatible with bogofilter."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from streamnb_consumers.errors import BusyError, SettingsError

ERROR = 3  # 0, 1 and 2 are answers
TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h, which mail systems know

_FLAGS = (
    ("p", "passthrough", "write the mail with a header that says what was decided"),
    ("e", "embed", "with -p: end with 0 whatever was decided, for procmail"),
    ("u", "update", "learn the mail as what is decided, unless it is unsure"),
    ("s", "register_spam", "learn it as spam"),
    ("n", "register_ham", "learn it as ham"),
    ("S", "unregister_spam", "unlearn it as spam; with -n: it was ham all the time"),
    ("N", "unregister_ham", "unlearn it as ham; with -s: it was spam all the time"),
)
_SHORT = re.compile(r"-[A-Za-z]+")  # nothing else has short flags, but -h


def check_mail_flags(flags: argparse.Namespace) -> None:
    """Check the actions for a mail.

    Raises
    ------
    SettingsError
        If two of them exclude each other.
    """
    given = {letter for letter, name, _ in _FLAGS if getattr(flags, name)}
    for one, other in ("sn", "sS", "nN", "SN"):
        if {one, other} <= given:
            raise SettingsError(f"-{one} and -{other} are both given: choose one")
    if registers(flags) and (flags.passthrough or flags.update):
        raise SettingsError("-s, -n, -S and -N only learn: -p and -u decide on a mail")
    if flags.embed and not flags.passthrough:
        raise SettingsError("-e is for -p: without it the exit status is the answer")


def registers(flags: argparse.Namespace) -> bool:
    """Return whether the label of the mail is given."""
    return any(getattr(flags, name) for _, name, _ in _FLAGS[3:])


def add_mail_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags to a parser."""
    group = parser.add_argument_group(
        "one mail",
        "With one of these, or where standard input is no JSON, a mail is read there. The exit "
        "status is then 0 for spam, 1 for ham, 2 for unsure, 3 for an error, 75 for one that may "
        "be tried again; 0 where a mail was learned. The state is kept in `snapshots`, by default "
        "~/.local/share/streamnb/spam.",
    )
    for letter, name, text in _FLAGS:
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(f"-{letter}", flag, action="store_true", help=text)


def asks_for_mail(arguments: Sequence[str]) -> bool:
    """Return whether arguments, valid or not, ask for the exit status of one mail.

    Examples
    --------
    >>> asks_for_mail(["-Sn"]), asks_for_mail(["--format=mail", "--oops"]), asks_for_mail([])
    (True, True, False)
    """
    names = {f"--{name.replace('_', '-')}" for _, name, _ in _FLAGS}
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    return any(
        (_SHORT.fullmatch(one) and one != "-h")
        or one in names
        or one == "--format=mail"
        or (one, after) == ("--format", "mail")
        for one, after in pairs
    )


def mail_status(error: BaseException) -> int:
    """Return the exit status of an error; 0, 1 and 2 are decisions."""
    return TRY_AGAIN if isinstance(error, BusyError) else ERROR
