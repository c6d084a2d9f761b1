"""What of `docker/` can be checked where no engine runs: files, commands, settings."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from compose_spec import PyCompose

from streamnb.cli import build_parser
from streamnb_consumers.daemon.health import Health, HealthServer
from streamnb_consumers.daemon.settings import Settings
from support.docker_files import (
    DOCKER,
    PROGRAMS,
    ROOT,
    compose,
    environment,
    filters,
    instructions,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FILES = ("compose.yaml", "mail.yaml")
SERVICES: dict[str, Any] = compose()["services"]
MAIL: dict[str, Any] = compose("mail.yaml")["services"]
LISTENERS = {"listen": SERVICES["listen"], "filter": MAIL["filter"]}


# --- the image ----------------------------------------------------------------------------------


def images() -> list[str]:
    """Every image that is fetched."""
    built = {each["image"] for each in SERVICES.values() if "build" in each}
    bases = [word.split("=", 1)[1] for word in instructions("ARG") if ":" in word]
    return bases + [each["image"] for each in SERVICES.values() if each["image"] not in built]


@pytest.mark.parametrize("image", images())
def test_images_are_pinned_to_a_version(image: str) -> None:
    assert re.search(r":v?\d+\.\d+\.\d+(-[a-z-]+)?(@sha256:\w{64})?$", image)


def test_every_base_is_one_of_the_arguments() -> None:
    stages = [arguments.split()[0] for arguments in instructions("FROM")]
    assert all(re.fullmatch(r"\$\{\w+\}", stage) for stage in stages)
    assert stages[-1] == "${PYTHON_SLIM}"


def test_the_image_runs_as_an_ordinary_user_and_has_no_secrets() -> None:
    assert int(instructions("USER")[-1]) > 1000
    words = re.compile(r"password|secret|token|credential", re.IGNORECASE)
    for name in ("ENV", "ARG", "COPY", "ADD"):
        assert not any(words.search(arguments) for arguments in instructions(name))


def test_what_the_image_installs_exists() -> None:
    lines = [line for line in instructions("RUN") if " pip " in line]
    asked = [set(extras.split(",")) for line in lines for extras in re.findall(r"\[(.*?)\]", line)]
    assert asked == [{"confluent", "consumers", "kafka", "shared", "web"}] * 2
    assert asked[0] <= set(PROJECT["optional-dependencies"])
    rust = re.search(r"^ARG RUST=rust:(\d+)\.(\d+)", (DOCKER / "Dockerfile").read_text(), re.M)
    wanted = tomllib.loads((ROOT / "core" / "Cargo.toml").read_text())["package"]["rust-version"]
    assert rust is not None
    assert (int(rust[1]), int(rust[2])) >= tuple(int(part) for part in wanted.split("."))


def health_check() -> list[str]:
    command: list[str] = json.loads(instructions("HEALTHCHECK")[0].split("CMD", 1)[1])
    assert command[0] == "python"
    return [sys.executable, *command[1:]]


def test_the_health_check_asks_whether_the_filter_lives() -> None:
    times = iter([0.0, 1.0, 100.0])
    health = Health(limit=50.0, clock=lambda: next(times))
    server = HealthServer("127.0.0.1", 0, health, lambda: b"")
    variables = os.environ | {"STREAMNB_HTTP_PORT": str(server.port)}
    try:
        done = [
            subprocess.run(
                health_check(), env=variables, capture_output=True, timeout=60
            ).returncode
            for _ in range(2)
        ]
    finally:
        server.close()
    assert done == [0, 1], "it lives, then it hangs"
    gone = subprocess.run(health_check(), env=variables, capture_output=True, timeout=60)
    assert gone.returncode != 0


def let_through(path: str, rules: Iterable[str]) -> bool:
    """Whether .dockerignore lets a file into the build: the last rule that fits it decides."""
    ignored = False
    for rule in rules:
        pattern = rule.removeprefix("!")
        if pattern.startswith("**/"):
            parts = Path(path).parts
            fits = any(Path(part).match(pattern.removeprefix("**/")) for part in parts)
        else:
            fits = pattern == "*" or path == pattern or path.startswith(f"{pattern}/")
        if fits:
            ignored = not rule.startswith("!")
    return not ignored


def test_the_build_sees_its_sources_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    maturin = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["maturin"]
    licences = [path for each in PROJECT["license-files"] for path in ROOT.glob(each)]
    needed = ["pyproject.toml", PROJECT["readme"]]
    needed += [str(path.relative_to(ROOT)) for path in licences]
    needed += [maturin["manifest-path"], "core/Cargo.lock", "core/src/lib.rs"]
    assert let_through("streamnb_consumers", rules)  # the link into consumers/
    for package in [*maturin["python-packages"], "consumers/streamnb_consumers"]:
        paths = (path.relative_to(ROOT) for path in (ROOT / package).rglob("*") if path.is_file())
        needed += [str(path) for path in paths if path.suffix in (".py", ".toml", ".pyi")]
    for path in needed:
        assert (ROOT / path).is_file(), path
        assert let_through(path, rules), path
    for path in (
        ".git/config",
        ".venv/bin/python",
        ".env",
        "core/target/release/x",
        "docker/compose.yaml",
        "streamnb/_core.abi3.so",
        "streamnb/__pycache__/errors.cpython-311.pyc",
        "tests/conftest.py",
    ):
        assert not let_through(path, rules), path


# --- compose ------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_compose_files_follow_the_specification(file: str) -> None:
    PyCompose.from_json(json.dumps(compose(file))).validate()
    wrong = compose(file)
    next(iter(wrong["services"].values()))["healthcheck"] = {"retrys": 3}
    with pytest.raises(ValueError, match="retrys"):
        PyCompose.from_json(json.dumps(wrong))
    docker = shutil.which("docker")
    if (
        docker
        and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0
    ):
        command = [docker, "compose", "--file", str(DOCKER / file), "config", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("file", "name"), [(file, name) for file in FILES for name in compose(file)["services"]]
)
def test_services_name_what_there_is(file: str, name: str) -> None:
    services = compose(file)["services"]
    service = services[name]
    for volume in service.get("volumes", []):
        source = volume.split(":")[0]
        if source.startswith("."):
            assert (DOCKER / source).exists(), source
        else:
            assert source in compose(file)["volumes"]
    waits = service.get("depends_on", {})
    for other in waits:
        assert other in services
        if isinstance(waits, dict) and waits[other]["condition"] == "service_healthy":
            healthy = {*filters(), *LISTENERS}  # by the image
            assert "healthcheck" in services[other] or other in healthy
    for port in service.get("ports", []):
        assert port.startswith("127.0.0.1:"), "reached from this machine alone"
    if "build" in service:
        context = DOCKER / service["build"]["context"]
        assert (context / service["build"]["dockerfile"]).is_file()


def test_a_filter_has_time_to_stop() -> None:
    for service in (*(SERVICES[name] for name in filters()), *LISTENERS.values()):
        grace = int(service["stop_grace_period"].removesuffix("s"))
        assert grace > 2 * Settings().stop_seconds


def check(command: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    path = Path(sysconfig.get_path("scripts")) / command[0]
    assert path.is_file(), f"{command[0]} is not installed"
    return subprocess.run(
        [str(path), *command[1:], "--check-config"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_both_filters_are_there() -> None:
    assert sorted(filters().values()) == sorted(PROGRAMS)
    assert set(PROGRAMS) <= set(PROJECT["scripts"])
    assert json.loads(instructions("CMD")[-1])[0] in PROGRAMS


@pytest.mark.parametrize("name", [*filters(), *LISTENERS])
def test_the_settings_of_a_container_hold(name: str) -> None:
    """The commands themselves, in the very environment of the image and of the compose file."""
    service = LISTENERS.get(name) or SERVICES[name]
    variables = environment(service)
    done = check(service["command"], variables)
    assert done.returncode == 0, done.stderr
    known = dict(line.split(" = ", 1) for line in done.stdout.splitlines() if " = " in line)
    given = [name.removeprefix("STREAMNB_").lower() for name in variables if "STREAMNB_" in name]
    assert {"http_port", "snapshots"} <= set(given)
    for each in given:
        assert each in known, f"there is no setting {each}"
        value = variables[f"STREAMNB_{each.upper()}"]
        assert known[each].strip('["]') in (value, f"{value}.0")
    volumes = [volume.split(":") for volume in service["volumes"]]
    assert [name, variables["STREAMNB_SNAPSHOTS"]] in volumes, "each has its own"
    if name != "filter":
        assert int(variables["STREAMNB_CREATE_TOPICS"])
        brokers = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
        assert f"//{variables['STREAMNB_BOOTSTRAP_SERVERS']}," in brokers
    if name in LISTENERS:
        # The health check of the image asks `http_port`, and other containers are no local clients.
        assert variables["STREAMNB_PORT"] == variables["STREAMNB_HTTP_PORT"]
        assert variables["STREAMNB_HOST"] == "0.0.0.0"
        assert variables["STREAMNB_SPAMD_CLIENTS"]


def test_the_page_shows_the_topic_of_the_filter() -> None:
    flags = [flag for flag in SERVICES["page"]["command"] if flag.startswith("--")]
    arguments = build_parser().parse_args(["serve", *flags])
    brokers = SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    address = arguments.filter.removeprefix("kafka://").removesuffix("/sms")
    assert f"//{address}," in brokers
    assert SERVICES["page"]["ports"] == [f"127.0.0.1:{arguments.port}:{arguments.port}"]


def test_postfix_has_the_recipe_of_the_guide() -> None:
    """The recipe itself is tested with the real programs (`make test-mail`)."""
    text = (DOCKER / "postfix.Dockerfile").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "how-to" / "postfix.md").read_text(encoding="utf-8")
    settings = re.search(r'^```text title="main.cf"\n(.*?)^```', page, re.M | re.S)
    milter = re.search(r'^```sh title="milter"\n(.*?)^```', page, re.M | re.S)
    assert settings is not None
    assert milter is not None
    # The addresses that label mails need users and a folder, which the image has not.
    filtering, _, labelling = settings[1].partition("\n\n")
    assert labelling
    for line in filtering.splitlines():
        assert f"'{line}'" in text
    port = MAIL["filter"]["environment"]["STREAMNB_PORT"]
    command = milter[1].strip().replace("-p inet", "-f -p inet")
    assert command.replace("-- -p 7830", f"-- -d filter -p {port}") in text


def test_the_page_names_every_file() -> None:
    text = (DOCKER / "README.md").read_text(encoding="utf-8")
    for path in DOCKER.rglob("*"):
        if path.is_file() and path.name != "README.md" and "__pycache__" not in path.parts:
            assert str(path.relative_to(DOCKER)) in text, path
