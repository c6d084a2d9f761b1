"""Delete a message from the topics and shared snapshots of a filter, as far as Kafka permits it."""

from __future__ import annotations

import os
from collections.abc import Collection

from streamnb_consumers.daemon.deletion import Report
from streamnb_consumers.daemon.kafka_settings import make_cluster, make_topics
from streamnb_consumers.daemon.listen.service import content_id
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.daemon.snapshots.local import content
from streamnb_consumers.daemon.snapshots.shared import events_of
from streamnb_consumers.daemon.snapshots.stores import open_store
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import Topics
from streamnb_consumers.kafka.deletion import Found, TopicDeletion
from streamnb_consumers.records import Partition


def delete_from_topics(
    kind: str, settings: Settings, name: str, truncate: Collection[str]
) -> Report:
    """Unlearn a message by a feedback record, and delete what Kafka can delete; return a report.

    The workers unlearn later, so a second call is necessary after their next shared snapshot.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`.
    settings
        Settings of the filter.
    name
        Id of the message.
    truncate
        Topics that may lose the records of the message, and all records before them.

    Raises
    ------
    SettingsError
        If `truncate` names another topic.
    """
    topics = make_topics(kind, settings)
    known = {each.name for each in topics.layouts(1)} - {topics.join_state}
    if unknown := set(truncate) - known:
        raise SettingsError(
            f"--truncate must name topics of the filter ({', '.join(sorted(known))}), "
            f"not {', '.join(sorted(unknown))}"
        )
    cluster = make_cluster(kind, settings, os.environ)
    deletion = TopicDeletion(cluster, topics, name, content_id, settings.commit_seconds)
    report = Report()
    try:
        found = deletion.find()
        training = [each for place, each in found.items() if place.source == topics.training]
        is_learned = any(each.is_learned for each in training)
        if is_learned:
            _unlearn(deletion, topics, found, report)
        else:
            what = "unlearned" if training else "no training event of it is left"
            report.add("model", what, found=bool(training))
        oldest = _delete_snapshots(kind, settings, training, report)
        read = deletion.committed(
            [place for place in found if place.source in (topics.messages, topics.feedback)]
        )
        for place, each in found.items():
            if place.source in (topics.messages, topics.feedback):
                limit, reason = read.get(place, 0), "the workers have not read them"
            elif place.source == topics.training:
                limit, reason = oldest, "no shared snapshot contains them without the message"
            else:
                limit, reason = each.after, ""
            text = f"{len(each.offsets)} records"
            if place.source not in truncate:
                reason = f"{deletion.lifetime(place.source)}"
            elif is_learned and place.source in (topics.messages, topics.training):
                reason = "the workers have not unlearned the message"
            elif limit >= each.after:
                deletion.truncate(place, each.after)
                text = f"{text} deleted, with all records before offset {each.after}"
                reason = ""
            report.add(
                f"topic {place.source} {place.number}",
                f"{text} left: {reason}" if reason else text,
                found=True,
                removed=not reason,
            )
    finally:
        deletion.close()
    return report


def _unlearn(
    deletion: TopicDeletion, topics: Topics, found: dict[Partition, Found], report: Report
) -> None:
    windows = [p.number for p in found if p.source == topics.join_state]
    if not topics.feedback:
        what = "not unlearned: set feedback_topic"
    elif not windows:
        what = "not unlearned: its text has left the join window"
    else:
        deletion.unlearn(windows[0])
        what = (
            "the workers were asked to unlearn it: repeat this command after "
            "their next shared snapshot"
        )
    report.add("model", what, found=True, removed=False)


def _delete_snapshots(kind: str, settings: Settings, training: list[Found], report: Report) -> int:
    """Delete shared snapshots with the message; return the events of the oldest that is left."""
    if not settings.shared_snapshots or not training:
        return 0
    store = open_store(settings.shared_snapshots.replace("{kind}", kind))
    snapshots = {name: events for name in store.names() if (events := events_of(name)) is not None}
    first, after = training[0].offsets[0], training[0].after
    clean = {name: events for name, events in snapshots.items() if events >= after}
    with_message = [name for name, events in snapshots.items() if first < events < after]
    if training[0].is_learned:
        clean, with_message = {}, [name for name, events in snapshots.items() if events > first]
    if clean:
        newest = max(clean, key=lambda name: clean[name])
        content(store.read(newest, settings.snapshot_bytes), settings.snapshot_bytes)
        for name in with_message:
            store.remove(name)
    what = f"{len(with_message)} contain it" if not clean else f"{len(with_message)} deleted"
    report.add("shared snapshots", what, False, removed=bool(clean) or not with_message)
    kept = [events for name, events in snapshots.items() if name not in with_message]
    return min(kept, default=0)
