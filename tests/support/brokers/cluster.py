"""Three Kafka brokers whose leaders move when one of them is killed."""

from __future__ import annotations

import random
from collections.abc import Mapping

from support.broker import Broker, cluster_identity, free_ports

AWAY = 3.0  # seconds, past the broker's session: its partitions get other leaders
PROPERTIES = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "controller.quorum.election.timeout.ms": "500",
    "controller.quorum.fetch.timeout.ms": "1000",
    "leader.imbalance.check.interval.seconds": "5",
}


class BrokerCluster(Broker):
    """Three brokers. `kill` and `restart` affect one of them, chosen at random."""

    replication = 3

    def __init__(self, seed: int = 1, properties: Mapping[str, str] | None = None) -> None:
        ports = free_ports(6)
        pairs = list(zip(ports[::2], ports[1::2], strict=True))
        voters = ",".join(f"{n}@127.0.0.1:{pair[1]}" for n, pair in enumerate(pairs, 1))
        identity = cluster_identity()
        self._brokers = [
            Broker(
                ports=pair,
                identity=identity,
                properties={
                    **PROPERTIES,
                    **(properties or {}),
                    "node.id": str(n),
                    "controller.quorum.voters": voters,
                },
            )
            for n, pair in enumerate(pairs, 1)
        ]
        self._generator = random.Random(seed)
        super().__init__(bootstrap=",".join(each.bootstrap for each in self._brokers))
        self.folder = self._brokers[0].folder
        self.logs = [path for each in self._brokers for path in each.logs]

    def start(self) -> None:
        """Start the brokers that do not run; the first two need each other."""
        for broker in self._brokers:
            broker.launch()
        for broker in self._brokers:
            broker.await_port()

    def kill(self) -> None:
        """Kill one broker (SIGKILL)."""
        self._generator.choice(self._brokers).kill()

    def restart(self, pause: float = AWAY) -> None:
        """Kill one broker, and start it again after this number of seconds."""
        super().restart(pause)

    def close(self) -> None:
        """Kill all brokers and remove their folders."""
        for broker in self._brokers:
            broker.close()
