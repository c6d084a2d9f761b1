"""Shared test set-up: hypothesis draws the same examples on every run."""

from __future__ import annotations

import os

# Tests run in several processes, with small matrices: threads of linear algebra would only wait for
# one another. The library reads this when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings
from support.broker_fixtures import broker, own_broker  # noqa: F401  fixtures

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")
