"""The command `streamnb-delete`, which deletes a message from the files of a filter.

Imports that only a deletion needs are local, so that `--help` and invalid flags answer quickly.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from streamnb.errors import printable
from streamnb_consumers.daemon.command import run_command
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.settings_text import parser
from streamnb_consumers.errors import SettingsError

_PROGRAM = "streamnb-delete"
_SETTINGS = (
    *("model", "labels", "pos_label", "negative", "fields", "per_field", "numbers", "hashed_words"),
    *("categories", "max_bytes"),
    *("max_text", "max_fpr", "drift", "past_label_days", "join_window_count", "join_window_bytes"),
    *("snapshots", "snapshots_kept", "snapshot_bytes", "dead_letters", "commit_seconds"),
    *("bootstrap_servers", "group", "security_protocol", "sasl_mechanism", "sasl_token_provider"),
    *("tls_ca_file", "tls_cert_file", "tls_key_file", "client", "transaction_seconds"),
    *("messages_topic", "feedback_topic", "decisions_topic", "training_topic", "join_state_topic"),
    *("dead_letters_topic", "questions_topic", "shared_snapshots", "log_level", "log_format"),
)
_ELSEWHERE_TOPICS = (
    "not reached: snapshots of the workers (replaced after snapshots_kept newer ones), other "
    "copies of the topics, backups, logs, exports, mailboxes"
)
_ELSEWHERE = "not reached: copies of the files, backups, logs, the output file, exports, mailboxes"


def deletion_parser() -> argparse.ArgumentParser:
    """Return the parser of `streamnb-delete`."""
    made = parser(
        _PROGRAM,
        "Delete a message from the files of a filter: from model, join window and snapshots, from "
        "the journal of a listener, and from the file of dead letters. Stop the filter first. With "
        "bootstrap_servers: let the workers unlearn the message, and truncate topics.",
        _SETTINGS,
    )
    made.add_argument("filter", choices=("sms", "spam"), help="the filter")
    which = made.add_mutually_exclusive_group(required=True)
    which.add_argument("--id", metavar="ID", help="id of the message")
    which.add_argument("--message", metavar="FILE", help="file with the message")
    which.add_argument("--word", metavar="WORD", help="a word, without its messages")
    made.add_argument(
        "--truncate",
        metavar="TOPIC",
        action="append",
        default=[],
        help="with bootstrap_servers: delete all records of this topic up to the message",
    )
    made.add_argument("--label", help="label to unlearn if the window has no text of the message")
    return made


def run_delete(arguments: Sequence[str] | None = None) -> int:
    """Run `streamnb-delete`; return the exit status.

    0: the message was deleted from all places that the command reaches. 1: it is in none of them,
    or one still contains it. 2: a setting is invalid. 3: another process uses the folder.
    """
    return run_command(deletion_parser(), arguments, _run)


def _run(flags: argparse.Namespace, settings: Settings) -> int:
    from streamnb_consumers.daemon.deletion import delete, id_of
    from streamnb_consumers.daemon.state_folder import default_folder

    raw = None if flags.message is None else Path(flags.message).read_bytes()
    if settings.bootstrap_servers:
        if flags.word is not None:
            raise SettingsError(
                "--word needs a filter on files: the models of workers follow from the training "
                "log, so unlearn the messages with --id"
            )
        from streamnb_consumers.daemon.topic_deletion import delete_from_topics

        name = flags.id if raw is None else id_of(flags.filter, settings, raw)
        report = delete_from_topics(flags.filter, settings, name, flags.truncate)
        print("\n".join([*map(printable, report.lines), _ELSEWHERE_TOPICS]))
        return 0 if report.found and report.complete else 1
    if flags.truncate:
        raise SettingsError("--truncate needs bootstrap_servers")
    folder = Path(settings.snapshots) if settings.snapshots else default_folder(flags.filter)
    report = delete(flags.filter, settings, folder, flags.id, raw, flags.label, flags.word)
    print("\n".join([*map(printable, report.lines), _ELSEWHERE]))
    return 0 if report.found and report.complete else 1
