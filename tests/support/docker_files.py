"""The files of `docker/` as data, for the tests."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
PROGRAMS = ("streamnb-sms", "streamnb-spam")


def compose(name: str = "compose.yaml") -> dict[str, Any]:
    """Return a compose file, with its merge keys resolved."""
    return yaml.safe_load((DOCKER / name).read_text(encoding="utf-8"))


def dashboard() -> dict[str, Any]:
    path = DOCKER / "grafana" / "dashboards" / "streamnb.json"
    return json.loads(path.read_text(encoding="utf-8"))


def dockerfile() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile: name and arguments, continued lines joined."""
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return [(line.split()[0], line.split(maxsplit=1)[1].strip()) for line in lines]


def instructions(name: str) -> list[str]:
    return [arguments for found, arguments in dockerfile() if found == name]


def image_environment() -> dict[str, str]:
    """Return the environment of the final image."""
    stages = [n for n, (name, _) in enumerate(dockerfile()) if name == "FROM"]
    last = [arguments for name, arguments in dockerfile()[stages[-1] :] if name == "ENV"]
    return dict(word.split("=", 1) for arguments in last for word in shlex.split(arguments))


def environment(service: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a container of the image."""
    given = service.get("environment", {})
    return image_environment() | {name: str(value) for name, value in given.items()}


def filters() -> dict[str, str]:
    """Return the services that run a worker, with the command's name."""
    found = {name: each.get("command", []) for name, each in compose()["services"].items()}
    return {name: words[0] for name, words in found.items() if words and len(words) == 1}


def replaying() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay_stream", DOCKER / "replay_stream.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def queries() -> Iterator[str]:
    """Return every Prometheus expression of the dashboard."""
    for panel in dashboard()["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    for variable in dashboard()["templating"]["list"]:
        yield variable["query"]["query"]
