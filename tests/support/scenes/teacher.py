"""The program `streamnb-teacher` beside the workers of a scene."""

from __future__ import annotations

from support.chat_server import KEY
from support.scenes.program import Program
from support.scenes.scene import Scene

MAIN = "import sys; from streamnb_consumers.daemon.teacher_command import run_teacher as main; "
MAIN += "sys.exit(main())"


class TeacherProgram(Program):
    """A process of `streamnb-teacher`."""

    def __init__(
        self, scene: Scene, key: str = KEY, name: str = "teacher", **settings: object
    ) -> None:
        log, given = scene.folder / f"{name}.log", {**scene.settings, **settings}
        super().__init__(log, [MAIN, "sms"], given, STREAMNB_TEACHER_KEY=key)
