"""The ASGI application: the files of the page, and the JSON interface of its script."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamnb.errors import InputError, StreamNBError
from streamnb.web.board import MOST_NAME, Board, Feed
from streamnb.web.replay import Replay
from streamnb.web.security import Guard
from streamnb.web.session import Session, clean

_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_FILES = {
    f"{folder}{file.name}": file
    for folder in ("", "vendor/")
    for file in resources.files(__package__).joinpath("static", folder).iterdir()
    if Path(file.name).suffix in _TYPES
}
_MOST_BODY = 200_000  # bytes of a request
_MOST_ROWS = 1000  # messages of an answer
_MOST_LABELLED = 200  # messages that are labelled together, and shown corrections


def create_app(session: Session, replay: Replay, token: str | None = None) -> Starlette:
    """Return the application.

    Parameters
    ----------
    session
        The session to show.
    replay
        The thread that reads the session's stream.
    token
        Access token of visitors; None answers only this machine (see `Guard`).
    """
    routes = [
        Route("/api/state", _answering(lambda asked: _state(session, replay, asked))),
        Route("/api/messages", _answering(lambda asked: _messages(session, asked))),
        Route(
            "/api/messages/{number:int}", _answering(lambda asked: session.open(asked["number"]))
        ),
        Route("/api/words", _answering(lambda asked: session.top_words()), methods=["POST"]),
        Route(
            "/api/messages/{number:int}/label",
            _answering(lambda asked: session.correct(asked["number"], _text(asked, "label"))),
            methods=["POST"],
        ),
        Route(
            "/api/try",
            _answering(lambda asked: session.try_out(_text(asked, "text"))),
            methods=["POST"],
        ),
        Route("/api/stream", _answering(lambda asked: _play(replay, asked)), methods=["POST"]),
    ]
    return _app("stream", routes, token)


def create_filter_app(
    board: Board, feed: Feed, token: str | None = None, annotator: str = ""
) -> Starlette:
    """Return the application for a running filter.

    Parameters
    ----------
    board, feed
        The decisions to show, and the filter that learns the labels.
    token
        As in `create_app`.
    annotator
        Default name of the person who labels.
    """

    def label(asked: dict[str, Any]) -> dict[str, Any]:
        names, text = asked.get("ids"), clean(_text(asked, "label")).strip()
        who = clean(_text(asked, "annotator")).strip()
        if not isinstance(names, list) or not 0 < len(names) <= _MOST_LABELLED:
            raise InputError(f"ids must be a list of 1 to {_MOST_LABELLED} ids of messages")
        if max(len(text), len(who)) > MOST_NAME:
            raise InputError(f"a label and an annotator may have {MOST_NAME} characters")
        feed.send([(item, text or None) for item in board.items(map(str, names))], who)
        board.sent(map(str, names), text or None)
        return board.state()

    def skip(asked: dict[str, Any]) -> dict[str, Any]:
        board.mark(_text(asked, "id"), bool(asked.get("skipped")))
        return board.state()

    def search(asked: dict[str, Any]) -> dict[str, Any]:
        texts = {name: str(asked.get(name, "")) for name in ("text", "sender", "label")}
        low, high = (_number({"low": 0, "high": 1, **asked}, name) for name in ("low", "high"))
        return {"messages": board.search(**texts, low=low, high=high)}

    async def export(request: Request) -> Response:
        lines = "".join(json.dumps(entry) + "\n" for entry in board.history())
        return Response(lines, media_type="application/x-ndjson")

    get: dict[str, Callable[[dict[str, Any]], Any]] = {
        "state": lambda asked: board.state() | {"annotator": annotator},
        "queue": lambda asked: {"messages": board.queue()},
        "search": search,
        "message": lambda asked: board.open(_text(asked, "id")),
        "history": lambda asked: {"entries": board.history()[:_MOST_LABELLED]},
    }
    routes = [Route(f"/api/{name}", _answering(answer)) for name, answer in get.items()]
    routes += [
        Route("/api/labels", _answering(label), methods=["POST"]),
        Route("/api/skip", _answering(skip), methods=["POST"]),
        Route("/api/history.jsonl", export),
    ]
    return _app("filter", routes, token)


def _app(script: str, routes: list[Route], token: str | None) -> Starlette:
    common = [Route("/", _page(script)), Route("/static/{name:path}", _static)]
    return Starlette(routes=[*common, *routes], middleware=[Middleware(Guard, token=token)])


def _page(script: str) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        text = resources.files(__package__).joinpath("static", "index.html").read_text("utf-8")
        text = text.replace("{{script}}", script).replace("{{csrf}}", request.state.csrf)
        return Response(text, media_type="text/html; charset=utf-8")

    return endpoint


async def _static(request: Request) -> Response:
    file = _FILES.get(request.path_params["name"])
    if file is None:
        return JSONResponse({"error": "no such file"}, 404)
    kind = _TYPES[Path(file.name).suffix]
    return Response(file.read_bytes(), media_type=f"{kind}; charset=utf-8")


class _Json(JSONResponse):
    """JSON in ASCII: a lone surrogate of a message cannot be written as UTF-8."""

    def render(self, content: Any) -> bytes:
        """Return the bytes of the answer."""
        return json.dumps(content, separators=(",", ":")).encode()


def _answering(answer: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Any]:
    """Return an endpoint that calls `answer` with the parameters, in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            asked = {**request.query_params, **await _body(request), **request.path_params}
            return _Json(await run_in_threadpool(answer, asked))
        except StreamNBError as error:
            return _Json({"error": str(error)}, 400)

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


def _state(session: Session, replay: Replay, asked: dict[str, Any]) -> dict[str, Any]:
    stream = {"playing": replay.playing, "rate": replay.rate, "error": replay.error}
    return {**session.state(asked.get("pos_label")), **stream}


def _messages(session: Session, asked: dict[str, Any]) -> dict[str, Any]:
    after = int(_number({"after": 0, **asked}, "after"))
    return {"messages": session.messages(after)[-_MOST_ROWS:]}


def _play(replay: Replay, asked: dict[str, Any]) -> dict[str, Any]:
    actions = {"play": replay.play, "pause": replay.pause, "step": replay.step}
    if "rate" in asked:
        replay.rate = _number(asked, "rate")
    action = asked.get("action")
    if action in actions:
        actions[action]()
    elif action is not None:
        raise InputError(f"action is {action!r}; it must be play, pause or step")
    return {"playing": replay.playing, "rate": replay.rate}
