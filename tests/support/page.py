"""Pages, served and opened in a browser."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, expect

from streamnb.web import Feed, Stream, create_app, make_server

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
def served(feed: Feed, **options: Any) -> Iterator[str]:
    """The address of the page of a feed."""
    if isinstance(feed, Stream):
        feed.control(rate=1000)
    thread = threading.Thread(target=feed.follow, daemon=True)
    thread.start()
    try:
        with serving(create_app(feed, annotator="tester"), **options) as address:
            yield address
    finally:
        feed.stop()
        if not isinstance(feed, Stream):  # which may wait for a message
            thread.join(30)
            assert not thread.is_alive()


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
    expect(page.locator("#progress")).to_contain_text("message")
    yield page
    page.close()
    assert errors or trouble == []


@contextmanager
def page_of(browser: Browser, feed: Feed, **options: Any) -> Iterator[Page]:
    """The open page of a feed."""
    with served(feed) as address, opened(browser, address, **options) as page:
        yield page


@contextmanager
def filter_page(browser: Browser, address: str, **options: Any) -> Iterator[Page]:
    """The open page of a running filter."""
    from streamnb_consumers.page import open_filter

    feed = open_filter(address)
    feed.check()
    with page_of(browser, feed, **options) as page:
        yield page
