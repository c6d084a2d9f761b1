"""Both stores do what the protocol says; that their types agree is checked by `make lint`."""

from __future__ import annotations

import pytest

from streamnb import _core
from streamnb.columns.store import AttributeStore
from streamnb.statistics.store import CountStore


@pytest.mark.parametrize("store", [_core.CountStore, AttributeStore])
def test_stores_have_every_member_of_the_protocol(store: type) -> None:
    members = {name for name in vars(CountStore) if not name.startswith("_")}
    assert {"learn", "unlearn", "scores", "version"} <= members
    assert {name for name in members if not hasattr(store, name)} == set()
