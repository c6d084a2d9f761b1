"""Random changes of bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence


def mutated(raw: bytes, other: bytes, pieces: Sequence[bytes], generator: random.Random) -> bytes:
    """Return bytes with one to eight random changes.

    Parameters
    ----------
    raw
        The bytes.
    other
        Bytes to take parts from.
    pieces
        Bytes that have a meaning in the format.
    generator
        Source of the changes.
    """
    for _ in range(generator.randint(1, 8)):
        first, last = sorted(generator.randint(0, len(raw)) for _ in range(2))
        last = min(last, first + 2_000)
        match generator.randrange(6):
            case 0:
                raw = raw[:first] + generator.choice(pieces) + raw[first:]
            case 1:
                raw = raw[:first] + raw[last:]
            case 2:
                raw = raw[:last] + raw[first:last] * generator.choice((1, 2, 50)) + raw[last:]
            case 3:
                raw = raw[:first] + generator.randbytes(generator.randint(1, 9)) + raw[first:]
            case 4:
                start = generator.randint(0, len(other))
                raw = raw[:first] + other[start : start + 2_000] + raw[last:]
            case _:
                raw = raw[:first] + raw[first : first + 1].swapcase() + raw[first + 1 :]
    return raw[:500_000]
