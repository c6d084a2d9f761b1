"""Connections of HTTP, as the page and the listener of filters accept them."""

from __future__ import annotations

from uvicorn.protocols.http.h11_impl import H11Protocol


class HttpConnection(H11Protocol):
    """A connection whose request ends when its client sends bytes that are not HTTP.

    uvicorn answers 400 to such bytes, also while a request is handled. The answer to the request
    then finds a closed connection, and uvicorn would log an error with a traceback.
    """

    def send_400_response(self, msg: str) -> None:
        """Answer 400, and drop the answer to the request that is handled."""
        super().send_400_response(msg)
        if self.cycle is not None:
            self.cycle.disconnected = True
