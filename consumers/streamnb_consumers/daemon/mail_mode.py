"""`streamnb-spam` for single mails, as bogofilter: decide, pass through, learn, unlearn."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import structs

from streamnb.datasets.mail import MAIL_FORMATS, Mail, mail_format, read_mails
from streamnb.errors import StreamNBError
from streamnb.mail.header_block import first_value, with_header, without_header
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.mail_flags import ERROR, check_mail_flags, registers
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import default_folder, held, load
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.io.stdio import decision_lines
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.pipeline.prediction import decide
from streamnb_consumers.pipeline.threshold import is_calibrated
from streamnb_consumers.records import (
    Decision,
    Message,
    Outputs,
    Partition,
    Record,
    TrainingEvent,
)

SPAM, HAM, UNSURE = 0, 1, 2
_MAX_ID = 256


def status_value(decision: Decision, settings: Settings) -> str:
    """Return the value of the status header: Yes, No or Unsure, with the reason."""
    answer = ("Yes", "No", "Unsure")[_answer(decision, settings)]
    found: list[tuple[str, object]] = []
    if decision.probabilities:
        found.append(("probability", f"{decision.probabilities.get(settings.pos_label, 0.0):.6f}"))
    if decision.score is not None:
        found.append(("score", f"{decision.score:.4f}"))
    if decision.listed:
        found.append(("listed", decision.listed))
    found.append(("version", decision.version))
    return ", ".join([answer, *(f"{name}={value}" for name, value in found)])


def _answer(decision: Decision, settings: Settings) -> int:
    return {settings.pos_label: SPAM, settings.negative: HAM}.get(decision.label or "", UNSURE)


# Consecutive mails of one label that are reported, if the model depends on the order.
_MANY = 50


def run_mail(flags: argparse.Namespace, settings: Settings, begun: bytes = b"") -> int:
    """Apply the flags to one mail, or learn the mails of a file; return the exit status.

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
    if registers(flags):
        return _register(flags, settings, worker, folder, _mails(settings, begun))
    found = _one(_mails(settings, begun))
    clean = without_header(found.raw, settings.status_header)
    record, message = _read(worker, found.id, clean)
    if flags.update:
        with held(folder, settings.commit_seconds):
            load(worker, folder, settings.snapshot_bytes, to_change=True)
            decision = decide(record, message, worker.learner, worker.options)
            if _answer(decision, settings) != UNSURE:
                label = str(decision.label)
                worker.learner.learn(TrainingEvent(message.id, message.features, label))
                _save(worker, settings, folder)
    else:
        load(worker, folder, settings.snapshot_bytes)
        decision = decide(record, message, worker.learner, worker.options)
    output = decision_lines(Outputs(decisions=[decision]))
    if flags.passthrough:
        output = with_header(clean, settings.status_header, status_value(decision, settings))
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    return 0 if flags.embed else _answer(decision, settings)


def _mails(settings: Settings, begun: bytes) -> Iterator[Mail]:
    """Return the mails of the input; a single mail is complete, whatever its length."""
    if settings.input != "-":
        kind: str = settings.format
        if kind == "auto":
            kind = mail_format(settings.input) or "mail"
        if kind not in MAIL_FORMATS:
            raise SettingsError(f"format is {kind}, which is none of {', '.join(MAIL_FORMATS)}")
        longest = sys.maxsize - 1 if kind == "mail" else 2**30
        yield from read_mails(settings.input, kind, longest)
    elif settings.format in ("auto", "mail"):
        yield Mail("", "", begun + sys.stdin.buffer.read())
    elif settings.format == "mbox":
        yield from read_mails("-", "mbox")
    else:
        raise SettingsError(f"format is {settings.format}, which standard input can't have here")


def _one(mails: Iterable[Mail]) -> Mail:
    found = list(zip(mails, range(2), strict=False))
    if len(found) != 1:
        many = "several mails" if found else "no mail"
        raise SettingsError(f"the input has {many}, but -p and -u take one: omit them for a file")
    return found[0][0]


def _read(worker: Filter, name: str, raw: bytes) -> tuple[Record, Message]:
    """Return a mail as a record with its message; a long mail is truncated."""
    key = (first_value(raw, "message-id") or name.encode("utf-8", "replace"))[:_MAX_ID]
    record = Record(Partition("mail", 0), 0, raw[: worker.reader.max_bytes], key)
    message = worker.reader.read(record)
    if not isinstance(message, Message):
        raise SettingsError("this is a label, and no mail")
    return record, message


def _register(
    flags: argparse.Namespace,
    settings: Settings,
    worker: Filter,
    folder: Path,
    mails: Iterable[Mail],
) -> int:
    """Learn and unlearn mails; unusable ones are reported and skipped."""
    learn = settings.pos_label if flags.register_spam else None
    learn = settings.negative if flags.register_ham else learn
    unlearn = settings.pos_label if flags.unregister_spam else None
    unlearn = settings.negative if flags.unregister_ham else unlearn
    done = bad = 0
    mails = iter(mails)
    first = next(mails, None)  # standard input is read before others are kept waiting
    with held(folder, settings.commit_seconds):
        load(worker, folder, settings.snapshot_bytes, to_change=True)
        for mail in (*([first] if first else []), *mails):
            if not mail.is_mail:
                print(f"streamnb-spam: {mail.id} is {mail.problem}; skipped", file=sys.stderr)
                continue
            try:
                if mail.problem is not None:
                    raise SettingsError(mail.problem)
                clean = without_header(mail.raw, settings.status_header)
                _, message = _read(worker, mail.id, clean)
                if learn is None:
                    worker.learner.undo(message.features, str(unlearn))
                else:
                    event = TrainingEvent(message.id, message.features, learn, unlearn)
                    worker.learner.learn(event)
                done += 1
            except StreamNBError as error:
                bad += 1
                where = f"mail {mail.id}: " if mail.id else ""
                print(f"streamnb-spam: error: {where}{error}", file=sys.stderr)
        if done:
            _save(worker, settings, folder)
    if learn is not None and done >= _MANY and is_calibrated(worker.learner.model):
        print(
            f"streamnb-spam: {done} mails of one label were learned one after the other: "
            f"{type(worker.learner.model).__name__} follows the order of the stream, and now takes "
            f"most mail for {learn}. Learn both labels mixed (--input FOLDER with the folders ham "
            "and spam), or set model to one that only counts, as MNB(alpha=0.003, oov='skip')",
            file=sys.stderr,
        )
    return ERROR if bad or not done else 0


def _save(worker: Filter, settings: Settings, folder: Path) -> None:
    kept = Snapshots(folder, settings.snapshots_kept, settings.snapshot_bytes)
    kept.save(state.dump(worker))
