"""The rooms of `streamnb_consumers`: imports go one way, one folder knows each client of Kafka."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "consumers" / "streamnb_consumers"
# Each may import those before it, and itself.
ROOMS = (
    *("errors", "jsons", "records"),
    *("messages", "filter", "ports", "dead_letters", "kafka", "daemon"),
    "demo",
)


def modules() -> Iterator[tuple[str, str, set[str]]]:
    """Each module with its room and the modules that it imports."""
    for path in sorted(PACKAGE.rglob("*.py")):
        found: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts != ("__init__",):
            yield ".".join(parts), parts[0], found


def test_imports_go_one_way() -> None:
    for name, room, imported in modules():
        for target in imported:
            package, _, rest = target.partition(".")
            if package == "streamnb_consumers" and rest:
                to = rest.partition(".")[0]
                assert ROOMS.index(to) <= ROOMS.index(room), f"{name} imports {target}"


def test_no_module_imports_itself_round_about() -> None:
    known = {name: imported for name, _, imported in modules()}
    after = {
        name: {
            target.removeprefix("streamnb_consumers.")
            for target in imported
            if target.removeprefix("streamnb_consumers.") in known
        }
        - {name}
        for name, imported in known.items()
    }
    while free := [name for name, targets in after.items() if not targets & after.keys()]:
        for name in free:
            del after[name]
    assert not after


def test_one_folder_knows_each_client() -> None:
    for client, folder in (("kafka", "python_client"), ("confluent_kafka", "confluent_client")):
        knowing = {
            name.rpartition(".")[0]
            for name, _, found in modules()
            if any(f"{x}.".startswith(f"{client}.") for x in found)
        }
        assert knowing == {f"kafka.{folder}"}


def test_rooms_and_modules_stay_small() -> None:
    for folder in [PACKAGE, *(path for path in PACKAGE.iterdir() if path.is_dir())]:
        assert len(list(folder.glob("*.py"))) <= 20, folder
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path


def test_a_wheel_has_the_package_at_its_top() -> None:
    """maturin has one root, which a link leads into; the wheel's own list is looked at by hand."""
    link = ROOT / "streamnb_consumers"
    assert link.is_symlink()
    assert link.resolve() == PACKAGE
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = settings["tool"]["maturin"]["include"]
    for files in ("**/*.py", "py.typed"):
        assert {"path": f"streamnb_consumers/{files}", "format": ["sdist", "wheel"]} in included
    for name, target in settings["project"]["scripts"].items():
        module, _, function = target.partition(":")
        if name != "streamnb":
            path = ROOT / (module.replace(".", "/") + ".py")
            assert f"def {function}(" in path.read_text(encoding="utf-8"), name
