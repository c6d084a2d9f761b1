"""Streaming naive Bayes text classifiers that learn from every message as it arrives.

Examples
--------
>>> import streamnb
>>> model = streamnb.MNB()
>>> model.learn_one("Free entry: WIN cash now", "spam")
>>> model.learn_one("see you at noon", "ham")
>>> model.predict_one("win free cash")
'spam'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from streamnb.errors import (
    DataError,
    InputError,
    MissingDependencyError,
    ModelFileError,
    NotLearnedError,
    StreamNBError,
)
from streamnb.families import (
    BNB,
    CBFWNB,
    CNB,
    DFWCNB,
    DFWMNB,
    DFWNB,
    DFWOVA,
    DNB,
    DTWCNB,
    DTWMNB,
    DTWOVA,
    DWCNB,
    DWMNB,
    DWOVA,
    ENB,
    GDNB,
    GRSCNB,
    GRSMNB,
    GRSOVA,
    GRWCNB,
    GRWMNB,
    GRWOVA,
    HCNB,
    HMNB,
    HNB,
    HONB,
    HOVA,
    KLNB,
    LNB,
    LWWCNB,
    LWWMNB,
    LWWOVA,
    MNB,
    MSENB,
    NBCF,
    OVA,
    PHNB,
    SBC,
    SECNB,
    SEMNB,
    SEOVA,
    TWCNB,
    CNBTree,
    ComposedNB,
    MNBTree,
    OnlineNB,
    OVATree,
    RwcCNB,
    RwcMNB,
    RwcOVA,
    TreeNB,
)
from streamnb.model.base import NaiveBayes
from streamnb.model.explanation import Explanation
from streamnb.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from pathlib import Path

__version__ = "0.1.0"

__all__ = [
    "BNB",
    "CBFWNB",
    "CNB",
    "DFWCNB",
    "DFWMNB",
    "DFWNB",
    "DFWOVA",
    "DNB",
    "DTWCNB",
    "DTWMNB",
    "DTWOVA",
    "DWCNB",
    "DWMNB",
    "DWOVA",
    "ENB",
    "GDNB",
    "GRSCNB",
    "GRSMNB",
    "GRSOVA",
    "GRWCNB",
    "GRWMNB",
    "GRWOVA",
    "HCNB",
    "HMNB",
    "HNB",
    "HONB",
    "HOVA",
    "KLNB",
    "LNB",
    "LWWCNB",
    "LWWMNB",
    "LWWOVA",
    "MNB",
    "MSENB",
    "NBCF",
    "OVA",
    "PHNB",
    "SBC",
    "SECNB",
    "SEMNB",
    "SEOVA",
    "TWCNB",
    "CNBTree",
    "ComposedNB",
    "DataError",
    "Explanation",
    "InputError",
    "MNBTree",
    "MissingDependencyError",
    "ModelFileError",
    "NaiveBayes",
    "NotLearnedError",
    "OVATree",
    "OnlineNB",
    "RwcCNB",
    "RwcMNB",
    "RwcOVA",
    "StreamNBError",
    "Tokenizer",
    "TreeNB",
    "load",
]


def load(
    path: str | Path,
    tokenizer: Callable[[str], Iterable[Any]] | None = None,
    n_jobs: int | None = None,
) -> NaiveBayes:
    """Return the model of any class that a file contains.

    Parameters
    ----------
    path
        A file that a model's `save` wrote.
    tokenizer
        The tokenizer function that the model was saved with, if it had one.
    n_jobs
        The model's parameter of this name, which files do not contain: threads for batches.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered or has another version.

    Examples
    --------
    >>> import tempfile
    >>> from streamnb import MNB, load
    >>> model = MNB()
    >>> model.learn_one("win cash", "spam")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/filter.snb")
    ...     type(load(f"{folder}/filter.snb"))
    <class 'streamnb.families.independent.MNB'>
    """
    return NaiveBayes.load(path, tokenizer, n_jobs)
