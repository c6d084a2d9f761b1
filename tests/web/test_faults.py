"""Faults that the page had once, each in a real browser or as a process."""

from __future__ import annotations

import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from streamnb import MNB, OnlineNB
from streamnb.datasets import Message
from streamnb.web import Stream
from support.page import page_of, served

STREAM = [
    Message("1", "spam", "win cash now"),
    Message("2", "ham", "see you at noon"),
    Message("3", "spam", "cash at noon"),
    Message("4", "ham", "lunch at noon"),
]


def stream_of(*messages: Message, model: MNB | OnlineNB | None = None) -> Stream:
    stream = Stream({"model": model or MNB()}, messages or STREAM)
    while stream.step():
        pass
    return stream


def test_a_label_after_a_fast_move_is_of_the_new_message(browser: Browser) -> None:
    stream = stream_of()
    with page_of(browser, stream) as page:
        page.route("**/api/message?*", lambda route: (time.sleep(0.3), route.continue_()))
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("1")  # spam
        expect(page.locator("#message .note")).to_contain_text("learned as spam")
        assert [one["label"] for one in stream.board.search()[::-1]] == [
            *("spam", "ham", "spam", "ham"),
        ]
        expect(page.locator("#opened h3")).to_have_text("Message 3")


def test_a_new_class_is_added_and_moves_no_key(browser: Browser) -> None:
    """A new model on a stream without labels has no class yet."""
    stream = stream_of(Message("1", "", "win cash"), Message("2", "", "see you"))
    with page_of(browser, stream) as page:
        page.keyboard.press("j")
        for label in ("spam", "ham"):
            page.get_by_label("New label").fill(label)
            page.get_by_label("New label").press("Enter")
            expect(page.locator(".labels [aria-pressed=true]")).to_contain_text(label)
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        expect(page.locator(".labels [aria-pressed=true]")).to_contain_text("spam")
        assert stream.board.state()["labels"] == ["spam", "ham"]


def test_the_focus_stays_after_a_label(browser: Browser) -> None:
    with page_of(browser, stream_of()) as page:
        page.keyboard.press("j")
        ham = page.locator(".labels").get_by_role("button", name="ham", exact=True)
        ham.focus()
        page.keyboard.press("Enter")
        expect(page.locator("#message .note")).to_contain_text("learned as ham")
        expect(ham).to_be_focused()


def test_rows_stay_under_the_pointer(browser: Browser) -> None:
    stream = Stream({"model": MNB()}, STREAM)
    stream.step()
    with page_of(browser, stream) as page:
        first = page.locator("#messages button").first
        first.hover()
        before = first.bounding_box()
        stream.step()
        expect(page.locator(".newer")).to_contain_text("1 newer")
        assert page.locator("#messages button[data-id='1']").bounding_box() == before
        page.mouse.move(0, 0)
        expect(page.locator("#messages li")).to_have_count(2)


def test_another_tab_leaves_no_stale_rows(browser: Browser) -> None:
    stream = stream_of()
    with page_of(browser, stream) as page:
        page.locator("#messages button[data-id='2']").click()
        stream.send([(stream.board.items(["2"])[0], "spam")], "")  # as another tab does
        row = page.locator("#messages button[data-id='2']")
        expect(row).to_contain_text("spam, corrected")
        expect(page.locator(".labels [aria-pressed=true]")).to_contain_text("spam")


def test_a_restarted_server_leaves_no_stale_rows(browser: Browser) -> None:
    page = browser.new_page()
    with served(stream_of()) as address:
        page.goto(address)
        expect(page.locator("#messages li")).to_have_count(4)
    again = stream_of(Message("1", "a", "one"), Message("2", "b", "two"))
    with served(again, port=int(address.rsplit(":", 1)[1].strip("/"))):
        expect(page.locator("#messages li")).to_have_count(2, timeout=20_000)
        # The page was loaded again, so its requests have the token of the new server.
        page.locator("#messages button").first.click()
        page.keyboard.press("1")
        expect(page.locator("#message .note")).to_contain_text("learned as a")
        page.close()


def test_words_are_coloured_by_contributions_that_add_up(browser: Browser) -> None:
    stream = stream_of(model=OnlineNB())
    with page_of(browser, stream) as page:
        page.locator("#messages button[data-id='3']").click()
        expect(page.locator("#opened mark")).to_have_count(3)
        titles = [mark.get_attribute("title") for mark in page.locator("#opened mark").all()]
        words = sum(float(title.split()[0].replace("−", "-")) for title in titles if title)
        look = stream.inspect(stream.board.items(["3"])[0])["looks"]["model"]
        assert words == pytest.approx(look["lead"] - look["prior"] - look["rest"], abs=0.02)
        compared = page.locator("#opened table").first
        expect(compared.locator("thead th")).to_have_text(["model", "at arrival", "now"])
        expect(compared.locator("tbody tr").first).to_contain_text("decision")


def test_a_long_text_says_that_it_is_cut(browser: Browser) -> None:
    stream = stream_of(*STREAM, Message("5", "spam", "cash " * 5000))
    with page_of(browser, stream) as page:
        page.locator("#messages button[data-id='5']").click()
        expect(page.locator("#opened .hidden")).to_contain_text("5,000 more characters")
        page.keyboard.press("/")
        page.locator("#draft").fill("cash " * 4400)
        expect(page.locator("#tried .hidden")).to_contain_text("2,000 more characters")


def test_the_scale_shows_each_model(browser: Browser) -> None:
    """The curve of a model that is wrong is drawn beside that of one that is right."""
    good, bad = OnlineNB(), MNB()
    messages = [
        Message(str(n), ("spam", "ham")[n % 2], ("win cash", "see you")[n % 2]) for n in range(200)
    ]
    for one in messages * 3:
        bad.learn_one(one.text, {"spam": "ham", "ham": "spam"}[one.label])
    stream = Stream({"bad": bad, "good": good}, messages)
    while stream.step():
        pass
    worst = min(accuracy for _, accuracy, _ in stream.board.state()["models"]["bad"]["curve"])
    assert worst < 0.3
    with page_of(browser, stream) as page:
        page.get_by_role("link", name="Quality").click()
        chart = page.locator("#curve .chart")
        expect(chart).to_have_attribute("aria-label", re.compile("drawn from"))
        label = chart.get_attribute("aria-label")
        assert label is not None
        low = float(label.rpartition("drawn from ")[2].partition(" %")[0]) / 100
        assert low <= worst


def test_the_threshold_decides_for_any_class(browser: Browser) -> None:
    with page_of(browser, stream_of()) as page:
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#positive")).to_have_value("spam")
        page.locator("#positive").select_option("ham")
        page.locator("#cut").fill("1")
        # From a probability of 0.01 on, the one spam message with a decision is decided ham.
        expect(page.locator("#costs tbody td").first).to_have_text("1")


def test_corrections_change_the_figures(browser: Browser) -> None:
    with page_of(browser, stream_of()) as page:
        page.keyboard.press("q")
        expect(page.locator("#figures td").first).to_have_text("0.00 %")
        page.keyboard.press("r")
        page.locator("#messages button[data-id='2']").click()
        page.keyboard.press("1")
        page.keyboard.press("q")
        expect(page.locator("#figures td").first).to_have_text("33.33 %")


def test_a_broken_stream_is_reported(browser: Browser) -> None:
    def broken() -> Iterator[Message]:
        yield STREAM[0]
        raise ValueError("the disk is damaged")

    with page_of(browser, Stream({"model": MNB()}, broken())) as page:
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#progress")).to_have_text(
            "1 message, the stream stopped: the disk is damaged"
        )
        expect(page.get_by_role("button", name="Play")).to_be_disabled()


def test_a_waiting_stream_answers_while_next_is_pressed(browser: Browser) -> None:
    more = threading.Event()

    def slow() -> Iterator[Message]:
        yield STREAM[0]
        more.wait()
        yield STREAM[1]

    with page_of(browser, Stream({"model": MNB()}, slow())) as page:
        for _ in range(60):
            page.keyboard.press("n")
        page.keyboard.press("/")
        page.locator("#draft").fill("win")
        expect(page.locator("#tried")).to_contain_text("only spam so far")
        more.set()
        expect(page.locator("#progress")).to_contain_text("2 messages")


def test_a_lone_surrogate_is_shown(browser: Browser) -> None:
    with page_of(browser, stream_of(Message("1", "spam", "win \ud800 cash"), STREAM[1])) as page:
        expect(page.locator("#messages li")).to_have_count(2)
        page.locator("#messages button[data-id='1']").click()
        expect(page.locator("#opened mark")).to_have_count(3)


def test_bidi_controls_do_not_affect_their_neighbours(browser: Browser) -> None:
    messages = [
        Message("1", "spam", "\u202egnp.exe win"),
        Message("2", "spam", "\u202egnp.exe win"),
    ]
    with page_of(browser, stream_of(*messages, STREAM[1])) as page:
        page.locator("#messages button[data-id='2']").click()
        marks = page.locator("#opened mark")
        if marks.count() == 0:
            expect(marks.first).to_be_visible()
        left = [marks.nth(n).bounding_box() for n in range(2)]
        assert left[0] is not None
        assert left[1] is not None
        assert left[0]["x"] < left[1]["x"]
        # In "TEXT (spam, 100 % similar)", the part after the text is read from left to right.
        places = page.locator("#opened .like button").first.evaluate(
            """(button) => {
                const range = document.createRange(), nodes = [...button.childNodes];
                const at = (text) => {
                  const node = nodes.find((each) => each.data?.includes(text));
                  range.setStart(node, node.data.indexOf(text));
                  range.setEnd(node, node.data.indexOf(text) + 1);
                  return range.getBoundingClientRect().x;
                };
                return [at("("), at("similar")];
            }"""
        )
        assert places[0] < places[1]


def test_the_opened_message_is_on_a_small_screen(browser: Browser) -> None:
    messages = [Message(str(n), "ham", f"see you {n}") for n in range(40)]
    with page_of(browser, stream_of(*STREAM, *messages), width=375) as page:
        page.locator("#messages button").first.click()
        heading = page.locator("#opened h3")
        expect(heading).to_have_text("Message 39")
        expect(heading).to_be_in_viewport()


@pytest.mark.parametrize("dark", [False, True])
def test_edges_of_controls_have_contrast(browser: Browser, dark: bool) -> None:
    """WCAG 1.4.11 asks for 3:1 between the edge of a control and its surroundings."""
    views = {"r": "#rate, #step, #kind", "q": "#cost", "w": "#draft"}
    with page_of(browser, stream_of(), dark=dark) as page:
        ratios = []
        for key, controls in views.items():
            page.keyboard.press(key)
            expect(page.locator(controls).first).to_be_visible()
            ratios += page.evaluate(CONTRASTS, controls)
        assert len(ratios) == 5
        assert min(ratios) >= 3.0


CONTRASTS = """(selector) => {
    const bright = (colour) => {
      const parts = colour.match(/[0-9.]+/g).slice(0, 3).map((each) => each / 255);
      const [r, g, b] = parts.map((c) => Math.pow((c + 0.055) / 1.055, 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    const behind = (element) => {
      const colour = getComputedStyle(element).backgroundColor;
      return colour === "rgba(0, 0, 0, 0)" ? behind(element.parentElement) : colour;
    };
    const controls = document.querySelectorAll(selector);
    return [...controls].map((each) => {
      const pair = [getComputedStyle(each).borderTopColor, behind(each.parentElement)];
      const [low, high] = pair.map(bright).sort((a, b) => a - b);
      return high / low;
    });
}"""


def test_idle_connections_are_closed() -> None:
    with served(stream_of(), idle_seconds=0.5) as address:
        where = ("127.0.0.1", int(address.rsplit(":", 1)[1].strip("/")))
        for sent in (
            b"",
            b"GET / HT",
            b"POST /api/try HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n",
        ):
            with socket.create_connection(where, 10) as client:
                client.sendall(sent)
                begun = time.monotonic()
                try:
                    answer = client.recv(1000)
                except ConnectionResetError:
                    answer = b""
                assert answer.startswith((b"HTTP/1.1 403", b"")), answer
                assert time.monotonic() - begun < 5


def test_vendored_libraries_have_their_checksums_and_licences() -> None:
    folder = Path(__file__).parents[2] / "streamnb" / "web" / "static" / "vendor"
    listed = dict(
        reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    files = {path.name: path for path in folder.iterdir() if path.name != "SHA256SUMS"}
    assert listed.keys() == files.keys()
    for name, path in files.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name]
    assert {"LICENSE-htm", "LICENSE-preact", "LICENSE-uplot"} < files.keys()
