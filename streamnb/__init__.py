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
from pathlib import Path
from typing import Any

from streamnb.errors import (
    DataError,
    InputError,
    MissingDependencyError,
    ModelFileError,
    NotLearnedError,
    StreamNBError,
)
from streamnb.families.attribute_weights import CBFWNB, DFWNB, KLNB, SBC, TreeNB
from streamnb.families.chi_square import RwcCNB, RwcMNB, RwcOVA
from streamnb.families.composed import ComposedNB
from streamnb.families.correlation import NBCF
from streamnb.families.correlation_based import DFWCNB, DFWMNB, DFWOVA
from streamnb.families.document_weights import DWCNB, DWMNB, DWOVA
from streamnb.families.fitted_weights import DNB, ENB, GDNB, LNB, MSENB
from streamnb.families.fitted_words import LossCNB, LossMNB, LossOVA
from streamnb.families.gain_ratio import GRWCNB, GRWMNB, GRWOVA
from streamnb.families.hidden import HCNB, HMNB, HOVA
from streamnb.families.higher_order import HONB
from streamnb.families.independent import BNB, CNB, MNB, OVA, TWCNB
from streamnb.families.nearest import LWWCNB, LWWMNB, LWWOVA
from streamnb.families.one_dependence import SECNB, SEMNB, SEOVA
from streamnb.families.online_weights import OnlineNB
from streamnb.families.packaged import HNB, PHNB
from streamnb.families.selection import GRSCNB, GRSMNB, GRSOVA
from streamnb.families.tree import CNBTree, MNBTree, OVATree
from streamnb.families.tree_depth import DTWCNB, DTWMNB, DTWOVA
from streamnb.model.base import NaiveBayes
from streamnb.model.explanation import Explanation
from streamnb.model.persistence import SavedModel
from streamnb.multilabel import MultiLabelNB
from streamnb.text.tokenizer import Tokenizer

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
    "LossCNB",
    "LossMNB",
    "LossOVA",
    "MNBTree",
    "MissingDependencyError",
    "ModelFileError",
    "MultiLabelNB",
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
) -> NaiveBayes[Any] | MultiLabelNB[Any]:
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
    model: Any = SavedModel.load(path, tokenizer, n_jobs)
    return model  # type: ignore[no-any-return]


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return [*__all__, "errors", *(name for name in globals() if name.startswith("__"))]
