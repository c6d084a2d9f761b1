"""Refreshers: what a model computes now and then from its counts, aside, and swaps in."""

from __future__ import annotations

from typing import Any, Generic

from streamnb import _core
from streamnb.statistics.store import Store


class Refresher(Generic[Store]):
    """Statistics of one part of a model.

    Attributes
    ----------
    periodic
        Whether they are computed as the model's schedule says; else only where a model is saved,
        loaded or merged, or where somebody asks for it.
    """

    periodic: bool = True

    def refresh(self, store: Store, scoring: _core.Scoring) -> None:
        """Compute the statistics of a store, and swap them in.

        Parameters
        ----------
        store
            The counts.
        scoring
            How messages are scored.
        """
        # Where ids were given to other words or classes meanwhile, it is done again.
        while store.n_documents and not self.swap(store):
            pass

    def swap(self, store: Store) -> bool:
        """Compute the statistics of a store with messages, and swap them in.

        Returns
        -------
        False, with the store as it was, if ids were given to other words or classes meanwhile.
        """
        raise NotImplementedError

    def state(self, store: Store, class_ids: list[int]) -> Any:
        """Return the statistics in use beside those in the store's snapshot, for a copy.

        Parameters
        ----------
        store
            The counts.
        class_ids
            Of the classes, in the order of their labels, which is that of their ids in a copy.
        """
        return None

    def restore(self, store: Store, state: Any) -> None:
        """Take the statistics that `state` returned."""

    def weights(self, store: Store) -> dict[str, float]:
        """Return the weight of each word or attribute; nothing where these have none."""
        return {}
