"""Web page of `streamnb serve`: a stream, the decisions and their reasons, and corrections.

`Session` is the state of the page, `Replay` the thread that reads the stream, and `create_app`
returns the ASGI application that `make_server` serves.
"""

from streamnb.web.app import create_app
from streamnb.web.replay import Replay
from streamnb.web.serving import make_server
from streamnb.web.session import Session

__all__ = ["Replay", "Session", "create_app", "make_server"]
