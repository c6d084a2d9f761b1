"""A choice on one axis: its names and parameters, and what a model keeps for it."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self

from streamnb import _core
from streamnb.errors import InputError, shown
from streamnb.online.tuning import Tuning
from streamnb.parameters import parameters_in_use
from streamnb.statistics.refreshing import Refresher


class MakeScoring(Protocol):
    """Make a native scoring with all settled but a few keywords."""

    def __call__(self, **keywords: Any) -> _core.Scoring:
        """Return it with these keywords."""


@dataclasses.dataclass
class Scorer:
    """How messages are scored; another scoring takes its place where something was tuned."""

    scoring: _core.Scoring


@dataclasses.dataclass(frozen=True)
class InUse:
    """What a model keeps for one of its parts while it runs, each where there is any.

    Attributes
    ----------
    refresher
        Computes the part's statistics now and then.
    tuning
        Chooses a parameter along the stream.
    scorer
        Scores messages in the place of the scoring that the parts describe.
    """

    refresher: Refresher[Any] | None = None
    tuning: Tuning[Any] | None = None
    scorer: Scorer | None = None


@dataclasses.dataclass(frozen=True)
class Choice:
    """A choice on one axis, with the parameters of that choice.

    A subclass gives its name, or several with the parameters that each stands for:

        class Hidden(Dependence, name="hidden")
        class HigherOrderPaths(Estimate, names={"paths-3": {"order": 3}, …})

    Models that differ in a field with `compare=False` may be merged all the same. A part with
    fields is a frozen dataclass; one without inherits all that makes one: to make it again takes
    time, and every model waits for it.

    Attributes
    ----------
    axis
        The axis: the parameter of `ComposedNB` that takes such parts.
    """

    axis: ClassVar[str] = ""
    # By name: the class, and the parameters that the name stands for. One table for each axis, of
    # what was imported; `every` imports the rest.
    known: ClassVar[dict[str, tuple[type[Choice], Mapping[str, Any]]]]

    def __init_subclass__(
        cls,
        axis: str | None = None,
        name: str | None = None,
        names: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init_subclass__()
        if axis is not None:
            cls.axis, cls.known = axis, {}
        for short, meant in (names or ({name: {}} if name is not None else {})).items():
            cls.known[short] = cls, meant

    @classmethod
    def named(cls, name: object) -> Self:
        """Return a part of this axis, given by its name or as it is.

        Raises
        ------
        InputError
            If it is neither.
        """
        if isinstance(name, cls):
            return name
        if isinstance(name, str):
            found, meant = cls.known.get(name) or cls.every().get(name) or (None, {})
            if found is not None:
                return found(**meant)  # type: ignore[return-value]
        allowed = ", ".join(map(repr, cls.every()))
        raise InputError(
            f"{cls.axis} must be one of {allowed}, or such a part of streamnb.parts, "
            f"not {shown(name)}"
        )

    @classmethod
    def every(cls) -> dict[str, tuple[type[Choice], Mapping[str, Any]]]:
        """Return the parts of this axis by their names, sorted; all of them are imported for it."""
        importlib.import_module("streamnb.parts").import_all()
        return dict(sorted(cls.known.items()))

    @property
    def name(self) -> str:
        """The name by which `ComposedNB`, the command line and the native core know it."""
        for name, (found, meant) in self.known.items():
            if found is type(self) and all(getattr(self, key) == meant[key] for key in meant):
                return name
        return type(self).__name__

    @classmethod
    def has(cls, parameter: str) -> bool:
        """Return whether the part has a parameter of this name."""
        return any(field.name == parameter for field in dataclasses.fields(cls))

    def given(self, values: Mapping[str, Any]) -> Self:
        """Return the part with those of the values that are its parameters."""
        changed = {name: value for name, value in values.items() if self.has(name)}
        return dataclasses.replace(self, **changed) if changed else self

    def described(self) -> Any:
        """Return the part's name or, with other parameters than its name stands for, these too.

        A model file holds that.
        """
        parameters = dataclasses.asdict(self)
        if parameters == dataclasses.asdict(self.named(self.name)):
            return self.name
        return {"part": self.name, "parameters": parameters_in_use(parameters)}

    @classmethod
    def of_description(cls, described: Mapping[str, Any]) -> Self:
        """Return the part of this axis that `described` described."""
        return dataclasses.replace(cls.named(described["part"]), **described["parameters"])

    def _check(self, name: str, check: Callable[..., Any], *allowed: Any) -> None:
        """Replace a parameter by what a check makes of it."""
        object.__setattr__(self, name, check(name, getattr(self, name), *allowed))
