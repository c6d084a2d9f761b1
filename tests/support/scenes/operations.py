"""Ordinary operations of a cluster: none of them may lose or double a decision or a label."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from streamnb_consumers.kafka.cluster import Cluster
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.python_client import workarounds
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import JAVA_OPTIONS, jars
from support.scenes.scene import Scene

READ_ONLY = Path("/proc/sys/kernel")  # nobody creates files here, not even root
FULL = 5.0  # seconds
LONG = 6.0  # seconds, past a session and a transaction
# Of a broker whose permissions can be taken away.
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}


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


def _alter(scene: Scene, *arguments: str) -> None:
    """Alter settings by Kafka's own program; kafka-python has no quotas."""
    program = ("java", "-cp", f"{jars()}/*", *JAVA_OPTIONS, "kafka.admin.ConfigCommand")
    server = ("--bootstrap-server", scene.broker.bootstrap)
    subprocess.run([*program, *server, "--alter", *arguments], check=True, capture_output=True)


def slow_down(scene: Scene, _: random.Random) -> None:
    """A quota leaves each client 20 kB per second for some seconds."""
    quota = ("--entity-type", "clients", "--entity-default")
    _alter(scene, "--add-config", "producer_byte_rate=20000,consumer_byte_rate=20000", *quota)
    time.sleep(LONG)
    _alter(scene, "--delete-config", "producer_byte_rate,consumer_byte_rate", *quota)


def limit_records(scene: Scene, _: random.Random) -> None:
    """The topics that workers write accept only small batches for some seconds."""
    written = [scene.topics.decisions, scene.topics.training, scene.topics.join_state]
    topic, name = kafka.admin.ConfigResourceType.TOPIC, "max.message.bytes"
    with _admin(scene) as admin:
        limits = [kafka.admin.ConfigResource(topic, each, {name: "10000"}) for each in written]
        _repeat(lambda: admin.alter_configs(limits) or True)
        time.sleep(LONG)
        _repeat(lambda: admin.reset_configs(limits) or True)


def hold_open(scene: Scene, generator: random.Random) -> None:
    """Another program's transaction in messages and labels stays open for some seconds."""
    holder = kafka.KafkaProducer(
        bootstrap_servers=scene.broker.bootstrap, transactional_id=scene.broker.unique("holder")
    )
    workarounds.fix_producer(holder)
    holder.init_transactions()
    workarounds.begin(holder)
    for topic in (scene.topics.messages, scene.topics.feedback):
        place = generator.choice(_places(scene, topic))
        holder.send(topic, b"aborted", partition=place.partition).get(60.0)
    time.sleep(LONG)
    workarounds.abort(holder, 60.0)
    holder.close()


def take_permission(scene: Scene, generator: random.Random) -> None:
    """The permission to write one of the topics is missing for some seconds."""
    topics = [scene.topics.decisions, scene.topics.training, scene.topics.join_state]
    topic = (kafka.admin.ResourceType.TOPIC, generator.choice(topics))
    literal = kafka.admin.ACLResourcePatternType.LITERAL
    what = (
        "User:ANONYMOUS",
        "*",
        kafka.admin.ACLOperation.WRITE,
        kafka.admin.ACLPermissionType.DENY,
    )
    with _admin(scene) as admin:
        denied = kafka.admin.ACL(*what, kafka.admin.ResourcePattern(*topic))
        _repeat(lambda: not admin.create_acls([denied])["failed"])
        time.sleep(LONG)
        found = kafka.admin.ResourcePatternFilter(*topic, literal)
        _repeat(lambda: admin.delete_acls([kafka.admin.ACLFilter(*what, found)]))


def damage(scene: Scene, generator: random.Random) -> None:
    """A batch that no worker has read is unreadable for some seconds, on the disk of each broker.

    The workers stand still until a batch arrives, shorter than a session. After the end of the
    stream none arrives.
    """
    place = generator.choice(_places(scene, scene.topics.messages))
    workers, found = scene.workers[-4:], False
    for _ in range(10):
        for worker in workers:
            worker.signal(signal.SIGSTOP)
        until, before = time.monotonic() + 1.0, _sizes(scene, place)
        while not found and time.monotonic() < until:
            time.sleep(0.01)
            found = all(_sizes(scene, place)[path] > size for path, size in before.items())
        for path in before if found else ():
            _flip(path, before[path] + 80)  # within the first record of the first new batch
        for worker in workers:
            worker.signal(signal.SIGCONT)
        if found:
            time.sleep(LONG)
            for path in before:
                _flip(path, before[path] + 80)
            return
        time.sleep(1.0)


def _sizes(scene: Scene, place: Any) -> dict[Path, int]:
    """Return the newest segment of a partition, on each broker, with its size."""
    folders = [each / f"{place.topic}-{place.partition}" for each in scene.broker.logs]
    return {path: path.stat().st_size for path in (max(at.glob("*.log")) for at in folders)}


def _flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        (byte,) = file.read(1)
        file.seek(at)
        file.write(bytes([byte ^ 1]))


class Operation(NamedTuple):
    """An operation, and what is true before it.

    Attributes
    ----------
    quiet
        Everything sent is learned.
    stopped
        No worker runs.
    ready
        Each worker decides messages: one that is refused at its start ends with status 2.
    """

    run: Callable[[Scene, random.Random], None]
    quiet: bool = False
    stopped: bool = False
    ready: bool = False


OPERATIONS = {
    "retention": Operation(retain),
    "expired offsets": Operation(expire, stopped=True),
    "offsets beyond the end": Operation(overshoot, quiet=True, stopped=True),
    "new partition": Operation(add_partition),
    "recreated topic": Operation(recreate, quiet=True),
    "full disk": Operation(fill_disk),
    "quota": Operation(slow_down),
    "small batches": Operation(limit_records),
    "open transaction": Operation(hold_open),
    "missing permission": Operation(take_permission, ready=True),
    "damaged batch": Operation(damage),
}
