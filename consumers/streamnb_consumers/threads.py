"""Run a call in a thread that does not keep the process alive."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_Result = TypeVar("_Result")


def in_thread(name: str, call: Callable[[], _Result]) -> Future[_Result]:
    """Start a call in a daemon thread; return its future result.

    Examples
    --------
    >>> in_thread("adding", lambda: 1 + 1).result()
    2
    """
    result: Future[_Result] = Future()

    def run() -> None:
        try:
            result.set_result(call())
        except BaseException as error:
            result.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return result
