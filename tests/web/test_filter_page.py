"""The page of a running filter in a browser: a listener as a process."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from support.filters import text
from support.listener import Listener, listening
from support.page import filter_page


def mail(label: str, number: int, generator: random.Random) -> bytes:
    return (
        f"From: {label.title()} <{label}@x.example>\r\nMessage-ID: <{number}@x.example>\r\n"
        f"Date: Wed, 25 Nov 2026 10:00:{number % 60:02} +0000\r\nSubject: About {number}\r\n\r\n"
        f"{text(label, generator)}\r\n"
    ).encode()


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    generator = random.Random(3)
    flags = ("--ready-after", "0", "--min-evidence", "0")  # decides from its first labels on
    with listening(tmp_path_factory.mktemp("state"), flags=flags) as running:
        for number in range(20):
            label = ("ham", "spam")[number % 2]
            raw = mail(label, number, generator)
            assert running.http("POST", "/classify", raw, "message/rfc822")[0] == 200
            if number < 10:
                path = f"/learn?label={label}"
                assert running.http("POST", path, raw, "message/rfc822")[0] == 200
        yield running


@contextmanager
def page_of(browser: Browser, listener: Listener, width: int = 1200) -> Iterator[Page]:
    with filter_page(browser, f"http://127.0.0.1:{listener.port}", width=width) as page:
        page.locator("#kind").select_option("")
        expect(page.locator("#messages li").first).to_be_visible()
        yield page


def exported(page: Page, subject: str) -> list[dict[str, Any]]:
    """The exported corrections of messages with this subject."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON lines").click()
    lines = Path(download.value.path()).read_text().splitlines()
    return [one for one in map(json.loads, lines) if subject in one.get("subject", "")]


def test_a_mail_is_shown_as_a_mail_and_corrected(browser: Browser, listener: Listener) -> None:
    before = listener.learned()
    with page_of(browser, listener) as page:
        page.locator("#text").fill("About 15")
        expect(page.locator("#messages li")).to_have_count(1)
        page.locator("#messages button").click()
        parts = page.locator(".mail div")
        expect(parts).to_have_text(
            [
                "FromSpam <spam@x.example>",
                "SubjectAbout 15",
                "DateWed, 25 Nov 2026 10:00:15 +0000",
            ]
        )
        page.locator("#annotator").fill("ann")
        page.locator("#annotator").press("Escape")
        page.keyboard.press("1")  # ham
        first = page.locator("#history tbody tr").first
        expect(first).to_contain_text("learned at the listener")
        expect(first).to_contain_text("ann, page")
        assert listener.learned() == before + 1
        (line,) = exported(page, "About 15")
        assert (line["label"], line["old_label"], line["annotator"]) == ("ham", None, "ann")
        page.keyboard.press("u")
        expect(page.locator("#history tbody tr").first).to_contain_text("unlearn")
        expect(page.locator("#history tbody tr").first).to_contain_text("ann, undo")
        expect(page.locator("#messages .truth")).to_have_text("no label")
        assert exported(page, "About 15") == []
        assert len(exported(page, "About")) == 10  # the labels of others
        expect(page.get_by_label("New label")).to_have_count(0)  # the filter has two labels


def test_questions_of_a_listener_come_first(browser: Browser, tmp_path: Path) -> None:
    texts = [
        f"{word} {word}s and more {word}" for word in ["cash", "noon", "report", "lunch", "prize"]
    ]
    flags = ("--ask-per-day", "1000", "--ready-after", "0")
    with listening(tmp_path, kind="sms", flags=flags) as listener:
        decisions = [
            listener.post("/classify", {"id": f"q{number}", "text": content, "sender": "ann"})
            for number, content in enumerate(texts)
        ]
        asked = [decision["id"] for decision in decisions if decision.get("ask")]
        n = len(asked)
        assert n >= 3
        with filter_page(browser, f"http://127.0.0.1:{listener.port}") as page:
            expect(page.locator("#kind")).to_have_value("questions")
            rows, heading = page.locator("#messages li"), page.locator("#opened h3")
            expect(rows).to_have_count(n)
            expect(heading).to_have_text(f"Message {asked[0]}")
            page.keyboard.press("s")
            expect(heading).to_have_text(f"Message {asked[1]}")
            expect(rows).to_have_count(n - 1)
            page.keyboard.press("u")
            expect(rows).to_have_count(n)
            for label in ("1", "2"):
                page.keyboard.press(label)
            expect(rows).to_have_count(n - 2)
            entries = page.locator("#history tbody tr")
            expect(entries.nth(1)).to_contain_text("learned at the listener")
            text = texts[int(asked[1].removeprefix("q"))]
            assert listener.post("/classify", {"text": text})["label"] == "ham"


def test_rows_stay_under_the_pointer_and_long_texts_say_so(
    browser: Browser, listener: Listener
) -> None:
    with page_of(browser, listener) as page:
        first = page.locator("#messages button").first
        first.hover()
        before, name = first.bounding_box(), first.get_attribute("data-id")
        messages = listener_messages(page)
        listener.post("/classify", {"id": "long", "text": "Subject: long\n\n" + "word " * 9000})
        expect(page.locator("#progress")).to_contain_text(f"{messages + 1} messages")
        time.sleep(1.0)  # the list is fetched after the progress
        assert page.locator(f"#messages [data-id='{name}']").bounding_box() == before
        page.mouse.move(0, 0)
        page.locator("#messages [data-id=long]").click()
        expect(page.locator("#opened")).to_contain_text("Only the beginning of the message")


def listener_messages(page: Page) -> int:
    return int(page.locator("#progress").inner_text().split()[0])


def test_decisions_are_searched(browser: Browser, listener: Listener) -> None:
    with page_of(browser, listener) as page:
        page.locator("#sender").fill("ham@")
        page.locator("#text").fill("About 1")
        expect(page.locator("#messages .text")).to_have_text(
            [f"About {number}" for number in (18, 16, 14, 12, 10)]
        )
        page.locator("#high").fill("1")
        expect(page.locator("#none")).to_have_text("No message matches.")
        page.locator("#high").fill("100")
        page.locator("#low").fill("50")
        page.locator("#label").select_option("ham")
        expect(page.locator("#messages li")).to_have_count(5)
        page.locator("#label").select_option("spam")
        expect(page.locator("#messages li")).to_have_count(0)


def test_unsure_decisions_are_found_and_are_not_wrong(browser: Browser, tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        for number, label in enumerate(("ham", "spam", "ham", "spam")):
            raw = mail(label, number, random.Random(number))
            listener.http("POST", "/classify", raw, "message/rfc822")
            if number < 3:
                listener.http("POST", f"/learn?label={label}", raw, "message/rfc822")
        with filter_page(browser, f"http://127.0.0.1:{listener.port}") as page:
            page.locator("#kind").select_option("wrong")
            expect(page.locator("#none")).to_have_text("No message matches.")
            page.locator("#kind").select_option("")
            page.locator("#label").select_option("unsure")
            expect(page.locator("#messages li")).to_have_count(4)
            expect(page.locator("#messages .answer").first).to_contain_text("unsure (")
            page.locator("#low").fill("50")
            expect(page.locator("#messages .answer").first).to_contain_text("unsure (spam)")
            page.keyboard.press("Escape")
            page.keyboard.press("q")
            expect(page.locator("#figures td").first).to_have_text("–")


def test_near_duplicates_are_corrected_together(browser: Browser, listener: Listener) -> None:
    for number in range(3):
        raw = (
            f"From: x@x.example\nSubject: cheap pills for you {number}\n\nbuy cheap pills now here"
        )
        body = {"id": f"d{number}", "base64": base64.b64encode(raw.encode()).decode()}
        listener.post("/classify", body)
    before = listener.learned()
    with page_of(browser, listener) as page:
        page.locator("#text").fill("cheap pills")
        expect(page.locator("#messages li")).to_have_count(3)
        page.locator("#messages button").first.click()
        page.get_by_role("button", name="all 3 are spam").click()
        expect(page.locator("#messages .truth")).to_have_text(["spam, learned"] * 3)
        assert listener.learned() == before + 3


def test_a_message_has_an_address(browser: Browser, listener: Listener) -> None:
    listener.post("/classify", {"id": "a/b ?#1", "text": "Subject: x\n\nunusual words"})
    with page_of(browser, listener) as page:
        page.locator("#text").fill("unusual words")
        expect(page.locator("#messages li")).to_have_count(1)
        page.locator("#messages button").click()
        address = page.evaluate("location.href")
        page.goto("about:blank")
        page.goto(address)
        expect(page.locator("#opened h3")).to_have_text("Message a/b ?#1")


def test_external_content_is_never_loaded(browser: Browser, listener: Listener) -> None:
    html = (
        "<p>Hello <b>you</b></p><img src='http://evil.example/x.png' onerror='window.hacked=1'>"
        "<link rel=stylesheet href='http://evil.example/x.css'><script>window.hacked=1</script>"
        "<iframe src='http://evil.example/'></iframe><a href='http://evil.example/a'>click</a>"
    )
    raw = f"From: x@x.example\nSubject: <img src=x>\nContent-Type: text/html\n\n{html}"
    body = {"id": "html", "base64": base64.b64encode(raw.encode()).decode()}
    listener.post("/classify", body)
    with page_of(browser, listener) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.locator("#text").fill("<img src=x>")
        expect(page.locator("#messages li")).to_have_count(1)
        page.locator("#messages button").click()
        expect(page.locator(".body")).to_contain_text("Hello you")
        expect(page.locator(".body")).to_contain_text("click")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main :is(img, script, iframe, link)").count() == 0
        assert not [url for url in asked if "evil" in url]


@pytest.mark.parametrize("width", [1200, 375])
def test_axe_reports_nothing(browser: Browser, listener: Listener, width: int) -> None:
    with page_of(browser, listener, width) as page:
        page.locator("#messages button").first.click()
        expect(page.locator("#opened h3")).to_be_visible()
        if width == 375:
            expect(page.locator("#opened h3")).to_be_in_viewport()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_filter_that_is_away_is_reported(browser: Browser, tmp_path: Path) -> None:
    with listening(tmp_path) as listener:
        address = f"http://127.0.0.1:{listener.port}"
        with filter_page(browser, address, errors=True) as page:
            listener.post("/classify", {"id": "1", "text": "Subject: x\n\nhi"})
            page.locator("#kind").select_option("")
            expect(page.locator("#messages li")).to_have_count(1)
            page.locator("#messages button").click()
            listener.kill()
            expect(page.locator(".trouble")).to_contain_text("does not answer")
            page.keyboard.press("1")
            expect(page.locator("#trouble")).to_contain_text("does not answer")
            page.wait_for_timeout(1_500)  # the page is read again; the error of the label stays
            expect(page.locator("#trouble")).to_be_visible()
            listener.start()
            page.keyboard.press("2")
            expect(page.locator("#history tbody tr").first).to_contain_text("learned")
            expect(page.locator(".trouble")).to_have_count(0)


def test_a_filter_of_several_labels_gets_sets_of_labels(browser: Browser, tmp_path: Path) -> None:
    flags = ("--model", "MultiLabelNB()", "--labels", "", "--explain-top-k", "3")
    with listening(tmp_path, "sms", flags) as listener:
        for number in range(8):
            grain = {"id": f"a{number}", "text": f"wheat and corn prices {number}"}
            none = {"id": f"b{number}", "text": "see you at noon", "labels": []}
            listener.post("/learn", {**grain, "labels": ["wheat", "corn"]})
            listener.post("/learn", none)
        listener.post("/classify", {"id": "x", "text": "wheat harvest of the year"})
        with filter_page(browser, f"http://127.0.0.1:{listener.port}") as page:
            expect(page.locator("#kind")).to_have_value("")
            entry, opened = page.locator("#messages [data-id=x]"), page.locator("#opened")
            expect(entry).to_contain_text("not labelled")
            entry.click()
            expect(opened).to_contain_text("Decision: corn")
            expect(opened.locator("table").first).to_contain_text("wheat")
            page.keyboard.press("1")  # corn is dropped
            page.get_by_label("New label").fill("weather")
            page.get_by_label("New label").press("Enter")
            page.keyboard.press("Escape")
            page.keyboard.press("g")
            first = page.locator("#history tbody tr").first
            expect(first).to_contain_text("weather, wheat")
            expect(first).to_contain_text("learned at the listener")
            expect(entry).to_contain_text("weather, wheat, learned")
            found = listener.post("/classify", {"id": "y", "text": "wheat harvest of the year"})
            assert "weather" in found["probabilities"]
            page.keyboard.press("u")
            expect(first).to_contain_text("unlearn")
            expect(entry).to_contain_text("not labelled")
            again = listener.post("/classify", {"id": "z", "text": "wheat harvest of the year"})
            assert "weather" not in again["probabilities"]
            assert len(exported(page, "")) == 16
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
