"""The teacher that settings describe, and the cascade of a filter that consults it."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from streamnb.errors import StreamNBError, TeacherRefusedError
from streamnb.teachers import FunctionTeacher, Teacher
from streamnb_consumers.daemon.settings import PREFIX, Settings, goals
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.pipeline.asker import Asker
from streamnb_consumers.pipeline.cascade import Consulting

_ANSWERS = "answers.jsonl"


def consulting(settings: Settings) -> Consulting | None:
    """Return how a filter consults its teacher; None without a goal.

    Examples
    --------
    >>> consulting(Settings()) is None
    True
    >>> dict(consulting(Settings(teacher_agreement=0.99)).parameters)
    {'agreement': 0.99, 'teacher_error': 0.0, 'audit_share': 0.003}
    """
    chosen: dict[str, Any] = goals(settings)
    if not chosen:
        return None
    chosen |= {
        "teacher_error": settings.teacher_error,
        "audit_share": settings.teacher_audit_share,
    }
    # Decisions are held for an answer only where the group continues without waiting.
    topics = bool(settings.bootstrap_servers)
    return Consulting(chosen, round(settings.teacher_wait_seconds * 1000) if topics else 0)


def make_asker(settings: Settings, environment: Mapping[str, str]) -> Asker | None:
    """Return the teacher of a filter on files; None without one that this machine can ask.

    Raises
    ------
    SettingsError
        If it cannot be made, or refuses every request.
    """
    if not goals(settings) or not (settings.teacher_url or settings.teacher_function):
        return None
    path = None
    if settings.snapshots:
        path = Path(settings.snapshots) / _ANSWERS
        path.parent.mkdir(parents=True, exist_ok=True)
    elif settings.output != "-":
        path = Path(f"{settings.output}.answers")
    teacher = make_teacher(settings, environment)
    wait, parallel = settings.teacher_wait_seconds, settings.teacher_parallel
    return Asker(teacher, wait, path, parallel, settings.teacher_answers_kept)


def make_teacher(settings: Settings, environment: Mapping[str, str]) -> Teacher:
    """Return the teacher behind an endpoint, or the function.

    Raises
    ------
    SettingsError
        If there is none, or the endpoint refuses a test message.
    """
    if settings.teacher_function:
        return FunctionTeacher(
            _function(settings.teacher_function),
            labels=settings.labels or None,
            parallel=settings.teacher_parallel,
        )
    if not settings.teacher_url or not settings.teacher_model:
        raise SettingsError(
            "the teacher has no teacher_url and teacher_model: set both (or teacher_function)"
        )
    from streamnb.chat_teacher import PROMPT, ChatTeacher

    try:
        teacher = ChatTeacher(
            settings.teacher_url,
            settings.teacher_model,
            settings.labels,
            prompt=settings.teacher_prompt or PROMPT,
            structured=settings.teacher_structured,
            key=environment.get(f"{PREFIX}TEACHER_KEY"),
            redact=settings.teacher_redact or None,
            longest=settings.teacher_longest,
            timeout=settings.teacher_timeout_seconds,
            retries=settings.teacher_retries,
            parallel=settings.teacher_parallel,
            input_price=settings.teacher_input_price,
            output_price=settings.teacher_output_price,
        )
        teacher.check()
    except TeacherRefusedError as error:
        raise SettingsError(f"{error} (teacher_url, teacher_model, {PREFIX}TEACHER_KEY)") from error
    except StreamNBError as error:
        raise SettingsError(f"the teacher: {error}") from error
    return teacher


def _function(name: str) -> Any:
    module, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except Exception as error:
        raise SettingsError(
            f"teacher_function: {name} can't be used: {type(error).__name__}: {error}. It must be "
            "module:function, and return the label of a message"
        ) from error
