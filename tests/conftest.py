"""Shared test set-up: hypothesis draws the same examples on every run."""

from __future__ import annotations

from broker import broker, own_broker  # noqa: F401  fixtures
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    deadline=None,
    max_examples=40,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")
