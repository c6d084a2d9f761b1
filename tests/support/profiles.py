"""Number of hypothesis examples: few and fixed in `make test`, many and random in `make soak`."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The `max_examples` of tests refer to this number; profiles scale it.
USUAL = 40


def register() -> None:
    """Register the profiles `fast` and `soak` (`pytest --hypothesis-profile=soak`); load `fast`."""
    slow = [HealthCheck.too_slow]
    settings.register_profile(
        "fast",
        derandomize=True,
        deadline=None,
        max_examples=10,
        print_blob=True,
        suppress_health_check=slow,
    )
    settings.register_profile(
        "soak",
        deadline=None,
        max_examples=100,
        print_blob=True,
        suppress_health_check=slow,
    )
    settings.load_profile("fast")


def also_in_soak(few: Iterable[Any], more: Iterable[Any]) -> list[Any]:
    """Return parameters of a test: `make test` runs the few, `make soak` also the others."""
    return [*few, *(pytest.param(each, marks=pytest.mark.soak) for each in more)]


# `make test` runs a test on a broker with one client, `make test-broker` with the other one.
one_client = pytest.mark.parametrize(
    "client", ["confluent", pytest.param("kafka-python", marks=pytest.mark.broker_long)]
)


def fuzz_seed() -> int:
    """Return the seed of a fuzz test: STREAMNB_FUZZ_SEED, or a new one. The output contains it."""
    seed = int(os.environ.get("STREAMNB_FUZZ_SEED") or random.SystemRandom().randrange(2**32))
    print(f"STREAMNB_FUZZ_SEED={seed}")
    return seed


def examples(usual: int, **others: int) -> settings:
    """Return settings with this number of examples, scaled by the profile.

    Parameters
    ----------
    usual
        examples in a profile that gives tests without settings 40 examples.
    others
        keywords of `hypothesis.settings`.
    """
    profile = settings.default
    assert profile is not None
    return settings(max_examples=max(1, usual * profile.max_examples // USUAL), **others)
