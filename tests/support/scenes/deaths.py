"""Kills of a single broker, but not between a transaction's decision and its markers.

After such a kill, Kafka 4.3.1 has no leader for a moment, just when its coordinator sends the
markers. It assumes that the partitions were deleted ("Couldn't find leader endpoint for partitions
…, these partitions are likely deleted already and hence can be skipped") and logs the transaction
as complete. Its records and offsets stay undecided for ever, even after another restart. The same
happens to an open transaction that expires (`transaction_seconds`) while a killed broker is down. A
filter cannot repair this fault (docs/how-to/recover-transactions.md).
"""

from __future__ import annotations

import signal
import time
from subprocess import Popen
from typing import Any

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker

__all__ = ["kill_broker"]

STATES = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
QUIET = 0.5  # seconds without one
SECONDS = 20.0  # at most; half a second was not enough with a load of 16


def kill_broker(broker: Broker, *clients: Popen[Any], quiet: float = QUIET) -> None:
    """Kill a broker in open transactions, but not while one is being committed.

    Parameters
    ----------
    broker
        The broker.
    clients
        The processes that end transactions. They stand still until the broker is dead.
    quiet
        Seconds without a transaction that is being committed.
    """
    for client in clients:
        client.send_signal(signal.SIGSTOP)
    _await_decided(broker.bootstrap, quiet)
    broker.kill()
    for client in clients:
        client.send_signal(signal.SIGCONT)


def _await_decided(bootstrap: str, quiet: float) -> None:
    deadline = time.monotonic() + SECONDS
    admin = kafka.KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        began = time.monotonic()
        while time.monotonic() < min(began + quiet, deadline):
            if _undecided(admin):
                began = time.monotonic()
            time.sleep(0.05)
    finally:
        admin.close()


def _undecided(admin: Any) -> bool:
    try:
        return any(admin.list_transactions(state_filters=list(STATES)).values())
    except kafka.errors.KafkaError:
        return True  # a broker that is back still reads its transactions
