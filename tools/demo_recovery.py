"""Demo of recovery: a filter without a broker is killed and continues without loss.

`make demo` runs it. It writes a stream of JSON lines: messages, their labels some lines later, and
a few invalid lines. It starts `streamnb-sms`, kills it (SIGKILL) half way, starts it again, and
compares decisions and state with those of an uninterrupted run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import structs

from streamnb.cli.common import plural
from streamnb.datasets import Message, demo_stream
from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.assembly import make_loop
from streamnb_consumers.daemon.settings import PREFIX, Settings
from streamnb_consumers.daemon.settings_text import to_toml
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.pipeline import state

_MAX_DELAY = 200  # maximum delay of a label, in messages
_BROKEN = 100  # one invalid line for this many messages
_INVALID = (
    b"\xff\xfe no text at all",
    b'{"id": "cut off", "te',
    b'{"id": 7, "text": ["a list"]}',
    b'{"id": "x"}',
)
_PROGRAM = "import sys; from streamnb_consumers.daemon.command import run_sms; sys.exit(run_sms())"
_RUN_SECONDS = 60.0  # maximum time of a run, which normally takes one or two seconds
_LOOK_SECONDS = 0.002  # polling interval, shorter than a transaction


def write_lines(messages: Iterable[Message], path: Path, seed: int) -> Counter[str]:
    """Write messages, later their labels, and invalid lines; return the number of each kind.

    The lines are reproducible for a seed.
    """
    rng = random.Random(seed)
    lines: list[tuple[float, str, bytes]] = []
    for number, message in enumerate(messages):
        name = f"m{number}"
        lines.append((number, "messages", _line(id=name, text=message.text)))
        due = number + int(rng.random() * _MAX_DELAY) + 0.5
        lines.append((due, "labels", _line(id=name, label=message.label)))
        if rng.random() < 1 / _BROKEN:
            lines.append((number + 0.7, "invalid", rng.choice(_INVALID)))
    lines.sort(key=lambda line: line[0])
    path.write_bytes(b"".join(line + b"\n" for _, _, line in lines))
    return Counter(kind for _, kind, _ in lines)


def _line(**fields: str) -> bytes:
    return json.dumps(fields).encode()


def _committed(settings: Settings) -> int:
    """Return the number of committed lines."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        marks = json.loads(Path(f"{settings.output}.offsets").read_bytes())
        return max((int(at) for _, _, at in marks["offsets"]), default=0)
    return 0


def _filter_and_kill(settings: Settings, line: int) -> None:
    """Run `streamnb-sms` and kill it at a line."""
    config = Path(f"{settings.output}.toml")
    config.write_text(to_toml(settings, "sms"), encoding="utf-8")
    # Settings in the environment of the user do not apply to the demo.
    others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command = [sys.executable, "-c", _PROGRAM, "--config", str(config)]
    process = subprocess.Popen(command, env=others, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + _RUN_SECONDS
    while process.poll() is None and _committed(settings) < line and time.monotonic() < end:
        time.sleep(_LOOK_SECONDS)
    process.kill()
    errors = process.communicate(timeout=_RUN_SECONDS)[1]
    if process.returncode > 0:
        raise StreamNBError(f"streamnb-sms ended with status {process.returncode}: {errors}")
    if _committed(settings) < line:
        raise StreamNBError(f"streamnb-sms did not reach line {line:,} within {_RUN_SECONDS:g} s")


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
    print(
        f"A filter without a broker: streamnb-sms reads and writes JSON lines\n{sentence}\n"
        f"{plural(lines.total(), 'line')}: {plural(lines['messages'], 'message')}, "
        f"{plural(lines['labels'], 'label')} up to {_MAX_DELAY} messages later, "
        f"{lines['invalid']:,} invalid",
        flush=True,
    )
    _filter_and_kill(settings, lines.total() // 2)
    snapshots = Snapshots(settings.snapshots)
    origin = kept[0].name if (kept := snapshots.paths()) else "the beginning"
    print(f"killed (SIGKILL) after {_committed(settings):,} lines; restarted from {origin}")
    make_loop("sms", settings).run()

    # An uninterrupted run, for comparison.
    whole = structs.replace(settings, output=str(folder / "whole.jsonl"), snapshots="", batch=500)
    loop = make_loop("sms", whole)
    loop.run()
    metrics = loop.metrics
    print(f"{metrics.decisions:,} decisions, {metrics.dead_letters:,} dead letters")
    same_decisions = Path(settings.output).read_bytes() == Path(whole.output).read_bytes()
    same_state = snapshots.read(snapshots.paths()[0]) == state.dump(loop.worker)
    print(
        "Each message has one decision, and each label was learned once: decisions and state "
        "equal those\nof an uninterrupted run byte for byte."
        if same_decisions and same_state
        else f"THE RUNS DIFFER: equal decisions: {same_decisions}, equal state: {same_state}."
    )
    return 0 if same_decisions and same_state else 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit status: 1 if a run fails or the runs differ."""
    parser = argparse.ArgumentParser(description=__doc__)
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
