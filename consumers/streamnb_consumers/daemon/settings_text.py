"""Settings as text: command-line flags, and a TOML file."""

from __future__ import annotations

import argparse
import inspect
import json
from collections.abc import Iterable
from typing import Any, NoReturn

from msgspec import structs

from streamnb import __version__
from streamnb.errors import without_credentials
from streamnb_consumers.daemon.mail_flags import add_mail_flags
from streamnb_consumers.daemon.settings import (
    FIELDS,
    FOREIGN,
    PREFIX,
    TABLES,
    Settings,
    flag_of,
)


def descriptions() -> dict[str, str]:
    """Return the descriptions of the settings: the attributes in the docstring of `Settings`."""
    found: dict[str, str] = {}
    name = ""
    text = inspect.cleandoc(Settings.__doc__ or "").partition("Attributes\n----------\n")[2]
    for line in text.splitlines():
        if line.startswith(" "):
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = line
            found[name] = ""
    return found


def default_text(name: str) -> str:
    """Return the default of a setting as flags and variables have it."""
    default = FIELDS[name].default
    return ",".join(default) if isinstance(default, tuple) else str(default)


def parser(
    program: str, description: str = "", names: Iterable[str] = ()
) -> argparse.ArgumentParser:
    """Return the command-line parser, with one flag per setting that applies to the program.

    By default it has the description of a filter, and the settings and flags of a filter or, if the
    name of the program ends with `listen`, of a listener. Flags of the other one are errors.
    """
    made = argparse.ArgumentParser(
        prog=program,
        description=description
        or "Filter a stream of messages. Reads JSON lines (id, text, optional label), writes one "
        "decision per message, then learns the label. With bootstrap_servers it reads and writes "
        "Kafka topics.",
        epilog="Each setting may also be in the TOML file, or in the environment as "
        f"{PREFIX} and its name in capitals.",
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    made.add_argument("--config", metavar="FILE", help="TOML file of settings")
    if not names:
        made.add_argument(
            "--check-config", action="store_true", help="check the settings, print them and exit"
        )
        made.add_argument(
            "--dry-run",
            action="store_true",
            help="read and decide, but do not write, commit or save anything",
        )
        if program == "streamnb-spam":
            add_mail_flags(made)
    chosen, texts = frozenset(names) or frozenset(FIELDS), descriptions()
    foreign = () if names else FOREIGN["listen" if program.endswith(" listen") else ""]
    made.set_defaults(foreign=foreign)
    for table, settings in TABLES.items():
        group = made.add_argument_group(f"settings [{table}]")
        for name in settings:
            if table in foreign:
                made.add_argument(flag_of(name), action=_Foreign, help=argparse.SUPPRESS)
            elif name in chosen:
                text = f"{texts.get(name, '')} (default: {default_text(name) or 'empty'})"
                group.add_argument(
                    flag_of(name), metavar=name.upper(), help=text.replace("%", "%%")
                )
    return made


class _Foreign(argparse.Action):
    """A flag that does not apply to the program: an error that names the right one."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any, **_: Any) -> NoReturn:
        """Raise the error."""
        program = parser.prog
        other = (
            program.removesuffix(" listen") if program.endswith(" listen") else f"{program} listen"
        )
        parser.error(
            f"{flag_of(self.dest)} does not apply to `{program}`, only to `{other}`: leave it out"
        )


def to_toml(settings: Settings, kind: str) -> str:
    """Return settings as a TOML file with their tables, with `{kind}` replaced."""
    values = structs.asdict(settings)
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    values |= {name: value.replace("{kind}", kind) for name, value in texts.items()}
    for name in ("shared_snapshots", "teacher_url"):
        values[name] = without_credentials(values[name])
    lines = []
    for table, names in TABLES.items():
        if table == "kafka" and not settings.bootstrap_servers:
            continue
        lines += [f"[{table}]", *(f"{name} = {_toml(values[name])}" for name in names), ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        # As JSON, except that TOML forbids surrogates and DEL.
        plain = value.encode("utf-8", "replace").decode()
        return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
    return str(value).lower()  # a number, true or false
