"""Programs of the guide to own stream programs, which tests run and kill."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "how-to" / "own-stream-programs.md"
# The clients need other versions of confluent-kafka than the filters: `make test-streams`.
PYTHON = Path(sys.prefix) / "streams" / "bin" / "python"
SECONDS = 120.0  # some seconds on an idle machine


def program(name: str) -> str:
    """Return a program of the guide."""
    text = GUIDE.read_text(encoding="utf-8")
    (found,) = re.findall(rf'^```python title="{name}"\n(.*?)^```', text, re.M | re.S)
    return str(found)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """Return a program with other values; each old value must be in it."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@contextlib.contextmanager
def running(
    source: Path, log: Path, *command: str, python: Path = PYTHON
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program, or a command of its folder, and kill it."""
    clean = {name: value for name, value in os.environ.items() if "STREAMNB_" not in name}
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(python), *(command or [source.name])],
            cwd=source.parent,
            env=clean | {"PYTHONUNBUFFERED": "1"},
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, log.read_text()[-3000:]
        assert time.monotonic() < end, f"waited in vain\n{log.read_text()[-3000:]}"
        time.sleep(0.05)
