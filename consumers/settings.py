"""The settings: defaults < TOML file < environment < flags. Each is one field of `Settings`.

Secrets have no field: they come from the environment alone, so that no file and no process list
shows them.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from consumers.errors import SettingsError

__all__ = ["PREFIX", "Settings", "parser", "read_settings", "table"]

PREFIX = "STREAMNB_"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _labels(value: Any) -> tuple[str, ...]:
    found = [each.strip() for each in value.split(",")] if isinstance(value, str) else value
    if not isinstance(found, (list, tuple)) or not all(isinstance(one, str) for one in found):
        raise ValueError("must be labels, separated by commas")
    return tuple(one for one in found if one)


def _whole(least: int, most: int = 2**53) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        number = int(value) if isinstance(value, str) else value
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            raise ValueError(f"must be a whole number from {least:,} to {most:,}")
        return number

    return read


def _number(least: float, most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value) if isinstance(value, (str, int)) else value
        if not isinstance(number, float) or isinstance(value, bool) or not least <= number <= most:
            raise ValueError(f"must be a number from {least:g} to {most:g}")
        return number

    return read


def _key(default: Any, read: Callable[[Any], Any], meaning: str) -> Any:
    return dataclasses.field(default=default, metadata={"read": read, "help": meaning})


@dataclasses.dataclass(frozen=True)
class Settings:
    """Everything that can be set; the help of each field says what it means."""

    model: str = _key(
        "", _text, "the model, as `streamnb evaluate --model` writes it; empty: the kind's own"
    )
    labels: tuple[str, ...] = _key(
        ("ham", "spam"), _labels, "labels that are learned, others are bad input; empty: any"
    )
    positive: str = _key("spam", _text, "the label that scores are the log odds of")
    negative: str = _key("ham", _text, "what is decided where `ham_target` forbids the positive")
    ham_target: float = _key(
        0.0, _number(0.0, 0.5), "share of negative messages that may be lost; 0: no bound"
    )
    top_words: int = _key(0, _whole(0, 1000), "loudest words that a decision names")
    max_bytes: int = _key(
        0, _whole(0, 2**30), "longest message in bytes; 0: the kind's own (SMS 65,536, mail 2^24)"
    )
    window_count: int = _key(
        100_000, _whole(1), "messages that wait for a label, in each partition"
    )
    window_age: float = _key(0.0, _number(0.0, 1e9), "seconds for which they wait; 0: no bound")
    window_bytes: int = _key(2**27, _whole(1), "bytes that they take, in each partition")
    input: str = _key("-", _text, "a file of JSON lines; `-`: standard input")
    output: str = _key("-", _text, "where decisions go: a file, exactly once; `-`: standard output")
    dead_letters: str = _key(
        "", _text, "file of bad records; empty: standard error, or the output's name and `.dead`"
    )
    snapshots: str = _key("", _text, "folder of snapshots; empty: none are kept")
    snapshots_kept: int = _key(3, _whole(1, 1000), "snapshots kept")
    snapshot_seconds: float = _key(60.0, _number(0.0, 1e6), "seconds between snapshots")
    batch: int = _key(500, _whole(1, 100_000), "records of one transaction at most")
    poll_seconds: float = _key(0.5, _number(0.001, 60.0), "longest wait for records")
    commit_seconds: float = _key(60.0, _number(0.1, 3600.0), "longest wait for a commit")
    stop_seconds: float = _key(10.0, _number(0.1, 3600.0), "longest time for closing at the end")
    breaker_share: float = _key(
        0.8, _number(0.01, 1.0), "share of bad records at which the filter stops"
    )
    breaker_records: int = _key(1000, _whole(1), "records that this share is taken of")
    metrics_port: int = _key(0, _whole(0, 65_535), "port of Prometheus metrics; 0: none")
    metrics_host: str = _key("127.0.0.1", _text, "address that metrics are served on")
    log_level: str = _key("WARNING", _text, "DEBUG, INFO, WARNING or ERROR")
    log_format: str = _key("json", _text, "json, or text")

    def __post_init__(self) -> None:
        if self.log_level not in ("DEBUG", "INFO", "WARNING", "ERROR"):
            raise SettingsError(f"log_level must be DEBUG … ERROR, not {self.log_level!r}")
        if self.log_format not in ("json", "text"):
            raise SettingsError(f"log_format must be json or text, not {self.log_format!r}")
        if self.labels:
            for name in ("positive", "negative"):
                if getattr(self, name) not in self.labels:
                    raise SettingsError(f"{name} is {getattr(self, name)!r}, none of the labels")
        if self.positive == self.negative:
            raise SettingsError("positive and negative are the same label")
        if self.output != "-" and self.input == "-":
            raise SettingsError(
                "output to a file is exactly once, for which input must be a file too; "
                "with standard input use > for the output"
            )


def parser(program: str) -> argparse.ArgumentParser:
    """Return the parser of the flags: one for each setting, and a few that are no settings."""
    made = argparse.ArgumentParser(
        prog=program,
        description="Filter a stream of messages: JSON lines in (id, text, optional label: "
        "predicted first, then learned), one decision a line out.",
        epilog=f"Every setting may also stand in the TOML file, or in the environment as "
        f"{PREFIX} and its name in capitals.",
    )
    made.add_argument("--config", metavar="FILE", help="a TOML file of settings")
    made.add_argument(
        "--check-config", action="store_true", help="check the settings, print them and end"
    )
    made.add_argument(
        "--dry-run", action="store_true", help="read and decide; write, commit and keep nothing"
    )
    for field in dataclasses.fields(Settings):
        made.add_argument(
            f"--{field.name.replace('_', '-')}",
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

    path = flags.config or environment.get(f"{PREFIX}CONFIG")
    for name, value in _read_toml(path).items():
        if name not in fields:
            known = ", ".join(fields)
            raise SettingsError(f"{path}: there is no setting {name!r}; there are {known}")
        take(name, value, str(path))
    for name in fields:
        variable = PREFIX + name.upper()
        if variable in environment:
            take(name, environment[variable], variable)
    for name in fields:
        if (value := getattr(flags, name, None)) is not None:
            take(name, value, f"--{name.replace('_', '-')}")
    return Settings(**values)


def _read_toml(path: str | None) -> dict[str, Any]:
    if not path:
        return {}
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} can't be read: {error}") from error


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def table(kind: Sequence[Any] = ()) -> str:
    """Return the table of all settings, as Markdown."""
    lines = ["| key | default | meaning |", "| --- | --- | --- |"]
    for field in kind or dataclasses.fields(Settings):
        shown = f"`{_shown(field.default)}`" if _shown(field.default) else "empty"
        lines.append(f"| `{field.name}` | {shown} | {field.metadata['help']} |")
    return "\n".join(lines)
