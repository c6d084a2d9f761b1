"""Damage of records on the disk of a broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.broker import Broker


def damage(broker: Broker, topic: str, number: int, text: bytes) -> None:
    """Change the last byte of this text, which is in a record."""
    if broker.log is None:
        pytest.skip("the log of this broker is elsewhere")
    (segment,) = (broker.log / f"{topic}-{number}").glob("*.log")
    data = segment.read_bytes()
    at = data.index(text) + len(text) - 1
    with Path(segment).open("r+b") as file:
        file.seek(at)
        file.write(bytes([data[at] ^ 1]))
