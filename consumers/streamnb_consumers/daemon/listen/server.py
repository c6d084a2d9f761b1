"""Run a resident filter: its loop in this thread, and the servers of its address in another one."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import ipaddress
import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from streamnb.web.connections import HttpConnection
from streamnb_consumers.daemon.assembly import (
    limits_of,
    make_filter,
    own_snapshots,
    reload_lists,
    shared_snapshots,
)
from streamnb_consumers.daemon.backoff import Breaker
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.listen.http import make_app
from streamnb_consumers.daemon.listen.journal import Journal, JournalSink, JournalSource
from streamnb_consumers.daemon.listen.requests import Requests
from streamnb_consumers.daemon.listen.service import Service
from streamnb_consumers.daemon.listen.spamd import NOT_ADMITTED, REQUEST_LINE, TOO_MANY, connection
from streamnb_consumers.daemon.loop import Loop, stopping_on_signals
from streamnb_consumers.daemon.metrics import PrometheusMetrics
from streamnb_consumers.daemon.running import collect_rarely
from streamnb_consumers.daemon.settings import PREFIX, Settings
from streamnb_consumers.daemon.snapshots.local import Snapshots
from streamnb_consumers.daemon.state_folder import default_folder, held
from streamnb_consumers.errors import SettingsError
from streamnb_consumers.io.protocols import Sink, Source

_LONGEST_LINE = 8192
_client = functools.lru_cache(1000)(ipaddress.ip_address)


def listen(kind: str, settings: Settings) -> int:
    """Run a resident filter until SIGTERM; return the exit status.

    Parameters
    ----------
    kind
        `"sms"` or `"spam"`.
    settings
        Settings of the filter. Without Kafka, `snapshots` is its state folder.

    Raises
    ------
    SettingsError
        If the address cannot be used, or a setting does not apply.
    BusyError
        If another process uses the state folder.
    """
    shared = bool(settings.bootstrap_servers)
    requests = Requests(settings.connections)
    health, metrics = Health(), PrometheusMetrics(kind=kind)
    worker = make_filter(kind, settings, listens=True)
    with _bound(settings) as address, contextlib.ExitStack() as stack:
        make = _shared if shared else _local
        source, sink, more = make(kind, settings, requests, stack)
        loop = Loop(
            source,
            sink,
            worker,
            limits=dataclasses.replace(limits_of(settings), gather=0.0, polled=1),
            breaker=Breaker(2.0),  # clients see their errors; bad requests must not stop others
            metrics=metrics,
            health=health,
            reload=functools.partial(reload_lists, worker, settings),
            **more,
        )
        service = Service(kind, settings, requests, worker)
        app = make_app(service, health, metrics.text, os.environ.get(f"{PREFIX}LISTEN_TOKEN", ""))
        server = _Server(service, app, settings)
        collect_rarely()
        with server.running(address), stopping_on_signals(loop):
            loop.run()
    return 0


def _local(
    kind: str, settings: Settings, requests: Requests, stack: contextlib.ExitStack
) -> tuple[Source, Sink, dict[str, Any]]:
    """Return source, sink and state of a listener with a journal, and lock its folder."""
    folder = Path(settings.snapshots) if settings.snapshots else default_folder(kind)
    stack.enter_context(held(folder, settings.stop_seconds))
    segments = settings.snapshots_kept + 1
    journal = Journal(
        folder / "journal", settings.snapshots_kept, settings.journal_bytes // segments
    )
    dead_letters = Path(settings.dead_letters) if settings.dead_letters else None
    snapshots = Snapshots(
        folder, settings.snapshots_kept, settings.snapshot_bytes,
        wrote=journal.rotate, is_due=lambda: journal.is_due, has_log=True,
    )  # fmt: skip
    sink = JournalSink(journal, requests, dead_letters)
    return JournalSource(journal, requests), sink, {"snapshots": snapshots}


def _shared(
    kind: str, settings: Settings, requests: Requests, stack: contextlib.ExitStack
) -> tuple[Source, Sink, dict[str, Any]]:
    """Return source, sink and state of a listener that follows the training log of a group."""
    from streamnb_consumers.daemon.listen.topics import open_topics

    source, sink = open_topics(kind, settings, requests, os.environ)
    shared = shared_snapshots(kind, settings, source)
    return source, sink, {"snapshots": own_snapshots(settings), "shared": shared, "log": source}


@contextlib.contextmanager
def _bound(settings: Settings) -> Iterator[socket.socket]:
    """Bind the address, and remove the file of a Unix socket at the end."""
    path = settings.socket
    try:
        if path:
            with socket.socket(socket.AF_UNIX) as probe:
                if Path(path).is_socket() and probe.connect_ex(path):
                    Path(path).unlink(missing_ok=True)  # of a killed process
            bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            before = os.umask(0o177)  # nobody connects before the mode and the group are set
            try:
                bound.bind(path)
            finally:
                os.umask(before)
            if settings.socket_group:
                shutil.chown(path, group=settings.socket_group)
            Path(path).chmod(int(settings.socket_mode, 8))
        else:
            family, *_, where = socket.getaddrinfo(
                settings.host, settings.port, type=socket.SOCK_STREAM
            )[0]
            bound = socket.create_server(where[:2], family=family, backlog=settings.connections)
            # Connections inherit it. Without it, each answer on a kept connection waits 40 ms for
            # an acknowledgement: asyncio sets it only on sockets with an explicit protocol.
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except (OSError, LookupError) as error:
        shown = path or f"{settings.host}:{settings.port}"
        raise SettingsError(f"cannot listen on {shown}: {error}") from error
    with bound:
        try:
            yield bound
        finally:
            if path:
                Path(path).unlink(missing_ok=True)


class _Server:
    """The asyncio side: accepts connections and finds their protocol."""

    def __init__(self, service: Service, app: Any, settings: Settings) -> None:
        self.service, self.settings = service, settings
        self.open: dict[_Connection, str] = {}  # with the addresses of their clients, oldest first
        self.config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, date_header=False,
            timeout_keep_alive=int(settings.request_seconds),
        )  # fmt: skip
        self.config.load()
        self.state = ServerState()
        self.networks = [ipaddress.ip_network(each) for each in settings.spamd_clients]

    @contextlib.contextmanager
    def running(self, address: socket.socket) -> Iterator[None]:
        """Serve in another thread."""
        loop = asyncio.new_event_loop()
        ready = threading.Event()

        def run() -> None:
            asyncio.set_event_loop(loop)
            serving = loop.create_server(lambda: _Connection(self), sock=address)
            self._server = loop.run_until_complete(serving)
            ready.set()
            loop.run_forever()

        thread = threading.Thread(target=run, name="listen", daemon=True)
        thread.start()
        ready.wait()
        try:
            yield
        finally:
            # Answers that are ready leave before the end.
            loop.call_soon_threadsafe(lambda: loop.call_later(0.1, loop.stop))
            thread.join(self.settings.stop_seconds)

    def admits(self, connection: _Connection, client: str) -> bool:
        """Add a connection; return whether it may stay.

        A client of another machine has a quarter of the connections. If all are open, the oldest
        one that waits for its client ends, also within a request.
        """
        most = self.settings.connections
        of_client = sum(each == client for each in self.open.values()) if client else 0
        self.open[connection] = client
        if of_client >= max(most // 4, 1):
            return False
        if len(self.open) <= most:
            return True
        waiting = (each for each in self.open if each.waits and each is not connection)
        oldest = next(waiting, None)
        if oldest is None:
            return False
        del self.open[oldest]
        oldest.end()
        return True

    def may_use_spamd(self, transport: asyncio.Transport) -> bool:
        """Whether a client is on this machine or in `spamd_clients`."""
        peer = transport.get_extra_info("peername")
        if not peer or isinstance(peer, (str, bytes)):
            return True  # of a Unix socket
        client = _client(peer[0])
        return client.is_loopback or any(client in network for network in self.networks)


def _other_machine(transport: asyncio.Transport) -> str:
    """Return the address of a client of another machine; empty for this machine."""
    peer = transport.get_extra_info("peername")
    if not peer or isinstance(peer, (str, bytes)) or _client(peer[0]).is_loopback:
        return ""
    return str(peer[0])


class _Connection(asyncio.Protocol):
    """A connection: its first line decides the protocol; later calls go to that one."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._inner = asyncio.Protocol()  # does nothing
        self._data: bytes | None = b""  # until the protocol is known
        self._is_whole = False  # the request of spamd's protocol
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection; refuse it if there are too many."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if not self._server.admits(self, _other_machine(transport)):
            transport.write(TOO_MANY)
            transport.close()
        self.touch()

    @property
    def waits(self) -> bool:
        """Whether it waits for its client: for the rest of a request, or for the next one."""
        if isinstance(self._inner, HttpConnection):
            cycle = self._inner.cycle
            return cycle is None or cycle.more_body or cycle.response_complete
        return not self._is_whole

    def end(self) -> None:
        """End the connection to make room for another one."""
        self._transport.abort()

    def touch(self) -> None:
        """Let the client have the time of one request from now on."""
        if self._timer is not None:
            self._timer.cancel()
        seconds = self._server.settings.request_seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        """Choose the protocol, or pass the data on."""
        if self._data is None:
            self._inner.data_received(data)
            return
        self._data += data
        line, newline, _ = self._data.partition(b"\n")
        if not newline and len(self._data) < _LONGEST_LINE:
            return
        is_spamd = REQUEST_LINE.match(line) is not None
        if is_spamd and not self._server.may_use_spamd(self._transport):
            self._transport.write(NOT_ADMITTED)
            self._transport.close()  # the request is not read
            return
        self._inner = self._spamd() if is_spamd else self._http()
        self._inner.connection_made(self._transport)
        self._inner.data_received(self._data)
        self._data = None

    def _spamd(self) -> asyncio.Protocol:
        def on_request() -> None:
            self._is_whole = True

        return connection(self._server.service, on_request)

    def _http(self) -> asyncio.Protocol:
        server = self._server
        return HttpConnection(server.config, server.state, app_state={"touch": self.touch})

    def eof_received(self) -> bool | None:
        """Pass it on."""
        return self._inner.eof_received()

    def pause_writing(self) -> None:
        """Pass it on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Pass it on."""
        self._inner.resume_writing()

    def connection_lost(self, error: Exception | None) -> None:
        """Pass it on."""
        self._server.open.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        self._inner.connection_lost(error)
