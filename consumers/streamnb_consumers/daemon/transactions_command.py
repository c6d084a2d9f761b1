"""The command `streamnb-transactions`: repair hanging transactions of a filter."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from streamnb_consumers.daemon.command import run_command, topics_parser
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError

_PROGRAM = "streamnb-transactions"


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's flags."""
    made = topics_parser(
        _PROGRAM,
        "Repair transactions that hang after a single broker was killed: abort them, and set the "
        "offsets of the group to the first record without a decision. Stop all workers first.",
        *("messages_topic", "feedback_topic", "decisions_topic", "training_topic"),
        *("join_state_topic", "dead_letters_topic"),
    )
    made.add_argument("--dry-run", action="store_true", help="only print what would be done")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit status.

    0: finished, or nothing hangs. 1: the transactions cannot be repaired. 2: a setting is invalid,
    or a worker is running. 70: the cluster does not answer, try again.
    """
    return run_command(make_parser(), arguments, _repair)


def _repair(flags: argparse.Namespace, settings: Settings) -> int:
    if not settings.bootstrap_servers:
        raise SettingsError("bootstrap_servers must be set to reach the transactions")
    from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
    from streamnb_consumers.kafka.drivers import needing_kafka

    with needing_kafka():
        from streamnb_consumers.kafka.python_client.hanging import find, repair
    cluster = make_cluster(flags.filter, settings, os.environ)
    plan = find(cluster, make_topics(flags.filter, settings), settings.commit_seconds)
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
    print(f"{_PROGRAM}: {len(plan.hanging)} hanging transactions {done}", file=sys.stderr)
    return 0
