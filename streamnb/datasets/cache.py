"""Where streamnb keeps what it can get or compute again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    r"""Return the user's cache folder of streamnb; it need not exist yet.

    It is the one that the environment variable `STREAMNB_CACHE` names, else the platform's:
    `$XDG_CACHE_HOME/streamnb` or `~/.cache/streamnb`, on macOS `~/Library/Caches/streamnb`, on
    Windows `%LOCALAPPDATA%\streamnb\Cache`.

    Examples
    --------
    >>> from streamnb import datasets
    >>> datasets.cache_folder().is_absolute()
    True
    """
    if named := os.environ.get("STREAMNB_CACHE", "").strip():
        return Path(named).expanduser().absolute()
    if named := os.environ.get("XDG_CACHE_HOME", "").strip():
        return Path(named).expanduser().absolute() / "streamnb"
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "streamnb"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "").strip() or home / "AppData" / "Local"
        return Path(local) / "streamnb" / "Cache"
    return home / ".cache" / "streamnb"
