"""Refreshers: what a model computes now and then from its counts, aside, and swaps in."""

from __future__ import annotations

from typing import Any

from streamnb import _core


class Refresher:
    """Statistics of one part of a model.

    Attributes
    ----------
    periodic
        Whether they are computed as the model's schedule says; else only where a model is saved,
        loaded or merged, or where somebody asks for it.
    """

    periodic: bool = True

    def refresh(self, store: _core.CountStore, scoring: _core.Scoring, anew: bool) -> None:
        """Compute the statistics of a store, and swap them in.

        Parameters
        ----------
        store
            The counts.
        scoring
            How messages are scored.
        anew
            Whether fits start from nothing, so that all follows from the counts, and not from those
            before.
        """
        # Where ids were given to other words or classes meanwhile, it is done again.
        while store.n_documents and not self.swap(store, anew):
            pass

    def swap(self, store: _core.CountStore, anew: bool) -> bool:
        """Compute the statistics of a store with messages, and swap them in.

        Returns
        -------
        False, with the store as it was, if ids were given to other words or classes meanwhile.
        """
        raise NotImplementedError

    def state(self, store: _core.CountStore, class_ids: list[int]) -> Any:
        """Return the statistics in use beside those in the store's snapshot, for a copy.

        Parameters
        ----------
        store
            The counts.
        class_ids
            Of the classes, in the order of their labels, which is that of their ids in a copy.
        """
        return None

    def restore(self, store: _core.CountStore, state: Any) -> None:
        """Take the statistics that `state` returned."""

    def weights(self, store: _core.CountStore) -> dict[str, float]:
        """Return the weight of each word or attribute; nothing where these have none."""
        return {}
