"""Find the data folder in tests; skip the test or, on request, fail it if the folder is missing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import pytest

from streamnb.datasets import data_folder
from streamnb.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def missing(reason: str) -> NoReturn:
    """Skip the test, or fail it with `STREAMNB_REQUIRE_DATA=1`."""
    if os.environ.get("STREAMNB_REQUIRE_DATA") == "1":
        pytest.fail(f"STREAMNB_REQUIRE_DATA=1, and {reason}")
    pytest.skip(reason)


def require_data(*relative_paths: str) -> Path:
    """Return the path of a file of the data folder, or skip the test.

    With no path, or several, return the data folder. With `STREAMNB_REQUIRE_DATA=1` in the
    environment, missing data fail the test.
    """
    try:
        folder = data_folder()
        absent = [path for path in relative_paths if not (folder / path).is_file()]
        reason = f"{folder} has no {', '.join(absent)}" if absent else ""
    except DataError as error:
        reason = str(error)
    if reason:
        missing(reason)
    return folder / relative_paths[0] if len(relative_paths) == 1 else folder


def cases_folder() -> Path:
    """Return the folder of small damaged inputs, or skip the test."""
    try:
        folder = data_folder().parent / "cases"
    except DataError as error:
        missing(str(error))
    if not folder.is_dir():
        missing(f"{folder} is missing")
    return folder
