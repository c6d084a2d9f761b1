"""The program `streamnb-teacher` beside the workers of a scene."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from support.chat_server import KEY
from support.scenes.scene import Scene

MAIN = "import sys; from streamnb_consumers.daemon.teacher_command import run_teacher as main; "
MAIN += "sys.exit(main())"


class TeacherProgram:
    """A process of `streamnb-teacher`."""

    def __init__(
        self, scene: Scene, key: str = KEY, name: str = "teacher", **settings: object
    ) -> None:
        self.log = scene.folder / f"{name}.log"
        given = {**scene.settings, **settings}
        environment = {f"STREAMNB_{name.upper()}": str(x) for name, x in given.items()}
        environment["STREAMNB_TEACHER_KEY"] = key
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", MAIN, "sms"],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """Kill it with SIGKILL, like a crash."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """Stop it with SIGTERM; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(45)

    def text(self) -> str:
        """Return the log."""
        return self.log.read_text(errors="replace")
