"""A few messages in every format that a model accepts."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from support.models import makes

if TYPE_CHECKING:
    from collections.abc import Callable


TEXTS = [
    "win cash now cash",
    "are you home now",
    "",
    "cash prize win win win",
    "home soon love you",
    "meeting at noon",
]
LABELS = ["spam", "ham", "ham", "spam", "ham", "work"]
COUNTS = [dict(Counter(text.split())) for text in TEXTS]
COLUMNS = sorted({word for x in COUNTS for word in x})
TABLE = np.array([[x.get(word, 0) for word in COLUMNS] for x in COUNTS])
QUERY = "win cash at home tonight"
INDEX = ["m1", "m2", "m3", "m4", "m5", "m6"]


def new(name: str, **parameters: Any) -> Any:
    return makes(name)(refresh_every=1, **parameters)


def learned(name: str = "MNB", **parameters: Any) -> Any:
    model = new(name, **parameters)
    for text, label in zip(TEXTS, LABELS, strict=True):
        model.learn_one(text, label)
    return model


def sparse_frame(dtype: type = int) -> pd.DataFrame:
    return pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(TABLE.astype(dtype)), index=INDEX, columns=COLUMNS
    )


# --- every form of the same messages -------------------------------------------------------------

BATCHES: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "list of text": lambda: (TEXTS, {}),
    "tuple of text": lambda: (tuple(TEXTS), {}),
    "list of mappings": lambda: (COUNTS, {}),
    "list of Counters": lambda: ([Counter(x) for x in COUNTS], {}),
    "list of both": lambda: ([*TEXTS[:3], *COUNTS[3:]], {}),
    "csr_matrix": lambda: (sparse.csr_matrix(TABLE), {"vocabulary": COLUMNS}),
    "csr_array": lambda: (sparse.csr_array(TABLE.astype(float)), {"vocabulary": COLUMNS}),
    "csr_array of float32": lambda: (
        sparse.csr_array(TABLE.astype(np.float32)),
        {"vocabulary": COLUMNS},
    ),
    "csr with int64 indices": lambda: (wide(sparse.csr_array(TABLE)), {"vocabulary": COLUMNS}),
    "csr, unsorted with explicit zeros and duplicates": lambda: (
        untidy(),
        {"vocabulary": COLUMNS},
    ),
    "series of text": lambda: (pd.Series(TEXTS, index=INDEX), {}),
    "dense data frame": lambda: (pd.DataFrame(TABLE, index=INDEX, columns=COLUMNS), {}),
    "dense data frame of floats": lambda: (
        pd.DataFrame(TABLE.astype(float), index=INDEX, columns=COLUMNS),
        {},
    ),
    "sparse data frame": lambda: (sparse_frame(), {}),
    "sparse data frame of floats": lambda: (sparse_frame(float), {}),
}


def wide(matrix: sparse.csr_array) -> sparse.csr_array:
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


def untidy() -> sparse.csr_array:
    """Return the table with entries above 1 split, explicit zeros, and columns in reverse order."""
    indptr, indices, data = [0], [], []
    for row in TABLE:
        for column in reversed(range(len(COLUMNS))):
            parts = [1, row[column] - 1] if row[column] > 1 else [row[column]]
            indices += [column] * len(parts)
            data += parts
        indptr.append(len(data))
    return sparse.csr_array((data, indices, indptr), shape=TABLE.shape)


MAPPINGS: dict[str, Callable[[dict[str, int]], Any]] = {
    "dict": dict,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "defaultdict": lambda x: defaultdict(int, x),
    "mapping proxy": MappingProxyType,
    "floats": lambda x: {word: float(count) for word, count in x.items()},
    "numpy int64": lambda x: {word: np.int64(count) for word, count in x.items()},
    "numpy uint8": lambda x: {word: np.uint8(count) for word, count in x.items()},
    "numpy float32": lambda x: {word: np.float32(count) for word, count in x.items()},
    "numpy str keys": lambda x: {np.str_(word): count for word, count in x.items()},
    "zeros beside": lambda x: {**dict.fromkeys(["zero", "home"], 0), **x},
    "booleans": lambda x: {word: True if count == 1 else count for word, count in x.items()},
}
