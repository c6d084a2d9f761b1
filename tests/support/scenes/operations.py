"""Ordinary operations of a cluster: none of them may lose or double a decision or a label."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.python_client.client import kafka
from support.scenes.scene import Scene

READ_ONLY = Path("/proc/sys/kernel")  # nobody creates files here, not even root
FULL = 5.0  # seconds


@contextlib.contextmanager
def _admin(scene: Scene) -> Iterator[Any]:
    admin = kafka.KafkaAdminClient(bootstrap_servers=scene.broker.bootstrap)
    yield admin
    admin.close()


def _places(scene: Scene, topic: str) -> list[Any]:
    reader = kafka.KafkaConsumer(bootstrap_servers=scene.broker.bootstrap)
    places = [kafka.TopicPartition(topic, n) for n in sorted(reader.partitions_for_topic(topic))]
    reader.close()
    return places


def _repeat(action: Callable[[], object], seconds: float = 60.0) -> None:
    """Repeat an action until it returns a true value and raises no error of Kafka."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(kafka.errors.KafkaError):
            if action():
                return
        assert time.monotonic() < deadline, action
        time.sleep(0.5)


def retain(scene: Scene, _: random.Random) -> None:
    """Retention deletes the messages and labels that are read."""

    def delete() -> bool:
        found = admin.list_group_offsets(group)[group]
        admin.delete_records({p: o.offset for p, o in found.items() if o.offset > 0})
        return True

    group = scene.settings["group"]
    with _admin(scene) as admin:
        _repeat(delete)


def expire(scene: Scene, _: random.Random) -> None:
    """The committed offsets expire while no worker runs."""
    group = scene.settings["group"]
    with _admin(scene) as admin:
        # Members with an instance id leave when their session expires.
        _repeat(lambda: admin.delete_groups([group]) == {group: "OK"})


def overshoot(scene: Scene, _: random.Random) -> None:
    """The committed offsets of the messages are moved beyond the ends."""
    offset = kafka.structs.OffsetAndMetadata(10**6, "", -1)
    moved = dict.fromkeys(_places(scene, scene.topics.messages), offset)

    def move() -> bool:
        found = admin.alter_group_offsets(scene.settings["group"], moved)
        return all(error is kafka.errors.NoError for error in found.values())

    with _admin(scene) as admin:
        _repeat(move)


def add_partition(scene: Scene, generator: random.Random) -> None:
    """A partition is added to the messages, and to feedback and join state before or after."""
    topics = [scene.topics.messages, scene.topics.feedback, scene.topics.join_state]
    for topic in generator.sample(topics, len(topics)):
        count = len(_places(scene, topic)) + 1

        def add(topic: str = topic, count: int = count) -> bool:
            with contextlib.suppress(kafka.errors.InvalidPartitionsError):  # it has them
                admin.create_partitions({topic: count})
            return True

        with _admin(scene) as admin:
            _repeat(add)
        time.sleep(generator.uniform(0.0, 1.0))


def recreate(scene: Scene, generator: random.Random) -> None:
    """The messages or the labels are deleted and created again."""
    topic = generator.choice([scene.topics.messages, scene.topics.feedback])
    count = len(_places(scene, topic))

    def delete() -> bool:
        with contextlib.suppress(kafka.errors.UnknownTopicOrPartitionError):  # it is deleted
            admin.delete_topics([topic])
        return bool(admin.describe_topics([topic])[0]["error_code"] == 3)

    with _admin(scene) as admin:
        _repeat(delete)
    layouts = [each for each in scene.topics.layouts(count) if each.name == topic]
    cluster = Cluster(scene.broker.bootstrap, scene.settings["group"], None, "operations")
    driver = open_driver(cluster)
    driver.create_topics(layouts, 60.0)
    driver.renew()


def fill_disk(scene: Scene, generator: random.Random) -> None:
    """The folder of a worker's snapshots can't be written for some seconds."""
    folder = generator.choice(scene.workers[-4:]).snapshots
    aside = folder.with_suffix(".aside")
    folder.rename(aside)
    folder.symlink_to(READ_ONLY)
    time.sleep(FULL)
    folder.unlink()
    aside.rename(folder)


class Operation(NamedTuple):
    """An operation; whether everything sent is learned before, and whether no worker runs."""

    run: Callable[[Scene, random.Random], None]
    quiet: bool = False
    stopped: bool = False


OPERATIONS = {
    "retention": Operation(retain),
    "expired offsets": Operation(expire, stopped=True),
    "offsets beyond the end": Operation(overshoot, quiet=True, stopped=True),
    "new partition": Operation(add_partition),
    "recreated topic": Operation(recreate, quiet=True),
    "full disk": Operation(fill_disk),
}
