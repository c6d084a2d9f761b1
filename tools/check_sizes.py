"""Check that no source file and no folder has grown too large (`make lint` runs it).

A file of more than 400 lines, or a folder of more than 20 files, holds more than one subject. Files
that git ignores do not count, and lines count in programs only: data and prose may be long.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 400
MOST_FILES = 20
PROGRAMS = {".java", ".py", ".pyi", ".rs", ".sh"}


def tracked_files(root: Path) -> list[str]:
    """Return the paths of the files below a folder that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file())


def long_files(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each program of more than 400 lines."""
    for name in names:
        if PurePosixPath(name).suffix in PROGRAMS:
            lines = len((root / name).read_bytes().splitlines())
            if lines > MOST_LINES:
                yield f"{name} has {lines} lines; at most {MOST_LINES}: split it by subject"


def full_folders(names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each folder of more than 20 files."""
    sizes = Counter(str(PurePosixPath(name).parent) for name in names)
    for folder, files in sorted(sizes.items()):
        if files > MOST_FILES:
            yield f"{folder}/ has {files} files; at most {MOST_FILES}: give it rooms"


def main(arguments: list[str] | None = None) -> int:
    """Print what is too large, and return 1 if anything is."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="checkout to read")
    root = parser.parse_args(arguments).root
    names = tracked_files(root)
    found = [*long_files(root, names), *full_folders(names)]
    print("\n".join(found or ["sizes: every file and folder is small enough"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
