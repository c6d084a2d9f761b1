"""The file of finished runs: one JSON line for each, found again by its settings."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from streamnb.datasets import cache_folder
from streamnb.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["RunsFile", "StoredRun", "code_fingerprint", "default_runs_path", "settings_key"]

# A line holds 20 bytes a fold and some hundreds more.
_LONGEST_LINE = 1 << 20
# No figure of a model depends on what these print or read: the data have a digest of their own.
_ROOMS_WITHOUT_FIGURES = ("cli", "datasets", "evaluation", "reproduce")


@dataclass(frozen=True)
class StoredRun:
    """One run of a model on a collection.

    Attributes
    ----------
    key
        Digest of everything that the scores depend on.
    settings
        The same in readable form.
    scores
        One figure a fold, in the experiment's unit.
    seconds
        Time taken by all folds.
    """

    key: str
    settings: dict[str, Any]
    scores: tuple[float, ...]
    seconds: float


def settings_key(settings: Mapping[str, Any]) -> str:
    """Return the digest of settings, which does not depend on their order.

    Parameters
    ----------
    settings
        Anything that JSON can hold.
    """
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def code_fingerprint() -> str:
    """Return a digest of the package's models, native core and cross-validation.

    A result is reused only if the same code would give it again, so that nobody looks at figures
    of a model that has changed since.
    """
    package = Path(__file__).resolve().parents[1]
    files = [
        *package.glob("_core*"),
        *(
            file
            for file in package.rglob("*.py")
            if file.relative_to(package).parts[0] not in _ROOMS_WITHOUT_FIGURES
        ),
        *(package / "reproduce" / name for name in ("folds.py", "runner.py", "experiment.py")),
    ]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(package).as_posix().encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def default_runs_path(experiment: str) -> Path:
    """Return where results are kept unless the user says otherwise: the user's cache folder."""
    return cache_folder() / "reproduce" / f"{experiment}.jsonl"


class RunsFile:
    """Results of finished runs, kept in a file that only grows.

    Parameters
    ----------
    path
        The file; it and its folder are made when the first result is added.

    Raises
    ------
    DataError
        The file cannot be read, or a line of it is not a result. An incomplete
        last line, left by a program that was stopped while writing, is ignored.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._runs: dict[str, StoredRun] = {}
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise DataError(f"cannot read the results file {path}: {error}") from error
        for number, line in enumerate(content.splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                continue
            try:
                fields = json.loads(line)
                result = StoredRun(
                    str(fields["key"]),
                    dict(fields["settings"]),
                    tuple(map(float, fields["scores"])),
                    float(fields["seconds"]),
                )
            except (ValueError, TypeError, KeyError) as error:
                raise DataError(
                    f"{path}, line {number}: not a result; remove the line, or give another "
                    "file with --results"
                ) from error
            self._runs[result.key] = result

    def get(self, key: str) -> StoredRun | None:
        """Return a stored result; None if there is none with that key."""
        return self._runs.get(key)

    def last_like(self, settings: Mapping[str, Any], but: str) -> StoredRun | None:
        """Return the result stored last with these settings but for one; None if there is none.

        Parameters
        ----------
        settings
            What the result should depend on.
        but
            The name of the setting that may be another.
        """
        wanted = {**settings, but: None}
        for result in reversed(self._runs.values()):
            if {**result.settings, but: None} == wanted:
                return result
        return None

    def add(self, result: StoredRun) -> None:
        """Append a result; it is on disk when this returns.

        Raises
        ------
        DataError
            The file cannot be written.
        """
        line = json.dumps(asdict(result), sort_keys=True) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                _cut_incomplete_line(file)
                file.write(line.encode())
        except OSError as error:
            raise DataError(f"cannot write the results file {self.path}: {error}") from error
        self._runs[result.key] = result


def _cut_incomplete_line(file: BinaryIO) -> None:
    end = file.seek(0, os.SEEK_END)
    start = max(0, end - _LONGEST_LINE)
    file.seek(start)
    tail = file.read()
    if tail and not tail.endswith(b"\n"):
        file.truncate(start + tail.rfind(b"\n") + 1)
