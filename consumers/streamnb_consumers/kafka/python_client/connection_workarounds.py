"""Workarounds for kafka-python connections that hide rejections; see `producer_workarounds`."""

from __future__ import annotations

from typing import Any

from streamnb_consumers.kafka.python_client.client_errors import is_refused, kafka

__all__ = ["fix_last_words", "fix_refusals"]


def fix_refusals() -> None:
    """Raise the broker's rejection of a password or certificate. The patch is process-wide.

    kafka-python stores such failures to raise them when the node is used next, but it clears them
    after each handshake, even a failed one. Its clients then retry until the timeout and report an
    unreachable cluster.
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
    """Read the data that arrives together with the end of a connection. The patch is process-wide.

    kafka-python drops such data. A broker that rejects a password sends the reason and closes the
    connection at once, so the reason would be lost.
    """
    transports = kafka.net.transport
    for transport in (transports.KafkaTCPTransport, transports.KafkaSSLTransport):
        receive = transport._sock_recv
        if not hasattr(receive, "upstream"):
            transport._sock_recv = _hearing(receive)


def _hearing(receive: Any) -> Any:
    def received(self: Any) -> Any:
        data, error = receive(self)
        return data, None if data else error  # the next read reports the end again

    received.upstream = receive  # type: ignore[attr-defined]
    return received
