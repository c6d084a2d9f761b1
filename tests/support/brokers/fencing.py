"""A broker whose controller, a separate process, considers it dead again and again.

Meanwhile it tells clients of a cluster without brokers. A broker that is its own controller does so
too, if the machine is too busy for its heartbeats.
"""

from __future__ import annotations

import re

from support.broker import Broker

ROUND = 5.0  # seconds between two heartbeats
# The session is shorter than the interval of heartbeats, so every heartbeat finds the broker dead.
# Clients see no brokers in three of every five seconds, however fast the machine is. Stopping and
# resuming a controller had an effect for a tenth of a second, or none.
TIMES = {"broker.session.timeout.ms": "2000", "broker.heartbeat.interval.ms": f"{ROUND * 1000:.0f}"}


class FencingCluster:
    """A broker and a controller; both end with this process."""

    def __init__(self) -> None:
        listener = "CONTROLLER://127.0.0.1:{port}"
        self.controller = Broker(
            properties={
                "process.roles": "controller",
                "node.id": "2",
                "controller.quorum.voters": "2@127.0.0.1:{port}",
                "listeners": listener,
                "advertised.listeners": listener,
                **TIMES,
            }
        )
        self.broker = Broker(
            properties={
                "process.roles": "broker",
                "controller.quorum.voters": f"2@127.0.0.1:{self.controller.port}",
                "listeners": "PLAINTEXT://127.0.0.1:{port}",
                **TIMES,
            }
        )
        self._join()
        self.controller.start()
        self.broker.start()

    def _join(self) -> None:
        """Format both with the same cluster id."""
        names = []
        for each in (self.controller, self.broker):
            assert each.folder is not None
            names.append(each.folder / "log" / "meta.properties")
        (found,) = re.findall(r"cluster\.id=.*", names[0].read_text())
        names[1].write_text(re.sub(r"cluster\.id=.*", found, names[1].read_text()))

    def close(self) -> None:
        """End both, and remove their folders."""
        self.broker.close()
        self.controller.close()
