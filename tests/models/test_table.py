"""The table of models in tests knows every model, and each family has one that stands for it."""

from __future__ import annotations

from streamnb import families
from support.models import RATIOS, ROWS, family


def test_every_model_has_a_row() -> None:
    missing = set(families.MODELS) - set(ROWS)
    assert not missing, f"give {sorted(missing)} a row in tests/support/models.py"
    assert set(ROWS) == {*families.MODELS, RATIOS}


def test_every_family_is_represented() -> None:
    named = {row.family for row in ROWS.values()} - {"composed"}
    assert named == {row.family for row in ROWS.values() if row.representative}
    for name in named - {"independent"}:
        assert sum(ROWS[model].representative for model in family(name)) == 1, name
