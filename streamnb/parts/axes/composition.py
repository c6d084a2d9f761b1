"""The axes of a model, and a composition: one part of each axis.

A part is small and never changes. It has its parameters and checks them, and it says what it asks
of the count store, of the native scoring, and what is computed or tuned for it along the stream. A
family of models has its parts in the file of its name; the plain parts are here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from streamnb import _core
from streamnb.columns.reading import Columns
from streamnb.errors import ModelFileError
from streamnb.parts.axes.choice import Choice, InUse, MakeScoring
from streamnb.statistics.events import ScoringParameters
from streamnb.statistics.store import AnyStore


@dataclasses.dataclass(frozen=True)
class Setup:
    """The model that a part begins to work in.

    Attributes
    ----------
    parts
        All its parts.
    parameters
        The parameters of its scores.
    make_scoring
        How to make its native scoring.
    threads
        On how many its statistics may be computed.
    """

    parts: Composition
    parameters: ScoringParameters
    make_scoring: MakeScoring
    threads: int


class Part(Choice):
    """A choice on one axis, and what the model that it is a part of has to do for it.

    Attributes
    ----------
    indexed
        Messages that it wants in the index, where `index_size` is None.
    periodic
        Whether it weighs words or messages by statistics that the store holds.
    weighs
        Whether it weighs them in another way.
    decays
        Whether it follows counts that all become smaller with every message.
    """

    indexed: ClassVar[int] = 0
    periodic: ClassVar[bool] = False
    weighs: ClassVar[bool] = False
    decays: ClassVar[bool] = False

    @property
    def index_size(self) -> int:
        """What `index_size=None` means: messages that the part wants in the index."""
        return self.indexed

    @property
    def calibrates(self) -> bool:
        """Whether the part calibrates probabilities along the stream."""
        return False

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Return what the part asks of the count store: keywords of `_core.CountStore`."""
        return {}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Return what the part asks of scores: keywords of `_core.Scoring`."""
        return {}

    def prepare(self, store: Any, setup: Setup) -> None:
        """Tell a store that was opened what it has to do for the part."""

    def in_use(self, setup: Setup) -> InUse:
        """Return what a model keeps for the part while it runs.

        Raises
        ------
        InputError
            If the part does not go together with the others.
        """
        return InUse()


class Event(Part, axis="event"):
    """How a class gives a word its probability.

    Attributes
    ----------
    prior, oov
        What `prior=None` and `oov=None` mean.
    counts
        Whether it matters how often a word is in a message.
    columns
        Whether a message maps attributes to values, and is no text.
    numbers
        Whether numbers of columns stay numbers; else they fall into bins.
    """

    prior: ClassVar[str] = "empirical"
    oov: ClassVar[str] = "smooth"
    counts: ClassVar[bool] = True
    columns: ClassVar[bool] = False
    numbers: ClassVar[bool] = False

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for columns where a message has some."""
        return {"frequencies": False, "columns": self.columns}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for its terms."""
        return {"event": self.name}

    def reader(self) -> Columns | None:
        """Return how messages of columns are read; None for texts."""
        return None

    def open_store(
        self, tokenizer: _core.NativeTokenizer, options: dict[str, Any], snapshot: bytes | None
    ) -> AnyStore:
        """Return a store that has learned nothing, or that of a snapshot.

        Parameters
        ----------
        tokenizer
            For texts.
        options
            Keywords of `_core.CountStore`.
        snapshot
            What another store has learned.

        Raises
        ------
        ModelFileError
            If the snapshot holds no store.
        """
        if snapshot is not None:
            restored = _core.CountStore.restore(tokenizer, snapshot)
            forgets = options.get("half_life"), "timed" in options, "windowed" in options
            if restored.forgetting != forgets:
                raise ModelFileError("the model can't be read: its counts forget in another way")
            return restored
        return _core.CountStore(tokenizer, **options)


class Dependence(Part, axis="dependence"):
    """How the words of a message depend on one another, given the class.

    Attributes
    ----------
    hidden
        What the parents of words mix, as the core knows it; None where words have none.
    """

    hidden: ClassVar[str | None] = None

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for no pairs of a word with itself."""
        return {"own_pairs": False}

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for parents, where words have any."""
        return {"hidden": self.hidden}


class Independent(Dependence, name="independent"):
    """Words are independent."""

    decays: ClassVar[bool] = True

    def store_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for no table of pairs where something is weighed.

        Else the bound stays what it is: snapshots have it, and no pair is ever looked up.
        """
        weighed = (parts.weights, parts.document_weights)
        no_pairs = any(part.periodic or part.weighs for part in weighed)
        return {**super().store_options(parts), **({"max_pairs": 0} if no_pairs else {})}


class Estimate(Part, axis="estimate"):
    """The counts that probabilities are estimated from, and how they are smoothed."""

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for the counts as they are."""
        return {"effective": False}


class Additive(Estimate, name="additive"):
    """Additive smoothing of the counts, by `alpha`."""

    decays: ClassVar[bool] = True


class Weights(Part, axis="weights"):
    """How much each word counts, in the estimate and in the score.

    Attributes
    ----------
    ordered
        Whether statistics need the order of the words' bytes.
    prior, oov
        What `prior=None` and `oov=None` mean; None is the event model's.
    """

    ordered: ClassVar[bool] = False
    prior: ClassVar[str | None] = None
    oov: ClassVar[str | None] = None

    def weigh(self, indexed: Any, parameters: ScoringParameters) -> Any:
        """Return the weight of each word, where they are statistics: `WordWeights` or None.

        Parameters
        ----------
        indexed
            The indexed `Documents`, with the counts.
        parameters
            Of the scores.
        """
        return None

    def scoring_options(self, parts: Composition) -> dict[str, Any]:
        """Ask for weights, where they are statistics."""
        return {"weights": "multiplied"} if self.periodic else {}

    def in_use(self, setup: Setup) -> InUse:
        """Keep the weights of words and documents, where one of them is periodic."""
        documents = setup.parts.document_weights
        if not (self.periodic or documents.periodic):
            return InUse()
        # Here: other models do not wait for it.
        from streamnb.statistics.weights_in_use import WeightsInUse

        return InUse(WeightsInUse(self, documents, setup.parameters))


class UniformWeights(Weights, name="uniform"):
    """Each word counts the same."""

    decays: ClassVar[bool] = True


class DocumentWeights(Part, axis="document_weights"):
    """How much each message counts when it is learned, beside the weight that it was given."""

    def added(self, indexed: Any, parameters: ScoringParameters, words: Any) -> Any:
        """Return the weights of the indexed messages: `InstanceWeights` or None.

        Parameters
        ----------
        indexed
            The indexed `Documents`, with the counts.
        parameters
            Of the scores.
        words
            The weights of words, where they have any.
        """
        return None


class UniformDocuments(DocumentWeights, name="uniform"):
    """Each message counts as it was given to."""

    decays: ClassVar[bool] = True


class Neighbourhood(Part, axis="neighbourhood"):
    """Which messages count for a prediction.

    Attributes
    ----------
    prior
        What `prior=None` means; None is the event model's.
    """

    prior: ClassVar[str | None] = None


class WholeStream(Neighbourhood, name="stream"):
    """All of them."""

    decays: ClassVar[bool] = True


@dataclasses.dataclass(frozen=True)
class Composition:
    """A part of each axis. Two models with equal ones count alike.

    Attributes
    ----------
    event, dependence, estimate, weights, document_weights, neighbourhood
        The parts; all but the event model have a plain one.
    """

    event: Event
    dependence: Dependence = Independent()
    estimate: Estimate = Additive()
    weights: Weights = UniformWeights()
    document_weights: DocumentWeights = UniformDocuments()
    neighbourhood: Neighbourhood = WholeStream()

    @property
    def all(self) -> tuple[Part, ...]:
        """The parts; statistics are refreshed in their order."""
        return (
            self.event,
            self.estimate,
            self.neighbourhood,
            self.weights,
            self.document_weights,
            self.dependence,
        )

    def given(self, values: Mapping[str, Any]) -> Composition:
        """Return the parts with their parameters taken from these values, where they have them.

        Raises
        ------
        InputError
            If one of them is out of range.
        """
        return Composition(**{part.axis: part.given(values) for part in self.all})  # type: ignore[arg-type]

    @property
    def index_size(self) -> int:
        """What `index_size=None` means: as many messages as some part wants in the index."""
        return max(part.index_size for part in self.all)

    @property
    def calibrates(self) -> bool:
        """Whether some part calibrates probabilities along the stream."""
        return any(part.calibrates for part in self.all)

    @property
    def prior(self) -> str:
        """What `prior=None` means."""
        return self.neighbourhood.prior or self.weights.prior or self.event.prior

    @property
    def oov(self) -> str:
        """What `oov=None` means."""
        return self.weights.oov or self.event.oov

    def store_options(self) -> dict[str, Any]:
        """Return what the parts ask of the count store."""
        return {key: value for part in self.all for key, value in part.store_options(self).items()}

    def scoring_options(self) -> dict[str, Any]:
        """Return what the parts ask of scores."""
        return {
            key: value for part in self.all for key, value in part.scoring_options(self).items()
        }


AXES: dict[str, type[Part]] = {
    axis.axis: axis
    for axis in (Event, Dependence, Estimate, Weights, DocumentWeights, Neighbourhood)
}
"""The axes, by their names."""
