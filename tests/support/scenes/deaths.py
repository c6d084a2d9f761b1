"""When a lone broker may die in a test: not between a transaction's decision and its markers.

Kafka 4.3.1, alone and killed there, is without a leader for a moment when it is back, just as its
coordinator sends the markers: it takes their partitions for deleted ("Couldn't find leader endpoint
for partitions …, these partitions are likely deleted already and hence can be skipped"), logs the
transaction as complete, and its records and offsets stay undecided for ever, also for the next
broker. A filter cannot repair this fault (docs/how-to/recover-transactions.md).
"""

from __future__ import annotations

import time
from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import kafka

__all__ = ["await_decided"]

STATES = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
QUIET = 0.5  # seconds without one
SECONDS = 20.0  # at most; half a second was not enough with a load of 16


def await_decided(bootstrap: str, quiet: float = QUIET) -> None:
    """Wait until a broker has had no transaction between its decision and its end for a moment.

    Whoever decides about transactions must stand still meanwhile.
    """
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
