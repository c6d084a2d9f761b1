"""The HTTP server of the page, which closes connections that ask nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_IDLE_SECONDS = 30.0  # until a request must have arrived whole
_MOST_CONNECTIONS = 200


def make_server(app: Any, idle_seconds: float = _IDLE_SECONDS) -> uvicorn.Server:
    """Return a server that is not running yet.

    Parameters
    ----------
    app
        The ASGI application.
    idle_seconds
        Seconds after which a connection without a complete request is closed.
    """

    class Connection(H11Protocol):
        """A connection; uvicorn itself closes idle ones only after a first answer."""

        timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.timer = self.loop.call_later(idle_seconds, self.close_if_idle)

        def close_if_idle(self) -> None:
            if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
                self.transport.abort()
            else:
                self.timer = self.loop.call_later(idle_seconds, self.close_if_idle)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.timer is not None:
                self.timer.cancel()
            self.timer = self.loop.call_later(idle_seconds, self.close_if_idle)

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self.timer is not None:
                self.timer.cancel()

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
