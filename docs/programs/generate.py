"""Write the generated parts of the documentation (`make docs`); with `--check`, only compare them.

| page | source |
| --- | --- |
| `reference/command-line.md` | the parser of the command `streamnb` |
| `reference/parameters.md` | the docstrings of the models |
| `reference/settings.md`, `reference/metrics.md` | the settings and metrics of the filters |
| `internals/architecture.md` | the docstrings of the modules, for the module map |
| `../docker/grafana/dashboards/streamnb.json` | the metrics of the filters |
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from dashboard import dashboard

from streamnb import families
from streamnb.cli import build_parser
from streamnb.model import docstrings
from streamnb_consumers.daemon.metrics import METRICS, TEACHER_METRICS
from streamnb_consumers.daemon.settings import TABLE_OF
from streamnb_consumers.daemon.settings_text import default_text, descriptions

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
NOTE = "<!-- Written by `make docs` from {source}: change {source}, not this page. -->"

# The packages of the module map: title, folder, suffix of source files.
PACKAGES = (
    ("Filters", "consumers/streamnb_consumers", ".py"),
    ("Python package", "streamnb", ".py"),
    ("Native core", "core/src", ".rs"),
)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# -- The command line


def _option(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else None
    if value is None and action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"`{value or action.dest}`"
    takes_value = action.nargs != 0
    shown = f" {value or action.dest.upper()}" if takes_value else ""
    return ", ".join(f"`{option}{shown}`" for option in action.option_strings)


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## `streamnb {name}`\n"
    yield f"{' '.join((parser.description or '').split())}\n"
    yield "| argument | meaning |\n| --- | --- |"
    for action in parser._actions:
        if action.help in (None, argparse.SUPPRESS) or isinstance(action, argparse._HelpAction):
            continue
        # The help text is expanded here because argparse lays it out differently by version.
        text = str(action.help) % {**vars(action), "prog": parser.prog}
        required = "; required" if action.option_strings and action.required else ""
        yield f"| {_cell(_option(action))} | {_cell(text)}{required} |"
    yield ""
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"


def command_line() -> str:
    """Return the page about the command `streamnb`."""
    parser = build_parser()
    parts = ["# Command line", "", NOTE.format(source="the parser"), "", f"{parser.description}\n"]
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```\n")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                parts.extend(_command(name, command))
    return "\n".join(parts).rstrip() + "\n"


# -- The parameters of the models


def _parameters() -> Iterator[tuple[str, str, list[str]]]:
    """Yield each parameter with its default, its meaning and the models that have it."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, model in families.MODELS.items():
        described = docstrings.descriptions(model, families.NaiveBayes.known)
        for parameter in inspect.signature(model).parameters.values():
            shown = f"{parameter.name}={parameter.default!r}".replace("'", '"')
            meaning = " ".join(described[parameter.name].split())
            if not meaning.startswith("No effect"):
                rows.setdefault((shown, meaning), []).append(name)
    for (shown, meaning), names in rows.items():
        yield shown, meaning, names


def parameters() -> str:
    """Return the page about the parameters of all models."""
    tables: dict[str, list[str]] = {"Common": [], "Some models": [], "`ComposedNB`": []}
    for shown, meaning, names in _parameters():
        common = len(names) > len(families.MODELS) // 2
        section = (
            "`ComposedNB`" if names == ["ComposedNB"] else "Common" if common else "Some models"
        )
        columns = (
            "" if section != "Some models" else f" {', '.join(f'`{name}`' for name in names)} |"
        )
        tables[section].append(f"| `{shown}` |{columns} {_cell(meaning)} |")
    parts = ["# Parameters", "", NOTE.format(source="the docstrings"), ""]
    parts += ["An invalid value raises `InputError`, which states the allowed values.", ""]
    for section, rows in tables.items():
        models_column = section == "Some models"
        parts += [
            f"## {section}",
            "",
            f"| parameter |{' models |' if models_column else ''} meaning |",
        ]
        parts += ["| --- | --- |" + (" --- |" if models_column else ""), *rows, ""]
    return "\n".join(parts).rstrip() + "\n"


# -- The module map


def first_sentence(text: str) -> str:
    """Return the first sentence of a docstring on one line, without links of rustdoc.

    Examples
    --------
    >>> first_sentence("Counts of words, e.g. in [`Rows`]. More details.")
    'Counts of words, e.g. in `Rows`.'
    """
    paragraph = " ".join(text.split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", paragraph)[0]
    return re.sub(r"\[(`[^`]*`)\](?:\([^)]*\))?", r"\1", sentence)


def _documentation(path: Path) -> str:
    """Return the docstring of a module; lib.rs documents the modules that it declares inline."""
    if not path.exists():
        declared = rf"((?:^\s*///.*\n)+)\s*(?:pub )?mod {path.parent.name} "
        found = re.search(declared, (ROOT / "core/src/lib.rs").read_text(encoding="utf-8"), re.M)
        return re.sub(r"^\s*/// ?", "", found[1], flags=re.M) if found else ""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(text)) or ""
    lines = [line for line in text.splitlines() if line.startswith("//!")]
    return "\n".join(line.removeprefix("//!").strip() for line in lines)


def _layers(package: str) -> list[str]:
    """Return the modules of a package, highest layer first, as `make lint` checks them."""
    if package == "src":
        checks = (ROOT / "tools" / "check_imports_rust.py").read_text(encoding="utf-8")
        order = re.search(r"^\w+ = \((\"text\", .*)\)$", checks, re.M)
        return re.findall(r"\w+", order[1])[::-1] if order else []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and contract["containers"] == [package]:
            return [name.strip(" ()") for layer in contract["layers"] for name in layer.split("|")]
    return []


def modules(folder: str, suffix: str) -> list[tuple[str, str]]:
    """Return path and purpose of each module, highest layer first."""
    package, found = ROOT / folder, []
    files = {path.stem for path in package.glob(f"*{suffix}")} - {"__init__", "lib", "main"}
    names = files | {path.parent.name for path in package.glob(f"*/*{suffix}")}
    order = _layers(package.name)
    for name in sorted(names, key=lambda name: (order.index(name) if name in order else 99, name)):
        path = package / name
        head = path / ("__init__.py" if suffix == ".py" else "mod.rs")
        if not path.is_dir():
            path = head = package / f"{name}{suffix}"
        purpose = first_sentence(_documentation(head))
        if not purpose:
            raise ValueError(f"{head.relative_to(ROOT)} has no docstring: add its purpose")
        found.append((f"{name}/" if path.is_dir() else path.name, purpose))
    return found


def module_map() -> str:
    """Return the tables of all modules."""
    parts = []
    for title, folder, suffix in PACKAGES:
        parts += [f"### {title}: `{folder}/`", "", "| module | purpose |"]
        parts.append("| --- | --- |")
        rows = modules(folder, suffix)
        parts += [f"| `{name}` | {_cell(purpose)} |" for name, purpose in rows]
        parts.append("")
    return "\n".join(parts)


# -- All pages


def _with(page: str, place: str, part: str) -> str:
    """Return the text of `page` with `part` in the one place that matches the pattern."""
    text, places = re.subn(
        place, lambda _: f"{part}\n", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )
    if places != 1:
        raise ValueError(f"docs/{page}: {places} places match {place!r}, expected 1")
    return text


def _with_table(page: str, table: str) -> str:
    return _with(page, re.escape(table.split("\n")[0]) + r"\n(\|[^\n]*\n)+", table)


def metrics_table() -> str:
    """Return the table of all metrics of the filters."""
    lines = ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |"]
    for metric in dict.fromkeys((*METRICS, *TEACHER_METRICS)):
        suffix = "_total" if metric.type == "counter" else ""
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        name = f"`streamnb_{metric.name}{suffix}`"
        lines.append(f"| {name} | {metric.type} | {labels} | {metric.description} |")
    return "\n".join(lines)


def settings_table() -> str:
    """Return the table of all settings of the filters."""
    lines = ["| table | key | default | meaning |", "| --- | --- | --- | --- |"]
    for name, text in descriptions().items():
        default = f"`{default_text(name)}`" if default_text(name) else "empty"
        lines.append(f"| {TABLE_OF[name]} | `{name}` | {default} | {text} |")
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Return the generated pages by their path in docs/."""
    place = r"(?<=<!-- module map: `make docs` -->\n).*?(?=<!-- end -->)"
    return {
        "../docker/grafana/dashboards/streamnb.json": dashboard(),
        "internals/architecture.md": _with("internals/architecture.md", place, module_map()),
        "reference/command-line.md": command_line(),
        "reference/metrics.md": _with_table("reference/metrics.md", metrics_table()),
        "reference/parameters.md": parameters(),
        "reference/settings.md": _with_table("reference/settings.md", settings_table()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or report those that are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    stale = []
    for name, text in pages().items():
        path = DOCS / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"docs: {'out of date, run make docs' if check else 'written'}: {', '.join(stale)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
