"""Shared set-up: how many examples hypothesis draws, and which tests the soak run takes.

Marks
-----
`soak`
    Only in `make soak`: long tests, and the models that represent no family.
`matrix`
    In `make test` too, with few examples, always the same; in `make soak` again, with many, drawn
    anew. Tests of representatives (`support.models`) and every test of hypothesis have it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable
from typing import Any

# Tests run in several processes with small matrices; threads of linear algebra would only compete.
# The library reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

pytest.register_assert_rewrite("support")

from support import profiles  # noqa: E402
from support.broker_fixtures import broker, client, old_broker, own_broker  # noqa: E402, F401  fixtures
from support.browser import browser  # noqa: E402, F401  a fixture

profiles.register()
gc.disable()  # collecting tests makes objects that stay
collect_ignore_glob = ["support/*", "references/*", "fixtures/*"]


# Fixtures of tests that mostly wait: a broker, a browser.
WAITING = {"broker", "old_broker", "own_broker", "browser"}


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Do not collect parameters of the soak run that are deselected anyway: most of them are."""
    if "not soak" not in metafunc.config.option.markexpr:
        return
    parametrize = metafunc.parametrize

    def fast(names: Any, values: Iterable[Any], *rest: Any, **options: Any) -> None:
        values = list(values)
        few = [each for each in values if not is_soak(each)]
        some = few and not isinstance(options.get("ids"), list | tuple | dict)
        parametrize(names, few if some else values, *rest, **options)

    metafunc.parametrize = fast  # type: ignore[method-assign]


def pytest_collection_finish() -> None:
    """Do not look at the collected tests again and again for garbage."""
    gc.freeze()
    gc.enable()


def is_soak(value: object) -> bool:
    """Whether a parameter has the mark `soak`."""
    return any(mark.name == "soak" for mark in getattr(value, "marks", ()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark hypothesis tests as `matrix`; run the tests that mostly wait first.

    Each worker begins with a share of the tests and steals others at the end. So one worker has all
    waiting tests, while the others use the processors.
    """
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.matrix)
    items.sort(key=lambda item: WAITING.isdisjoint(getattr(item, "fixturenames", ())))
