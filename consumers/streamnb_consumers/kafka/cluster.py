"""Addresses, names and topics of a filter in a Kafka cluster, independent of the client library."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

TokenProvider = Callable[[], tuple[str, float]]  # a token and its end, in milliseconds since 1970

# Maximum record size of the topics that a filter creates. Features as JSON take up to six bytes
# per character, and dead letters have headers. Bytes.
MAX_RECORD_BYTES = 2**25
# A new owner reads the join state of its partition from the beginning, and Kafka never compacts
# the active segment. Small segments keep that fast. Bytes.
_JOIN_STATE_SEGMENT_BYTES = 2**25


@dataclasses.dataclass(frozen=True, slots=True)
class TopicLayout:
    """Name, partitions and configuration of a topic."""

    name: str
    partitions: int
    configs: Mapping[str, str]

    def replicated(self, brokers: int) -> tuple[int, dict[str, str]]:
        """Return the number of replicas, three where possible, and the configuration.

        Examples
        --------
        >>> layout = TopicLayout("sms", 4, {})
        >>> layout.replicated(1), layout.replicated(5)
        ((1, {}), (3, {'min.insync.replicas': '2'}))
        """
        replicas, configs = max(1, min(3, brokers)), dict(self.configs)
        if replicas == 3:
            configs.setdefault("min.insync.replicas", "2")
        return replicas, configs


@dataclasses.dataclass(frozen=True, slots=True)
class Topics:
    """The topics of a filter.

    Attributes
    ----------
    messages
        Messages, labelled or not; the group shares their partitions.
    feedback
        Labels by id, with the keys and partitions of `messages`; empty for none.
    decisions
        One decision per message.
    training
        Log of training events; each worker reads all of it.
    join_state
        Changes of the join windows; compacted, with the partitions of `messages`.
    dead_letters
        Invalid records, unchanged.
    questions
        Messages whose labels are requested; empty for none.
    """

    messages: str
    feedback: str
    decisions: str
    training: str
    join_state: str
    dead_letters: str
    questions: str = ""

    def layouts(self, partitions: int) -> list[TopicLayout]:
        """Return the layout of each topic.

        Training events have one partition, so all workers learn them in the same order. They never
        expire, because the model is a fold over them.

        Examples
        --------
        >>> topics = Topics("sms", "", "decisions", "training", "join-state", "dead")
        >>> [(each.name, each.partitions) for each in topics.layouts(4)]
        [('sms', 4), ('decisions', 4), ('training', 1), ('join-state', 4), ('dead', 1)]
        """
        size = {"max.message.bytes": str(MAX_RECORD_BYTES)}
        unlimited = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
        compacted = {
            "cleanup.policy": "compact",
            "segment.bytes": str(_JOIN_STATE_SEGMENT_BYTES),
            "min.cleanable.dirty.ratio": "0.3",
            # Snapshots of join windows that are younger than a day miss no deletion.
            "delete.retention.ms": "86400000",
        }
        layouts = [
            TopicLayout(self.messages, partitions, size),
            TopicLayout(self.feedback, partitions, size),
            TopicLayout(self.decisions, partitions, size),
            TopicLayout(self.training, 1, size | unlimited),
            TopicLayout(self.join_state, partitions, size | compacted),
            TopicLayout(self.dead_letters, 1, size),
            TopicLayout(self.questions, partitions, size),
        ]
        return [each for each in layouts if each.name]


@dataclasses.dataclass(frozen=True, slots=True)
class Cluster:
    """Connection to a cluster and the names of a worker in it.

    Attributes
    ----------
    bootstrap_servers
        Brokers as host:port, separated by commas.
    group
        Consumer group.
    instance_id
        Static member name; None for a dynamic member.
    transactional_id
        Name of the transactions. A newer process with the same name fences an older one.
    session_seconds
        Seconds without a heartbeat until the group reassigns the partitions. With `confluent` the
        broker's setting applies.
    transaction_seconds
        Seconds until the broker aborts the transaction of a dead process.
    named
        Whether another process may have the same name. A worker with a unique name can be fenced
        only by the broker, after a transaction that was open too long, and may continue.
    security
        TLS and SASL arguments of kafka-python, with a `TokenProvider` as `sasl_token_provider`; not
        shown, because they contain passwords.
    client
        `kafka-python` or `confluent`.
    skip_missing
        Whether a partition continues after deleted records; else it waits.
    skip_unreadable
        Whether unreadable batches are skipped; else their partition is blocked.
    metadata_seconds
        Seconds until clients see partitions that were added.
    create_topics
        Number of partitions of missing topics, which are created; 0: none are created.
    reads_only
        Whether nothing is written, as in a dry run.
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
    skip_missing: bool = True
    skip_unreadable: bool = False
    metadata_seconds: float = 60.0
    create_topics: int = 0
    reads_only: bool = False
