"""Access control of the page: this machine or a token, and no requests from other sites."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSRF_HEADER = "X-StreamNB-CSRF"
_LOCAL = frozenset({"127.0.0.1", "localhost", "[::1]"})

# The page loads scripts and styles from its own files only.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; "
    "base-uri 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


class Guard:
    """Middleware that checks host, token and cross-site requests, and sets headers.

    Parameters
    ----------
    app
        The protected application.
    token
        Access token, given as `?token=…` once and then as a cookie. None answers only requests to
        names of this machine, which prevents DNS rebinding.
    """

    def __init__(self, app: ASGIApp, token: str | None = None) -> None:
        self._app = app
        self._token = token
        # Cookies do not depend on the port, so each page needs a name of its own.
        digest = hashlib.sha256((token or "").encode()).hexdigest()
        self._cookie = f"streamnb_{digest[:16]}"
        self.csrf: str = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refusal = self._refusal(request)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        scope.setdefault("state", {})["csrf"] = self.csrf
        await (refusal or self._app)(scope, receive, with_headers)

    def _refusal(self, request: Request) -> Response | None:
        if self._token is None:
            if _host(request.headers) not in _LOCAL:
                return PlainTextResponse("this page answers to localhost only", 421)
        elif not _same(request.cookies.get(self._cookie), self._token):
            if request.method == "GET" and _same(request.query_params.get("token"), self._token):
                # Remove the token from the address, so that the browser history does not contain
                # it.
                answer = RedirectResponse("/", 303)
                answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
                return answer
            return PlainTextResponse("open the address that streamnb printed: it has a token", 401)
        site = request.headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and request.url.path.startswith("/api"):
            return PlainTextResponse("the request comes from another site", 403)
        if request.method not in ("GET", "HEAD"):
            origin = request.headers.get("origin")
            if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
                return PlainTextResponse("the request comes from another site", 403)
            if not _same(request.headers.get(CSRF_HEADER), self.csrf):
                return PlainTextResponse("the page is not of this server: load it again", 403)
        return None


def _host(headers: Headers) -> str:
    host = headers.get("host", "")
    return host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host


def _same(given: str | None, wanted: str) -> bool:
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())
