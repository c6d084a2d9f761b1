"""The HTTP interface of a resident filter: JSON objects of decisions and feedback."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from streamnb.errors import StreamNBError
from streamnb_consumers.daemon.health import Health
from streamnb_consumers.daemon.listen.requests import Answer
from streamnb_consumers.daemon.listen.service import Service, content_id
from streamnb_consumers.errors import BadRecordError, BusyError
from streamnb_consumers.jsons import compact
from streamnb_consumers.pipeline.reading import MAX_NAME, read_object

_JSON, _LINES, _MAIL = "application/json", "application/x-ndjson", "message/rfc822"
_MOST_LINES = 10_000
_LINES_AT_ONCE = 100  # that one client adds to the requests
_WORDS = 20  # that an explanation lists
_DESCRIPTION = Path(__file__).with_name("openapi.json")
_ACTIONS = ("/classify", "/explain", "/learn", "/unlearn")


def make_app(
    service: Service, health: Health, metrics: Callable[[], bytes], token: str = ""
) -> Starlette:
    """Return the ASGI application.

    Parameters
    ----------
    service
        Sends requests to the filter.
    health
        State of the filter's loop.
    metrics
        Returns the metrics in the format of Prometheus.
    token
        Token that clients of other machines send as `Authorization: Bearer`; empty refuses them.
    """

    def health_of(problem: Callable[[], str]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            found = problem()
            return PlainTextResponse(f"{found or 'ok'}\n", 503 if found else 200)

        return answer

    async def show_metrics(request: Request) -> Response:
        _authorise(request, token)
        return PlainTextResponse(metrics(), media_type="text/plain; version=0.0.4")

    async def show_decisions(request: Request) -> Response:
        _authorise(request, token)
        after = request.query_params.get("after", "0")
        if not after.isdecimal() or len(after) > 18:
            raise HTTPException(422, f"after must be a number, not {after[:50]!r}")
        about: dict[str, Any] = {"kind": service.kind, "labels": service.settings.labels}
        about["label_sets"] = service.label_sets
        about["readiness"] = service.readiness()
        return Response(compact(service.recent.after(int(after)) | about), media_type=_JSON)

    async def show_openapi(request: Request) -> Response:
        return FileResponse(_DESCRIPTION, media_type=_JSON)

    async def act(request: Request) -> Response:
        _authorise(request, token)
        path, kind = request.url.path, _content_type(request)
        if kind == _MAIL and service.kind != "spam":
            raise HTTPException(415, f"SMS are {_JSON} or {_LINES}, not {_MAIL}")
        body = await _body(request, service.max_bytes * (1 if kind != _LINES else 16))
        request.scope["state"]["touch"]()
        if kind == _LINES:
            lines = [line for line in body.splitlines() if line.strip()]
            if len(lines) > _MOST_LINES:
                raise HTTPException(413, f"more than {_MOST_LINES:,} lines")
            answers: list[dict[str, Any]] = []
            for at in range(0, len(lines), _LINES_AT_ONCE):
                part = (_safely(path, service, line) for line in lines[at : at + _LINES_AT_ONCE])
                answers += await asyncio.gather(*part)
            text = b"".join(compact(each) + b"\n" for each in answers)
            return Response(text, media_type=_LINES)
        if kind == _MAIL:
            found = await _act_on_mail(path, service, body, request.query_params)
        else:
            found = await _act_on_object(path, service, body)
        if found.error:
            raise BadRecordError(found.error)
        return JSONResponse(_plain(found))

    async def refuse(request: Request, error: Exception) -> Response:
        statuses: dict[type, int] = {BusyError: 503, BadRecordError: 422}
        status = getattr(error, "status_code", None) or statuses.get(type(error), 400)
        return JSONResponse({"error": getattr(error, "detail", None) or str(error)}, status)

    routes = [Route(path, act, methods=["POST"]) for path in _ACTIONS]
    routes += [
        Route("/healthz", health_of(health.problem_of_life)),
        Route("/livez", health_of(health.problem_of_life)),  # as workers have it
        Route("/readyz", health_of(health.problem_of_readiness)),
        Route("/metrics", show_metrics),
        Route("/decisions", show_decisions),
        Route("/openapi.json", show_openapi),
    ]
    errors: Any = dict.fromkeys((HTTPException, StreamNBError, ClientDisconnect), refuse)
    app = Starlette(routes=routes, exception_handlers=errors)
    app.router.redirect_slashes = False  # the description has no redirections
    return app


def _authorise(request: Request, token: str) -> None:
    """Refuse clients of other machines without the token, and pages of other sites."""
    host = _client(request)
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token and hmac.compare_digest(given.encode(), token.encode()):
        return
    if "origin" in request.headers or request.headers.get("sec-fetch-site", "none") != "none":
        raise HTTPException(403, "requests of web pages need the token")
    if host and not ipaddress.ip_address(host).is_loopback:
        raise HTTPException(
            401, "clients of other machines need the token: set STREAMNB_LISTEN_TOKEN, and send "
            "Authorization: Bearer TOKEN"
        )  # fmt: skip
    # A name that another site points to this machine makes its pages requests of this machine.
    if host and not is_local(request.headers.get("host", "")):
        raise HTTPException(421, "without the token, use a name or the address of this machine")


def _client(request: Request) -> str:
    """Return the address of a client; empty for a Unix socket."""
    return request.client.host if request.client else ""


def is_local(host: str) -> bool:
    """Whether a `Host` header is a name of this machine, with or without a port.

    Examples
    --------
    >>> [is_local(host) for host in ("localhost:8780", "127.0.0.2", "[::1]:80", "x.example", "")]
    [True, True, True, False, False]
    """
    name = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _content_type(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (_JSON, _LINES, _MAIL):
        raise HTTPException(
            415, f"Content-Type must be {_JSON}, {_LINES} or {_MAIL}, not {kind[:50]!r}"
        )
    return kind


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > most:
            raise HTTPException(413, f"the body has more than {most:,} bytes")
    return bytes(body)


async def _act_on_mail(path: str, service: Service, raw: bytes, query: Any) -> Answer:
    if path == "/unlearn":
        return await service.unlearn(raw, query)
    label = query.get("label") if path == "/learn" else None
    if path == "/learn" and not label:
        raise BadRecordError("a label is missing: POST /learn?label=spam")
    return await service.classify(raw, query, label, _WORDS if path == "/explain" else 0)


async def _act_on_object(path: str, service: Service, value: bytes) -> Answer:
    fields = read_object(value)
    name = _name(fields)
    if path == "/unlearn":
        who = {each: fields[each] for each in fields if each in ("source", "annotator")}
        return await service.unlearn_id(name, who)
    names = {each for each in ("label", "labels") if fields.get(each) is not None}
    if path == "/learn" and not names:
        raise BadRecordError("a label is missing: learn needs label, and id or a message")
    if path != "/learn" and names:  # only a question
        value = compact({each: fields[each] for each in fields if each not in names})
    words = _WORDS if path == "/explain" else 0
    return await service.send(value, name, path == "/learn", words)


def _name(fields: dict[str, Any]) -> str:
    """Return the id of an object: its own, or a hash of its content."""
    found = fields.get("id")
    if isinstance(found, (str, int)) and not isinstance(found, bool):
        if isinstance(found, str) and len(found) > MAX_NAME:  # not even kept as a refused request
            raise BadRecordError(f"id must have 1 to {MAX_NAME} characters, not {len(found):,}")
        return str(found)
    content = {name: value for name, value in fields.items() if name not in ("label", "labels")}
    return content_id(b"\n\n" + json.dumps(content, sort_keys=True).encode())


async def _safely(path: str, service: Service, line: bytes) -> dict[str, Any]:
    try:
        return _plain(await _act_on_object(path, service, line))
    except StreamNBError as error:
        return {"error": str(error)}


def _plain(answer: Answer) -> dict[str, Any]:
    if answer.error:
        return {"id": answer.id, "error": answer.error}
    if answer.decision is not None:
        return answer.decision.to_json()
    if answer.accepted:
        return {"id": answer.id, "accepted": True}
    plain = {"id": answer.id, "learned": answer.learned, "unlearned": answer.unlearned}
    plain["result"] = answer.result
    return plain if answer.kept is None else plain | {"kept": answer.kept}
