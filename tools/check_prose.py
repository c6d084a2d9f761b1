"""Check that docs, docstrings, comments and messages are in plain English (`make lint` runs it).

The check counts the sentences that match a pattern which a technical editor would rewrite, and the
sentences of more than 35 words. It knows patterns only, so a low share does not prove good prose.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_FLAGGED = {"README.md": 0.03, "CHANGELOG.md": 0.03, "all files": 0.05}
LONGEST = 35
FOLDERS = ("streamnb", "consumers", "benchmarks", "tests", "tools")

_VERBS = "is|are|was|were|has|had|have|comes?|came|goes|does|do|can|may|must|will|would"
_SUBJECTS = "an?|it|they|th[eo]|this|that|these|each|every|some|no|nobody|others?|you|we|one"
PATTERNS = {
    "'what' as a noun": rf"\bwhat(?:ever)? (?:{_VERBS}|{_SUBJECTS}|follow|[a-z]+s)\b(?![^.]*\?)",
    "'is none', 'is no'": r"\b(?:is|are|was|were|be|been) (?:none|no [a-z]+)\b",
    "indefinite person": r"\b(?:whoever|nobody|somebody|whom|whosoever)\b",
    "dated word": (
        r"\b(?:anew|of late|now and then|besides?|thereby|therein|thereof|hence|as ever|so many"
        r"|so much|as (?:it|they) came|as they are|for good|at once|forthwith|meanwhile)\b"
    ),
    "missing noun": r"\b(?:that|those|the same) of\b|\bof its own\b|\bthe (?:former|latter)\b",
    "'Of' in front": (
        r"(?:^|[.:;] )(?-i:Of) (?:the|an?|each|all|two|these|those|what|copies|several|many|its"
        r"|such)\b"
    ),
    "software as a person": (
        r"\b(?:is|are|was|were|be) told\b|\btells? (?:of|what|whether|that|nothing|who|how)\b"
        r"|\bhears?\b|\bspoke\b|\bloudest\b|\bknows? (?:of|by itself|nothing|no)\b|\bbelieves?\b"
        r"|\bstumbl"
    ),
    "'but' for 'except'": (
        r"\b(?:all|none|nothing|anything|no [a-z]+|everything) but\b|\bbut for\b"
    ),
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in PATTERNS.items()}
_BLOCK = re.compile(r"\n\s*\n|\n\s*(?:[-*|#]|\d+\.)\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z*\"“])")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of at least four words, with code and links replaced."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    for block in _BLOCK.split(text):
        for sentence in _SENTENCE.split(" ".join(block.split())):
            if len(sentence.split()) >= 4:
                yield sentence


def flags(sentence: str) -> list[str]:
    """Return the names of the patterns that a sentence matches.

    Examples
    --------
    >>> flags("What is no message is a dead letter.")
    ["'what' as a noun", "'is none', 'is no'"]
    >>> flags("Invalid records go to the dead-letter topic.")
    []
    """
    found = [name for name, pattern in _COMPILED.items() if pattern.search(sentence)]
    return found + (["long"] if len(sentence.split()) > LONGEST else [])


def markdown_text(text: str) -> str:
    """Return the prose of a page, without code blocks, comments and tables."""
    for pattern in (r"(?ms)^```.*?^```", r"(?s)<!--.*?-->", r"(?m)^\s*\|.*$"):
        text = re.sub(pattern, "", text)
    return text


def comment_texts(text: str, mark: str) -> Iterator[str]:
    """Yield each run of comment lines."""
    for run in re.findall(rf"(?m)(?:^[ \t]*{mark}.*\n?)+", text):
        yield re.sub(rf"(?m)^[ \t]*{mark}!?[ \t]?", "", run)


def python_texts(text: str) -> Iterator[str]:
    """Yield the docstrings, comments and messages of a Python file."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            yield re.sub(r"(?m)^>>>.*$|^\.\.\..*$|^-{3,}$|^\s{4,}(?=\S+\s*[=(])", "", docstring)
        elif isinstance(node, ast.Call):
            for argument in node.args:
                if isinstance(argument, ast.JoinedStr):
                    yield "".join(
                        str(part.value) if isinstance(part, ast.Constant) else "X"
                        for part in argument.values
                    )
                elif isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
    yield from comment_texts(text, "#+")


def texts(name: str, text: str) -> Iterator[str]:
    """Yield the prose of a file."""
    if name.endswith(".md"):
        yield markdown_text(text)
    elif name.endswith(".rs"):
        yield from comment_texts(text, "/{2,3}")
    elif name.endswith(".py") and name.startswith(FOLDERS):
        yield from python_texts(text)


def main(arguments: list[str] | None = None) -> int:
    """Print the shares of flagged sentences, and return 1 if one is too high."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="checkout to read")
    parser.add_argument("--show", metavar="FILE", help="print the flagged sentences of a file")
    args = parser.parse_args(arguments)
    listed = ["git", "-C", str(args.root), "ls-files"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.splitlines()
    counts = {name: [0, 0] for name in MOST_FLAGGED}
    for name in names:
        path = args.root / name
        if path.suffix not in (".md", ".py", ".rs") or path.is_symlink() or not path.is_file():
            continue
        for text in texts(name, path.read_text(encoding="utf-8")):
            for sentence in sentences(text):
                found = flags(sentence)
                for key in {name, "all files"} & counts.keys():
                    counts[key][0] += bool(found)
                    counts[key][1] += 1
                if found and name == args.show:
                    print(f"[{', '.join(found)}] {sentence}")
    status = 0
    for name, (flagged, total) in counts.items():
        share = flagged / max(total, 1)
        print(f"prose: {name}: {flagged} of {total} sentences flagged, {share:.1%}")
        if share > MOST_FLAGGED[name]:
            print(f"prose: {name}: at most {MOST_FLAGGED[name]:.0%}; see --show FILE")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
