"""The side of a model that is saved, loaded and copied."""

from __future__ import annotations

import dataclasses
import importlib
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from river import base

from streamnb import _core
from streamnb.columns.reading import Columns
from streamnb.errors import ModelFileError
from streamnb.online.schedule import Schedule
from streamnb.online.tuning import Tuning
from streamnb.parameters import check_jobs, parameters_in_use
from streamnb.parts.axes.choice import Scorer
from streamnb.persistence import saving
from streamnb.persistence.compression import compressed, decompressed
from streamnb.statistics.counts import Counts
from streamnb.statistics.refreshing import Refresher
from streamnb.statistics.store import AnyStore
from streamnb.text.labels import Labels

if TYPE_CHECKING:
    from pathlib import Path

Tokenize = Callable[[str], Iterable[Any]]


class SavedModel(base.Base):
    """What a model file holds, and a copy.

    Attributes
    ----------
    known
        The models that a file may hold, by the names of their classes: those that name their parts.
    """

    known: ClassVar[dict[str, type[SavedModel]]] = {}

    term_weighting: str
    _store: AnyStore
    _labels: Labels
    _columns: Columns | None
    _schedule: Schedule
    _tunings: Sequence[Tuning[Any]]
    _refreshers: Sequence[Refresher[Any]]
    _scorer: Scorer
    _scoring: _core.Scoring
    _lock: threading.RLock

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "parts"):
            SavedModel.known.setdefault(cls.__name__, cls)

    def _begin(self, snapshot: bytes | None, labels: Labels) -> None:
        """Start from nothing, or from the counts of a snapshot."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Compute the statistics anew."""
        raise NotImplementedError

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters, by name."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: getattr(self, field.name) for field in fields}

    def saved_parameters(self) -> dict[str, Any]:
        """Return the parameters that make the model what it is, by name: those of its file.

        How many threads work is none of them. Those that came later are there where they are used,
        so that the files of all other models are the bytes that they were.
        """
        used = parameters_in_use(self._get_params())
        used.pop("n_jobs", None)
        return used

    def to_bytes(self) -> bytes:
        """Return the model file's bytes: the same for all models that have learned the same.

        Statistics are refreshed first and not written: they follow from the counts.
        """
        with self._lock:
            self.refresh()
            return saving.dump(self.state())

    def save(self, path: str | Path) -> None:
        """Write the model to a file, compressed, which is replaced as a whole or not at all."""
        from pathlib import Path  # here: it takes longer than what it imports for

        saving.write(Path(path), compressed(self.to_bytes()))

    @classmethod
    def load(
        cls, path: str | Path, tokenizer: Tokenize | None = None, n_jobs: int | None = None
    ) -> Self:
        """Return the model that a file holds.

        Parameters
        ----------
        path
            A file that `save` wrote.
        tokenizer
            The function that the model was saved with, if its tokenizer was one.
        n_jobs
            As the model's own parameter, which no file holds: how many threads score batches.

        Raises
        ------
        ModelFileError
            If the file is truncated, altered, of another version, or holds another model.
        InputError
            If `n_jobs` is no number of threads.
        """
        from pathlib import Path

        return cls.from_bytes(decompressed(Path(path).read_bytes()), tokenizer, n_jobs)

    @classmethod
    def from_bytes(
        cls, data: bytes, tokenizer: Tokenize | None = None, n_jobs: int | None = None
    ) -> Self:
        """Return the model that `to_bytes` wrote; parameters and errors are those of `load`."""
        check_jobs("n_jobs", n_jobs)
        state = saving.read(data, tokenizer)
        with saving.readable():
            # A file may hold a model of a family that nobody has asked for yet: it is imported now.
            models = importlib.import_module("streamnb.models")
            found: type[Any] | None = SavedModel.known.get(state.model)
            if state.model in models.__all__:
                found = getattr(models, state.model)
            if found is None:
                raise ModelFileError(
                    f"the file holds a model of class {state.model!r}, which is unknown here"
                )
            if not issubclass(found, cls):
                raise ModelFileError(
                    f"the file holds a model of class {found.__name__}, not {cls.__name__}: "
                    f"use {found.__name__}.load, or streamnb.load for any"
                )
            parameters = {**found._read_parameters(state.parameters), "n_jobs": n_jobs}
            model = found(**parameters)
            model.restore(state)
        return model

    @classmethod
    def _read_parameters(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of a model file as the class takes them today."""
        return parameters

    def state(self) -> saving.State:
        """Return everything learned; statistics follow from it."""
        return saving.State(
            type(self).__name__,
            self.saved_parameters(),
            [label for label, _ in self._labels.order],
            self._store.snapshot(statistics=False),
            {tuning.name: tuning.state() for tuning in self._tunings},
            None if self._columns is None else self._columns.ranges,
        )

    def restore(self, state: saving.State) -> None:
        """Take everything learned by a model with the same parameters, and refresh statistics.

        Raises
        ------
        ModelFileError
            If it does not hold together.
        """
        with saving.readable():
            labels = Labels(state.labels)
            self._begin(state.counts, labels)
            for tuning in self._tunings:
                tuning.restore(state.records[tuning.name])
            if self._columns is not None:
                if state.ranges is None:
                    raise KeyError("columns")
                self._columns.ranges = dict(state.ranges)
            if (
                not len(labels.ids)
                == len(labels.names)
                == len(Counts.of(self._store).class_documents)
            ):
                raise ModelFileError("the model can't be read: labels and counts disagree")
            if self._store.term_weighting != self.term_weighting:
                raise ModelFileError("corrupt model file: its counts have another term_weighting")
        self._schedule.reset(round(self._store.n_documents))
        self.refresh()

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle and deepcopy keep: everything, the statistics in use included."""
        with self._lock:
            return self._kept()

    def _kept(self) -> dict[str, Any]:
        class_ids = [class_id for _, class_id in self._labels.order]
        return {
            "parameters": self._parameters(),
            "labels": [label for label, _ in self._labels.order],
            "counts": self._store.snapshot(statistics=True),
            "schedule": (self._schedule.messages, self._schedule.due),
            "columns": dict(self._columns.ranges) if self._columns is not None else None,
            "records": [tuning.state() for tuning in self._tunings],
            "statistics": [
                refresher.state(self._store, class_ids) for refresher in self._refreshers
            ],
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept["parameters"])
        self._begin(kept["counts"], Labels(kept["labels"]))
        self._schedule.messages, self._schedule.due = kept["schedule"]
        for tuning, record in zip(self._tunings, kept["records"], strict=True):
            tuning.restore(record)
        for refresher, statistics in zip(self._refreshers, kept["statistics"], strict=True):
            refresher.restore(self._store, statistics)
        self._scoring = self._scorer.scoring
        if self._columns is not None:
            self._columns.ranges = kept["columns"]
