"""Lists of senders that are always let through, or never."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from streamnb_consumers.errors import SettingsError

__all__ = ["SenderLists", "read_senders"]

Verdict = Literal["allow", "deny"]
_MAX_BYTES = 2**26


class SenderLists:
    """Addresses and domains that are allowed, and those that are denied.

    A domain stands for all domains below it. What is nearest to the address decides: the address
    itself, then its domain, then the domains above; of two equally near ones `deny`.

    Parameters
    ----------
    allow, deny
        Addresses, domains (`shop.example` or `@shop.example`), numbers or names of senders.

    Examples
    --------
    >>> lists = SenderLists(allow=["ann@shop.example", "good.example"], deny=["shop.example"])
    >>> lists.verdict(["ann@shop.example"]), lists.verdict(["bob@mail.shop.example"])
    ('allow', 'deny')
    >>> lists.verdict(["ann@shop.example", "who@other.example"]) is None
    True
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._allow, self._deny = frozenset(map(_plain, allow)), frozenset(map(_plain, deny))

    def __bool__(self) -> bool:
        return bool(self._allow or self._deny)

    def verdict(self, senders: Iterable[str]) -> Verdict | None:
        """Return what the lists say of a message; None if nothing.

        Of several senders one that is denied is enough, and all must be allowed.
        """
        found = {self._one(_plain(each)) for each in senders}
        if "deny" in found:
            return "deny"
        return "allow" if found == {"allow"} else None

    def _one(self, sender: str) -> Verdict | None:
        for name in _names(sender):
            if name in self._deny:
                return "deny"
            if name in self._allow:
                return "allow"
        return None


def _plain(name: str) -> str:
    return name.strip().lower().removeprefix("@").rstrip(".")


def _names(sender: str) -> Iterator[str]:
    yield sender
    _, at, domain = sender.rpartition("@")
    while at and domain:
        yield domain
        domain = domain.partition(".")[2]


def read_senders(path: str) -> list[str]:
    """Return the senders of a file, one a line; `#` begins a comment; an empty path has none.

    Raises
    ------
    SettingsError
        If it can't be read, or a line is no sender.
    """
    if not path:
        return []
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _MAX_BYTES:
            raise SettingsError(f"{path} is no file of up to {_MAX_BYTES:,} bytes")
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} can't be read: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = line.partition("#")[0].strip()
        if len(name.split()) > 1:
            raise SettingsError(f"{path}, line {number}: one sender a line, not {name[:100]!r}")
        if name:
            found.append(name)
    return found
