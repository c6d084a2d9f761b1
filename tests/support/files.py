"""Model files, intact and modified."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import streamnb


def small(name: str) -> Any:
    model = getattr(streamnb, name)(refresh_every=1)
    model.learn_one({"win": 2, "cash": 1}, "spam")
    model.learn_one({"home": 1, "win": 1}, "ham", 2.0)
    return model


# --- files made to deceive: the checksum is right -------------------------------------------------


def seal(whole: bytes, body: bytes) -> bytes:
    """Return a file with this body and a valid checksum."""
    return whole[:12] + hashlib.sha256(body).digest() + body


def with_header(whole: bytes, header: bytes) -> bytes:
    body = whole[44:]
    counts = body[8 + int.from_bytes(body[:8], "little") :]
    return seal(whole, len(header).to_bytes(8, "little") + header + counts)


def header_of(whole: bytes) -> dict[str, Any]:
    return dict(json.loads(whole[52 : 52 + int.from_bytes(whole[44:52], "little")]))
