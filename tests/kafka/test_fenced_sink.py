"""A sink whose producer is fenced by a later producer of the same name, on a real broker.

A worker must end if another worker may have its name. A unique name is fenced only when the
broker aborted an open transaction. Then the worker continues with a new producer from the committed
offsets.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from streamnb_consumers.errors import AbortedError, FencedError, UnreachableError
from streamnb_consumers.kafka.cluster import Cluster, Topics
from streamnb_consumers.kafka.drivers import open_driver
from streamnb_consumers.kafka.sink import KafkaSink
from streamnb_consumers.records import Decision, Outputs, Partition
from support.clients import LIMIT, Clients, create_known_topics, value_of


class Fenced:
    """A sink in a transaction with one decision, and a later producer of the same name."""

    def __init__(self, clients: Clients, client: str, named: bool) -> None:
        self.broker = clients.broker
        name = self.broker.unique("sink")
        self.topics = Topics(*(f"{name}-{part}" for part in "mfdtwx"))
        self.cluster = Cluster(
            self.broker.bootstrap, name, None, f"{name}-1", named=named, client=client
        )
        create_known_topics(self.cluster, self.topics.layouts(1))
        self.sink = KafkaSink(open_driver(self.cluster), self.cluster, self.topics, LIMIT)
        self.sink.start(LIMIT)
        self.send("first")
        clients.producer(self.cluster.transactional_id)

    def send(self, name: str) -> None:
        decided = Decision(name, None, {}, None, 0, Partition(self.topics.messages, 0), 0)
        self.sink.send(Outputs(decisions=[decided]))

    def commit(self) -> None:
        self.sink.commit({}, None, LIMIT)

    def decisions(self) -> list[bytes]:
        return value_of(self.broker.read_all(self.topics.decisions))


CALLS: dict[str, Callable[[Fenced], None]] = {
    "commit": Fenced.commit,
    "abort": lambda fenced: fenced.sink.abort(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_name_that_another_may_have_is_given_up(clients: Clients, client: str, call: str) -> None:
    fenced = Fenced(clients, client, named=True)
    with pytest.raises(FencedError, match="transactional_id or instance_id"):
        CALLS[call](fenced)
    with pytest.raises(FencedError):
        fenced.send("second")
    fenced.sink.close(LIMIT)
    assert fenced.decisions() == []


def test_a_late_request_of_the_same_worker_explains_one_fence(
    clients: Clients, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request for a producer has no answer, and arrives after the next one."""
    fenced = Fenced(clients, client, named=True)
    driver, name = fenced.sink._driver, fenced.cluster.transactional_id

    def unanswered(*_: object) -> None:
        raise UnreachableError("no answer")

    fenced.sink._writer.discard()
    fenced.sink._writer, fenced.sink._begun = None, False
    with monkeypatch.context() as patched:
        patched.setattr(driver, "writer", unanswered)
        with pytest.raises(UnreachableError):
            fenced.sink.start(LIMIT)
    fenced.sink.start(LIMIT)
    fenced.send("second")
    clients.producer(name)  # the late request
    with pytest.raises(AbortedError):
        fenced.commit()
    fenced.sink.abort()
    fenced.sink.start(LIMIT)
    fenced.send("third")
    fenced.commit()
    fenced.send("fourth")
    clients.producer(name)  # another process
    with pytest.raises(FencedError):
        fenced.commit()
    fenced.sink.close(LIMIT)
    (decided,) = fenced.decisions()
    assert b'"third"' in decided


def test_a_name_that_is_no_others_goes_on(clients: Clients, client: str) -> None:
    fenced = Fenced(clients, client, named=False)
    with pytest.raises(AbortedError, match="transactional_id"):
        fenced.commit()
    fenced.sink.abort()
    fenced.sink.start(LIMIT)
    fenced.send("second")
    fenced.commit()
    fenced.sink.close(LIMIT)
    (decided,) = fenced.decisions()
    assert b'"second"' in decided
