#!/usr/bin/env python3
"""Check the imports and the sizes of the native core (`make lint` runs it).

The check reads every `crate::…` and `super::…` path in `core/src`, except in comments and after
`#[cfg(test)]`, and finds the file that it names, or that has the item re-exported by `lib.rs`. It
fails if a module imports a higher layer, if files import each other in a circle, if a file is
longer than 600 lines, or if a folder has more than 25 files. A `super::` path to the folder's own
`mod.rs` does not count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# The layer of each module. A module may import its own layer and lower layers; every module may
# import the free modules. `online` is a family of scores with a state of its own.
LAYERS = {
    "text": 0,
    "mail": 1,
    "counts": 2,
    "statistics": 3,
    "scoring": 4,
    "online": 4,
    "saved": 5,
    "explain": 5,
    "bindings": 6,
}
FREE = ("error", "watch", "threads")
MAX_LINES = 600
MAX_FILES = 25

_COMMENT = re.compile(r"//[^\n]*")
_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod ")
_TOKEN = re.compile(r"\s*(\w+|::|[{},*]|\S)")


def paths(text: str, root: str = "crate") -> set[tuple[str, ...]]:
    """Return the paths from `crate::` or another root; groups in braces are expanded."""
    found: set[tuple[str, ...]] = set()
    for start in re.finditer(rf"\b{root}\s*::", text):
        tokens = (match.group(1) for match in _TOKEN.finditer(text, start.end()))
        _read(tokens, (), found)
    return found


def _read(tokens: Iterator[str], prefix: tuple[str, ...], found: set[tuple[str, ...]]) -> str:
    """Read one path, or the group that ends it; return the token after it."""
    path = prefix
    token = next(tokens, "")
    while True:
        if token == "{":
            after = ","
            while after == ",":
                after = _read(tokens, path, found)
            return next(tokens, "")
        if re.fullmatch(r"\w+", token):
            path += (token,)
            token = next(tokens, "")
        if token != "::":
            if path != prefix:
                found.add(path)
            if token == "*":
                found.add(path)
            if token == "as":
                next(tokens, "")
                token = next(tokens, "")
            return token
        token = next(tokens, "")


def module_of(source: Path, root: Path) -> tuple[str, ...]:
    """Return the module path of a file."""
    parts = source.relative_to(root).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def reexports(lib: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the full path of each item that a module of `lib.rs` re-exports, by its short path."""
    modules = re.findall(r"^pub mod (\w+) \{(.*?)^\}", lib, re.MULTILINE | re.DOTALL)
    return {
        (module, path[-1]): (module, *path)
        for module, body in modules
        for path in paths(body, "self")
    }


def imports(root: Path) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return which modules each module of a crate imports, by file."""
    sources = {module_of(source, root): source for source in sorted(root.rglob("*.rs"))}
    sources = {module: source for module, source in sources.items() if module[-1:] != ("tests",)}
    named_at = reexports((root / "lib.rs").read_text(encoding="utf-8"))
    graph = {}
    for module, source in sources.items():
        code = _TESTS.split(_COMMENT.sub("", source.read_text(encoding="utf-8")))[0]
        named = set()
        for path in paths(code):
            path = named_at.get(path[:2], path)
            # The longest prefix that is a module; the rest names its items.
            length = next(n for n in range(len(path), -1, -1) if path[:n] in sources)
            named.add(path[:length])
        for path in paths(code, "super"):
            beside = module[:-1] + path[:1]
            if beside in sources:
                named.add(beside)
        graph[module] = named - {module, ()}
    return graph


def circle(graph: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Return the modules of one circle, the first repeated at the end; empty without a circle."""
    done: set[tuple[str, ...]] = set()

    def visit(module: tuple[str, ...], trail: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        if module in trail:
            return [*trail[trail.index(module) :], module]
        if module in done:
            return []
        for other in sorted(graph[module]):
            if found := visit(other, [*trail, module]):
                return found
        done.add(module)
        return []

    for module in sorted(graph):
        if found := visit(module, []):
            return found
    return []


def complaints(root: Path) -> list[str]:
    """Return the complaints about a crate's folder of sources."""
    graph, wrong = imports(root), []
    for module, others in sorted(graph.items()):
        if not module:
            continue
        if module[0] not in (*LAYERS, *FREE):
            wrong.append(
                f"{'::'.join(module)} has no layer: move it into one of {', '.join(LAYERS)}"
            )
            continue
        layer = LAYERS.get(module[0], -1)
        higher = [other for other in sorted(others) if LAYERS.get(other[0], -1) > layer]
        wrong += [
            f"{'::'.join(module)} imports {'::'.join(other)}, a higher layer" for other in higher
        ]
    if around := circle(graph):
        wrong.append("a circle: " + " → ".join("::".join(module) for module in around))
    folders: dict[Path, int] = {}
    for source in sorted(root.rglob("*.rs")):
        folders[source.parent] = folders.get(source.parent, 0) + 1
        lines = len(source.read_text(encoding="utf-8").splitlines())
        if lines > MAX_LINES:
            wrong.append(f"{source} has {lines} lines, more than {MAX_LINES}: split it")
    for folder, files in folders.items():
        if files > MAX_FILES:
            wrong.append(f"{folder} holds {files} files, more than {MAX_FILES}: group them")
    return wrong


def main() -> int:
    """Check the core, or the folder given."""
    default = Path(__file__).resolve().parent.parent / "core" / "src"
    wrong = complaints(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
    for complaint in wrong:
        print(complaint, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
