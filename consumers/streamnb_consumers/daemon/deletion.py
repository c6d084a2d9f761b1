"""Delete a message from the files of a filter: model, join window, snapshots, journal, rejects."""

from __future__ import annotations

import base64
import dataclasses
import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from streamnb.errors import StreamNBError
from streamnb.model.persistence import write
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.listen.journal import Journal
from streamnb_consumers.daemon.listen.requests import PLACE
from streamnb_consumers.daemon.listen.service import content_id
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import held, load
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.jsons import canonical, parse
from streamnb_consumers.pipeline import state
from streamnb_consumers.pipeline.filter import Filter
from streamnb_consumers.records import Feedback, Message, Partition, Record


@dataclasses.dataclass
class Report:
    """What a deletion did.

    Attributes
    ----------
    lines
        One line for each place.
    found
        Whether the message was in a place.
    complete
        Whether it was removed from all places that contained it.
    """

    lines: list[str] = dataclasses.field(default_factory=list)
    found: bool = False
    complete: bool = True

    def add(self, place: str, what: str, found: bool, removed: bool = True) -> None:
        """Add a place."""
        self.lines.append(f"{place}: {what}")
        self.found = self.found or found
        self.complete = self.complete and removed


def id_of(kind: str, settings: Settings, raw: bytes) -> str:
    """Return the id of a message in a format of the filter's reader."""
    return _read(make_filter(kind, settings, listens=True), raw).id


def _read(worker: Filter, raw: bytes) -> Message | Feedback:
    """Return the message or feedback in a record without a key."""
    return worker.reader.read(Record(Partition("deletion", 0), 0, raw, content_id(raw).encode()))


def delete(
    kind: str,
    settings: Settings,
    folder: Path,
    name: str | None,
    raw: bytes | None,
    label: str | None,
    word: str | None = None,
) -> Report:
    """Delete a message or a word from a folder of state and the file of dead letters.

    Returns a report.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`.
    settings
        Settings of the filter.
    folder
        Its state folder.
    name, raw
        The id of the message, or its bytes.
    label
        Label to unlearn if the window does not have the text; needs `raw`.
    word
        The word to delete instead, as the tokenizer folds it.

    Raises
    ------
    BusyError
        If another process uses the folder.
    SettingsError
        If it is not a folder, or the journal has records that no snapshot contains.
    """
    if not folder.is_dir():
        raise SettingsError(f"snapshots is {folder}, which is not a folder")
    report, worker = Report(), make_filter(kind, settings, listens=True)
    message = None
    if raw is not None:
        found = _read(worker, raw)
        message = found if isinstance(found, Message) else None
        name = found.id
    with held(folder, settings.commit_seconds):
        load(worker, folder, settings.snapshot_bytes, to_change=True)
        journal = folder / "journal"
        length = None
        if journal.is_dir():
            length = _length(journal, settings.snapshots_kept, worker)
        if word is not None:
            _delete_word(worker, word, report)
        elif name is not None:
            _delete_from_state(worker, name, message, label, report)
        snapshots = Snapshots(folder, settings.snapshots_kept, settings.snapshot_bytes)
        kept = snapshots.save(state.dump(worker))
        older = [path for path in snapshots.paths() if path != kept]
        for path in older:
            path.unlink()
        report.add("snapshots", f"written again; {len(older)} older ones deleted", False)
        if length is not None:
            # The new snapshot contains all of it. The next record keeps its number.
            segments = [path for path in journal.iterdir() if path.suffix == ".jsonl"]
            new = journal / f"journal-{length:016d}.jsonl"
            write(new, b"", mode=0o600)
            for path in segments:
                if path != new:
                    path.unlink()
            report.add("journal", f"{len(segments)} segments deleted", False)
    if settings.dead_letters:
        has = functools.partial(_has_word, word) if word is not None else _named(name, raw)
        _delete_from_dead_letters(Path(settings.dead_letters), has, report)
    return report


def _length(folder: Path, keep: int, worker: Filter) -> int:
    """Return the number of records of a journal, all of which the state contains."""
    journal = Journal(folder, keep)
    journal.close()
    if worker.offsets.get(PLACE, 0) != journal.length:
        raise SettingsError(
            f"the journal in {folder} has {journal.length:,} records, and the newest snapshot "
            f"contains {worker.offsets.get(PLACE, 0):,}: start the listener, stop it with SIGTERM, "
            f"and repeat the deletion"
        )
    return journal.length


def _delete_from_state(
    worker: Filter, name: str, message: Message | None, label: str | None, report: Report
) -> None:
    """Unlearn a message, and remove it from the join windows."""
    is_learned, left = False, ""
    for window in worker.join.windows.values():
        entry, past = window.get(name), window.past_label(name)
        if entry is None and past is not None and message is not None:
            # The past label returns to the text, if it is the text that was learned.
            entry = window.past_entry(name, canonical(message.features))
        event = entry.training_event(name, None, None) if entry is not None else None
        if event is not None:
            is_learned = True
            try:
                worker.learner.learn(event)
            except StreamNBError as error:
                left = str(error)
        elif past is not None or (entry is not None and entry.label is not None):
            is_learned, left = True, "its text has left the join window: give --message and --label"
        waits = window.awaits(name)
        window.remove(name)
        if entry is not None or past is not None or waits:
            report.add("join window", "removed", found=True)
    if message is not None and label is not None and (left or not is_learned):
        is_learned, left = True, ""
        try:
            worker.learner.undo(message.features, label)
        except StreamNBError as error:
            left = str(error)
    what = f"not unlearned: {left}" if left else "unlearned" if is_learned else "no label is known"
    report.add("model", what, is_learned, removed=not left)


def _delete_word(worker: Filter, word: str, report: Report) -> None:
    """Remove a word from the model, and the messages that contain it from the join windows."""
    tokens = worker.learner.model.forget_word(word)
    report.add("model", f"{tokens} tokens removed", tokens > 0)
    waiting = 0
    for window in worker.join.windows.values():
        for name in window.names():
            entry = window.get(name)
            if entry is not None and _contains(word, str(parse(entry.features))):
                window.remove(name)
                waiting += 1
    report.add("join window", f"{waiting} messages removed", waiting > 0)


def _contains(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _has_word(word: str, line: bytes) -> bool:
    """Return whether a dead letter contains a word in its key or value."""
    try:
        found = json.loads(line)
        parts = [base64.b64decode(found[each] or "") for each in ("key", "value")]
    except (ValueError, TypeError, KeyError):
        return False
    return any(_contains(word, part.decode("utf-8", "replace")) for part in parts)


def _named(name: str | None, raw: bytes | None) -> Callable[[bytes], bool]:
    """Return a function that tells whether a dead letter is one of a message."""
    return lambda line: name in set(_names(line, raw))


def _delete_from_dead_letters(path: Path, has: Callable[[bytes], bool], report: Report) -> None:
    """Remove lines from a file of dead letters."""
    if not path.is_file():
        return
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if not has(line)]
    if len(kept) < len(lines):
        write(path, b"".join(kept), mode=0o600)
    n_deleted = len(lines) - len(kept)
    report.add("dead letters", f"{n_deleted} of {len(lines)} lines deleted", n_deleted > 0)


def _names(line: bytes, raw: bytes | None) -> Iterator[str]:
    """Yield the ids that the message of a dead letter may have."""
    try:
        found = json.loads(line)
        key, value = (base64.b64decode(found[each] or "") for each in ("key", "value"))
    except (ValueError, TypeError, KeyError):
        return
    yield key.decode("utf-8", "replace")
    yield content_id(value)
    if raw is not None and value == raw:
        yield content_id(raw)
    try:
        given = parse(value)
    except (ValueError, RecursionError):
        return
    if isinstance(given, dict) and "id" in given:
        yield str(given["id"])
