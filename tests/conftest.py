"""Shared set-up: how many examples hypothesis draws, and which tests the soak run takes.

Marks
-----
`soak`
    Only in `make soak`: long tests, and the models that represent no family.
`matrix`
    In `make test` too, with few examples, always the same; in `make soak` again, with many, drawn
    anew. Tests of a family's representative and every test of hypothesis have it.
"""

from __future__ import annotations

import os

# Tests run in several processes with small matrices; threads of linear algebra would only compete.
# The library reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

pytest.register_assert_rewrite("support")

from support import profiles  # noqa: E402
from support.broker_fixtures import broker, client, own_broker  # noqa: E402, F401  fixtures
from support.browser import browser  # noqa: E402, F401  a fixture

profiles.register()
collect_ignore_glob = ["support/*", "references/*", "fixtures/*"]


# Fixtures of tests that mostly wait: a broker, a browser.
WAITING = {"broker", "own_broker", "browser"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark hypothesis tests as `matrix`; run the tests that mostly wait first.

    Each worker begins with a share of the tests and steals others at the end. So one worker has all
    waiting tests, while the others use the processors.
    """
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.matrix)
    items.sort(key=lambda item: WAITING.isdisjoint(getattr(item, "fixturenames", ())))
