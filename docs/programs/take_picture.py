"""Take a screenshot of each view of the web page (`make picture`), on the synthetic stream."""

from __future__ import annotations

import shutil
import socket
import sys
import threading
from pathlib import Path

from playwright.sync_api import sync_playwright

from streamnb import MNB, OnlineNB
from streamnb.datasets import SyntheticSMS
from streamnb.web import Stream, create_app, make_server

DOCS = Path(__file__).resolve().parents[1]


def main() -> int:
    """Serve the page, open a spam message, and save the screenshots."""
    path = shutil.which("chromium")
    if path is None:
        print("chromium is not on the path: run apt-get install chromium", file=sys.stderr)
        return 1
    stream = Stream({"OnlineNB": OnlineNB(), "MNB": MNB()}, SyntheticSMS(3000, seed=7).messages())
    for _ in range(2500):
        stream.step()
    server = make_server(create_app(stream))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light")
        page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        page.locator("#messages li").first.wait_for()
        spam = next(one for one in stream.board.search() if one["label"] == "spam")
        page.locator(f"#messages button[data-id='{spam['id']}']").click()
        page.locator("#opened mark").first.wait_for()
        page.screenshot(path=DOCS / "serve.png")
        page.get_by_role("link", name="Quality").click()
        page.locator("#reliability canvas").wait_for()
        page.screenshot(path=DOCS / "serve-quality.png")
        page.get_by_role("link", name="Words").click()
        page.get_by_role("button", name="Show tokens").click()
        page.locator("#tokens table").first.wait_for()
        page.locator("#draft").fill("WIN a free prize: call me after lunch")
        page.locator("#tried mark").first.wait_for()
        page.screenshot(path=DOCS / "serve-words.png")
        browser.close()
    server.should_exit = True
    thread.join(10)
    print(f"written: {DOCS}/serve.png, serve-quality.png and serve-words.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
