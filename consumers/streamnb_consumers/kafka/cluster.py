"""What a Kafka cluster is to a filter: addresses, topics, names, secrets; without its client."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

__all__ = ["MAX_RECORD_BYTES", "Cluster", "TopicLayout", "Topics"]

# What a topic that a filter makes must hold besides others' messages: features as JSON, which may
# take six bytes a character, and dead letters with their headers. Bytes.
MAX_RECORD_BYTES = 2**25
# A window's log is read from its beginning by whoever is given its partition, and the segment that
# is being written is never compacted: so segments are small. Bytes.
_WINDOW_SEGMENT_BYTES = 2**25


@dataclasses.dataclass(frozen=True, slots=True)
class TopicLayout:
    """How to make a topic: the cluster's own replication, and these partitions and configs."""

    name: str
    partitions: int
    configs: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Topics:
    """The topics of one filter.

    Attributes
    ----------
    messages
        Messages, with labels or without; shared out in the group.
    feedback
        Labels by id, with the keys and as many partitions as `messages`; empty: none.
    decisions
        One decision for each message.
    training
        The log of labelled messages, which every worker reads whole.
    windows
        The join windows as a changelog, compacted, with as many partitions as `messages`.
    dead_letters
        Records that could not be used, as they came.
    """

    messages: str
    feedback: str
    decisions: str
    training: str
    windows: str
    dead_letters: str

    def layouts(self, partitions: int) -> list[TopicLayout]:
        """Return how to make each topic.

        Training events have one partition, so that all workers learn them in the same order, and
        are kept for ever: the model is made of them.

        Examples
        --------
        >>> topics = Topics("sms", "", "decisions", "lessons", "windows", "dead")
        >>> [(each.name, each.partitions) for each in topics.layouts(4)]
        [('sms', 4), ('decisions', 4), ('lessons', 1), ('windows', 4), ('dead', 1)]
        """
        size = {"max.message.bytes": str(MAX_RECORD_BYTES)}
        kept = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
        compacted = {
            "cleanup.policy": "compact",
            "segment.bytes": str(_WINDOW_SEGMENT_BYTES),
            "min.cleanable.dirty.ratio": "0.3",
        }
        made = [
            TopicLayout(self.messages, partitions, {}),
            TopicLayout(self.feedback, partitions, {}),
            TopicLayout(self.decisions, partitions, size),
            TopicLayout(self.training, 1, size | kept),
            TopicLayout(self.windows, partitions, size | compacted),
            TopicLayout(self.dead_letters, 1, size),
        ]
        return [each for each in made if each.name]


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach a cluster, and under which names.

    Attributes
    ----------
    bootstrap_servers
        Addresses (host:port) of brokers, separated by commas.
    group
        The consumer group.
    instance_id
        The worker's name in the group that stays its own over restarts; None: a new member
        each time.
    transactional_id
        The name of its transactions: of two processes with the same name the older is fenced.
    named
        Whether another process may have this name. A name that is no other's is fenced only when
        the broker ends a transaction that was open for too long, and goes on.
    session_seconds
        Time without a heartbeat after which the group gives a worker's partitions to others; the
        broker's own setting where the client is `confluent`.
    transaction_seconds
        Time after which the broker aborts a transaction of a process that died.
    security
        TLS and SASL, by the names that kafka-python gives its arguments; not shown, for passwords
        are in it.
    client
        What it is reached with: `kafka-python` or `confluent`.
    """

    bootstrap_servers: str
    group: str
    instance_id: str | None
    transactional_id: str
    session_seconds: float = 10.0
    transaction_seconds: float = 30.0
    named: bool = True
    security: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    client: str = "kafka-python"
