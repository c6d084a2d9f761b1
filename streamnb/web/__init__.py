"""Web page of `streamnb serve`: a stream, the decisions and their reasons, and corrections.

`Session` is the state of the page, `Replay` the thread that reads the stream, and `create_app`
returns the ASGI application that `make_server` serves. For a running filter, `Board` has the
decisions, a `Feed` reads and labels them, and `create_filter_app` returns the application.
"""

from streamnb.web.app import create_app, create_filter_app
from streamnb.web.board import Board, Feed
from streamnb.web.replay import Replay
from streamnb.web.serving import make_server
from streamnb.web.session import Session

__all__ = [
    "Board",
    "Feed",
    "Replay",
    "Session",
    "create_app",
    "create_filter_app",
    "make_server",
]
