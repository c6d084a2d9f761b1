"""The commands for the topics of a filter: replay dead letters, and repair transactions."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence

from streamnb.errors import StreamNBError, needed_for
from streamnb_consumers.daemon.command import run_command
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import Cluster, Topics

_DEAD_LETTERS, _TRANSACTIONS = "streamnb-dead-letters", "streamnb-transactions"
# Settings of both commands.
_SETTINGS = (
    *("bootstrap_servers", "group", "security_protocol", "sasl_mechanism", "sasl_token_provider"),
    *("tls_ca_file", "tls_cert_file", "tls_key_file", "commit_seconds", "log_level", "log_format"),
    *("messages_topic", "dead_letters_topic"),
)


def _parser(program: str, description: str, *names: str) -> argparse.ArgumentParser:
    made = parser(program, description, (*_SETTINGS, *names))
    made.add_argument("filter", choices=("sms", "spam"), help="the filter")
    made.add_argument("--dry-run", action="store_true", help="only print what would be done")
    return made


def _addresses(flags: argparse.Namespace, settings: Settings) -> tuple[Cluster, Topics]:
    if not settings.bootstrap_servers:
        raise SettingsError("bootstrap_servers must be set to reach the topics")
    from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics

    cluster = make_cluster(flags.filter, settings, os.environ)
    return cluster, make_topics(flags.filter, settings)


def replay_parser() -> argparse.ArgumentParser:
    """Return the parser of `streamnb-dead-letters`."""
    made = _parser(
        _DEAD_LETTERS,
        "Send dead letters unchanged back to their topics. Repeated runs send each of them only "
        "once. Fix the cause first, or they fail again.",
        *("client", "transaction_seconds", "batch"),
    )
    made.add_argument("--to", metavar="TOPIC", help="send all to this topic instead")
    chosen = made.add_argument_group("which", "without these: all that were not sent before")
    chosen.add_argument("--error", metavar="TEXT", default="", help="whose error has this text")
    chosen.add_argument("--source", metavar="TOPIC", help="from this topic")
    chosen.add_argument("--partition", type=int, metavar="N", help="from this partition there")
    chosen.add_argument(
        "--offsets", metavar="FIRST-LAST", default="-", help="from these offsets there; 5-: from 5"
    )
    return made


def replay_dead_letters(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-dead-letters`; return the exit status.

    0: finished. 1: some dead letters cannot be sent, or the run failed; progress is stored, so run
    it again. 2: a setting is invalid. 3: another replay of the same dead letters has taken over.
    """
    return run_command(replay_parser(), arguments, _replay)


def _replay(flags: argparse.Namespace, settings: Settings) -> int:
    from streamnb_consumers.kafka.dead_letters import KafkaDeadLetters, Selection, replay

    selection = Selection(flags.error, flags.source, flags.partition, *_range(flags.offsets))
    cluster, topics = _addresses(flags, settings)
    store = KafkaDeadLetters(cluster, topics.dead_letters, flags.to, not flags.dry_run)
    try:
        report = replay(
            store,
            selection,
            dry_run=flags.dry_run,
            batch=settings.batch,
            timeout=settings.commit_seconds,
            warn=lambda text: print(f"{_DEAD_LETTERS}: {text}", file=sys.stderr),
        )
    finally:
        with contextlib.suppress(StreamNBError, OSError):
            store.close(10.0)
    told = f"{report.sent:,} {'would be sent' if flags.dry_run else 'sent'}"
    for count, what in ((report.others, "not chosen"), (report.unusable, "can't be sent")):
        told += f", {count:,} {what}" if count else ""
    print(f"{_DEAD_LETTERS}: {told}", file=sys.stderr)
    return 1 if report.unusable else 0


def _range(text: str) -> tuple[int, int | None]:
    first, dash, last = text.partition("-")
    try:
        if not dash:
            last = first
        return int(first or 0), int(last) if last else None
    except ValueError:
        raise SettingsError(f"--offsets must be as 5-10, 5- or 5, not {text!r}") from None


def repair_transactions(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-transactions`; return the exit status.

    0: finished, or nothing hangs. 1: the transactions cannot be repaired. 2: a setting is invalid,
    or a worker is running. 70: the cluster does not answer, try again.
    """
    made = _parser(
        _TRANSACTIONS,
        "Repair transactions that hang after a single broker was killed: abort them, and set the "
        "offsets of the group to the first record without a decision. Stop all workers first.",
        *("feedback_topic", "decisions_topic", "training_topic", "join_state_topic"),
    )
    return run_command(made, arguments, _repair)


def _repair(flags: argparse.Namespace, settings: Settings) -> int:
    cluster, topics = _addresses(flags, settings)
    with needed_for(_TRANSACTIONS, "consumers,kafka"):
        from streamnb_consumers.kafka.python_client.hanging import find, repair
    plan = find(cluster, topics, settings.commit_seconds)
    for each in plan.hanging:
        print(
            f"abort the transaction of producer {each.producer_id} in {each.place.source} "
            f"{each.place.number} from offset {each.first}"
        )
    for place, (before, after) in plan.offsets.items():
        print(f"set the offset of {place.source} {place.number} from {before} to {after}")
    if not flags.dry_run:
        repair(cluster, plan)
    done = "would be aborted" if flags.dry_run else "aborted"
    print(f"{_TRANSACTIONS}: {len(plan.hanging)} hanging transactions {done}", file=sys.stderr)
    return 0
