"""The ASGI application, with the files and the JSON interface of the page, and its server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib import resources
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import RequestResponseCycle

from streamnb.errors import InputError, StreamNBError
from streamnb.text.labels import MessageLabel, label_names
from streamnb.web.agreement import PAGE, UNDO
from streamnb.web.board import MOST_NAME, Feed, clean
from streamnb.web.connections import HttpConnection
from streamnb.web.security import Guard
from streamnb.web.stream import Stream

_JSON = "application/json"
_MOST_BODY = 200_000  # bytes of a request
_MOST_CORRECTIONS = 200  # that are shown
_PART = 20_000  # characters of a long text that are shown at once

_IDLE_SECONDS = 30.0  # until a request must have arrived whole
_MOST_CONNECTIONS = 200

_Answer = Callable[[dict[str, Any]], Any]


def create_app(feed: Feed, token: str | None = None, annotator: str = "") -> Starlette:
    """Return the application.

    Parameters
    ----------
    feed
        The messages to show, and the models that learn the labels.
    token
        Access token of visitors; None answers only this machine (see `Guard`).
    annotator
        Default name of the person who labels.
    """
    board = feed.board

    def state(asked: dict[str, Any]) -> dict[str, Any]:
        more = {"annotator": annotator, "new_labels": feed.takes_new_labels}
        return board.state(asked.get("pos_label")) | feed.state() | more

    def conditions(asked: dict[str, Any]) -> dict[str, Any]:
        texts = {name: str(asked.get(name, "")) for name in ("kind", "text", "sender", "label")}
        low, high = (_number({"low": 0, "high": 1, **asked}, name) for name in ("low", "high"))
        return {**texts, "low": low, "high": high}

    def search(asked: dict[str, Any]) -> dict[str, Any]:
        return {
            "messages": board.search(**conditions(asked)),
            "corrections": board.history()[:_MOST_CORRECTIONS],
            "revision": board.revision(str(asked.get("id"))),
        }

    def matching(asked: dict[str, Any]) -> dict[str, Any]:
        return {"ids": [item.id for item in board.find(**conditions(asked))]}

    def part(asked: dict[str, Any]) -> dict[str, Any]:
        text, begin = feed.text(board.items([_text(asked, "id")])[0]), int(_number(asked, "begin"))
        if begin < 0:
            raise InputError(f"begin is {begin}; it must be 0 or more")
        return {"text": text[begin : begin + _PART], "characters": len(text)}

    def opened(asked: dict[str, Any]) -> dict[str, Any]:
        name = _text(asked, "id")
        return board.open(name) | feed.inspect(board.items([name])[0])

    def label(asked: dict[str, Any]) -> dict[str, Any]:
        names, wanted = asked.get("ids"), read(asked.get("label", 0))
        if not isinstance(names, list) or not 0 < len(names) <= board.keep:
            raise InputError(f"ids must be a list of 1 to {board.keep:,} ids of messages")
        return give([(str(name), wanted) for name in names], asked)

    def read(label: Any) -> MessageLabel | None:
        """Return the label in a request, or the list of labels where messages have several."""
        match label:
            case None:
                return None
            case str() if not board.several:
                return clean(label).strip() or None
            case list() if board.several and all(isinstance(each, str) for each in label):
                return tuple(sorted({clean(each).strip() for each in label} - {""}))
        wanted = "a list of strings" if board.several else "a string"
        raise InputError(f"label is {label!r}; it must be {wanted}, or null to unlearn")

    def give(
        labels: list[tuple[str, MessageLabel | None]], asked: dict[str, Any], source: str = PAGE
    ) -> dict[str, Any]:
        """Give each message its label; return the labels before, which a second call restores."""
        who = clean(_text(asked, "annotator")).strip()
        named = {each for _, label in labels for each in label_names(label)}
        if max(map(len, (who, *named))) > MOST_NAME:
            raise InputError(f"a label and an annotator may have {MOST_NAME} characters")
        items = board.items(name for name, _ in labels)
        known = set(board.state()["labels"])
        wanted = [label for _, label in labels]
        if not feed.takes_new_labels and (foreign := named - known):
            raise InputError(
                f"label {foreign.pop()!r} is unknown: the filter takes "
                f"{', '.join(sorted(known))}; its setting `labels` adds others"
            )
        before = [(item.id, item.present) for item in items]
        feed.send(list(zip(items, wanted, strict=True)), who, source)
        for name, label in labels:
            board.sent([name], label)
        return {"before": before}

    def restore(asked: dict[str, Any]) -> dict[str, Any]:
        pairs = asked.get("labels")
        if not isinstance(pairs, list) or not 0 < len(pairs) <= board.keep:
            raise InputError(f"labels must be a list of 1 to {board.keep:,} ids and labels")
        labels: list[tuple[str, MessageLabel | None]] = []
        for pair in reversed(pairs):  # the last label is taken back first
            match pair:
                case [str() as name, label]:
                    labels.append((name, read(label)))
                case _:
                    raise InputError(f"labels has {pair!r}; it must be an id and a label or null")
        return give(labels, asked, UNDO)

    def skip(asked: dict[str, Any]) -> dict[str, Any]:
        board.mark(_text(asked, "id"), bool(asked.get("skipped")))
        return {}

    async def export(request: Request) -> Response:
        lines = "".join(json.dumps(entry) + "\n" for entry in board.corrections())
        return Response(lines, media_type="application/x-ndjson")

    answers: dict[str, _Answer] = {
        "state": state,
        "messages": search,
        "message": opened,
        "text": part,
        "ids": matching,
    }
    actions: dict[str, _Answer] = {
        "labels": label,
        "restore": restore,
        "skip": skip,
        "tokens": lambda asked: board.top_tokens(),
    }
    if isinstance(feed, Stream):

        def play(asked: dict[str, Any]) -> dict[str, Any]:
            feed.control(asked.get("action"), _number(asked, "rate") if "rate" in asked else None)
            return feed.state()

        actions |= {"stream": play, "try": lambda asked: feed.try_out(_text(asked, "text"))}
    routes = [
        Route("/", _page),
        Mount("/static", StaticFiles(packages=[(__package__, "static")])),
        Route("/api/corrections.jsonl", export),
        *(
            Route(f"/api/{name}", _answering(answer), methods=[method])
            for method, served in (("GET", answers), ("POST", actions))
            for name, answer in served.items()
        ),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(Guard, token=token)])
    app.router.redirect_slashes = False  # it would name the host of the request
    return app


async def _page(request: Request) -> Response:
    text = resources.files(__package__).joinpath("static", "index.html").read_text("utf-8")
    text = text.replace("{{csrf}}", request.state.csrf)
    return Response(text, media_type="text/html; charset=utf-8")


def _json(content: Any, status: int = 200) -> Response:
    """Return JSON in ASCII: a lone surrogate of a message cannot be written as UTF-8."""
    return Response(json.dumps(content, separators=(",", ":")), status, media_type=_JSON)


def _answering(answer: _Answer) -> Callable[[Request], Any]:
    """Return an endpoint that calls `answer` with the parameters, in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            asked = {**request.query_params, **await _body(request)}
            return _json(await run_in_threadpool(answer, asked))
        except StreamNBError as error:
            return _json({"error": str(error)}, 400)

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    if request.method != "POST":
        return {}
    received = b""
    async for chunk in request.stream():
        received += chunk
        if len(received) > _MOST_BODY:
            raise InputError(f"the request is larger than {_MOST_BODY:,} bytes")
    try:
        body = json.loads(received)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("the request is not a JSON object")
    return body


def _text(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; it must be a string")
    return value


def _number(asked: dict[str, Any], name: str) -> float:
    try:
        return float(asked[name])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {asked.get(name)!r}; it must be a number") from None


def make_server(app: Any, idle_seconds: float = _IDLE_SECONDS) -> uvicorn.Server:
    """Return a server that is not running yet, and closes connections that ask nothing.

    Parameters
    ----------
    app
        The ASGI application.
    idle_seconds
        Seconds between two looks at a connection. It is closed if no complete request has arrived.
    """

    class Connection(HttpConnection):
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
