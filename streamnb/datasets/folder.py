"""The data folder and the cache folder, and the collections in them.

The data folder has one sub-folder per format: `text/NAME.jsonl.xz`, `counts/NAME.svm.xz` (with
`counts/NAME.words.txt.xz` if the words are known) and `tabular/NAME.csv.xz`. It is not part of the
package, because the files have licences of their own. The folder `data` of the cache folder has the
same format; it contains downloads and is searched second.
"""

from __future__ import annotations

import os
from pathlib import Path

from streamnb.datasets.catalogue import COLLECTIONS
from streamnb.errors import DataError

KINDS: dict[str, str] = {"text": ".jsonl", "counts": ".svm", "tabular": ".csv"}
_COMPRESSIONS = (".xz", ".gz", ".bz2", "")


def _holds_data(folder: Path) -> bool:
    return any((folder / kind).is_dir() for kind in KINDS)


def data_folder() -> Path:
    """Return the folder of the real data sets.

    It is the value of `STREAMNB_DATA`, else `../shared/data` next to the current folder, the
    package, or a folder above one of them.

    Raises
    ------
    DataError
        If the folder does not exist.

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
    starts = [Path.cwd(), *Path.cwd().parents, *Path(__file__).resolve().parents]
    folders = [start.parent / "shared" / "data" for start in starts]
    for folder in folders:
        if _holds_data(folder):
            return folder
    raise DataError(
        f"no data folder at {folders[0]}: set the environment variable STREAMNB_DATA to the "
        "folder that contains text/, counts/ and tabular/"
    )


def cache_folder() -> Path:
    """Return the cache folder, which may not exist yet.

    It is the value of `STREAMNB_CACHE`, else `$XDG_CACHE_HOME/streamnb` or `~/.cache/streamnb`.

    Examples
    --------
    >>> from streamnb import datasets
    >>> datasets.cache_folder().is_absolute()
    True
    """
    if named := os.environ.get("STREAMNB_CACHE", "").strip():
        return Path(named).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(home).expanduser().absolute() / "streamnb"


def cached_file(name: str) -> Path:
    """Return the path of a downloaded text collection (`"sms_spam"`), which may not exist yet."""
    return cache_folder() / "data" / "text" / f"{name}.jsonl.xz"


def _places() -> list[Path]:
    """Return the folders to search, the data folder first."""
    try:
        return [data_folder(), cache_folder() / "data"]
    except DataError:
        return [cache_folder() / "data"]


def _collections(kind: str) -> dict[str, Path]:
    """Return the files of the collections of a kind by their names."""
    found = {}
    for folder in reversed(_places()):
        for path in sorted((folder / kind).glob(f"*{KINDS[kind]}*")):
            name, _, compression = path.name.partition(KINDS[kind])
            if compression in _COMPRESSIONS and path.name[0] != ".":
                found[name] = path
    return found


def data_file(kind: str, name_or_path: str | os.PathLike[str]) -> Path:
    """Return the file of a collection, given its name in the data folder or its path.

    Parameters
    ----------
    kind
        `"text"`, `"counts"` or `"tabular"`.
    name_or_path
        A name such as `"sms_spam"`. With a folder or a file extension it is a path.

    Raises
    ------
    DataError
        If the file does not exist.
    """
    given = Path(name_or_path)
    if isinstance(name_or_path, os.PathLike) or given.suffix or len(given.parts) > 1:
        if not given.is_file():
            raise DataError(f"no such file: {given}")
        return given
    found = _collections(kind)
    if str(given) in found:
        return found[str(given)]
    try:
        names = ", ".join(sorted(found)) or "nothing"
        problem = f"no collection {given} in {data_folder() / kind}, which holds {names}"
    except DataError as error:
        problem = str(error)
    fetchable = {collection.file: name for name, collection in COLLECTIONS.items()}
    if kind == "text" and str(given) in fetchable:
        problem += f"; download it with: streamnb fetch {fetchable[str(given)]}"
    raise DataError(problem)


def available(name: str) -> bool:
    """Return whether a collection exists in the data folder or among downloads.

    Parameters
    ----------
    name
        A name such as `"sms_spam"`, or with its kind as in `"text/sms_spam"`.

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
    return any(short in _collections(known) for known in kinds)
