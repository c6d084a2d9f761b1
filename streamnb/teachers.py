"""Teachers of a cascade: functions, and language models behind an endpoint.

A teacher receives messages and returns a label for each, or the error for which there is none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any, Protocol, runtime_checkable

from streamnb.errors import InputError, InvalidAnswerError, TeacherAwayError, TeacherError, shown
from streamnb.parameters import check_above_zero, check_bound, check_from_zero, optional
from streamnb.text.labels import Label, check_label


@runtime_checkable
class Teacher(Protocol):
    """Anything that answers messages."""

    def answer_many(self, messages: Sequence[Any]) -> list[Any]:
        """Return the label of each message, or a `TeacherError` for a message without one."""
        ...


def as_teacher(teacher: Any) -> Teacher:
    """Return a teacher for a function; a `Teacher` is returned itself.

    Raises
    ------
    InputError
        If it is neither.
    """
    if isinstance(teacher, Teacher) and not isinstance(teacher, type):
        return teacher
    if callable(teacher) and not isinstance(teacher, type):
        return FunctionTeacher(teacher)
    raise InputError(
        "teacher must be a function from a message to its label, a Teacher, or None for answers "
        f"that come later, not {shown(teacher)}"
    )


class FunctionTeacher:
    """A Python function as a teacher.

    `ConnectionError` and `TimeoutError` mean that the teacher is away. A `TeacherError` counts as
    it is. Other exceptions are raised.

    Parameters
    ----------
    function
        Returns the label of a message; or an async function that does. With `batch`, it receives a
        list of messages and returns a list of their labels. None as a label means no answer.
    batch
        Whether the function receives all messages of a batch in one call.
    labels
        The allowed labels; None for any.
    parallel
        Maximum number of calls at the same time, 1 or more. A function that is not async runs in
        threads if this is above 1.
    timeout
        Seconds that a call of an async function may take, above 0; None for any time.
    price
        Price of a message, 0 or more.

    Attributes
    ----------
    n_calls
        Number of messages that the function received.
    cost
        Their price.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Examples
    --------
    >>> teacher = FunctionTeacher(lambda text: "spam" if "win" in text else "?", labels=["spam"])
    >>> teacher.answer_many(["win cash", "see you"])
    ['spam', InvalidAnswerError("the answer must be one of 'spam', not '?'")]
    """

    n_calls: int

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        batch: bool = False,
        labels: Collection[Any] | None = None,
        parallel: int = 1,
        timeout: float | None = None,
        price: float = 0.0,
    ) -> None:
        if not callable(function):
            raise InputError(f"function must be a function, not {shown(function)}")
        self._function = function
        self._batch = batch
        self.labels: list[Label] | None = (
            None if labels is None else [check_label(each) for each in labels]
        )
        self._parallel = check_bound("parallel", parallel, 1)
        self._timeout = optional(check_above_zero)("timeout", timeout)
        self._price = check_from_zero("price", price)
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004, an object with an async method
        )
        if timeout is not None and not self._is_async:
            raise InputError(
                "timeout is for async functions; a function that waits must limit its own time"
            )
        self.n_calls = 0

    @property
    def cost(self) -> float:
        """Price of all messages that the function received."""
        return self._price * self.n_calls

    def answer_many(self, messages: Sequence[Any]) -> list[Any]:
        """Return the label of each message, or a `TeacherError` for a message without one."""
        arguments = [list(messages)] if self._batch else list(messages)
        if not messages:
            return []
        self.n_calls += len(messages)
        if self._is_async:
            results = run(self._all(arguments))
        elif self._parallel > 1 and len(arguments) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(self._parallel, len(arguments))) as threads:
                results = list(threads.map(self._called, arguments))
        else:
            results = [self._called(each) for each in arguments]
        if self._batch:
            (result,) = results
            if isinstance(result, TeacherError):
                return [result] * len(messages)
            results = list(result)
            if len(results) != len(messages):
                raise InputError(
                    f"the teacher returned {len(results)} labels for {len(messages)} messages: "
                    "return one for each, None for no answer"
                )
        return [self._checked(each) for each in results]

    def _called(self, argument: Any) -> Any:
        try:
            return self._function(argument)
        except (ConnectionError, TimeoutError, TeacherError) as error:
            return _as_teacher_error(error)

    async def _all(self, arguments: list[Any]) -> list[Any]:
        import asyncio

        free = asyncio.Semaphore(self._parallel)

        async def called(argument: Any) -> Any:
            async with free:
                try:
                    async with asyncio.timeout(self._timeout):
                        return await self._function(argument)
                except (ConnectionError, TimeoutError, TeacherError) as error:
                    return _as_teacher_error(error)

        return await asyncio.gather(*map(called, arguments))

    def _checked(self, label: Any) -> Any:
        return label if isinstance(label, TeacherError) else checked_answer(label, self.labels)


def checked_answer(label: Any, labels: Collection[Any] | None) -> Any:
    """Return an allowed label, or the `InvalidAnswerError` for another one.

    Parameters
    ----------
    label
        The answer.
    labels
        The allowed labels; None for any.
    """
    try:
        label = check_label(label)
    except InputError as error:
        return InvalidAnswerError(str(error))
    if labels is not None and label not in labels:
        known = ", ".join(sorted(map(repr, labels)))
        return InvalidAnswerError(f"the answer must be one of {known}, not {shown(label)}")
    return label


def _as_teacher_error(error: Exception) -> TeacherError:
    if isinstance(error, TeacherError):
        return error
    return TeacherAwayError(f"the teacher is away: {type(error).__name__}: {error}")


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine, also in a thread that runs an event loop already."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
