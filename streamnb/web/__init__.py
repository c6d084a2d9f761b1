"""Web page of `streamnb serve`: messages, the decisions and their reasons, and corrections.

A `Board` has the messages of the page. A `Feed` writes them and learns the labels: `Stream` is the
feed of local models, and a running filter is another one. `create_app` returns the ASGI application
that `make_server` serves.
"""

from streamnb.web.app import create_app, make_server
from streamnb.web.board import Board, Feed
from streamnb.web.stream import Stream

__all__ = ["Board", "Feed", "Stream", "create_app", "make_server"]
