"""Find the records of a message in the topics of a filter, unlearn it, and truncate topics.

Records of a log cannot be deleted singly. The message is unlearned by a feedback record, as any
client would send it. Its records leave with the retention of their topic, or with all records
before them (DeleteRecords).
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Collection, Iterator

from streamnb_consumers.errors import AbortedError, SettingsError
from streamnb_consumers.jsons import parse
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.encoding import Written
from streamnb_consumers.kafka.protocols import Reader
from streamnb_consumers.records import Partition, Record

_POLL = 0.5
_MOST = 500  # records of a poll
_JOIN_STATE = (b"m:", b"l:", b"p:")  # kinds of keys with ids: message, label, past label


@dataclasses.dataclass
class Found:
    """Records of a message in one partition.

    Attributes
    ----------
    offsets
        Their offsets, in order.
    first
        The first offset that the partition still has.
    is_learned
        For the training log: whether the model contains the message after its last record.
    """

    offsets: list[int] = dataclasses.field(default_factory=list)
    first: int = 0
    is_learned: bool = False

    @property
    def after(self) -> int:
        """The first offset after the last record."""
        return self.offsets[-1] + 1


class TopicDeletion:
    """Access to the records of one message in all topics of a filter.

    Parameters
    ----------
    cluster, topics
        Cluster and topics of the filter.
    name
        Id of the message.
    content_id
        Returns the id of a message that is sent without one.
    timeout
        Seconds for a request, and for one pause of reading.
    """

    def __init__(
        self,
        cluster: Cluster,
        topics: Topics,
        name: str,
        content_id: Callable[[bytes], str],
        timeout: float,
    ) -> None:
        self._cluster, self._topics, self._name = cluster, topics, name
        self._content_id, self._timeout = content_id, timeout
        self._driver = open_driver(cluster)

    def find(self) -> dict[Partition, Found]:
        """Read all topics, and return the records of the message by partition.

        Raises
        ------
        AbortedError
            If the cluster stops answering.
        """
        reader = self._driver.reader({}, self._cluster.group)
        try:
            return dict(self._find(reader))
        finally:
            reader.close(self._timeout)

    def _find(self, reader: Reader) -> Iterator[tuple[Partition, Found]]:
        names = dataclasses.astuple(self._topics)
        places = [place for name in names if name for place in reader.partitions(name)]
        if not places:
            raise SettingsError(f"none of the topics {', '.join(filter(None, names))} exists")
        reader.assign(places)
        firsts, ends = reader.firsts(places), reader.stable_ends(places)
        found = {place: Found(first=firsts[place]) for place in places}
        left = {place for place in places if firsts[place] < ends[place]}
        for place in places:
            reader.seek(place, firsts[place])
        until = time.monotonic() + self._timeout
        while left:
            for record in reader.poll(_MOST, _POLL):
                until = time.monotonic() + self._timeout
                if self._is_of_message(record):
                    each = found[record.partition]
                    each.offsets.append(record.offset)
                    if record.partition.source == self._topics.training:
                        each.is_learned = _learns(record)
            left = {place for place in left if reader.position(place) < ends[place]}
            if left and time.monotonic() > until:
                raise AbortedError(f"no records of {sorted(left)[0]} in {self._timeout:g} seconds")
        return iter((place, each) for place, each in found.items() if each.offsets)

    def _is_of_message(self, record: Record) -> bool:
        key, name = record.key or b"", self._name.encode()
        if record.partition.source == self._topics.join_state:
            return record.value is not None and key in {kind + name for kind in _JOIN_STATE}
        if key == name:
            return True
        if record.value is None:
            return False
        try:
            given = parse(record.value)
        except (ValueError, RecursionError):
            return self._content_id(record.value) == self._name
        is_named = isinstance(given, dict) and "id" in given
        return (str(given["id"]) if is_named else self._content_id(record.value)) == self._name

    def unlearn(self, number: int) -> None:
        """Ask the workers to unlearn the message, whose records have this partition number."""
        value = json.dumps({"id": self._name, "unlearn": True}).encode()
        key = self._name.encode()
        reader = self._driver.reader({}, self._cluster.group)
        writer = self._driver.writer(f"{self._cluster.group}-deletion", self._timeout)
        try:
            writer.begin()
            writer.write([Written(self._topics.feedback, number, key, value, [])])
            writer.commit({}, reader.outsider, self._timeout)
        finally:
            writer.close(self._timeout)
            reader.close(self._timeout)

    def committed(self, places: Collection[Partition]) -> dict[Partition, int]:
        """Return the offsets that the workers have committed."""
        reader = self._driver.reader({}, self._cluster.group)
        try:
            found = reader.committed(list(places), self._timeout)
        finally:
            reader.close(self._timeout)
        if found is None:
            raise AbortedError(f"no committed offsets in {self._timeout:g} seconds")
        return found

    def truncate(self, place: Partition, after: int) -> None:
        """Delete all records of a partition before an offset."""
        self._driver.delete_records({place: after}, self._timeout)

    def lifetime(self, topic: str) -> str:
        """Return how long the records of a topic stay."""
        settings = self._driver.configs([topic]).get(topic, {})
        if settings.get("cleanup.policy") == "compact":
            return "compaction deletes them after the window forgets the message"
        kept = settings.get("retention.ms", "")
        return "they stay: retention.ms is -1" if kept == "-1" else f"retention.ms is {kept}"

    def close(self) -> None:
        """Close the connections."""
        self._driver.renew()


def _learns(record: Record) -> bool:
    """Return whether a training event leaves its message in the model."""
    try:
        given = parse(record.value or b"")
    except (ValueError, RecursionError):
        return False
    return isinstance(given, dict) and given.get("learn") is not None
