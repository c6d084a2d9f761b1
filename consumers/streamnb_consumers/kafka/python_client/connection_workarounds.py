"""What kafka-python's connections need so that a refusal is heard; see `producer_workarounds`."""

from __future__ import annotations

from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import is_refused, kafka

__all__ = ["fix_last_words", "fix_refusals"]


def fix_refusals() -> None:
    """Raise what a broker says of a wrong password or certificate; for all clients of the process.

    kafka-python keeps such failures, to raise them at the next use of the node; but it forgets them
    after each handshake, for a failed one raises nothing where it looks. Its clients try again
    until their time is over, and then say that the cluster can't be reached.
    """
    manager = kafka.net.manager.KafkaConnectionManager
    get_connection = manager.get_connection
    if hasattr(get_connection, "upstream"):
        return

    def get(self: Any, node_id: Any, *arguments: Any, **options: Any) -> Any:
        refusals: dict[Any, BaseException] = self.__dict__.setdefault("_refusals", {})
        if node_id in refusals:
            raise refusals.pop(node_id)
        made = get_connection(self, node_id, *arguments, **options)

        def note(error: BaseException) -> None:
            if is_refused(error):
                refusals[node_id] = error

        if not made.init_future.is_done:
            made.init_future.add_errback(note)
        return made

    get.upstream = get_connection  # type: ignore[attr-defined]
    manager.get_connection = get


def fix_last_words() -> None:
    """Read what a broker says before it closes a connection; for all clients of the process.

    kafka-python throws away what it has read where the end comes with it: a broker that does not
    take a password says so, and closes at once, so that nobody hears why.
    """
    transports = kafka.net.transport
    for transport in (transports.KafkaTCPTransport, transports.KafkaSSLTransport):
        receive = transport._sock_recv
        if not hasattr(receive, "upstream"):
            transport._sock_recv = _hearing(receive)


def _hearing(receive: Any) -> Any:
    def received(self: Any) -> Any:
        data, error = receive(self)
        return data, None if data else error  # an end that comes with data comes again

    received.upstream = receive  # type: ignore[attr-defined]
    return received
