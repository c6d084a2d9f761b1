"""What the documents say is what the project does: examples, commands, verbs, links, models."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from types import ModuleType

import pytest

import streamnb
from streamnb import models
from streamnb.cli import build_parser
from streamnb.model_specs import MODELS
from streamnb_consumers.daemon import settings
from support.data import require_data

ROOT = Path(__file__).parent.parent.parent
GUIDES = sorted(ROOT.glob("docs/guides/*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODELS_PAGE = ROOT / "docs" / "models.md"

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(page: Path, *languages: str) -> list[str]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in languages]


def shell_lines(page: Path) -> list[str]:
    """The commands of a page: of shell blocks, and of the examples in the generated page."""
    languages = ["sh", "bash", "console"] + ["text"] * (page.name == "command-line.md")
    lines = []
    for block in blocks(page, *languages):
        for line in block.replace("\\\n", " ").splitlines():
            command = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
            if re.match(r"(make|streamnb(-sms|-spam)?)( |$)", command):
                lines.append(command)
            elif "| streamnb " in command:
                lines.append(command[command.index("| streamnb ") + 2 :])
    return lines


def words_of(command: str) -> list[str]:
    """The arguments of a command, without its name, comments and redirections."""
    words = shlex.split(command, comments=True)[1:]
    for sign in (">", "|", "&&", "<", "&"):
        if sign in words:
            words = words[: words.index(sign)]
    return words


def verbs() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


def program(name: str) -> ModuleType:
    """A program that lies beside the documents."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "programs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def require_data_of(page: Path) -> None:
    """A page names the collections that its examples read."""
    for name in re.findall(r"<!-- needs: (\S+) -->", page.read_text(encoding="utf-8")):
        require_data(name)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page not in GUIDES],  # which run as notebooks
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_python_examples_run(page: Path) -> None:
    require_data_of(page)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names: dict[str, object] = {}
    for number, block in enumerate(blocks(page, "python"), start=1):
        if ">>>" not in block:
            exec(compile(block, f"{page.name}, block {number}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        result = doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False)
        names = test.globs
        assert result.failed == 0, f"example {number} of {page.name}"


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_guides_run_as_notebooks(page: Path) -> None:
    require_data_of(page)
    cells = json.loads(program("notebooks").notebook(page.read_text(encoding="utf-8")))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == len(blocks(page, "python")) > 0
    names: dict[str, object] = {}
    for source in code:
        exec(compile(source, f"a cell of {page.stem}", "exec"), names)


@pages
def test_commands_exist(page: Path) -> None:
    for command in shell_lines(page):
        words = words_of(command)
        if command.startswith("make"):
            asked = {word for word in words if "=" not in word}
            assert asked <= verbs(), f"{command!r} in {page.name}"
            continue
        program = command.split()[0]
        parser = build_parser() if program == "streamnb" else settings.parser(program)
        try:
            parser.parse_args(words)
        except SystemExit as error:
            if error.code != 0:
                pytest.fail(f"{command!r} in {page.name} is not a command of streamnb")


def test_readme_has_commands_to_check() -> None:
    """So that a change of layout cannot empty the test above."""
    commands = shell_lines(ROOT / "README.md")
    assert "make demo" in {command.split(" #")[0].strip() for command in commands}
    for name in (" evaluate", " learn", " classify", " reproduce", "-sms ", "-spam "):
        assert any(command.startswith(f"streamnb{name}") for command in commands), name


def test_readme_has_a_filter_running_in_under_ten_lines() -> None:
    (block,) = (text for text in blocks(ROOT / "README.md", "sh") if "BOOTSTRAP_SERVERS" in text)
    assert len(block.splitlines()) < 10
    names = set(re.findall(r"STREAMNB_(\w+)=", block))
    assert names
    assert {name.lower() for name in names} <= {one.name for one in fields(settings.Settings)}


def test_makefile_help_names_every_verb() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for verb in verbs() - {"help", "machine", "machine-lint", "machine-test"}:
        assert f"'make {verb} " in makefile, verb


@pages
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{target} in {page.name}"


def test_generated_pages_are_current() -> None:
    assert program("generate").main(["--check"]) == 0, "run `make docs`"


def test_command_line_knows_every_model() -> None:
    exported = {
        name
        for name, value in ((name, getattr(streamnb, name)) for name in streamnb.__all__)
        if inspect.isclass(value) and hasattr(value, "learn_one")
    }
    exported -= {"NaiveBayes"}
    assert exported == set(models.__all__)
    # It reads texts.
    columns = {name for name in exported if getattr(models, name)().reads_columns}
    assert set(MODELS) == exported - columns
    assert "ENB" in columns


@pytest.mark.parametrize("name", models.__all__)
def test_models_page_has_every_model(name: str) -> None:
    assert f"`{name}`" in MODELS_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", models.__all__)
def test_models_page_has_every_parameter(name: str) -> None:
    text = MODELS_PAGE.read_text(encoding="utf-8")
    for parameter in inspect.signature(getattr(streamnb, name)).parameters:
        assert re.search(rf"`{parameter}\b", text), parameter


def test_models_page_has_the_defaults_of_the_code() -> None:
    """Where the first cell of the table of parameters has `parameter=value`, it is the default."""
    _, text = MODELS_PAGE.read_text(encoding="utf-8").split("| parameter and default |")
    text, _ = text.split("\n\n", 1)
    # Each model of its own adds some to those that all have.
    parameters = {
        name: parameter
        for model in (streamnb.HONB, streamnb.DWMNB, streamnb.OnlineNB, streamnb.ComposedNB)
        for name, parameter in inspect.signature(model).parameters.items()
    }
    written = re.findall(r"^\| `(\w+)=([^`]+)`", text, re.MULTILINE)
    assert len(written) > 30
    for name, value in written:
        assert name in parameters, name
        assert repr(parameters[name].default).replace("'", '"') == value.replace("'", '"'), name


@pytest.mark.parametrize("name", models.__all__)
def test_docstrings_name_formula_and_paper(name: str) -> None:
    text = inspect.getdoc(getattr(streamnb, name)) or ""
    assert "Examples" in text
    if name != "ComposedNB":
        assert "References" in text
        assert re.search(r"Equation|section", text)
