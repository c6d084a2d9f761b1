"""Warn of source files and folders of an unusual size (`make lint` runs it).

A file of more than 600 lines or a folder of more than 25 programs probably has more than one
subject. Many files under 60 lines scatter one subject. Files that git ignores do not count. The
size of a file is a question to its author, so nothing fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
MOST_LINES = 600
FEWEST_LINES = 60
MOST_SHORT_FILES = 0.10
MOST_FILES = 25
PRODUCT = ("streamnb/", "consumers/", "core/src/")
PROGRAMS = {".java", ".py", ".pyi", ".rs", ".sh"}


def tracked_files(root: Path) -> list[str]:
    """Return the paths of the files in a folder that git does not ignore."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(name for name in set(listed.split("\0")) if name and (root / name).is_file())


def wrong_files(root: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each program that is too long, and one for too many short files."""
    product = short = 0
    for name in names:
        if PurePosixPath(name).suffix not in PROGRAMS or (root / name).is_symlink():
            continue
        lines = len((root / name).read_bytes().splitlines())
        if lines > MOST_LINES:
            yield f"{name} has {lines} lines; at most {MOST_LINES}: split it by subject"
        if name.startswith(PRODUCT):
            product += 1
            short += lines < FEWEST_LINES
    if short > MOST_SHORT_FILES * product:
        yield (
            f"{short} of {product} files of the product have fewer than {FEWEST_LINES} lines; at "
            f"most {MOST_SHORT_FILES:.0%}: merge files of one subject"
        )


def full_folders(names: Iterable[str]) -> Iterator[str]:
    """Yield a message for each folder with too many programs."""
    paths = map(PurePosixPath, names)
    sizes = Counter(str(path.parent) for path in paths if path.suffix in PROGRAMS)
    for folder, files in sorted(sizes.items()):
        if files > MOST_FILES:
            yield f"{folder}/ has {files} programs; at most {MOST_FILES}: split it into subfolders"


def main(arguments: list[str] | None = None) -> int:
    """Print the warnings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="checkout to read")
    root = parser.parse_args(arguments).root
    names = tracked_files(root)
    found = [*wrong_files(root, names), *full_folders(names)]
    print("\n".join(found or ["sizes: every file and folder has a reasonable size"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
