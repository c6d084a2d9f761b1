"""The page in a real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from streamnb import MNB, OnlineNB
from streamnb.datasets import Message, SyntheticSMS
from streamnb.web import Stream
from support.page import page_of

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg onload='window.hacked = 1'>",
    '"><script>window.hacked = 1</script>',
    "' onmouseover='window.hacked = 1",
    "javascript:window.hacked=1",
    "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
    "<a href='javascript:window.hacked=1'>win</a>",
    "</button></li></ol><h1>owned</h1>",
    "{{csrf}} ${window.hacked = 1} `window.hacked = 1`",
    "<style>body { display: none }</style>",
    "<base href='http://evil.example/'>",
    "<form action='http://evil.example/'><input name=x></form>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.hacked=1>",
    "\u202egnp.exe \u0000 \ufeff \u2028 \u2029",
    "<" * 500,
    "W" * 2000,
    "\U0001f600" * 50,
    "&lt;script&gt;window.hacked = 1&lt;/script&gt;",
    "__proto__ constructor toString hasOwnProperty",
]


def played(n_messages: int = 300) -> Stream:
    messages = SyntheticSMS(n_messages).messages()
    stream = Stream({"OnlineNB": OnlineNB(), "MNB": MNB()}, messages)
    for _ in range(n_messages - 1):
        stream.step()
    return stream


def test_a_message_is_opened_understood_and_corrected(browser: Browser) -> None:
    messages = [
        Message("1", "spam", "win cash now"),
        Message("2", "ham", "see you at noon"),
        Message("3", "spam", "cash at noon"),
    ]
    stream = Stream({"MNB": MNB()}, messages)
    with page_of(browser, stream) as page:
        for number in (1, 2, 3):
            page.get_by_role("button", name="Next message").click()
            expect(page.locator("#messages li")).to_have_count(number)
        page.locator("#messages button[data-id='3']").click()
        opened = page.locator("#opened")
        expect(opened.get_by_role("heading", name="Message 3")).to_be_visible()
        expect(opened.locator("mark")).to_have_text(["cash", "at", "noon"])
        expect(opened.get_by_role("button", name="spam", exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
        opened.get_by_role("button", name="ham", exact=True).click()
        expect(page.locator("#message .note")).to_contain_text("learned as ham")
        expect(opened.locator(".decision")).to_have_text("ham")
        expect(page.locator("#messages button[data-id='3']")).to_contain_text("ham, corrected")
        # The same by keys: class 1 is spam, the first label of the stream; 0 takes the label away.
        page.keyboard.press("1")
        expect(page.locator("#message .note")).to_contain_text("learned as spam")
        page.keyboard.press("0")
        expect(page.locator("#message .note")).to_contain_text("unlearned")
        page.locator("#kind").select_option("unlabelled")
        expect(page.locator("#messages li")).to_have_count(1)


def test_the_decision_follows_what_is_typed(browser: Browser) -> None:
    with page_of(browser, played()) as page:
        page.keyboard.press("/")
        draft = page.locator("#draft")
        expect(draft).to_be_focused()
        draft.press_sequentially("are you home for lunch")
        expect(page.locator("#tried .decision")).to_have_text(["ham", "ham"])
        draft.fill("WIN a free prize: call now to claim your cash reward")
        expect(page.locator("#tried .decision").first).to_have_text("spam")
        page.locator("#tried summary").first.click()
        expect(page.locator("#tried table").first).to_contain_text("corrections")
        draft.fill("")
        expect(page.locator("#tried")).to_be_empty()


def test_the_stream_plays_and_the_threshold_shows_its_costs(browser: Browser) -> None:
    with page_of(browser, played()) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#progress")).to_contain_text("300 messages, the stream has ended")
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#curve canvas")).to_be_visible()
        expect(page.locator("#confusion table")).to_have_count(2)
        expect(page.locator("#positive")).to_have_value("spam")
        lost = page.locator("#costs tbody tr").first.locator("td").first
        before = int(lost.inner_text())
        page.locator("#cut").fill("1")
        expect(page.locator("#cut-value")).to_have_text("0.01")
        assert int(lost.inner_text()) >= before
        page.get_by_role("link", name="Words").click()
        page.get_by_role("button", name="Show tokens of the last 200 messages").click()
        expect(page.locator("#tokens table").first).to_contain_text("OnlineNB: for ham")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()


def test_hostile_messages_are_text(browser: Browser) -> None:
    messages = [
        Message(
            str(number),
            f"label {text[:40]}" if number % 50 == 7 else ("spam", "ham")[number % 2],
            f"{text} {number}",
        )
        for number, text in enumerate(HOSTILE * 10)
    ]
    stream = Stream({"MNB": MNB()}, messages)
    while stream.step():
        pass
    assert len(messages) == 200
    with page_of(browser, stream) as page:
        expect(page.locator("#messages li")).to_have_count(200)
        for number in range(len(HOSTILE)):
            page.locator(f"#messages button[data-id='{number}']").click()
            expect(page.locator("#opened h3")).to_have_text(f"Message {number}")
        page.get_by_role("link", name="Words").click()
        page.get_by_role("button", name="Show tokens of the last 200 messages").click()
        expect(page.locator("#tokens table").first).to_be_visible()
        for text in HOSTILE:
            page.locator("#draft").fill(text)
        expect(page.locator("#tried mark").first).to_be_visible()
        assert page.evaluate("window.hacked") is None
        strange = (
            "main :is(script, img, iframe, style, base, form:not(.labels form), math, h1, object, "
            "embed, a:not([href^='#'], [href^='/api']))"
        )
        for view in ("Words", "Quality", "Review"):
            page.get_by_role("link", name=view).click()
            assert page.locator(strange).count() == 0
            assert page.locator("html script").count() == 2
        expect(page.locator("#messages button[data-id='0'] .text")).to_have_text(
            "<script>window.hacked = 1</script> 0"
        )


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (1200, True), (380, False)])
def test_it_can_be_used_by_everybody(browser: Browser, width: int, dark: bool) -> None:
    """axe finds nothing, and nothing is wider than the window."""
    with page_of(browser, played(), width=width, dark=dark) as page:
        page.locator("#messages button").first.click()
        expect(page.locator("#opened h3")).to_be_visible()
        for view in ("Review", "Quality", "Words"):
            page.get_by_role("link", name=view).click()
            if view == "Words":
                page.locator("#draft").fill("win a prize now")
                expect(page.locator("#tried .decision").first).to_be_visible()
                page.get_by_role("button", name="Show tokens of the last 200 messages").click()
                expect(page.locator("#tokens table").first).to_be_visible()
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
