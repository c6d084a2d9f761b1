"""`streamnb-spam` for single mails, as bogofilter: decide, pass through, learn, unlearn."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from msgspec import structs

from streamnb.datasets.lines import open_bytes
from streamnb.datasets.mail import Mail, mail_format, read_whole
from streamnb.mail.header_block import first_value, with_header, without_header
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.mail_flags import check_mail_flags, registers
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import default_folder, held, load
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.io.stdio import decision_lines
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.prediction import decide
from streamnb_consumers.pipeline.training import Learner
from streamnb_consumers.records import Decision, Message, Outputs, Partition, Record, TrainingEvent

SPAM, HAM, UNSURE = 0, 1, 2
_MAX_ID = 256


def status_value(decision: Decision, settings: Settings) -> str:
    """Return the value of the status header: Yes, No or Unsure, with the reason."""
    found = [("Yes", "No", "Unsure")[_answer(decision, settings)]]
    if decision.probabilities:
        found.append(f"probability={decision.probabilities.get(settings.pos_label, 0.0):.6f}")
    if decision.score is not None:
        found.append(f"score={decision.score:.4f}")
    if decision.listed:
        found.append(f"listed={decision.listed}")
    return ", ".join([*found, f"version={decision.version}"])


def _answer(decision: Decision, settings: Settings) -> int:
    return {settings.pos_label: SPAM, settings.negative: HAM}.get(str(decision.label or ""), UNSURE)


def run_mail(flags: argparse.Namespace, settings: Settings, begun: bytes = b"") -> int:
    """Apply the flags to one mail; return the exit status.

    The state folder is the setting `snapshots`. `begun` are the bytes already read from standard
    input.

    Raises
    ------
    SettingsError
        If settings and flags contradict each other.
    BusyError
        If another process locks the state for too long.
    StreamNBError, OSError
        If the mail or the state cannot be read, or the state cannot be written.
    """
    check_mail_flags(flags)
    if settings.bootstrap_servers:
        raise SettingsError("bootstrap_servers is set: mails of topics are learned by their labels")
    folder = Path(settings.snapshots) if settings.snapshots else default_folder()
    known = settings if settings.format != "auto" else structs.replace(settings, format="mail")
    worker = make_filter("spam", known)
    # Only a mail that is passed through is needed as a whole.
    found = _mail(settings, begun, worker.reader.max_bytes, whole=flags.passthrough)
    clean = without_header(found.raw, settings.status_header)
    record, message = _read(worker, found.id, clean)
    learner, changes = worker.learner, registers(flags) or flags.update
    with held(folder, settings.commit_seconds) if changes else nullcontext():
        load(worker, folder, settings.snapshot_bytes, to_change=changes)
        if registers(flags):
            _register(flags, settings, learner, message)
            _save(worker, settings, folder)
            return 0
        decision = decide(record, message, learner, worker.options)
        if flags.update and _answer(decision, settings) != UNSURE:
            learner.learn(TrainingEvent(message.id, message.features, str(decision.label)))
            _save(worker, settings, folder)
    output = decision_lines(Outputs(decisions=[decision]))
    if flags.passthrough:
        output = with_header(clean, settings.status_header, status_value(decision, settings))
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    return 0 if flags.embed else _answer(decision, settings)


def _mail(settings: Settings, begun: bytes, most: int, whole: bool) -> Mail:
    """Return the mail of the input: the beginning, or all of it with `whole`, whatever its length.

    A compressed mail that has more than `most` bytes is refused with `whole`.
    """
    kind: str = settings.format
    if kind == "auto":
        kind = "mail" if settings.input == "-" else mail_format(settings.input) or "mail"
    if kind != "mail":
        raise SettingsError(
            f"the input has the format {kind}, but a flag such as -p or -s takes one mail: omit "
            "the flags to filter and learn several mails"
        )
    if settings.input == "-":
        rest = sys.stdin.buffer
        return Mail("", "", begun + (rest.read() if whole else read_whole(rest, most)))
    most = max(most, Path(settings.input).stat().st_size) if whole else most
    with open_bytes(settings.input) as file:
        raw = read_whole(file, most)
    if whole and len(raw) > most:
        raise SettingsError(
            f"{settings.input} decompresses to more than {most:,} bytes: raise max_bytes, or "
            f"decompress it"
        )
    return Mail("1", "", raw)


def _read(worker: Filter, name: str, raw: bytes) -> tuple[Record, Message]:
    """Return a mail as a record with its message; a long mail is truncated."""
    key = (first_value(raw, "message-id") or name.encode("utf-8", "replace"))[:_MAX_ID]
    record = Record(Partition("mail", 0), 0, raw[: worker.reader.max_bytes], key)
    message = worker.reader.read(record)
    if not isinstance(message, Message):
        raise SettingsError("this is a label, and no mail")
    return record, message


def _register(
    flags: argparse.Namespace, settings: Settings, learner: Learner, mail: Message
) -> None:
    """Learn or unlearn a mail."""
    learn = settings.pos_label if flags.register_spam else None
    learn = settings.negative if flags.register_ham else learn
    unlearn = settings.pos_label if flags.unregister_spam else None
    unlearn = settings.negative if flags.unregister_ham else unlearn
    if learn is None:
        learner.undo(mail.features, str(unlearn))
    else:
        learner.learn(TrainingEvent(mail.id, mail.features, learn, unlearn))


def _save(worker: Filter, settings: Settings, folder: Path) -> None:
    kept = Snapshots(folder, settings.snapshots_kept, settings.snapshot_bytes)
    kept.save(state.dump(worker))
