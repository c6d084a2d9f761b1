"""The settings: defaults < TOML file < environment < flags. Each is one field of `Settings`.

Secrets have no field: they come from the environment alone (`settings_fields.SECRETS`), so that no
file and no process list shows them.
"""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from streamnb import __version__
from streamnb_consumers.daemon.mail_flags import add_mail_flags
from streamnb_consumers.daemon.settings_fields import SECRETS, Settings
from streamnb_consumers.errors import SettingsError

__all__ = ["PREFIX", "Settings", "parser", "read_settings", "table", "to_toml"]

PREFIX = "STREAMNB_"
_FILTER = (
    "Filter a stream of messages: JSON lines in (id, text, optional label: predicted first, then "
    "learned), one decision a line out; or with bootstrap_servers, from topics to topics."
)


def parser(
    program: str, description: str = _FILTER, names: Iterable[str] = ()
) -> argparse.ArgumentParser:
    """Return the parser of the flags: one for each setting, and a few that are no settings.

    Parameters
    ----------
    program
        What it is called.
    description
        What it does.
    names
        Settings that have flags; none for all, and for what a filter can do besides.
    """
    made = argparse.ArgumentParser(
        prog=program,
        description=description,
        epilog=f"Every setting may also stand in the TOML file, or in the environment as "
        f"{PREFIX} and its name in capitals.",
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    made.add_argument("--config", metavar="FILE", help="a TOML file of settings")
    if not names:
        made.add_argument(
            "--check-config", action="store_true", help="check the settings, print them and end"
        )
        made.add_argument(
            "--dry-run",
            action="store_true",
            help="read and decide; write, commit and keep nothing",
        )
        if program == "streamnb-spam":
            add_mail_flags(made)
    chosen = frozenset(names) or {field.name for field in dataclasses.fields(Settings)}
    for field in dataclasses.fields(Settings):
        if field.name not in chosen:
            continue
        made.add_argument(
            *(f"--{name.replace('_', '-')}" for name in _names(field)),
            metavar=field.name.upper(),
            help=f"{field.metadata['help']} (default: {_shown(field.default) or 'empty'})".replace(
                "%", "%%"
            ),
        )
    return made


def read_settings(
    flags: argparse.Namespace, environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings that file, environment and flags make.

    Raises
    ------
    SettingsError
        If a key is unknown or a value out of range; it names the place it came from.

    Examples
    --------
    >>> flags = parser("streamnb-sms").parse_args(["--batch", "10"])
    >>> settings = read_settings(flags, {"STREAMNB_BATCH": "20", "STREAMNB_TOP_WORDS": "3"})
    >>> settings.batch, settings.top_words
    (10, 3)
    """
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    fields = {field.name: field for field in dataclasses.fields(Settings)}

    def take(name: str, value: Any, place: str) -> None:
        try:
            values[name] = fields[name].metadata["read"](value)
        except (ValueError, TypeError, OverflowError) as error:
            raise SettingsError(f"{place}: {name} {error}, not {value!r}") from None

    now = {name: field.name for field in fields.values() for name in _names(field)}
    path = flags.config or environment.get(f"{PREFIX}CONFIG")
    for given, value in _read_toml(path).items():
        name = now.get(given, given)
        if name in SECRETS:
            raise SettingsError(
                f"{path}: {name} is a secret: it is read from the environment only, as "
                f"{PREFIX}{name.upper()}"
            )
        if name not in fields:
            known = ", ".join(fields)
            raise SettingsError(f"{path}: there is no setting {name!r}; there are {known}")
        take(name, value, str(path))
    _check_variables(environment, now)
    for given, name in reversed(now.items()):  # a name of before counts less than today's
        variable = PREFIX + given.upper()
        if variable in environment:
            take(name, environment[variable], variable)
    for name in fields:
        if (value := getattr(flags, name, None)) is not None:
            take(name, value, f"--{name.replace('_', '-')}")
    return Settings(**values)


def _names(field: dataclasses.Field[Any]) -> list[str]:
    """Return what a setting is called, and what it was called before."""
    return [name for name in (field.name, field.metadata["former"]) if name]


def _check_variables(environment: Mapping[str, str], fields: Iterable[str]) -> None:
    """Name variables that look like a misspelled setting; others may be somebody else's."""
    known = [*(PREFIX + name.upper() for name in (*fields, *SECRETS)), f"{PREFIX}CONFIG"]
    for variable in environment:
        if variable.startswith(PREFIX) and variable not in known:
            meant = difflib.get_close_matches(variable, known, n=1, cutoff=0.93)
            if meant:
                raise SettingsError(f"{variable} is no setting: is {meant[0]} meant?")


def _read_toml(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} can't be read: {error}") from error


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def to_toml(settings: Settings, kind: str) -> str:
    r"""Return settings as the TOML file that they would be read from; `{kind}` is filled in.

    Examples
    --------
    >>> print(to_toml(Settings(model="MNB()"), "sms").splitlines()[:2])
    ['model = "MNB()"', 'labels = ["ham", "spam"]']
    """
    lines = []
    for name, value in dataclasses.asdict(settings).items():
        shown = value.replace("{kind}", kind) if isinstance(value, str) else value
        lines.append(f"{name} = {_toml(shown)}\n")
    return "".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # As in JSON, but that TOML knows no surrogates and no DEL.
        plain = value.encode("utf-8", "replace").decode()
        return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()  # a number, or true or false


def table() -> str:
    """Return the table of all settings, as Markdown."""
    lines = ["| key | default | meaning |", "| --- | --- | --- |"]
    for field in dataclasses.fields(Settings):
        shown = f"`{_shown(field.default)}`" if _shown(field.default) else "empty"
        lines.append(f"| `{field.name}` | {shown} | {field.metadata['help']} |")
    return "\n".join(lines)
