"""Identity and truncation of the training topic."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from streamnb_consumers.errors import SettingsError
from streamnb_consumers.kafka.cluster import TopicLayout
from streamnb_consumers.kafka.protocols import Driver
from streamnb_consumers.records import Partition

__all__ = ["KafkaTrainingLog"]


class KafkaTrainingLog:
    """The topic of training events.

    Parameters
    ----------
    driver
        Kafka client driver.
    topic
        Topic name.
    layouts
        Topics to create first if they are missing.
    """

    def __init__(self, driver: Driver, topic: str, layouts: Collection[TopicLayout] = ()) -> None:
        self._driver, self._topic, self._layouts = driver, topic, list(layouts)

    def identity(self, timeout: float) -> str:
        """Return the id of the topic. A topic that was deleted and created again has a new id.

        Raises
        ------
        AbortedError
            If the cluster does not answer.
        SettingsError
            If the topic does not exist.
        """
        if self._layouts:
            self._driver.create_topics(self._layouts, timeout)
            self._layouts = []
        deadline = time.monotonic() + timeout
        while not (found := self._driver.topic_ids([self._topic])):
            if time.monotonic() > deadline:
                raise SettingsError(
                    f"topic not found: {self._topic}. Create it or set create_topics"
                )
            time.sleep(0.1)
        return found[self._topic]

    def truncate(self, offsets: Mapping[Partition, int], timeout: float) -> None:
        """Delete the training events before the given offsets.

        Raises
        ------
        AbortedError
            If the cluster does not delete them.
        """
        mine = {place: at for place, at in offsets.items() if place.source == self._topic}
        self._driver.delete_records(mine, timeout)
