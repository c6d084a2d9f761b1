"""The page's server: what it answers, and whom."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamnb import MNB
from streamnb.datasets import Message
from streamnb.web import Stream, create_app
from streamnb.web.security import CSRF_HEADER

STREAM = [Message("1", "spam", "win <b>cash</b> now"), Message("2", "ham", "see you at noon")]


def client_of(token: str | None = None, base: str = "http://127.0.0.1:8765") -> TestClient:
    return client_on(Stream({"MNB": MNB()}, STREAM), token, base)


def client_on(
    stream: Stream, token: str | None = None, base: str = "http://127.0.0.1:8765"
) -> TestClient:
    threading.Thread(target=stream.follow, daemon=True).start()
    return TestClient(create_app(stream, token), base_url=base)


def csrf_of(client: TestClient) -> dict[str, str]:
    found = re.search(r'name="csrf" content="([^"]+)"', client.get("/").text)
    assert found is not None
    return {CSRF_HEADER: found[1]}


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def post(client: TestClient, path: str, body: Any) -> Any:
    return client.post(path, json=body, headers=csrf_of(client))


def test_the_stream_goes_on_by_steps_and_is_corrected() -> None:
    client = client_of()
    assert client.get("/api/state").json()["messages"] == 0
    for number in (1, 2):
        assert post(client, "/api/stream", {"action": "step"}).status_code == 200
        wait(lambda number=number: client.get("/api/state").json()["messages"] == number)
    listed = client.get("/api/messages").json()["messages"]
    assert [one["label"] for one in listed] == ["ham", "spam"]
    opened = client.get("/api/message?id=1").json()
    assert opened["text"] == "win <b>cash</b> now"
    assert opened["looks"]["MNB"]["label"] == "spam"
    body = {"ids": ["1"], "label": " ham ", "annotator": "ann"}
    assert post(client, "/api/labels", body).status_code == 200
    changed = client.get("/api/messages?id=1").json()
    assert [(one["label"], one["annotator"]) for one in changed["corrections"]] == [("ham", "ann")]
    (one,) = [one for one in changed["messages"] if one["id"] == "1"]
    assert (one["given"], one["label"], one["revision"]) == ("spam", "ham", changed["revision"])
    assert post(client, "/api/try", {"text": "see"}).json()["looks"]["MNB"]["label"] == "ham"
    assert client.get("/api/tokens").status_code == 405  # other sites can send a GET request
    assert set(post(client, "/api/tokens", {}).json()) == {"MNB"}


def test_every_answer_has_the_headers_that_keep_strangers_out() -> None:
    client = client_of()
    for path in ("/", "/static/page.js", "/static/none", "/api/state", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    page = client.get("/").text
    assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|https?://", page)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8765", ""])
def test_another_name_of_this_machine_is_not_answered(host: str) -> None:
    """A site whose name was made to lead here (DNS rebinding) reads nothing."""
    assert client_of().get("/api/state", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8765", "[::1]"])
def test_this_machine_is_answered(host: str) -> None:
    assert client_of().get("/api/state", headers={"host": host}).status_code == 200


def test_nothing_is_redirected() -> None:
    client = client_of()
    for path in ("/api/state/", "/static/page.css/", "/nothing"):
        assert client.get(path, follow_redirects=False).status_code == 404


def test_a_request_of_another_site_changes_nothing() -> None:
    client = client_of()
    right = csrf_of(client)
    body = {"action": "step"}
    assert client.post("/api/stream", json=body).status_code == 403
    assert client.post("/api/stream", json=body, headers={CSRF_HEADER: "x"}).status_code == 403
    without = {"origin": "http://127.0.0.1:8765"}  # a page of this server of before
    assert client.post("/api/stream", json=body, headers=without).status_code == 403
    other = {**right, "origin": "http://evil.example"}
    assert client.post("/api/stream", json=body, headers=other).status_code == 403
    assert client.get("/api/state").json()["messages"] == 0
    own = {**right, "origin": "http://127.0.0.1:8765"}
    assert client.post("/api/stream", json=body, headers=own).status_code == 200


def test_elsewhere_it_takes_the_token_once_then_the_cookie() -> None:
    client = client_of("secret", "http://filter.example")
    for path in ("/", "/api/state", "/static/page.js", "/?token=wrong", "/?token="):
        assert client.get(path).status_code == 401
    first = client.get("/?token=secret", follow_redirects=False)
    assert first.status_code == 303
    assert first.headers["location"] == "/"
    cookie = first.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/api/state").status_code == 200


def test_two_pages_of_one_machine_have_their_own_cookies() -> None:
    """Cookies do not depend on the port."""
    first, second = (client_of(token, "http://filter.example") for token in ("one", "two"))
    cookies = [
        client.get(f"/?token={token}", follow_redirects=False).cookies
        for client, token in ((first, "one"), (second, "two"))
    ]
    for each in cookies:
        first.cookies.update(each)
        second.cookies.update(each)
    assert first.get("/api/state").status_code == second.get("/api/state").status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_picture_of_another_site_asks_nothing(site: str) -> None:
    client = client_of()
    for path in ("/api/state", "/api/message?id=1"):
        assert client.get(path, headers={"sec-fetch-site": site}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": site}).status_code == 200  # a link


def test_lone_surrogates_are_answered() -> None:
    client = client_of()
    text = b'{"text": "win \\ud800"}'
    answer = client.post("/api/try", content=text, headers=csrf_of(client))
    assert answer.status_code == 200
    label = b'{"ids": ["\\ud800"], "label": "\\ud800", "annotator": "\\ud800"}'
    answer = client.post("/api/labels", content=label, headers=csrf_of(client))
    assert answer.status_code == 400
    assert "is not kept" in answer.json()["error"]
    answer = client.post("/api/stream", content=b'{"action": "\\ud800"}', headers=csrf_of(client))
    assert answer.status_code == 400
    assert "it must be play" in answer.json()["error"]


def test_a_waiting_stream_blocks_no_request() -> None:
    """Each answer needs one of 40 threads."""
    more = threading.Event()

    def slow() -> Iterator[Message]:
        yield STREAM[0]
        more.wait()

    client = client_on(Stream({"MNB": MNB()}, slow()))
    for _ in range(60):
        assert post(client, "/api/stream", {"action": "step"}).status_code == 200
    wait(lambda: client.get("/api/state").json()["messages"] == 1)
    more.set()


@pytest.mark.parametrize(
    ("path", "body", "error"),
    [
        ("/api/stream", {"action": "dance"}, "it must be play, pause or step"),
        ("/api/stream", {"rate": "fast"}, "rate is 'fast'; it must be a number"),
        ("/api/stream", {"rate": -1}, "rate is -1.0"),
        ("/api/stream", [], "not a JSON object"),
        ("/api/try", {"text": 5}, "text is 5; it must be a string"),
        ("/api/try", {"text": "x" * 300_000}, "larger than 200,000 bytes"),
        (
            "/api/labels",
            {"ids": ["9"], "label": "ham", "annotator": ""},
            "message '9' is not kept",
        ),
        ("/api/labels", {"ids": "9", "label": "ham", "annotator": ""}, "ids must be a list"),
        (
            "/api/labels",
            {"ids": ["9"], "label": "x" * 101, "annotator": ""},
            "a label and an annotator may have 100 characters",
        ),
    ],
)
def test_bad_requests_are_reported(path: str, body: Any, error: str) -> None:
    answer = post(client_of(), path, body)
    assert answer.status_code == 400
    assert error in answer.json()["error"]


def test_what_is_no_json_is_told() -> None:
    client = client_of()
    for content in (b"", b"{", b"\xff", b"[" * 100_000):
        answer = client.post("/api/stream", content=content, headers=csrf_of(client))
        assert answer.status_code == 400
    assert client.get("/api/messages?low=x").status_code == 400
