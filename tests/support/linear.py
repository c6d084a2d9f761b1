"""Time that grows with the length of an input and no faster."""

from __future__ import annotations

import time
from collections.abc import Callable


def assert_linear(read: Callable[[int], object]) -> None:
    """Sixteen times the length may take eight times 16 times as long; quadratic is 256 times."""

    def spent(size: int) -> float:
        began = time.process_time()
        read(size)
        return time.process_time() - began

    spent(10_000)
    short = min(spent(100_000) for _ in range(3))
    assert spent(1_600_000) < 16 * 8 * max(short, 0.001)
