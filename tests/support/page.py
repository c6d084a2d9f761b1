"""Pages, served and opened in a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, expect

from streamnb.web import Board, Replay, Session, create_app, create_filter_app, make_server

expect.set_options(timeout=30_000)  # milliseconds; a second on an idle machine


@contextmanager
def serving(app: Any, idle_seconds: float = 30.0, port: int = 0) -> Iterator[str]:
    """The address of an application, on a free port by default, while it is served."""
    server = make_server(app, idle_seconds)
    listening = socket.create_server(("127.0.0.1", port))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@contextmanager
def served(session: Session, **options: Any) -> Iterator[str]:
    """The address of the page of a session."""
    replay = Replay(session, rate=1000)
    replay.start()
    try:
        with serving(create_app(session, replay), **options) as address:
            yield address
    finally:
        replay.stop()


@contextmanager
def opened(
    browser: Browser, address: str, *, width: int = 1200, dark: bool = False, errors: bool = False
) -> Iterator[Page]:
    """An open page. Whatever its script complains about fails the test, unless `errors` are due."""
    trouble: list[str] = []
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda told: trouble.append(told.text) if told.type == "error" else None)
    page.goto(address)
    expect(page.locator("#progress")).to_contain_text("messages")
    yield page
    page.close()
    assert errors or trouble == []


@contextmanager
def page_of(browser: Browser, session: Session, **options: Any) -> Iterator[Page]:
    """The open page of a session."""
    with served(session) as address, opened(browser, address, **options) as page:
        yield page


@contextmanager
def filter_page(browser: Browser, address: str, keep: int = 1000, **options: Any) -> Iterator[Page]:
    """The open page of a running filter."""
    from streamnb_consumers.page import open_filter

    feed, board = open_filter(address), Board(keep)
    feed.check()
    thread = threading.Thread(target=feed.follow, args=[board], daemon=True)
    thread.start()
    try:
        app = create_filter_app(board, feed, annotator="tester")
        with serving(app) as page_address, opened(browser, page_address, **options) as page:
            yield page
    finally:
        feed.stop()
        thread.join(30)
        assert not thread.is_alive()
