"""A process of a program of this package."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


class Program:
    """A process with settings in its environment, and a log that its predecessors began.

    Parameters
    ----------
    log
        File of the log.
    command
        Arguments of `python -c`.
    settings
        Settings of the program by name.
    environment
        Further variables of its environment.
    """

    def __init__(
        self, log: Path, command: list[str], settings: Mapping[str, object], **environment: str
    ) -> None:
        self.log = log
        given = {f"STREAMNB_{name.upper()}": str(value) for name, value in settings.items()}
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-c", *command],
                env={**os.environ, **given, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kill it with SIGKILL, like a crash."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """Stop it with SIGTERM; return its exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(45)

    def text(self) -> str:
        """Return its log and the ones of its predecessors."""
        return self.log.read_text(errors="replace")
