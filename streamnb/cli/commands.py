"""Parts that all commands share: their parser and model files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from streamnb.datasets.catalogue import DESCRIPTIONS
from streamnb.errors import InputError, ModelFileError

if TYPE_CHECKING:
    Subparsers: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Subparsers", "add_command", "load_model"]


def add_command(
    subparsers: Subparsers, name: str, summary: str, description: str, epilog: str
) -> argparse.ArgumentParser:
    """Return the parser of a new command; description and epilog keep their line breaks."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def load_model(path: Path) -> Any:
    """Load a model that the command line names.

    Parameters
    ----------
    path
        A file that `streamnb learn --output` wrote.

    Raises
    ------
    InputError
        If the file does not exist.
    ModelFileError
        If the file is not a model.
    """
    if not path.is_file():
        what = "is a stream of messages" if str(path) in DESCRIPTIONS else "does not exist"
        raise InputError(
            f"{path} {what}; give a model file: "
            "streamnb learn MESSAGES --output MODELFILE writes one"
        )
    import streamnb

    try:
        return streamnb.load(path)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
