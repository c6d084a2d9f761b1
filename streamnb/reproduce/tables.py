"""The published tables: small TOML files beside this module, one a table of a paper."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any

from streamnb.errors import DataError

__all__ = ["PublishedTable", "read_table"]


@dataclass(frozen=True)
class PublishedTable:
    """One table of a paper, as printed.

    Attributes
    ----------
    name
        Name of the file without its extension, such as `"hmnb-table2"`.
    paper, table, measure
        Where the figures are from, which table it is, what they measure.
    columns
        The models, the one that the table is about first.
    rows
        Collection → the figure of each column; NaN where the paper shows it without a number.
    significance
        Collection → for each column but the first, whether the first is significantly better
        (`">"`), worse (`"<"`) or neither (`"="`); empty where the paper does not say.
    average, win_tie_loss
        The foot of the table, as printed; empty where it has none.
    """

    name: str
    paper: str
    table: str
    measure: str
    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    significance: dict[str, tuple[str, ...]]
    average: tuple[float, ...]
    win_tie_loss: tuple[str, ...]

    @property
    def lead(self) -> str:
        """The model that the table compares with the others."""
        return self.columns[0]

    def figure(self, collection: str, model: str) -> float | None:
        """Return a published figure; None where the table has none."""
        if collection not in self.rows or model not in self.columns:
            return None
        figure = self.rows[collection][self.columns.index(model)]
        return None if math.isnan(figure) else figure

    def marks(self, model: str) -> dict[str, str]:
        """Return collection → mark of the lead model against another one."""
        place = self.columns.index(model) - 1
        return {name: marks[place] for name, marks in self.significance.items() if place >= 0}


def read_table(name: str) -> PublishedTable:
    """Read one of the published tables that come with the package.

    Parameters
    ----------
    name
        Such as `"hmnb-table2"`.

    Raises
    ------
    DataError
        There is no such table, or its file is not well formed.

    Examples
    --------
    >>> table = read_table("hmnb-table2")
    >>> table.columns[:2], table.figure("re0", "HMNB")
    (('HMNB', 'MNB'), 83.29)
    """
    file = resources.files("streamnb.reproduce") / "tables" / f"{name}.toml"
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        return _checked(name, content)
    except FileNotFoundError as error:
        raise DataError(f"there is no published table {name!r}") from error
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"published table {name!r} is not well formed: {error}") from error


def _checked(name: str, content: dict[str, Any]) -> PublishedTable:
    table = PublishedTable(
        name=name,
        paper=content["paper"],
        table=content["table"],
        measure=content["measure"],
        columns=tuple(content["columns"]),
        rows={key: tuple(map(float, row)) for key, row in content["rows"].items()},
        significance={key: tuple(row) for key, row in content.get("significance", {}).items()},
        average=tuple(map(float, content.get("average", ()))),
        win_tie_loss=tuple(content.get("win_tie_loss", ())),
    )
    width = len(table.columns)
    lengths = {len(row) for row in table.rows.values()}
    lengths |= {len(row) + 1 for row in table.significance.values()}
    lengths |= {len(foot) for foot in (table.average, table.win_tie_loss) if foot}
    if lengths != {width}:
        raise ValueError(f"{width} columns, but rows of {sorted(lengths)}")
    if not set(table.significance) <= set(table.rows):
        raise ValueError("marks of a collection that has no row")
    return table
