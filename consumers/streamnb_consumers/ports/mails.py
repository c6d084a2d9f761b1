"""Mails of mboxes, Maildirs and folders as records: raw bytes, called by the key."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from streamnb_consumers.records import Partition, Record

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["mail_records"]

_LOG = logging.getLogger(__name__)


def mail_records(
    source: str | Path,
    kind: str,
    place: Partition,
    max_bytes: int,
) -> Iterator[Record]:
    """Yield the mails of a file or folder as records; a label is the header `label`.

    Parameters
    ----------
    source
        A path, or `-` for standard input.
    kind
        One of `streamnb.datasets.mail.MAIL_FORMATS`.
    place
        What the records' partition is; offsets number the mails.
    max_bytes
        Longest mail; of a longer one the beginning is kept.
    """
    from streamnb.datasets.mail import read_mails

    for offset, mail in enumerate(read_mails(source, kind, max_bytes)):
        if mail.problem is not None:
            _LOG.warning("%s: mail %s %s", place.source, mail.id, mail.problem)
        headers = (("label", mail.label.encode("utf-8", "replace")),) if mail.label else ()
        value = mail.raw if mail.problem is None else None
        yield Record(place, offset, value, mail.id.encode("utf-8", "replace"), headers)
