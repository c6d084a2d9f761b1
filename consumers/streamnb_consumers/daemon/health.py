"""Liveness and readiness of the daemon, served over HTTP.

`/livez`: restart the process if it fails. `/readyz`: pause traffic and rollouts while it fails.
`/metrics`: Prometheus metrics.
"""

from __future__ import annotations

import logging
import math
import socket
import threading
import time
import wsgiref.simple_server
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any

from streamnb_consumers.errors import SettingsError

_LOG = logging.getLogger(__name__)

# Seconds after which a silent client is disconnected, because it occupies a thread.
CLIENT_SECONDS = 10.0
# Activities of the loop that wait for the cluster.
ASKING = ("start", "poll", "commit")


class Health:
    """The last reported state of the loop; readable from any thread.

    The loop counts as hung after `limit` seconds without a beat, and as not ready after `session`
    seconds without an answer of the cluster.

    Examples
    --------
    >>> times = iter([0.0, 1.0, 5.0, 5.5, 9.0, 11.5])
    >>> health = Health(limit=5.0, clock=lambda: next(times))
    >>> health.beat()
    >>> health.problem_of_life(), health.problem_of_readiness()
    ('', 'starting')
    >>> health.ready()
    >>> health.problem_of_readiness()
    ''
    >>> health.problem_of_life()
    'the loop has not moved for 8 seconds'
    >>> health.problem_of_readiness()  # a worker that is not alive is not ready
    'the loop has not moved for 10 seconds'
    """

    def __init__(
        self,
        limit: float = 180.0,
        clock: Callable[[], float] = time.monotonic,
        session: float = math.inf,
    ) -> None:
        self._limit, self._clock, self._session = limit, clock, session
        self._busy: Callable[[], tuple[str, float]] = lambda: ("", 0.0)
        self._last = clock()
        self._why = "starting"

    def watch(self, busy: Callable[[], tuple[str, float]]) -> None:
        """Set the function that returns the current activity of the loop and its duration."""
        self._busy = busy

    def beat(self) -> None:
        """Report progress: the loop finished a round, or a long start continues."""
        self._last = self._clock()

    def ready(self, problem: str = "") -> None:
        """Set readiness; `problem` is the reason if messages are not being decided.

        Ready means: the snapshot is loaded, all earlier training events are replayed, the group has
        assigned partitions, and transactions are possible.
        """
        if problem != self._why:
            _LOG.info("%s", f"not ready: {problem}" if problem else "ready")
        self._why = problem

    def problem_of_life(self) -> str:
        """Return the reason to restart the process; empty if it is alive."""
        silent = self._clock() - self._last
        return f"the loop has not moved for {silent:.0f} seconds" if silent > self._limit else ""

    def problem_of_readiness(self) -> str:
        """Return the reason why no messages are decided; empty if the worker is ready."""
        return self._why or self._unanswered() or self.problem_of_life()

    def _unanswered(self) -> str:
        """Return the request that the cluster has not answered for a session timeout."""
        what, seconds = self._busy()
        if what in ASKING and seconds > self._session:
            return f"the cluster has not answered for {seconds:.0f} seconds ({what})"
        return ""


class _Server(ThreadingMixIn, wsgiref.simple_server.WSGIServer):
    daemon_threads = True  # a slow client holds up neither the others nor the end of the process


class _Handler(wsgiref.simple_server.WSGIRequestHandler):
    timeout = CLIENT_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: probes arrive every few seconds."""


class HealthServer:
    """Serve `/livez`, `/readyz` and `/metrics` from a separate thread.

    Port 0 chooses a free one. `metrics` is the WSGI application for `/metrics`.

    Raises
    ------
    SettingsError
        If the address cannot be used.
    """

    def __init__(self, host: str, port: int, health: Health, metrics: Callable[[], bytes]) -> None:
        self._health, self._metrics = health, metrics
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            kind = type("_Server", (_Server,), {"address_family": family})
            self._server: wsgiref.simple_server.WSGIServer = wsgiref.simple_server.make_server(
                str(address[0]), port, self._answer, kind, _Handler
            )
        except OSError as error:
            raise SettingsError(f"http_host, http_port: {host}:{port}: {error}") from error
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="http", daemon=True).start()

    def _answer(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        problems = {
            "/livez": self._health.problem_of_life,
            "/readyz": self._health.problem_of_readiness,
        }
        status, kind = "200 OK", "text/plain; charset=utf-8"
        if method not in ("GET", "HEAD"):
            status, body = "405 Method Not Allowed", b"only GET\n"
        elif path == "/metrics":
            kind, body = "text/plain; version=0.0.4; charset=utf-8", self._metrics()
        elif path not in problems:
            status, body = "404 Not Found", b"there are /livez, /readyz and /metrics\n"
        else:
            problem = problems[path]()
            status = "503 Service Unavailable" if problem else status
            body = f"{problem or 'ok'}\n".encode()
        start(status, [("Content-Type", kind), ("Cache-Control", "no-store")])
        return [] if method == "HEAD" else [body]

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
