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

import importlib
from typing import TYPE_CHECKING

from streamnb import models as models
from streamnb.errors import DataError as DataError
from streamnb.errors import InputError as InputError
from streamnb.errors import MissingDependencyError as MissingDependencyError
from streamnb.errors import ModelFileError as ModelFileError
from streamnb.errors import NotLearnedError as NotLearnedError
from streamnb.errors import StreamNBError as StreamNBError
from streamnb.lazy import attribute as _attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any

    from streamnb.explanation import Explanation as Explanation
    from streamnb.models import BNB as BNB
    from streamnb.models import CBFWNB as CBFWNB
    from streamnb.models import CNB as CNB
    from streamnb.models import DFWCNB as DFWCNB
    from streamnb.models import DFWMNB as DFWMNB
    from streamnb.models import DFWNB as DFWNB
    from streamnb.models import DFWOVA as DFWOVA
    from streamnb.models import DNB as DNB
    from streamnb.models import DTWCNB as DTWCNB
    from streamnb.models import DTWMNB as DTWMNB
    from streamnb.models import DTWOVA as DTWOVA
    from streamnb.models import DWCNB as DWCNB
    from streamnb.models import DWMNB as DWMNB
    from streamnb.models import DWOVA as DWOVA
    from streamnb.models import ENB as ENB
    from streamnb.models import GDNB as GDNB
    from streamnb.models import GRSCNB as GRSCNB
    from streamnb.models import GRSMNB as GRSMNB
    from streamnb.models import GRSOVA as GRSOVA
    from streamnb.models import GRWCNB as GRWCNB
    from streamnb.models import GRWMNB as GRWMNB
    from streamnb.models import GRWOVA as GRWOVA
    from streamnb.models import HCNB as HCNB
    from streamnb.models import HMNB as HMNB
    from streamnb.models import HNB as HNB
    from streamnb.models import HONB as HONB
    from streamnb.models import HOVA as HOVA
    from streamnb.models import KLNB as KLNB
    from streamnb.models import LNB as LNB
    from streamnb.models import LWWCNB as LWWCNB
    from streamnb.models import LWWMNB as LWWMNB
    from streamnb.models import LWWOVA as LWWOVA
    from streamnb.models import MNB as MNB
    from streamnb.models import MSENB as MSENB
    from streamnb.models import NBCF as NBCF
    from streamnb.models import OVA as OVA
    from streamnb.models import PHNB as PHNB
    from streamnb.models import SBC as SBC
    from streamnb.models import SECNB as SECNB
    from streamnb.models import SEMNB as SEMNB
    from streamnb.models import SEOVA as SEOVA
    from streamnb.models import TWCNB as TWCNB
    from streamnb.models import CNBTree as CNBTree
    from streamnb.models import ComposedNB as ComposedNB
    from streamnb.models import MNBTree as MNBTree
    from streamnb.models import OnlineNB as OnlineNB
    from streamnb.models import OVATree as OVATree
    from streamnb.models import RwcCNB as RwcCNB
    from streamnb.models import RwcMNB as RwcMNB
    from streamnb.models import RwcOVA as RwcOVA
    from streamnb.models import TreeNB as TreeNB
    from streamnb.naive_bayes import NaiveBayes as NaiveBayes
    from streamnb.text.tokenizer import Tokenizer as Tokenizer

__version__ = "0.1.0"

# What is imported when it is first asked for: whoever imports streamnb waits for what he uses.
_HOMES = {
    "Explanation": "streamnb.explanation",
    "NaiveBayes": "streamnb.naive_bayes",
    "Tokenizer": "streamnb.text.tokenizer",
} | dict.fromkeys(models.__all__, "streamnb.models")
_ROOMS = ("explanation", "naive_bayes", "parts", "text")

__all__ = [
    *models.__all__,
    "DataError",
    "Explanation",
    "InputError",
    "MissingDependencyError",
    "ModelFileError",
    "NaiveBayes",
    "NotLearnedError",
    "StreamNBError",
    "Tokenizer",
    "load",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _ROOMS:
            return _attribute(globals(), _HOMES, name)
        return importlib.import_module(f"streamnb.{name}")  # which puts it here


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})


def load(
    path: str | Path,
    tokenizer: Callable[[str], Iterable[Any]] | None = None,
    n_jobs: int | None = None,
) -> NaiveBayes:
    """Return the model that a file holds, of whatever class.

    Parameters
    ----------
    path
        A file that a model's `save` wrote.
    tokenizer
        The function that the model was saved with, if its tokenizer was one.
    n_jobs
        As the model's own parameter, which no file holds: how many threads batches have.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered or of another version.

    Examples
    --------
    >>> import tempfile
    >>> from streamnb import MNB, load
    >>> model = MNB()
    >>> model.learn_one("win cash", "spam")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/filter.snb")
    ...     type(load(f"{folder}/filter.snb"))
    <class 'streamnb.models.independent.MNB'>
    """
    from streamnb.naive_bayes import NaiveBayes

    return NaiveBayes.load(path, tokenizer, n_jobs)
