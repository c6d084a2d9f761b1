"""Extend the documentation when the site is built (`make site`): MkDocs calls the `on_…` functions.

Each page of a family gets its measured results and the docstrings of its models. Tutorials and
guides with Python code are also notebooks. Links out of the folder `docs` lead to the repository.
The copy button leaves out prompts and results, and no page loads a file from another host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import streamnb

DOCS = Path(__file__).resolve().parents[1]
# The theme loads this from another host, for the search in files that no server sends.
WORKER = "https://unpkg.com/iframe-worker/shim"
REPOSITORY = "https://github.com/streamnb/streamnb/blob/main/"


def notebook(text: str) -> str:
    """Return a page as a notebook: Python blocks become cells, without their output."""
    cells: list[dict[str, Any]] = []
    for position, part in enumerate(re.split(r"^```python\n(.*?)^```\n", text, flags=re.M | re.S)):
        if position % 2:
            lines = part.splitlines()
            if any(line.startswith(">>>") for line in lines):
                lines = [line[4:] for line in lines if line.startswith((">>>", "..."))]
            source, kind = "\n".join(lines).strip(), "code"
        else:
            source, kind = part.strip(), "markdown"
        if source:
            cell = {"id": f"cell-{len(cells)}", "cell_type": kind, "metadata": {}, "source": source}
            cells.append(
                cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}
            )
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _family(text: str) -> Iterator[str]:
    """Yield the parts to append to the page of a family."""
    first = re.search(r"^Models?[^:]*: (.*?)\n\n", text, re.M | re.S)
    names = [
        name
        for name in re.findall(r"`(\w+)`", first[1] if first else "")
        if hasattr(streamnb, name)
    ]
    lines = (DOCS / "internals" / "results.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    rows = [row for row in table[2:] if any(f"`{name}`" in row for name in names)]
    if rows:
        yield "\n".join(["## Results", "", *table[:2], *rows])
        yield "[All results](../../internals/results.md)"
    yield "## Python"
    yield from (f"::: streamnb.{name}" for name in names)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebooks to the site."""
    for page in sorted([*DOCS.glob("tutorials/*.md"), *DOCS.glob("how-to/*.md")]):
        text = page.read_text(encoding="utf-8")
        if "```python\n>>>" in text:
            place = page.relative_to(DOCS).with_suffix(".ipynb").as_posix()
            files.append(File.generated(config, place, content=notebook(text)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add docstrings, link to notebooks, and redirect links out of the site."""
    place = page.file.src_uri
    if place.startswith("reference/families/"):
        markdown = "\n\n".join([markdown.rstrip(), *_family(markdown)]) + "\n"
    if place == "reference/python.md":
        names = re.findall(r"^\| `(streamnb\.\w+)`", markdown, re.M)
        markdown += "\n\n".join(["", *(f"::: {name}" for name in names)]) + "\n"
    if place.startswith(("tutorials/", "how-to/")) and "```python\n>>>" in markdown:
        markdown += f"\n\n[This page as a notebook]({Path(place).stem}.ipynb)\n"
    # Highlighted as a session, so that the style sheet can tell prompts and results from code.
    markdown = markdown.replace("```python\n>>>", "```pycon\n>>>")
    up = "../" * (place.count("/") + 1)
    return markdown.replace(f"]({up}", f"]({REPOSITORY}")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Load the worker of the search from the site."""
    return output.replace(WORKER, "../" * page.file.dest_uri.count("/") + "assets/iframe-worker.js")


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Load the worker of the search from the site, on the page of missing pages too."""
    return output_content.replace(WORKER, "/assets/iframe-worker.js")
