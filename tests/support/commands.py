"""Support for tests of the command line."""

from __future__ import annotations

import io
import sys

RIVER = "river:MultinomialNB"
COMMAND = [sys.executable, "-m", "streamnb.cli"]


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
