"""The pages of the site that are made when it is built (`make site`): MkDocs calls `on_files`.

A page for each family of models joins what is written of it in `models.md`, its row of the measured
results, and the docstrings of its models. Each guide is a notebook too, made from its page. Links
that lead out of the folder `docs` lead to the repository.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import streamnb

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))

from notebooks import notebook  # noqa: E402

REPOSITORY = "https://github.com/streamnb/streamnb/blob/main/"

# What is documented besides the models: the page, its title, and the modules of each.
OTHERS = {
    "flow": (
        "What every model does",
        ["streamnb.naive_bayes", "streamnb.learning", "streamnb.predicting"],
    ),
    "text": ("Texts and tokens", ["streamnb.text.tokenizer"]),
    "explanation": ("Explanations", ["streamnb.explanation"]),
    "ensembles": ("Ensembles", ["streamnb.ensembles"]),
    "drift": (
        "Drift",
        ["streamnb.online.drift", "streamnb.challenger", "streamnb.drift_forgetting"],
    ),
    "datasets": ("Data sets", ["streamnb.datasets"]),
    "evaluation": ("Evaluation", ["streamnb.evaluation"]),
    "errors": ("Errors", ["streamnb.errors"]),
}


def _families() -> Iterator[tuple[str, str, str]]:
    """Of each family its name, its title and what `models.md` says of it."""
    text = (DOCS / "models.md").read_text(encoding="utf-8")
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        if found := re.fullmatch(r"(.*) \(`(\w+)`\)", head):
            yield found[2], found[1], re.split(r"^## ", body, maxsplit=1, flags=re.MULTILINE)[0]


def _measured(names: list[str]) -> str:
    """The rows that `results.md` has of these models, below its head."""
    lines = (DOCS / "results.md").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if line.startswith("|")]
    rows = [line for line in table[2:] if any(f"`{name}`" in line for name in names)]
    if not rows:
        return ""
    return "\n".join(
        ["## Measured", "", *table[:2], *rows, "", "From [all results](../results.md)."]
    )


def _family(name: str, title: str, text: str) -> str:
    source = (DOCS.parent / "streamnb" / "models" / f"{name}.py").read_text(encoding="utf-8")
    models = re.findall(r"^class (\w+)\(", source, re.MULTILINE)
    text = re.sub(r"\]\((?=[\w-]+\.md)", "](../", text)
    text = re.sub(r"\]\(#", "](../models.md#", text)
    # What models of a family share stands in a class that is not exported.
    models = [model for model in models if model in streamnb.models.__all__]
    shown = [f"::: streamnb.{model}" for model in models]
    parts = [f"# {title}", text.strip(), _measured(models), "## Models", *shown]
    return "\n\n".join(part for part in parts if part) + "\n"


def pages() -> dict[str, str]:
    """The generated files, by their place in the site."""
    made: dict[str, str] = {}
    links = ["# Reference", "", "## Models, by family", ""]
    for name, title, text in _families():
        made[f"reference/{name}.md"] = _family(name, title, text)
        links.append(f"- [{title}]({name}.md)")
    links += ["", "## Everything else", ""]
    for name, (title, modules) in OTHERS.items():
        shown = "\n\n".join(f"::: {module}" for module in modules)
        made[f"reference/{name}.md"] = f"# {title}\n\n{shown}\n"
        links.append(f"- [{title}]({name}.md)")
    made["reference/index.md"] = "\n".join(links) + "\n"
    for guide in sorted((DOCS / "guides").glob("*.md")):
        text = guide.read_text(encoding="utf-8")
        if "```python" in text:
            made[f"guides/{guide.stem}.ipynb"] = notebook(text)
    return made


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives the pages of the reference their places, below its first one."""
    places = [place for place in pages() if place.startswith("reference/")]
    places.sort(key=lambda place: place != "reference/index.md")
    for part in config.nav or []:
        if "Reference" in part:
            part["Reference"] = places
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated files to the site."""
    for place, content in pages().items():
        files.append(File.generated(config, place, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to what is not in the site lead to the repository; a guide names its notebook."""
    up = "../" * (page.file.src_uri.count("/") + 1)
    markdown = markdown.replace(f"]({up}", f"]({REPOSITORY}")
    if page.file.src_uri.startswith("guides/") and "```python" in markdown:
        name = Path(page.file.src_uri).stem
        markdown += f"\n\n[This page as a notebook]({name}.ipynb).\n"
    return markdown
