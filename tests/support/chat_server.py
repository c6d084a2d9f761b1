"""A server on loopback that speaks the OpenAI chat protocol and knows the label of each text."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

KEY = "sk-loopback"
MODEL = "loopback-1"
CHECKED = "Good morning"  # message with which programs check an endpoint
USAGE = {"prompt_tokens": 50, "completion_tokens": 2}


class ChatServer:
    """Answers with the label of a text, after a delay.

    Attributes
    ----------
    asked
        Number of requests for each text.
    answered
        Number of answers that were sent for each text.
    delay
        Returns the seconds before an answer.
    status
        Returns the status for a text, by default 200.
    """

    def __init__(
        self,
        labels: Mapping[str, str],
        delay: Callable[[], float] = lambda: 0.0,
        status: Callable[[str], int] = lambda text: 200,
    ) -> None:
        self.labels, self.delay, self.status = labels, delay, status
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.chat = self
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def settings(self, **more: object) -> dict[str, Any]:
        """Return the settings of a filter whose teacher this is."""
        return {"teacher_url": self.url, "teacher_model": MODEL, **more}

    def answer(self, request: Mapping[str, Any], key: str) -> tuple[int, Any]:
        """Return status and body of the answer to a request."""
        if key != f"Bearer {KEY}":
            return 401, {"error": "wrong key"}
        if request["model"] != MODEL:
            return 404, {"error": f"the model {request['model']} does not exist"}
        text = request["messages"][-1]["content"]
        with self._lock:
            self.asked[text] += 1
        time.sleep(self.delay())
        status = self.status(text)
        label = self.labels.get(text, "ham")
        content = json.dumps({"label": label})
        if status == 299:
            status, content = 200, "I think that it is spam."
        return status, {"choices": [{"message": {"content": content}}], "usage": USAGE}

    def sent(self, request: Mapping[str, Any]) -> None:
        """Count an answer that was sent completely."""
        with self._lock:
            self.answered[request["messages"][-1]["content"]] += 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    chat: ChatServer

    def handle_error(self, *_: object) -> None:
        """Write nothing about clients that were killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer one request."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, body = self.server.chat.answer(request, self.headers.get("Authorization", ""))
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        if status == 200:
            self.server.chat.sent(request)

    def log_message(self, *_: object) -> None:
        """Write nothing."""
