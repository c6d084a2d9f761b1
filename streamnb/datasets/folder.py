"""Where the data folder is and what it holds.

The folder has one sub-folder a format: `text/NAME.jsonl.xz`, `counts/NAME.svm.xz` (with
`counts/NAME.words.txt.xz` where the words are known) and `tabular/NAME.csv.xz`. It is never part
of the package: its files are real people's messages under their own licences. What was fetched
stands in the same form in the folder `data` of the cache folder, and is found where the data folder
does not have it.
"""

from __future__ import annotations

import os
from pathlib import Path

from streamnb.datasets.cache import cache_folder
from streamnb.datasets.public import COLLECTIONS
from streamnb.errors import DataError

__all__ = ["available", "cached_file", "collection_names", "data_file", "data_folder"]

KINDS: dict[str, str] = {"text": ".jsonl", "counts": ".svm", "tabular": ".csv"}
_COMPRESSIONS = (".xz", ".gz", ".bz2", "")


def _holds_data(folder: Path) -> bool:
    return any((folder / kind).is_dir() for kind in KINDS)


def _default_folders() -> list[Path]:
    """Places of `../shared/data`: seen from here, then from the repository this file is in."""
    here = Path.cwd()
    starts = [here]
    for start in (here, Path(__file__).resolve()):
        starts += [parent for parent in start.parents if (parent / "pyproject.toml").is_file()]
    return [Path(os.path.normpath(start / ".." / "shared" / "data")) for start in starts]


def data_folder() -> Path:
    """Return the folder that holds the real data sets.

    It is the one that the environment variable `STREAMNB_DATA` names, else `../shared/data`
    beside the current folder or beside the repository.

    Raises
    ------
    DataError
        No such folder; the message says what to do.

    Examples
    --------
    >>> from streamnb import datasets
    >>> from streamnb.errors import DataError
    >>> try:
    ...     found = datasets.data_folder().is_dir()
    ... except DataError as error:
    ...     found = "STREAMNB_DATA" in str(error)
    >>> found
    True
    """
    named = os.environ.get("STREAMNB_DATA", "").strip()
    if named:
        folder = Path(named).expanduser()
        if _holds_data(folder):
            return folder
        raise DataError(
            f"STREAMNB_DATA={named} is not a data folder (it should contain text/, counts/ or "
            "tabular/): correct the variable, or unset it to use ../shared/data"
        )
    folders = _default_folders()
    for folder in folders:
        if _holds_data(folder):
            return folder
    raise DataError(
        f"no data folder at {folders[0]}: set the environment variable STREAMNB_DATA to the "
        "folder that contains text/, counts/ and tabular/"
    )


def cached_file(name: str) -> Path:
    """Return where a text collection is kept that was fetched; it need not be there.

    Parameters
    ----------
    name
        A name such as `"sms_spam"`.
    """
    return cache_folder() / "data" / "text" / f"{name}.jsonl.xz"


def _places() -> list[Path]:
    """Return the folders that may hold collections, the data folder first."""
    try:
        return [data_folder(), cache_folder() / "data"]
    except DataError:
        return [cache_folder() / "data"]


def _find(folder: Path, kind: str, name: str) -> Path | None:
    for compression in _COMPRESSIONS:
        path = folder / kind / f"{name}{KINDS[kind]}{compression}"
        if path.is_file():
            return path
    return None


def data_file(kind: str, name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of a collection, given its name in the data folder or its path.

    Parameters
    ----------
    kind
        `"text"`, `"counts"` or `"tabular"`.
    name_or_path
        A name such as `"sms_spam"`. Anything that has a folder or a file extension in it is a
        path.

    Raises
    ------
    DataError
        There is no such file or no data folder.
    """
    given = Path(name_or_path)
    if isinstance(name_or_path, os.PathLike) or given.suffix or len(given.parts) > 1:
        if not given.is_file():
            raise DataError(f"no such file: {given}")
        return given
    for place in _places():
        if (found := _find(place, kind, str(given))) is not None:
            return found
    try:
        folder = data_folder()
        names = ", ".join(collection_names(kind)) or "nothing"
        problem = f"no collection {given} in {folder / kind}, which holds {names}"
    except DataError as error:
        problem = str(error)
    fetchable = {collection.file: name for name, collection in COLLECTIONS.items()}
    if kind == "text" and str(given) in fetchable:
        problem += f"; or get it: streamnb fetch {fetchable[str(given)]}"
    raise DataError(problem)


def collection_names(kind: str) -> list[str]:
    """Return the sorted names of the collections of a kind, of the data folder and those fetched.

    Parameters
    ----------
    kind
        `"text"`, `"counts"` or `"tabular"`.
    """
    names = set()
    for folder in _places():
        for compression in _COMPRESSIONS:
            ending = KINDS[kind] + compression
            found = (folder / kind).glob(f"*{ending}")
            names |= {path.name.removesuffix(ending) for path in found if path.name[0] != "."}
    return sorted(names)


def available(name: str) -> bool:
    """Tell whether the data folder holds a collection, or it was fetched.

    Parameters
    ----------
    name
        A name such as `"sms_spam"`, looked for in every kind, or with its kind as in
        `"text/sms_spam"`.

    Examples
    --------
    >>> from streamnb import datasets
    >>> datasets.available("no such collection")
    False
    """
    kind, _, short = name.rpartition("/")
    if kind and kind not in KINDS:
        return False
    kinds = [kind] if kind else list(KINDS)
    return any(_find(folder, known, short) is not None for folder in _places() for known in kinds)
