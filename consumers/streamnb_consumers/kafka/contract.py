"""Comparison of the topics in a cluster with the needs of a filter.

A difference that would break a promise stops the start. Other differences are logged, with the
command that repairs them, at the start and whenever they appear later.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from streamnb_consumers.errors import AbortedError, RefusedError, SettingsError, refused
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.protocols import Driver, TopicFacts

_LOG = logging.getLogger(__name__)
READ, WRITE = ("READ", "DESCRIBE"), ("WRITE", "DESCRIBE")
REPLICAS = 3
"""Number of replicas that survives the loss of a broker during the maintenance of another one."""


class Difference(NamedTuple):
    """A difference between a topic and the needs of a filter.

    Attributes
    ----------
    topic, problem
        Name of the topic, and the setting with its consequence.
    repair
        Command that repairs it.
    is_broken
        Whether a promise of the filter would be broken.
    """

    topic: str
    problem: str
    repair: str
    is_broken: bool = False

    def __str__(self) -> str:
        """Return the difference in words."""
        return f"topic {self.topic}: {self.problem}. Repair: {self.repair}"


class Contract:
    """The needs of a filter that its cluster must fulfil.

    Parameters
    ----------
    driver, cluster, topics
        Driver, names and topics of a worker.
    needs
        Operations that the worker needs, by topic.
    """

    def __init__(
        self,
        driver: Driver,
        cluster: Cluster,
        topics: Topics,
        needs: Mapping[str, Collection[str]],
    ) -> None:
        self._driver, self._cluster, self._topics, self._needs = driver, cluster, topics, needs
        self.differences: list[Difference] = []

    def check(self) -> None:
        """Compare at the start.

        Raises
        ------
        RefusedError
            If a permission is missing.
        SettingsError
            If another difference would break a promise.
        """
        facts = self._driver.describe(list(self._needs))
        missing = [
            f"{operation} on topic {name}"
            for name, found in facts.items()
            for operation in self._needs[name]
            if found.operations and operation not in found.operations
        ]
        if missing:
            raise refused(f"missing authorizations: {', '.join(missing)}")
        found = self._compare(facts)
        if broken := [str(each) for each in found if each.is_broken]:
            raise SettingsError("; ".join(broken))
        self._note(found)

    def check_again(self) -> None:
        """Compare while the worker runs, and log new differences.

        A failure is repeated later, because it must not stop the partitions.
        """
        try:
            self._note(self._compare(self._driver.describe(list(self._needs))))
        except (AbortedError, RefusedError) as error:
            _LOG.debug("the settings of the topics are unknown: %s", error)

    def _note(self, found: list[Difference]) -> None:
        for each in found:
            if each not in self.differences:
                _LOG.log(logging.ERROR if each.is_broken else logging.WARNING, "%s", each)
        self.differences = found

    def _compare(self, facts: Mapping[str, TopicFacts]) -> list[Difference]:
        configs = self._driver.configs(list(self._needs))
        found: list[Difference] = []
        for name, settings in configs.items():
            if name == self._topics.training:
                found += self._training(name, settings)
            elif name == self._topics.join_state:
                found += self._join_state(name, settings)
            if name in facts:
                found += self._replicas(name, settings, facts[name])
        found += self._sizes(configs)
        return found

    def _set(self, topic: str, *settings: str) -> str:
        return (
            f"kafka-configs.sh --bootstrap-server {self._cluster.bootstrap_servers} --alter "
            f"--entity-type topics --entity-name {topic} --add-config {','.join(settings)}"
        )

    def _training(self, name: str, settings: Mapping[str, str]) -> Iterator[Difference]:
        unlimited = "cleanup.policy=delete", "retention.ms=-1", "retention.bytes=-1"
        if "compact" in settings.get("cleanup.policy", ""):
            yield Difference(
                name,
                f"cleanup.policy is {settings['cleanup.policy']}, which deletes training events "
                f"between others, so workers would have different models",
                f"{self._set(name, *unlimited)} (deleted events stay lost)",
                is_broken=True,
            )
        elif any(settings.get(each, "-1") != "-1" for each in ("retention.ms", "retention.bytes")):
            yield Difference(
                name,
                f"retention.ms is {settings.get('retention.ms')} and retention.bytes is "
                f"{settings.get('retention.bytes')}: a worker without a snapshot cannot start "
                f"after the first event is deleted",
                self._set(name, *unlimited),
            )
        if settings.get("unclean.leader.election.enable") == "true":
            yield Difference(
                name,
                "unclean.leader.election.enable is true: a change of the leader may lose training "
                "events that workers have learned",
                self._set(name, "unclean.leader.election.enable=false"),
            )

    def _join_state(self, name: str, settings: Mapping[str, str]) -> Iterator[Difference]:
        policy = settings.get("cleanup.policy", "compact")
        if policy != "compact":
            yield Difference(
                name,
                f"cleanup.policy is {policy}, not compact: after the retention, messages that wait "
                f"for a label are forgotten, and starts read all changes",
                self._set(name, "cleanup.policy=compact"),
            )

    def _replicas(
        self, name: str, settings: Mapping[str, str], facts: TopicFacts
    ) -> Iterator[Difference]:
        least = int(settings.get("min.insync.replicas", "1"))
        if least > facts.replicas:
            yield Difference(
                name,
                f"min.insync.replicas is {least}, and the topic has {facts.replicas} replicas, so "
                f"nothing can be written",
                self._set(name, f"min.insync.replicas={max(1, facts.replicas - 1)}"),
                is_broken=True,
            )
        elif facts.replicas < min(REPLICAS, facts.brokers):
            yield Difference(
                name,
                f"it has {facts.replicas} replicas on {facts.brokers} brokers, so the loss of a "
                f"broker may lose records or stop its partitions",
                f"kafka-reassign-partitions.sh with {min(REPLICAS, facts.brokers)} replicas",
            )
        elif facts.replicas >= REPLICAS and least < REPLICAS - 1:
            yield Difference(
                name,
                f"min.insync.replicas is {least}: records on a single replica count as written",
                self._set(name, f"min.insync.replicas={REPLICAS - 1}"),
            )

    def _sizes(self, configs: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
        limits = {
            name: int(settings["max.message.bytes"])
            for name, settings in configs.items()
            if "max.message.bytes" in settings
        }
        most = limits.get(self._topics.messages, 0)
        for name in (self._topics.training, self._topics.join_state):
            if (limit := limits.get(name, most)) < most:
                yield Difference(
                    name,
                    f"max.message.bytes is {limit}, and messages may have {most} bytes: large "
                    f"messages cannot be learned",
                    self._set(name, f"max.message.bytes={most}"),
                )
