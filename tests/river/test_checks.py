"""River's own check suite, of every model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from river import (
    base,
    checks,
)

from support.estimators import CHECKED, checked_mark, river_checks

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(("model", "check"), river_checks(CHECKED, checked_mark))
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    check(model.clone())


@pytest.mark.parametrize("name", CHECKED)
def test_no_river_check_is_skipped(name: str) -> None:
    model = CHECKED[name]
    assert set(model._unit_test_skips()) == set()
    assert isinstance(model, base.Classifier)
    assert isinstance(model, base.MiniBatchClassifier)
    assert model._multiclass
    # The learn_many and pandas checks ran, not only those of a plain classifier.
    names = {check.__name__ for check in checks.yield_checks(model)}
    assert {"check_learn_many_matches_learn_one", "check_bounded_memory_growth"} <= names
