"""The page: a stream as it comes, its decisions and the reasons, and a click that corrects them.

`streamnb serve` runs it. `Session` is the state behind it, `Player` the thread that reads the
stream, `create_app` the ASGI application.
"""

from streamnb.web.app import create_app
from streamnb.web.player import Player
from streamnb.web.session import Session

__all__ = ["Player", "Session", "create_app"]
