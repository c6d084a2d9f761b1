"""Demo of recovery: a filter without a broker is killed and continues without loss.

`python -m streamnb_consumers.demo` writes a stream of JSON lines: messages, their labels some lines
later, and a few invalid lines. It starts `streamnb-sms`, kills it (SIGKILL) half way, starts it
again, and compares decisions and state with those of an uninterrupted run.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from streamnb.cli.sources import plural
from streamnb.cli.table import aligned
from streamnb.datasets import Message, demo_stream
from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.assembly import make_loop
from streamnb_consumers.daemon.settings import PREFIX, Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.pipeline import state

__all__ = ["Lines", "main", "write_lines"]

_MAX_DELAY = 200  # maximum delay of a label, in messages
_BROKEN = 100  # one invalid line per this many messages
_LINE = (
    b"\xff\xfe no text at all",
    b'{"id": "cut off", "te',
    b'{"id": 7, "text": ["a list"]}',
    b'{"id": "x"}',
)
_PROGRAM = "import sys; from streamnb_consumers.daemon.command import run_sms; sys.exit(run_sms())"
_RUN_SECONDS = 60.0  # maximum time of a run, which normally takes one or two seconds
_LOOK_SECONDS = 0.002  # polling interval, shorter than a transaction


@dataclasses.dataclass(frozen=True, slots=True)
class Lines:
    """Number of lines of each kind."""

    messages: int
    labels: int
    broken: int

    @property
    def total(self) -> int:
        """Number of all lines."""
        return self.messages + self.labels + self.broken


def write_lines(messages: Iterable[Message], path: Path, seed: int) -> Lines:
    """Write messages, later their labels, and invalid lines; reproducible for a seed."""
    rng = random.Random(seed)
    waiting: dict[int, list[bytes]] = {}
    counts = {"messages": 0, "labels": 0, "broken": 0}
    with path.open("wb") as file:

        def write(line: bytes, kind: str) -> None:
            file.write(line + b"\n")
            counts[kind] += 1

        for number, message in enumerate(messages):
            name = f"m{number}"
            write(json.dumps({"id": name, "text": message.text}).encode(), "messages")
            label = json.dumps({"id": name, "label": message.label}).encode()
            due = number + int(rng.random() * _MAX_DELAY)
            waiting.setdefault(due, []).append(label)
            for line in waiting.pop(number, []):
                write(line, "labels")
            if rng.random() < 1 / _BROKEN:
                write(_LINE[int(rng.random() * len(_LINE))], "broken")
        for due in sorted(waiting):
            for line in waiting[due]:
                write(line, "labels")
    return Lines(**counts)


def _committed(settings: Settings) -> int:
    """Return the number of committed lines."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        marks = Path(f"{settings.output}.offsets").read_bytes()
        return max((int(at) for _, _, at in json.loads(marks)["offsets"]), default=0)
    return 0


def _filter_and_kill(settings: Settings, line: int) -> bool:
    """Run `streamnb-sms` and kill it at a line; return False if it ended earlier."""
    flags = [
        f"--{field.name.replace('_', '-')}={getattr(settings, field.name)}"
        for field in structs.fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    # Settings in the environment of the user do not apply to the demo.
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *flags], env=others, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + _RUN_SECONDS
    while process.poll() is None and _committed(settings) < line and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)
    process.kill()
    errors = process.communicate(timeout=_RUN_SECONDS)[1]
    if process.returncode > 0:
        raise StreamNBError(f"streamnb-sms ended with status {process.returncode}: {errors}")
    if _committed(settings) < line:
        raise StreamNBError(f"streamnb-sms did not reach line {line:,} within {_RUN_SECONDS:g} s")
    return process.returncode < 0


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def _run(folder: Path, limit: int | None, seed: int) -> int:
    messages, sentence = demo_stream(limit, seed)
    settings = Settings(
        input=str(folder / "messages.jsonl"),
        output=str(folder / "decisions.jsonl"),
        snapshots=str(folder / "snapshots"),
        snapshot_seconds=0.1,
        batch=50,  # small, so that there are many commits
    )
    lines = write_lines(messages.messages(), Path(settings.input), seed)
    print("A filter without a broker: streamnb-sms reads and writes JSON lines")
    print(sentence)
    print(
        f"{plural(lines.total, 'line')}: {plural(lines.messages, 'message')}, "
        f"{plural(lines.labels, 'label')} up to {_MAX_DELAY} messages later, "
        f"{lines.broken:,} invalid",
        flush=True,
    )
    killed = _filter_and_kill(settings, lines.total // 2)
    at, kept = _committed(settings), Snapshots(settings.snapshots).paths()
    origin = kept[0].name if kept else "the beginning"
    if killed:
        print(f"killed (SIGKILL) after {at:,} lines; restarted from {origin}", flush=True)
    else:
        print("ended before it could be killed; restarted at the end", flush=True)
    make_loop("sms", settings).run()

    # An uninterrupted run, for comparison.
    whole = structs.replace(
        settings, output=str(folder / "whole.jsonl"), snapshots="", batch=Settings().batch
    )
    loop = make_loop("sms", whole)
    began = time.perf_counter()
    loop.run()
    seconds = time.perf_counter() - began
    decisions = Path(settings.output).read_bytes()
    same_decisions = decisions == Path(whole.output).read_bytes()
    snapshots = Snapshots(settings.snapshots)
    newest = snapshots.read(snapshots.paths()[0])
    same_state = newest == state.dump(loop.worker)
    print("\n" + _table(loop, decisions, seconds) + "\n")
    print(
        "Each message has one decision, and each label was learned once: decisions and state "
        "equal those\nof an uninterrupted run byte for byte."
        if same_decisions and same_state
        else f"THE RUNS DIFFER: equal decisions: {same_decisions}, equal state: {same_state}."
    )
    return 0 if same_decisions and same_state else 1


def _table(loop: Any, decisions: bytes, seconds: float) -> str:
    confusion, metrics = loop.worker.learner.confusion, loop.metrics
    head = ("decisions", "learned", "dead letters", "acc %", "last 1,000", "lines/s")
    row = (
        f"{len(decisions.splitlines()):,}",
        f"{loop.worker.learner.learned:,}",
        f"{metrics.dead_letters:,}",
        _share(confusion.accuracy()),
        _share(confusion.rolling_accuracy()),
        f"{metrics.records / seconds:,.0f}",
    )
    return aligned([("model", *head), (type(loop.worker.learner.model).__name__, *row)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit status: 1 if a run fails or the runs differ."""
    parser = argparse.ArgumentParser(prog="python -m streamnb_consumers.demo", description=__doc__)
    parser.add_argument("--limit", type=int, metavar="N", help="at most N messages")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="default: 42")
    flags = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="streamnb-demo-") as folder:
        try:
            return _run(Path(folder), flags.limit, flags.seed)
        except (StreamNBError, OSError, subprocess.SubprocessError) as error:
            print(f"the demo failed: {error}", file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
