"""The HTTP server of the page, which closes connections that ask nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_IDLE_SECONDS = 30.0  # until a request must have arrived whole
_MOST_CONNECTIONS = 200


def make_server(app: Any, idle_seconds: float = _IDLE_SECONDS) -> uvicorn.Server:
    """Return a server that is not running yet.

    Parameters
    ----------
    app
        The ASGI application.
    idle_seconds
        Seconds between two looks at a connection. It is closed if no complete request has arrived.
    """

    class Connection(H11Protocol):
        """A connection; uvicorn itself closes idle ones only after a first answer."""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.loop.call_later(idle_seconds, self.close_if_idle, None)

        def close_if_idle(self, before: RequestResponseCycle | None) -> None:
            """Close the connection if no complete request has arrived since the look `before`."""
            is_idle = self.cycle is None or self.cycle.response_complete or self.cycle.more_body
            if is_idle and self.cycle is before:
                self.transport.abort()
            elif not self.transport.is_closing():
                self.loop.call_later(idle_seconds, self.close_if_idle, self.cycle)

    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=Connection,
            ws="none",
            log_level="warning",
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=2,
        )
    )
