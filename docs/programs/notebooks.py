"""A page of the documents as a notebook: blocks of Python become cells, without what they print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any


def _cells(text: str) -> Iterator[dict[str, Any]]:
    """The cells of a notebook: blocks of Python become code, what lies between them text."""
    for position, part in enumerate(re.split(r"^```python\n(.*?)^```\n", text, flags=re.M | re.S)):
        if position % 2:
            # Prompts go, and with them what was printed.
            lines = part.splitlines()
            if any(line.startswith(">>>") for line in lines):
                lines = [line[4:] for line in lines if line.startswith((">>>", "..."))]
            source, kind = "\n".join(lines).strip(), "code"
        else:
            source, kind = part.strip(), "markdown"
        if source:
            cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
            yield cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def notebook(text: str) -> str:
    """Returns the notebook of a page, as JSON of its format 4.5."""
    cells = [{"id": f"cell-{n}", **cell} for n, cell in enumerate(_cells(text))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
