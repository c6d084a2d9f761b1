"""Describe the progress of a scene, so that the cause of a timeout can be found."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from confluent_kafka.admin import AdminClient

from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.records import Partition

if TYPE_CHECKING:
    from support.scenes.scene import Scene

LINES = 40  # of each worker's log


def standing(scene: Scene) -> str:
    """Return the offsets, ends, decisions, training events and join window of each partition.

    The end of each worker's log follows.
    """
    topics, lines = scene.topics, []

    def read(topic: str) -> list[Any]:
        try:
            return scene.broker.read_all(topic, seconds=10.0)
        except TimeoutError as error:  # a transaction is undecided
            lines.append(str(error))
            return scene.broker.read_all(topic, read_committed=False)

    cluster = Cluster(scene.broker.bootstrap, str(scene.settings["group"]), None, "standing")
    reader = open_driver(cluster).reader({}, group=cluster.group)
    numbers = [place.number for place in reader.partitions(topics.messages)]
    inputs = [Partition(t, n) for n in numbers for t in (topics.messages, topics.feedback)]
    committed, ends = reader.committed(inputs, 20.0), reader.stable_ends(inputs)
    log_ends = reader.log_ends(inputs)
    reader.close(1.0)
    lines += [
        f"{place.source} {place.number}: {committed and committed.get(place)} committed of "
        f"{ends[place]} ({log_ends[place]})"
        for place in inputs
    ]
    came = {json.loads(each.value)["id"]: each.partition for each in read(topics.messages)}
    wanted = Counter(
        (json.loads(e.value)["id"], json.loads(e.value)["label"]) for e in read(topics.feedback)
    )
    decided = Counter(came.get(json.loads(each.value)["id"]) for each in read(topics.decisions))
    learned: Counter[Any] = Counter()
    for each in read(topics.training):
        event = json.loads(each.value)
        learned[event["id"], event["learn"]] += 1
    missing = Counter(came.get(name) for name, label in wanted if (name, label) not in learned)
    kinds: Counter[Any] = Counter()
    for each in read(topics.join_state):
        kinds[each.partition, each.key[:2], each.value is None] += 1
    lines += [
        f"decided {dict(decided)}",
        f"labels that were not learned {dict(missing)}",
        f"changes of windows {dict(kinds)}",
    ]
    lines += _members(scene.broker.bootstrap, cluster.group)
    for worker in scene.workers:
        lines.append(f"--- {worker.name}, exit status {worker.process.poll()}")
        lines += worker.text().splitlines()[-LINES:]
    return "\n".join(lines)


def _members(bootstrap: str, group: str) -> list[str]:
    """Return the state of a group, and the partitions of each member: assigned, and to come."""

    def places(one: Any) -> list[tuple[str, int]]:
        return [(each.topic, each.partition) for each in one.topic_partitions] if one else []

    admin = AdminClient({"bootstrap.servers": bootstrap})
    found = admin.describe_consumer_groups([group], request_timeout=20.0)[group].result(25.0)
    lines = [f"group {found.state}, coordinator {found.coordinator}"]
    for each in found.members:
        to_come = places(each.target_assignment)
        lines.append(f"member {each.member_id}: {places(each.assignment)}, target {to_come}")
    return lines
