"""The components of a model: one choice on each of six axes.

A component is immutable. It checks its own parameters and declares the options that it needs from
the count store and from the native scoring. A family of models defines its component in its own
file; the plain components are here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

from streamnb import _core
from streamnb.columns.reading import Columns
from streamnb.columns.table import AttributeTable
from streamnb.errors import InputError, ModelFileError, shown
from streamnb.model.docstrings import clean
from streamnb.model.hooks import ComponentStatistic, Hook, Scorer
from streamnb.model.weighting import CurrentWeights
from streamnb.parameters import Check, Checked, check_number, checked, one_of, optional, whole
from streamnb.statistics.events import ScoringParameters

T = TypeVar("T")

# Messages in the index of a model whose predictions walk it: their cost grows up to this number.
WALKED = 8_192

TERM_WEIGHTINGS = ("counts", "presence", "log", "unit", "presence-unit", "log-unit")
# The parameters of every model that the scoring needs, with their checks.
_SCORING: dict[str, Check] = {
    "vocabulary_size": optional(whole(1)),
    "prior": optional(one_of("empirical", "laplace", "uniform", "m-estimate")),
    "oov": optional(one_of("smooth", "skip")),
    "alpha": check_number,
}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class BuildContext:
    """The model that a component becomes part of.

    `make_scoring` makes its native scoring and takes options that replace the model's. `threads`
    may compute its statistics.
    """

    composition: Composition
    parameters: ScoringParameters
    make_scoring: Callable[..., _core.ScoringConfig]
    threads: int


def parameter(default: T, check: Check, compare: bool = True) -> T:
    """Return the field of a component's parameter, with its check.

    Models that differ only in fields with `compare=False` can be merged.
    """
    field: T = checked(check, default=default, compare=compare)
    return field


@dataclasses.dataclass(frozen=True)
class Component(Checked):
    """A choice on one axis, with its parameters.

    A subclass registers its name, or several names with the parameters that each stands for:

        class Hidden(Dependence, name="hidden")
        class HigherOrderPaths(Estimate, names={"pure-paths": {"pure": True}, …})

    A subclass with fields is a frozen dataclass; `parameter` declares them. A subclass without
    fields inherits everything it needs.

    Attributes
    ----------
    axis
        The axis: the `ComposedNB` parameter that takes such components.
    known
        All components of the axis, by name, with the parameters that the name stands for.
    indexed
        Messages that the component needs in the index if `index_size` is None.
    periodic
        Whether it weights words or messages by statistics that the store holds.
    decays
        Whether it works with counts that all shrink with every message (`half_life`).
    statistic
        The periodic statistic that it needs, if any.
    store, scoring
        Options that it needs from `_core.CountStore` and from `_core.ScoringConfig`.
    """

    axis: ClassVar[str] = ""
    known: ClassVar[dict[str, tuple[type[Component], Mapping[str, Any]]]]
    indexed: ClassVar[int] = 0
    periodic: ClassVar[bool] = False
    decays: ClassVar[bool] = False
    statistic: ClassVar[type[ComponentStatistic] | None] = None
    store: ClassVar[Mapping[str, Any]] = {}
    scoring: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(
        cls,
        axis: str | None = None,
        name: str | None = None,
        names: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init_subclass__()
        if axis is not None:
            cls.axis, cls.known = axis, {}
        for registered, meant in (names or ({name: {}} if name is not None else {})).items():
            cls.known[registered] = cls, meant

    # --- names and parameters -----------------------------------------------------------------

    @classmethod
    def named(cls, name: object) -> Self:
        """Return a component of this axis, given by its name or as an object."""
        if isinstance(name, cls):
            return name
        if isinstance(name, str) and name in cls.known:
            found, meant = cls.known[name]
            return found(**meant)  # type: ignore[return-value]
        allowed = ", ".join(map(repr, sorted(cls.known)))
        raise InputError(
            f"{cls.axis} must be one of {allowed}, or a component of streamnb.families, "
            f"not {shown(name)}"
        )

    @property
    def name(self) -> str:
        """The name that `ComposedNB`, the command line and the native core use."""
        for name, (found, meant) in self.known.items():
            if found is type(self) and all(getattr(self, key) == meant[key] for key in meant):
                return name
        return type(self).__name__

    @classmethod
    def has(cls, parameter: str) -> bool:
        """Return whether the component has a parameter of this name."""
        return any(field.name == parameter for field in dataclasses.fields(cls))

    def given(self, values: Mapping[str, Any]) -> Self:
        """Return the component with those values that are parameters of it."""
        changed = {name: value for name, value in values.items() if self.has(name)}
        return dataclasses.replace(self, **changed) if changed else self

    def described(self) -> Any:
        """Return the name, and the parameters if the name does not imply them, for a model file."""
        parameters = dataclasses.asdict(self)
        if parameters == dataclasses.asdict(self.named(self.name)):
            return self.name
        return {"component": self.name, "parameters": parameters}

    @classmethod
    def of_description(cls, described: Mapping[str, Any]) -> Self:
        """Return the component of this axis that `described` described."""
        return dataclasses.replace(cls.named(described["component"]), **described["parameters"])

    # --- work in a model ----------------------------------------------------------------------

    @property
    def calibrates(self) -> bool:
        """Whether the component calibrates probabilities along the stream."""
        return False

    def store_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the options that the component needs from `_core.CountStore`."""
        return self.store

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the options that the component needs from `_core.ScoringConfig`."""
        return self.scoring

    def prepare(self, store: Any, context: BuildContext) -> None:
        """Configure a store that was just opened."""

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the work that the component adds to the running model."""
        return () if self.statistic is None else (self.statistic(self, context),)


class Event(Component, axis="event"):
    """The event model: the probability of a word in a class.

    Attributes
    ----------
    prior, oov
        Meaning of `prior=None` and `oov=None`.
    counts
        Whether the number of occurrences of a word in a message matters.
    columns
        Whether a message maps attributes to values instead of being a text.
    numbers
        Whether numbers in columns stay numbers; otherwise they are binned.
    """

    prior: ClassVar[str] = "empirical"
    oov: ClassVar[str] = "smooth"
    counts: ClassVar[bool] = True
    columns: ClassVar[bool] = False
    numbers: ClassVar[bool] = False
    store: ClassVar[Mapping[str, Any]] = {"frequencies": False}

    def store_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the options for texts or columns."""
        return {**self.store, "columns": self.columns}

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the event model."""
        return {"event": self.name}

    def reader(self) -> Columns | None:
        """Return the reader of column messages; None for texts."""
        return None

    def open_store(
        self, tokenizer: _core.NativeTokenizer, options: dict[str, Any], snapshot: bytes | None
    ) -> _core.CountStore | AttributeTable:
        """Return an empty store with these options, or the store of a snapshot."""
        if snapshot is not None:
            restored = _core.CountStore.restore(tokenizer, snapshot)
            check_settings(restored, _core.CountStore(tokenizer, **options))
            return restored
        return _core.CountStore(tokenizer, **options)


def check_settings(restored: _core.CountStore, expected: _core.CountStore) -> None:
    """Check that a restored store has the settings that follow from the parameters of its model.

    Raises
    ------
    ModelFileError
        If it has others.
    """
    if restored.term_weighting != expected.term_weighting:
        raise ModelFileError("corrupt model file: its counts have another term_weighting")
    if restored.forgetting != expected.forgetting:
        raise ModelFileError("corrupt model file: counts and parameters forget differently")
    if not restored.has_settings_of(expected):
        raise ModelFileError("corrupt model file: counts and parameters disagree")


def check_term_weighting(term_weighting: object, event: Event) -> str:
    """Return a valid name of a term weighting.

    Raises
    ------
    InputError
        If the name is unknown, or the event model ignores counts.

    Examples
    --------
    >>> from streamnb.families import Bernoulli, Multinomial
    >>> check_term_weighting("log-unit", Multinomial())
    'log-unit'
    >>> check_term_weighting("log-unit", Bernoulli())
    Traceback (most recent call last):
    ...
    streamnb.errors.InputError: term_weighting='log-unit' has no effect with the event \
'bernoulli', which reads presence only: set 'counts'
    """
    name: str = one_of(*TERM_WEIGHTINGS)("term_weighting", term_weighting)
    if name != "counts" and not event.counts:
        raise InputError(
            f"term_weighting={name!r} has no effect with the event "
            f"{event.name!r}, which reads presence only: set 'counts'"
        )
    return name


class Dependence(Component, axis="dependence"):
    """How the words of a message depend on one another, given the class."""

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return the dependence, and the maximum number of parents if it has this parameter."""
        return {"dependence": self.name, "max_parents": getattr(self, "max_parents", None)}


class Independent(Dependence, name="independent"):
    """Words are independent."""

    decays: ClassVar[bool] = True


class Estimate(Component, axis="estimate"):
    """The counts that probabilities are estimated from, and how they are smoothed."""

    scoring: ClassVar[Mapping[str, Any]] = {"estimate": "additive"}


class Additive(Estimate, name="additive"):
    """Additive smoothing of the counts by `alpha`."""

    decays: ClassVar[bool] = True


class Weights(Component, axis="weights"):
    """The weight of each word, in the estimate and in the score.

    Attributes
    ----------
    prior, oov
        Meaning of `prior=None` and `oov=None`; None defers to the event model.
    """

    prior: ClassVar[str | None] = None
    oov: ClassVar[str | None] = None

    def weigh(self, indexed: Any, parameters: ScoringParameters) -> Any:
        """Return the `WordWeights` for indexed `Documents`; None if they are not statistics."""
        return None

    def scoring_options(self, composition: Composition) -> Mapping[str, Any]:
        """Return that words are weighted, if the weights are statistics."""
        return {"weights": "multiplied"} if self.periodic else self.scoring

    def hooks(self, context: BuildContext) -> tuple[Hook, ...]:
        """Return the statistic of the weights of words and documents, if either is periodic."""
        is_needed = self.periodic or context.composition.document_weights.periodic
        return (CurrentWeights(self, context),) if is_needed else ()


class UniformWeights(Weights, name="uniform"):
    """Every word has weight 1."""

    decays: ClassVar[bool] = True


class DocumentWeights(Component, axis="document_weights"):
    """The weight of each learned message, in addition to the weight that the caller gave it."""

    def added(self, indexed: Any, parameters: ScoringParameters, words: Any) -> Any:
        """Return the `InstanceWeights` of indexed `Documents`, or None; `words` may be None."""
        return None


class UniformDocuments(DocumentWeights, name="uniform"):
    """Every message keeps the weight that the caller gave it."""

    decays: ClassVar[bool] = True


class Neighbourhood(Component, axis="neighbourhood"):
    """The messages that a prediction is based on.

    Attributes
    ----------
    prior
        Meaning of `prior=None`; None defers to the event model.
    """

    prior: ClassVar[str | None] = None


class WholeStream(Neighbourhood, name="stream"):
    """All messages."""

    decays: ClassVar[bool] = True


@dataclasses.dataclass(frozen=True)
class Composition:
    """One component for each axis. Models with equal compositions count alike.

    Attributes
    ----------
    event, dependence, estimate, weights, document_weights, neighbourhood
        The components. All axes but the event model default to the plain component.
    """

    event: Event
    dependence: Dependence = Independent()
    estimate: Estimate = Additive()
    weights: Weights = UniformWeights()
    document_weights: DocumentWeights = UniformDocuments()
    neighbourhood: Neighbourhood = WholeStream()

    @property
    def components(self) -> tuple[Component, ...]:
        """The components in the order in which their statistics are refreshed."""
        return (
            self.event,
            self.estimate,
            self.neighbourhood,
            self.weights,
            self.document_weights,
            self.dependence,
        )

    def given(self, values: Mapping[str, Any]) -> Composition:
        """Return the components with their parameters taken from these values."""
        changed: Any = {each.axis: each.given(values) for each in self.components}
        return Composition(**changed)

    @property
    def index_size(self) -> int:
        """Meaning of `index_size=None`: the most messages that any component needs."""
        return max(component.indexed for component in self.components)

    @functools.cached_property
    def calibrates(self) -> bool:
        """Whether a component calibrates probabilities along the stream."""
        return any(component.calibrates for component in self.components)

    @property
    def prior(self) -> str:
        """Meaning of `prior=None`."""
        return self.neighbourhood.prior or self.weights.prior or self.event.prior

    @property
    def oov(self) -> str:
        """Meaning of `oov=None`."""
        return self.weights.oov or self.event.oov

    def store_options(self) -> dict[str, Any]:
        """Return the options that all components need from the count store."""
        return {k: v for each in self.components for k, v in each.store_options(self).items()}

    def scoring_options(self) -> dict[str, Any]:
        """Return the options that all components need from the scoring."""
        return {k: v for each in self.components for k, v in each.scoring_options(self).items()}

    def build(
        self,
        parameters: Mapping[str, Any],
        threads: int,
        tokenizer: _core.NativeTokenizer,
        store_options: Mapping[str, Any],
        snapshot: bytes | None,
    ) -> tuple[_core.CountStore | AttributeTable, list[Hook]]:
        """Build the count store of a model, from scratch or from a snapshot, and its hooks.

        The parameters are those of the model. There is always one `Scorer` among the hooks.
        """
        settled = {name: check(name, parameters[name]) for name, check in _SCORING.items()}
        m, alpha = settled["vocabulary_size"], settled["alpha"]
        prior = settled["prior"] = settled["prior"] or self.prior
        settled["oov"] = settled["oov"] or self.oov
        options = {**settled, **self.scoring_options()}

        def make_scoring(**more: Any) -> _core.ScoringConfig:
            return _core.ScoringConfig(**{**options, **more})

        scoring = ScoringParameters(
            self.event.name, prior, alpha, float(m or 1), options.get("weights") == "chi-square"
        )
        context = BuildContext(self, scoring, make_scoring, threads)
        hooks = [hook for component in self.components for hook in component.hooks(context)]
        if not any(isinstance(hook, Scorer) for hook in hooks):
            hooks.append(Scorer(make_scoring()))
        store = self.event.open_store(
            tokenizer, {**store_options, **self.store_options()}, snapshot
        )
        for component in self.components:
            component.prepare(store, context)
        return store, hooks


AXES: dict[str, type[Component]] = {
    axis.axis: axis
    for axis in (Event, Dependence, Estimate, Weights, DocumentWeights, Neighbourhood)
}
"""The axes by name."""


EXAMPLE = """\
>>> model.learn_one("win cash now", "spam")
>>> model.learn_one("see you at noon", "ham")
>>> model.predict_one("cash, now")
'spam'"""
_DOCUMENTATION = """

`{family}` documents the parameters, methods and errors.

Examples
--------
>>> from streamnb import {name}
>>> model = {name}({arguments})
{example}

References
----------
[^1]: {paper}, {equations}.
"""


def complete_model(model: Any, equations: str, components: Mapping[str, Any]) -> None:
    """Give a model of a family its components, by axis, and the rest of its docstring."""
    family = model.__bases__[0]
    chosen: Any = {axis: AXES[axis].named(name) for axis, name in components.items()}
    model.composition = dataclasses.replace(model.composition, **chosen)
    model.__doc__ = clean(model.__doc__ or "") + _DOCUMENTATION.format(
        family=f"{family.__module__}.{family.__name__}",
        name=model.__name__,
        arguments=model.arguments,
        example=model.example,
        paper=model.paper,
        equations=equations,
    )
