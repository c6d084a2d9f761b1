"""A broker that its controller, a process of its own, takes for dead again and again.

While it is taken for dead it tells clients of a cluster without brokers. One that is its own
controller does so too, on a machine that is too busy for its heartbeats.
"""

from __future__ import annotations

import re

from support.broker import Broker

ROUND = 5.0  # seconds between two heartbeats
# Its session is shorter than the time between two heartbeats, so every heartbeat finds it taken for
# dead: clients hear of no brokers in three of every five seconds, however fast the machine is. A
# controller that was stopped and went on was heard of for a tenth of a second, or not at all.
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
        """Give both the same cluster: each was formatted with its own."""
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
