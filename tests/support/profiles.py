"""How many examples hypothesis draws: few in `make test`, always the same; many in `make soak`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# What `max_examples` of a test is written for; the profiles draw their share of it.
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


def examples(usual: int, **others: int) -> settings:
    """Return settings with so many examples where a test has 40, and the profile's share of them.

    Parameters
    ----------
    usual
        Examples; 40 are as many as tests without settings draw.
    others
        As at `hypothesis.settings`.
    """
    profile = settings.default
    assert profile is not None
    return settings(max_examples=max(1, usual * profile.max_examples // USUAL), **others)
