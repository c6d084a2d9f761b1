"""Models that a command line names by their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from streamnb.datasets.catalogue import DESCRIPTIONS
from streamnb.errors import InputError, ModelFileError

__all__ = ["load_model"]


def load_model(path: Path) -> Any:
    """Return the model that a file holds.

    Parameters
    ----------
    path
        What `streamnb learn --output` wrote.

    Raises
    ------
    InputError
        There is no such file.
    ModelFileError
        It is no model; the message names it.
    """
    if not path.is_file():
        what = "is a stream of messages" if str(path) in DESCRIPTIONS else "is no file"
        raise InputError(
            f"{path} {what}, not a model: streamnb learn MESSAGES --output MODELFILE writes one"
        )
    import streamnb

    try:
        return streamnb.load(path)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
