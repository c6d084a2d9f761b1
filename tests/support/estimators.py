"""The models that river's checks run on: every model of the table, and some compositions."""

from __future__ import annotations

import collections
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from river import base, checks

import streamnb
from support.models import COLUMNS, MODELS, make_model, makes, structure_mark

# Models of texts. Compositions use their own names.
ESTIMATORS = {name: makes(name)() for name in MODELS} | {
    "ComposedNB": make_model("ComposedNB"),
    "ComposedNB hidden": streamnb.ComposedNB(event="one-versus-all", dependence="hidden"),
    "ComposedNB weighted": streamnb.ComposedNB(
        event="complement", document_weights="discriminative"
    ),
    "ComposedNB ratios": streamnb.ComposedNB(event="one-versus-all", dependence="hidden-ratios"),
}
# Models of attribute tables: all of river's checks, but no texts. Fitted weights are refitted each
# time the rows have tripled; the checks do not depend on the number of fits.
REFITTED = {
    **{name: getattr(streamnb, name)() for name in COLUMNS},
    "ComposedNB direct": streamnb.ComposedNB("gaussian", weights="squared", multiclass="direct"),
}
CHECKED = ESTIMATORS | {
    "OnlineNB with its own tokens": streamnb.OnlineNB(),
    "HNB columns": streamnb.HNB(columns=True),
    "PHNB columns": streamnb.PHNB(columns=True),
    **{name: model.clone({"refresh_every": 2.0}) for name, model in REFITTED.items()},
    **{f"{name} refreshed by default": model for name, model in REFITTED.items()},
    "ComposedNB numbers": streamnb.ComposedNB(event="gaussian"),
    "ComposedNB columns": streamnb.ComposedNB(event="attributes"),
    "MNB with a half-life": streamnb.MNB(half_life=50),
    "OnlineNB with a half-life": streamnb.OnlineNB(half_life=50),
    "HMNB in a window": streamnb.HMNB(window_size=30),
}


RELABELLED = {"MNB"}
# Models whose code other models of `CHECKED` run: PHNB columns, and ComposedNB direct.
REPEATED = {"HNB columns", "LNB"}


def checked_mark(name: str) -> pytest.MarkDecorator:
    """Return the mark of a model of `CHECKED`."""
    repeated = name in REPEATED or name.endswith("by default")
    return pytest.mark.soak if repeated else structure_mark(name)


def river_checks(
    models: Mapping[str, base.Estimator],
    marks: Callable[[str], pytest.MarkDecorator] = lambda name: pytest.mark.matrix,
) -> list[Any]:
    """Return river's checks of all models as parameters of a test.

    The second stream of a check has the labels of the first as `numpy.bool_`. One module stores the
    labels of all models, so only one model runs that stream outside the soak, and also the check
    of memory, which takes as long as all others.
    """
    cases = []
    for name, model in models.items():
        seen: collections.Counter[str] = collections.Counter()
        for check in checks.yield_checks(model):
            if check.__name__ in model._unit_test_skips():
                continue
            seen[check.__name__] += 1
            stream = seen[check.__name__]
            is_long = stream == 2 or check.__name__ == "check_bounded_memory_growth"
            given = pytest.mark.soak if is_long and name not in RELABELLED else marks(name)
            title = f"{name}: {check.__name__} {stream}"
            cases.append(pytest.param(model, check, id=title, marks=given))
    return cases
