"""The page of a session, served and opened in a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Page, expect

from streamnb.web import Replay, Session, create_app, make_server


@contextmanager
def served(session: Session, idle_seconds: float = 30.0, port: int = 0) -> Iterator[str]:
    """The address of a page, on a free port by default, while it is served."""
    replay = Replay(session, rate=1000)
    server = make_server(create_app(session, replay), idle_seconds)
    listening = socket.create_server(("127.0.0.1", port))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    replay.start()
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        replay.stop()
        server.should_exit = True
        thread.join(10)
        listening.close()


@contextmanager
def page_of(
    browser: Browser, session: Session, *, width: int = 1200, dark: bool = False
) -> Iterator[Page]:
    """An open page. Whatever its script complains about fails the test."""
    trouble: list[str] = []
    with served(session) as address:
        page = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("console", lambda told: trouble.append(told.text) if told.type == "error" else None)
        page.goto(address)
        expect(page.locator("#progress")).to_contain_text("messages")
        yield page
        page.close()
    assert trouble == []
