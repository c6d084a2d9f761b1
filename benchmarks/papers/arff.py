"""Word counts in WEKA's sparse ARFF, the format of the HMNB paper's collections."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.papers.experiment import CollectionRecipe
from streamnb.errors import DataError

_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.+)", re.I)


def read_arff(recipe: CollectionRecipe) -> tuple[sparse.csr_array, list[str], list[str]]:
    """Return counts, labels and words of a sparse ARFF file.

    The class is the only nominal attribute. As in WEKA, its first value is omitted in the data.

    Raises
    ------
    DataError
        The file has no class, or a line is invalid.
    """
    path = Path(recipe.source)
    words: list[str] = []
    kinds: list[str] = []
    labels: list[str] = []
    rows, columns, values = [], [], []
    place, data = -1, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if found := _ATTRIBUTE.match(line):
            words.append(found[1].strip("'\""))
            kinds.append(found[2])
            continue
        if line.lower() == "@data":
            data = True
            nominal = [i for i, kind in enumerate(kinds) if kind.startswith("{")]
            if len(nominal) != 1:
                raise DataError(f"{path}: {len(nominal)} nominal attributes; need 1, the class")
            place = nominal[0]
            classes = [name.strip(" '\"") for name in kinds[place].strip("{} ").split(",")]
        elif data:
            try:
                cells = [
                    cell.split(None, 1) for cell in line.strip("{} ").split(",") if cell.strip()
                ]
                counts = {int(index): value for index, value in cells}
                labels.append(counts.pop(place, classes[0]).strip("'\""))
                columns += list(counts)
                values += [float(value) for value in counts.values()]
                rows += [len(labels) - 1] * len(counts)
            except ValueError as error:
                raise DataError(f"{path}, line {number}: not {{INDEX COUNT, ...}}") from error
    kept = [i for i in range(len(words)) if i != place]
    matrix = sparse.csr_array((values, (rows, columns)), shape=(len(labels), len(words)))
    return sparse.csr_array(matrix[:, np.array(kept, dtype=int)]), labels, [words[i] for i in kept]
