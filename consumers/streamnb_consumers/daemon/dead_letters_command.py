"""The command `streamnb-dead-letters`: list dead letters, or replay them."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.command import run_command, topics_parser
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError

if TYPE_CHECKING:
    from streamnb_consumers.kafka.dead_letters import Report

_PROGRAM = "streamnb-dead-letters"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's flags."""
    made = topics_parser(
        _PROGRAM,
        "Send dead letters unchanged back to their topics. Repeated runs send each of them only "
        "once. Fix the cause first, or they fail again.",
        *("client", "messages_topic", "dead_letters_topic", "transaction_seconds", "batch"),
    )
    made.add_argument("--to", metavar="TOPIC", help="send all to this topic instead")
    made.add_argument("--dry-run", action="store_true", help="list them only, one a line")
    chosen = made.add_argument_group("which", "without these: all that were not sent before")
    chosen.add_argument("--error", metavar="TEXT", default="", help="whose error has this text")
    chosen.add_argument("--source", metavar="TOPIC", help="from this topic")
    chosen.add_argument("--partition", type=int, metavar="N", help="from this partition there")
    chosen.add_argument(
        "--offsets", metavar="FIRST-LAST", default="-", help="from these offsets there; 5-: from 5"
    )
    return made


def _range(text: str) -> tuple[int, int | None]:
    first, dash, last = text.partition("-")
    try:
        if not dash:
            last = first
        return int(first or 0), int(last) if last else None
    except ValueError:
        raise SettingsError(f"--offsets must be as 5-10, 5- or 5, not {text!r}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    0: finished. 1: some dead letters cannot be sent, or the run failed; progress is stored, so run
    it again. 2: a setting is invalid. 3: another replay of the same dead letters has taken over.
    """
    return run_command(make_parser(), arguments, _replay)


def _replay(flags: argparse.Namespace, settings: Settings) -> int:
    if not settings.bootstrap_servers:
        raise SettingsError("bootstrap_servers must be set to reach the dead letters")
    from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
    from streamnb_consumers.kafka.dead_letters import KafkaDeadLetters, Selection, replay

    selection = Selection(flags.error, flags.source, flags.partition, *_range(flags.offsets))
    cluster = make_cluster(flags.filter, settings, os.environ)
    topic = make_topics(flags.filter, settings).dead_letters
    store = KafkaDeadLetters(cluster, topic, flags.to, not flags.dry_run)
    try:
        report = replay(
            store,
            selection,
            dry_run=flags.dry_run,
            batch=settings.batch,
            timeout=settings.commit_seconds,
            warn=lambda text: print(f"{_PROGRAM}: {text}", file=sys.stderr),
        )
    finally:
        with contextlib.suppress(StreamNBError, OSError):
            store.close(10.0)
    print(f"{_PROGRAM}: {_told(report, flags.dry_run)}", file=sys.stderr)
    return 1 if report.unusable else 0


def _told(report: Report, dry_run: bool) -> str:
    text = f"{report.sent:,} {'would be sent' if dry_run else 'sent'}"
    for count, what in (
        (report.others, "not chosen"),
        (report.unusable, "can't be sent"),
    ):
        text += f", {count:,} {what}" if count else ""
    return text
