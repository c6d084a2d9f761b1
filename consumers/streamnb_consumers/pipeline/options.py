"""Options of a filter, and its sender lists."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from streamnb.model.threshold import Cutoffs
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline.assumptions import AssumeAfter
from streamnb_consumers.pipeline.window import Bounds

Verdict = Literal["allow", "deny"]
_MAX_BYTES = 2**26


class SenderLists:
    """Allowed and denied addresses and domains.

    A domain includes its subdomains. The most specific entry decides: the address, then its domain,
    then the parent domains. `deny` wins among equally specific entries.

    Parameters
    ----------
    allow, deny
        Addresses, domains (`shop.example` or `@shop.example`), phone numbers or sender names.

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
        """Return the verdict on a message; None if the lists do not apply.

        A message is denied if any sender is denied, and allowed if all senders are allowed.
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
    """Return the senders in a file, one per line; `#` begins a comment; an empty path has none.

    Raises
    ------
    SettingsError
        If the file is unreadable or a line is invalid.
    """
    if not path:
        return []
    try:
        if not Path(path).is_file() or Path(path).stat().st_size > _MAX_BYTES:
            raise SettingsError(
                f"sender list {path}: it must be an existing file of at most {_MAX_BYTES:,} bytes"
            )
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"sender list {path}: cannot read it: {error}") from error
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        name = line.partition("#")[0].strip()
        if len(name.split()) > 1:
            raise SettingsError(
                f"sender list {path}, line {number}: {name[:100]!r} is not one sender; write one "
                f"sender per line"
            )
        if name:
            found.append(name)
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How a filter decides and learns.

    Attributes
    ----------
    pos_label
        The positive label; scores are its log odds.
    negative
        The decision for messages that the decision threshold keeps from being positive.
    max_fpr
        Maximum false-positive rate, in (0, 1); None for no bound.
    explain_top_k
        Number of top contributing words in a decision; 0 for none.
    adopt
        Whether to learn training events that workers with other settings wrote before this filter
        started, and to restore snapshots of the same model. Only for filters that share a training
        log.
    bounds
        Bounds of the join window of each partition.
    cutoffs
        Probability cutoffs between which a decision is `unsure`; None uses the model's label.
    senders
        Sender lists, which override the model.
    label_source_header
        Record header that names the source of a label; empty for none.
    drift
        Detector that watches the errors of decisions (`DriftAlarm`); None for none.
    self_training
        Whether to learn confident decisions on messages without a label.
    max_classes
        Maximum number of labels, if any label is learned.
    ready_after
        Messages of each of two labels before which all decisions are `unsure`; 0 for no wait.
    min_evidence
        Strength of the evidence below which a message is `unsure` instead of positive
        (`streamnb.model.readiness.Evidence`); 0 for no minimum.
    assume_after
        When a decision that nobody has corrected counts as a weak label; None for never.
    """

    pos_label: str = "spam"
    negative: str = "ham"
    max_fpr: float | None = None
    explain_top_k: int = 0
    adopt: bool = False
    bounds: Bounds = dataclasses.field(default_factory=Bounds)
    cutoffs: Cutoffs | None = None
    senders: SenderLists = dataclasses.field(default_factory=SenderLists)
    label_source_header: str = ""
    drift: str | None = None
    self_training: bool = False
    max_classes: int = 1000
    ready_after: float = 0.0
    min_evidence: float = 0.0
    assume_after: AssumeAfter | None = None
