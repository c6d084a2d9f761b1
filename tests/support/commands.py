"""Support for tests of the command line."""

from __future__ import annotations

import io
import sys
import urllib.error
import urllib.request

RIVER = "river:MultinomialNB"
COMMAND = [sys.executable, "-m", "streamnb.cli"]


def feed(monkeypatch, data):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def get(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    """Return status and text of an answer of this machine; 0 if nothing answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)
