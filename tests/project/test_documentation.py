"""The documentation agrees with the code: examples, commands, paths, links, models, parameters."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import streamnb
from streamnb import datasets, families
from streamnb.cli import build_parser
from streamnb.model_specs import MODELS, SEVERAL_LABELS, TABLE_MODELS
from streamnb_consumers.daemon import settings_text
from streamnb_consumers.daemon.settings import Settings
from support.data import require_data
from support.profiles import also_in_soak

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
# Pages that the site also offers as notebooks.
GUIDES = sorted(
    path
    for folder in ("tutorials", "how-to")
    for path in DOCS.glob(f"{folder}/*.md")
    if "```python\n>>>" in path.read_text(encoding="utf-8")
)
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.glob("**/*.md"), *ROOT.glob("docker/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
TOP = "benchmarks|consumers|core|docker|docs|streamnb|tests|tools"
PATH = re.compile(rf"`((?:{TOP})/[\w./<>*-]*)`")
MODULE = re.compile(r"`(streamnb(?:_consumers)?(?:\.[a-z_]+)+)`")
LONGEST = 3_000  # words of a page that is written by hand
GENERATED = re.compile(r"<!-- (?:make \w+|module map.*?|Written by .*?) -->")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


pages = pytest.mark.parametrize("page", PAGES, ids=name_of)


def blocks(page: Path, *languages: str) -> list[str]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in languages]


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def shell_lines(page: Path) -> list[str]:
    """The commands in the shell blocks of a page, and in the examples of the command-line page."""
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


def arguments_of(command: str) -> list[str]:
    """The arguments of a command, without its name, comments and redirections."""
    words = shlex.split(command, comments=True)[1:]
    for sign in (">", "|", "&&", "<", "&"):
        if sign in words:
            words = words[: words.index(sign)]
    return words


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


def program(name: str) -> ModuleType:
    """A program of docs/programs, as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "programs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "programs")  # programs import one another
        spec.loader.exec_module(module)
    return module


def require_data_of(page: Path) -> None:
    """Skip if a collection is missing that the page names in a comment."""
    for name in re.findall(r"<!-- needs: (\S+) -->", page.read_text(encoding="utf-8")):
        require_data(name)


# Their examples take seconds.
SLOW = [DOCS / "how-to" / page for page in ("forget-old-messages.md", "reproduce-a-table.md")]


@pytest.mark.parametrize(
    "page", also_in_soak([page for page in PAGES if page not in SLOW], SLOW), ids=name_of
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
def test_notebooks_contain_the_python_blocks_of_their_page(page: Path) -> None:
    pytest.importorskip("mkdocs")
    text = page.read_text(encoding="utf-8")
    cells = json.loads(program("site_pages").notebook(text))["cells"]
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == len(blocks(page, "python")) > 0
    for source in code:
        compile(source, f"a cell of {page.stem}", "exec")


@pages
def test_commands_exist(page: Path) -> None:
    for command in shell_lines(page):
        words = arguments_of(command)
        if command.startswith("make"):
            asked = {word for word in words if "=" not in word}
            assert asked <= targets(), f"{command!r} in {page.name}"
            continue
        name = command.split()[0]
        if name != "streamnb" and words[:1] == ["listen"]:
            name, words = f"{name} listen", words[1:]
        parser = build_parser() if name == "streamnb" else settings_text.parser(name)
        try:
            parser.parse_args(words)
        except SystemExit as error:
            if error.code != 0:
                pytest.fail(f"{command!r} in {page.name} is not a command of streamnb")


def test_readme_contains_the_commands_of_the_first_steps() -> None:
    commands = {command.split(" #")[0].strip() for command in shell_lines(ROOT / "README.md")}
    assert {"make demo", "make test"} <= commands
    for name in (" evaluate", " learn", " classify", "-sms "):
        assert any(command.startswith(f"streamnb{name}") for command in commands), name


def test_the_commands_of_the_readme_show_something_with_the_sample(tmp_path: Path) -> None:
    drawn = datasets.stream("synthetic-sms", limit=520, seed=7)
    lines = [line for name in ("messages", "new") for line in sample(name)]
    assert [each["text"] for each in lines] == [text for text, _ in drawn]
    commands = [each for each in shell_lines(ROOT / "README.md") if "docs/samples" in each]
    (tmp_path / "docs").symlink_to(DOCS)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    printed = [
        subprocess.run(
            command,
            shell=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        ).stdout
        for command in commands
    ]
    assert len(commands) == 4
    assert "OnlineNB" in printed[0]
    decisions = (tmp_path / "decisions.jsonl").read_text().splitlines()
    assert len(decisions) == 500
    labels = [each["label"] for each in sample("messages")]
    decided = [json.loads(line)["label"] for line in decisions]
    assert sum(map(str.__eq__, labels[100:], decided[100:])) > 380
    assert "spam" in printed[2]


def sample(name: str) -> list[dict[str, str]]:
    """The messages of a sample file."""
    lines = (DOCS / "samples" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_tutorial_runs_a_kafka_filter_in_under_ten_lines() -> None:
    page = DOCS / "tutorials" / "kafka-filter.md"
    (block,) = (text for text in blocks(page, "sh") if "BOOTSTRAP_SERVERS" in text)
    assert len(block.splitlines()) < 10
    names = set(re.findall(r"STREAMNB_(\w+)=", block))
    assert names
    assert {name.lower() for name in names} <= set(Settings.__struct_fields__)


def test_makefile_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in targets() - {"help", "machine", "machine-lint", "machine-test"}:
        assert f"'make {target} " in makefile, target


# The README is also the page of the package, where only whole addresses work.
HOSTED = re.compile(
    r"https://(?:github\.com/streamnb/streamnb/blob|raw\.githubusercontent\.com/streamnb/streamnb)/main/"
)


def test_addresses_in_the_readme_are_whole() -> None:
    found = re.findall(r"\]\(([^)\s]+)\)", prose(ROOT / "README.md"))
    assert len([target for target in found if HOSTED.match(target)]) > 15
    assert not [target for target in found if "://" not in target]


@pages
def test_links_point_to_existing_files_and_headings(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        hosted = HOSTED.match(target)
        target = target[hosted.end() :] if hosted else target
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT if hosted else page.parent) / path if path else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", prose(there), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in anchors, f"{page.name} links to {target}"


@pages
def test_paths_and_modules_exist(page: Path) -> None:
    for path in PATH.findall(prose(page)):
        pattern = re.sub(r"<\w+>", "*", path).rstrip("/")
        assert list(ROOT.glob(pattern)), f"{page.name} names {path}"
    for name in MODULE.findall(prose(page)):
        package, _, last = name.rpartition(".")
        module = importlib.import_module(package)
        assert hasattr(module, last) or importlib.util.find_spec(name), f"{page.name} names {name}"


def test_internals_and_contributing_name_paths() -> None:
    """Keep the test of paths from becoming empty."""
    assert len(PATH.findall(prose(DOCS / "internals" / "architecture.md"))) > 20
    assert len(PATH.findall(prose(ROOT / "CONTRIBUTING.md"))) > 10


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = set(re.findall(r"([\w/-]+\.md)$", navigation, re.MULTILINE))
    assert listed == {str(path.relative_to(DOCS)) for path in DOCS.glob("**/*.md")}


def test_pages_are_short() -> None:
    lengths = {page: len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert lengths[ROOT / "README.md"] <= 700
    assert sorted(lengths.values())[len(lengths) // 2] <= 700
    for page, length in lengths.items():
        if not GENERATED.search(page.read_text(encoding="utf-8")):
            assert length <= LONGEST, page


def test_generated_pages_are_current() -> None:
    assert program("generate").main(["--check"]) == 0, "run `make docs`"


def test_module_map_has_every_module() -> None:
    page = (DOCS / "internals" / "architecture.md").read_text(encoding="utf-8")
    for _, folder, suffix in program("generate").PACKAGES:
        for path in (ROOT / folder).iterdir():
            if path.suffix == suffix and path.stem not in {"__init__", "lib"}:
                assert f"| `{path.name}` |" in page, path
            elif path.is_dir() and list(path.glob(f"*{suffix}")):
                assert f"| `{path.name}/` |" in page, path


def test_first_sentence_of_a_docstring() -> None:
    first_sentence = program("generate").first_sentence
    assert first_sentence("Counts, e.g.\nof words. More.") == "Counts, e.g. of words."
    assert first_sentence("Text ([`text`]) to tokens.\n\nMore.") == "Text (`text`) to tokens."


def test_command_line_offers_every_model() -> None:
    exported = {
        name
        for name, value in ((name, getattr(streamnb, name)) for name in streamnb.__all__)
        if inspect.isclass(value) and hasattr(value, "learn_one")
    }
    # A model of several labels is no family: it has other methods.
    exported -= {"NaiveBayes", SEVERAL_LABELS}
    assert exported == set(families.MODELS)
    assert set(MODELS) == exported
    columns = {name for name in exported if getattr(streamnb, name)().reads_columns}
    assert set(families.TEXT_MODELS) == exported - columns
    assert columns <= set(TABLE_MODELS)
    assert "ENB" in columns


@pytest.mark.parametrize("name", families.MODELS)
def test_reference_has_every_model_with_its_family(name: str) -> None:
    table = (DOCS / "reference" / "models.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| `{name}` \|.*$", table, re.MULTILINE)
    if name != "ComposedNB":
        link = re.search(r"\(families/(\w+)\.md\)", row)
        assert link is not None
        assert getattr(streamnb, name).__module__.endswith(link[1])
        page = DOCS / "reference" / "families" / f"{link[1]}.md"
        assert f"`{name}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", families.MODELS)
def test_every_parameter_is_documented(name: str) -> None:
    text = (DOCS / "reference" / "parameters.md").read_text(encoding="utf-8")
    for parameter in inspect.signature(getattr(streamnb, name)).parameters:
        assert re.search(rf"^\| `{parameter}=[^|]*\|[^|]*\w", text, re.MULTILINE), parameter


@pytest.mark.parametrize("name", families.MODELS)
def test_docstrings_name_formula_and_paper(name: str) -> None:
    text = inspect.getdoc(getattr(streamnb, name)) or ""
    assert "Examples" in text
    if name != "ComposedNB":
        assert "References" in text
        assert re.search(r"Equation|section", text)
