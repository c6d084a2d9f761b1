"""Exact moments of numbers by class, for Gaussians.

Every float is an integer over a power of two. So sums of numbers and of their squares are kept as
integers: they do not depend on the order, and subtraction is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from streamnb.errors import InputError, NotLearnedError

# Squares of larger numbers may overflow.
_LARGEST_BITS = 400
LARGEST = 2.0**_LARGEST_BITS
# Sums of a file have at most this many bits: 1,074 places twice and units, the largest square, and
# many messages.
_MOST_BITS = 3 * 1_074 + 2 * _LARGEST_BITS + 200
# Distances from the mean are limited to this many deviations.
FARTHEST = 1e50
_HALF_LOG_TAU = 0.5 * math.log(math.tau)

# Mean, logarithm of the highest density, and deviation.
Normal = tuple[float, float, float]
Numbers = Mapping[str, float]


class Moments:
    """Immutable Σ w, Σ w x and Σ w x² of the numbers of one attribute in one class.

    Attributes
    ----------
    weight, first, second
        The sums, as integers in units of 2⁻ᵘ, 2⁻ᵘ⁻ᵖ and 2⁻ᵘ⁻²ᵖ.
    units, places
        u and p.

    Examples
    --------
    >>> both = Moments().plus(0.1, 1.0).plus(0.3, 1.0)
    >>> both.mean, round(both.deviation, 9), both == Moments().plus(0.3, 1.0).plus(0.1, 1.0)
    (0.2, 0.141421356, True)
    >>> both.minus(Moments().plus(0.1, 1.0)) == Moments().plus(0.3, 1.0)
    True
    """

    first: int
    places: int
    second: int
    units: int
    weight: int

    __slots__ = ("_normal", "first", "places", "second", "units", "weight")

    def __init__(
        self, weight: int = 0, first: int = 0, second: int = 0, units: int = 0, places: int = 0
    ) -> None:
        self.weight, self.first, self.second = weight, first, second
        self.units, self.places = units, places
        self._normal: Normal | None = None

    def plus(self, number: float, weight: float) -> Moments:
        """Return the moments with one more number."""
        scaled, below = number.as_integer_ratio()
        heavy, light = weight.as_integer_ratio()
        units, places = light.bit_length() - 1, below.bit_length() - 1
        if units == self.units and places == self.places:
            first = heavy * scaled
            return Moments(
                self.weight + heavy, self.first + first, self.second + first * scaled, units, places
            )
        return self.add(Moments(heavy, heavy * scaled, heavy * scaled * scaled, units, places))

    def add(self, other: Moments, sign: int = 1) -> Moments:
        """Return the sum, or the difference if `sign` is −1."""
        units, places = max(self.units, other.units), max(self.places, other.places)
        one, two = self._over(units, places), other._over(units, places)
        weight, first, second = (a + sign * b for a, b in zip(one, two, strict=True))
        return Moments(weight, first, second, units, places)

    def minus(self, other: Moments) -> Moments:
        """Return the difference."""
        return self.add(other, -1)

    def _over(self, units: int, places: int) -> tuple[int, int, int]:
        u, p = units - self.units, places - self.places
        return self.weight << u, self.first << u + p, self.second << u + 2 * p

    def is_possible(self) -> bool:
        """Return whether numbers with these moments exist."""
        if self.weight <= 0:
            return not (self.weight or self.first or self.second)
        return self.second * self.weight >= self.first * self.first

    @property
    def mean(self) -> float:
        """Σ w x / Σ w."""
        return self.first / (self.weight << self.places)

    @property
    def deviation(self) -> float:
        """The sample standard deviation; 1 if it is 0 or undefined."""
        beyond_one = self.weight - (1 << self.units)
        if beyond_one <= 0:
            return 1.0
        spread = self.second * self.weight - self.first * self.first
        try:
            variance = spread / ((self.weight * beyond_one) << 2 * self.places)
        except OverflowError:
            return 1.0 / FARTHEST**-4
        return math.sqrt(variance) or 1.0

    @property
    def normal(self) -> Normal:
        """The Gaussian with this mean and deviation."""
        if self._normal is None:
            deviation = self.deviation
            self._normal = self.mean, -math.log(deviation) - _HALF_LOG_TAU, deviation
        return self._normal

    def state(self) -> list[str]:
        """Return the sums in canonical form: equal moments have equal states."""
        # The least `units` for the weight, then the least `places` for the other sums.
        units = max(self.units - _zeros(self.weight), 0) if self.weight else 0
        spare = self.units - units
        places = 0
        if self.first:
            places = max(places, self.places + spare - _zeros(self.first))
        if self.second:
            places = max(places, (2 * self.places + spare - _zeros(self.second) + 1) // 2)
        weight = self.weight >> spare
        first = _shifted(self.first, places - self.places - spare)
        second = _shifted(self.second, 2 * (places - self.places) - spare)
        return [f"{each:x}" for each in (weight, first, second, units, places)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Moments) and self.state() == other.state()

    __hash__ = None  # type: ignore[assignment]


def _zeros(number: int) -> int:
    """Return the number of zero bits at the end of a number other than 0."""
    return (number & -number).bit_length() - 1


def _shifted(number: int, places: int) -> int:
    return number << places if places >= 0 else number >> -places


class NumberTable:
    """The moments of each attribute in each class.

    Moments are immutable, so other threads can read the table while it changes. If there are more
    than `max_attributes` attributes, those with the fewest numbers are removed, until three
    quarters of the maximum are left.
    """

    def __init__(self, max_attributes: int) -> None:
        self.max_attributes = max_attributes
        self.moments: dict[str, dict[int, Moments]] = {}

    def learn(self, numbers: Numbers, class_id: int, weight: float) -> None:
        """Add the numbers of a message."""
        for name, number in numbers.items():
            by_class = self.moments.setdefault(name, {})
            before = by_class.get(class_id)
            by_class[class_id] = (before or Moments()).plus(number, weight)
        self._prune()

    def without(self, numbers: Numbers, class_id: int, weight: float) -> dict[str, Moments]:
        """Return the moments of a class without a message."""
        left = {}
        for name, number in numbers.items():
            before = self.moments.get(name, {}).get(class_id, Moments())
            left[name] = before.minus(Moments().plus(number, weight))
            if not left[name].is_possible():
                raise NotLearnedError(f"this message was not learned: {name} = {number!r}")
        return left

    def replace(self, moments: Mapping[str, Moments], class_id: int) -> None:
        """Set moments of a class."""
        for name, new in moments.items():
            by_class = self.moments.setdefault(name, {})
            if new.weight:
                by_class[class_id] = new
                continue
            by_class.pop(class_id, None)
            if not by_class:
                del self.moments[name]

    def merged(self, other: NumberTable, class_ids: list[int], sign: int) -> dict[int, Any]:
        """Return the moments by class that change if another table is added or subtracted."""
        changed: dict[int, dict[str, Moments]] = {}
        for name, by_class in list(other.moments.items()):
            for theirs, moments in list(by_class.items()):
                mine = class_ids[theirs]
                before = self.moments.get(name, {}).get(mine, Moments())
                after = before.add(moments, sign)
                if not after.is_possible():
                    raise NotLearnedError(f"these numbers of attribute {name} were not learned")
                changed.setdefault(mine, {})[name] = after
        return changed

    def change(self, changed: Mapping[int, Mapping[str, Moments]]) -> None:
        """Set the moments that `merged` returned."""
        for class_id, moments in changed.items():
            self.replace(moments, class_id)
        self._prune()

    def log_densities(
        self, name: str, number: float, classes: Iterable[int], twice: bool = False
    ) -> list[float] | None:
        """Return the logarithm of Equation 3 for each class; None for an unknown attribute."""
        normals = self.normals(name, classes, twice)
        if normals is None:
            return None
        logs = []
        for mean, constant, deviation in normals:
            distance = (number - mean) / deviation
            if not -FARTHEST < distance < FARTHEST:
                distance = FARTHEST
            logs.append(constant - 0.5 * distance * distance)
        return logs

    def normals(
        self, name: str, classes: Iterable[int], twice: bool = False
    ) -> list[Normal] | None:
        """Return the Gaussian of each class; None for an attribute without numbers.

        Classes without numbers of the attribute use the numbers of all classes. With `twice`, each
        number counts twice.
        """
        by_class = self.moments.get(name)
        if by_class is None:
            return None
        found = [by_class.get(class_id) for class_id in classes]
        if None not in found and not twice:
            return [each._normal or each.normal for each in found if each]
        pooled = Moments()
        for moments in list(by_class.values()):
            pooled = pooled.add(moments)
        if not pooled.weight:
            return None
        own = [each or pooled for each in found]
        return [(each.add(each) if twice else each).normal for each in own]

    def state(self, ranks: Mapping[int, int]) -> dict[str, Any]:
        """Return the moments in canonical form, with the ranks of the classes."""
        return {
            name: {str(ranks[class_id]): each.state() for class_id, each in by_class.items()}
            for name, by_class in self.moments.items()
        }

    def restore(self, state: Mapping[str, Any], classes: int) -> None:
        """Restore what `state` returned."""
        for name, by_class in state.items():
            for rank, kept in by_class.items():
                moments = Moments(*(int(each, 16) for each in kept))
                small = 0 <= moments.units <= 1074 and 0 <= moments.places <= 2148
                small &= all(
                    each.bit_length() <= _MOST_BITS
                    for each in (moments.weight, moments.first, moments.second)
                )
                if not (small and moments.weight and moments.is_possible()) or (
                    abs(moments.first) > moments.weight << moments.places + _LARGEST_BITS
                ):
                    raise ValueError(f"impossible numbers of {name}")
                if not 0 <= int(rank) < classes:
                    raise ValueError(f"numbers of an unknown class: {rank}")
                self.replace({name: moments}, int(rank))

    def _prune(self) -> None:
        if len(self.moments) <= self.max_attributes:
            return

        def rarity(name: str) -> tuple[float, str]:
            moments = self.moments[name].values()
            return sum(each.weight / (1 << each.units) for each in moments), name

        keep = self.max_attributes * 3 // 4
        for name in sorted(self.moments, key=rarity)[: len(self.moments) - keep]:
            del self.moments[name]


def check_number(attribute: Any, value: Any) -> float:
    """Return a number within the range of moments."""
    number = float(value)
    if not -LARGEST <= number <= LARGEST:
        raise InputError(
            f"the value of attribute {attribute!r} is {value!r}: give a number from -2**400 to "
            f"2**400"
        )
    return number + 0.0  # no negative zero
