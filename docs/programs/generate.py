"""Write the generated documents again (`make docs`); with `--check`, say whether they are current.

`command-line.md` comes from the parser of the command `streamnb`. It is written from the parser's
options, not from its help text, whose layout differs between versions of Python. In
`architecture.md` the figure of the house comes from the folders, in `consumers.md` the tables of
settings and metrics from the daemons' own; the remainder of both is written by hand.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from streamnb.cli import build_parser
from streamnb_consumers.daemon import metrics, settings

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(Path(__file__).parent))

from draw_house import figure  # noqa: E402

HEAD = """# The command `streamnb`

<!-- Written by `make docs` from the command's own parser: change the parser, not this page. -->
"""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _name(action: argparse.Action) -> str:
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
        text = str(action.help) % {**vars(action), "prog": parser.prog}
        required = "; required" if action.option_strings and action.required else ""
        yield f"| {_cell(_name(action))} | {_cell(text)}{required} |"
    yield ""
    if parser.epilog:
        yield f"```text\n{parser.epilog.strip()}\n```\n"


def command_line() -> str:
    """The page about the command."""
    parser = build_parser()
    parts = [HEAD, f"{parser.description}\n"]
    if parser.epilog:
        parts.append(f"```text\n{parser.epilog.strip()}\n```\n")
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                parts.extend(_command(name, command))
    return "\n".join(parts).rstrip() + "\n"


def _with(page: str, parts: dict[str, str]) -> str:
    """The text of `page`, with each part in the one place that its pattern finds."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for place, part in parts.items():
        text, places = re.subn(place, lambda _, part=part: f"{part}\n", text, flags=re.DOTALL)
        if places != 1:
            raise ValueError(f"docs/{page} has {places} places like {place}; it must have one")
    return text


def architecture() -> str:
    """The page about the architecture, with the figure drawn again."""
    place = r"(?<=<!-- The house: `make docs` draws it. -->\n```text\n).*?(?=```\n)"
    return _with("architecture.md", {place: figure()})


def consumers() -> str:
    """The page about the daemons, with the tables of settings and metrics written again."""
    rows = r"\n(\|[^\n]*\n)+"
    return _with(
        "consumers.md",
        {
            re.escape(page.split("\n")[0]) + rows: page
            for page in (settings.table(), metrics.table())
        },
    )


PAGES = {
    "architecture.md": architecture,
    "command-line.md": command_line,
    "consumers.md": consumers,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or tell which are out of date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail if out of date")
    check = parser.parse_args(arguments).check
    stale = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"docs: {'out of date, run make docs' if check else 'written'}: {', '.join(stale)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
