"""Time axis, readiness and agreement between annotators on the page."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from sklearn.metrics import cohen_kappa_score

from streamnb import MNB, OnlineNB
from streamnb.datasets import Message, SyntheticSMS
from streamnb.web import Stream
from streamnb.web.agreement import agreement, contested, opinions
from streamnb.web.board import Board
from streamnb.web.measures import Volume
from support.page import page_of

BEGIN = 1_700_000_000  # seconds since 1970


def timed(n: int, seconds: int = 60) -> list[Message]:
    """Messages that arrive with equal distances in time, and twice as dense from the middle on."""
    return [
        one._replace(
            time=datetime.fromtimestamp(
                BEGIN + seconds * (number if number < n // 2 else (number + n // 2) / 2), UTC
            ).isoformat()
        )
        for number, one in enumerate(SyntheticSMS(n, seed=3).messages())
    ]


def stream_of(messages: list[Message], **models: Any) -> Stream:
    stream = Stream(models or {"OnlineNB": OnlineNB()}, messages)
    while stream.step():
        pass
    return stream


def give(stream: Stream, name: str, label: str | None, annotator: str) -> None:
    stream.send([(stream.board.items([name])[0], label)], annotator)


def test_volume_counts_each_message_in_bounded_steps() -> None:
    generator = random.Random(1)
    volume = Volume()
    times = [generator.randrange(10**9) + 10**12 for _ in range(3000)]
    for number, time in enumerate(times, 1):
        volume.add(time)
        found = volume.summary()
        assert len(found["steps"]) <= 200
        assert sum(count for _, count in found["steps"]) == number
    step = found["step"]
    assert found["steps"] == sorted(
        (begin, sum(begin <= time < begin + step for time in times))
        for begin in {time // step * step for time in times}
    )


def test_the_curve_has_the_times_of_its_messages() -> None:
    messages = timed(60)
    board = stream_of(messages).board
    state = board.state()
    times = [BEGIN * 1000 + 60_000 * n for n in range(30)]
    times += [BEGIN * 1000 + 30_000 * n + 900_000 for n in range(30, 60)]
    assert [item["time"] for item in board.search()[::-1]] == times
    curve = state["models"]["OnlineNB"]["curve"]
    assert len(curve) > 3
    assert all(time == times[number - 1] for number, _, time in curve)
    assert sum(count for _, count in state["volume"]["steps"]) == 60


def test_quality_shows_accuracy_and_volume_along_time(browser: Browser) -> None:
    stream = stream_of(timed(400))
    with page_of(browser, stream) as page:
        page.evaluate(
            """() => {
                const { uPlot } = window;
                const watched = function (options, data, place) {
                    if (place.closest("#curve")) window.drawn = { data, scales: options.series };
                    return new uPlot(options, data, place);
                };
                window.uPlot = Object.assign(watched, uPlot);
            }"""
        )
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#curve .chart")).to_have_attribute("aria-label", text_of(stream))
        expect(page.locator("#curve canvas")).to_be_visible()
        times, accuracy, counts = page.evaluate("window.drawn.data")
    assert times == sorted(times)
    state = stream.board.state()
    drawn = {time: count for time, count in zip(times, counts, strict=True) if count is not None}
    assert drawn == {begin / 1000: count for begin, count in state["volume"]["steps"]}
    curve = state["models"]["OnlineNB"]["curve"]
    drawn = {time: share for time, share in zip(times, accuracy, strict=True) if share is not None}
    assert drawn == {time / 1000: share for _, share, time in curve}


def text_of(stream: Stream) -> re.Pattern[str]:
    """The text that the chart has for readers of the screen."""
    state = stream.board.state()
    most = max(count for _, count in state["volume"]["steps"])
    return re.compile(rf"500 messages along time: OnlineNB .*volume: at most {most} messages in")


def test_messages_without_times_are_drawn_by_number(browser: Browser) -> None:
    with page_of(browser, stream_of(list(SyntheticSMS(50).messages()))) as page:
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#curve .u-legend")).to_contain_text("message")
        expect(page.locator("#curve .u-legend")).not_to_contain_text("messages in")


def test_each_label_has_its_messages_in_each_model(browser: Browser) -> None:
    messages = [Message(f"{n}", "spam" if n < 12 else "ham", f"w{n} x y") for n in range(16)]
    fresh = [*messages, Message("a", "", "x y"), Message("b", "", "x z")]
    with page_of(browser, stream_of(fresh, MNB=MNB(), OnlineNB=OnlineNB())) as page:
        page.get_by_role("link", name="Quality").click()
        counts = page.locator(".counts tbody tr")
        expect(counts.nth(0)).to_have_text("spam121212")
        expect(counts.nth(1)).to_have_text("ham444")
        expect(page.locator(".ready").first).to_have_text(
            "MNB is not ready: ham has 4 of 10 messages."
        )


def test_short_labels_stay_in_one_line(browser: Browser) -> None:
    stream = stream_of(list(SyntheticSMS(300).messages()), MNB=MNB(), OnlineNB=OnlineNB())
    with page_of(browser, stream) as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#confusion tbody th").first).to_be_visible()
        heights = page.locator("#confusion tbody tr").evaluate_all(
            "rows => rows.map((row) => row.getBoundingClientRect().height)"
        )
    assert len(heights) == 4
    assert max(heights) < 1.5 * min(heights), heights


def entry(annotator: str, label: str | None, source: str = "page", status: str = "sent") -> Any:
    return {"id": "1", "annotator": annotator, "label": label, "source": source, "status": status}


@pytest.mark.parametrize(
    ("history", "wanted"),
    [
        ([entry("ann", "a"), entry("ben", "b")], {"ann": "a", "ben": "b"}),
        ([entry("ann", "a"), entry("ann", "b")], {"ann": "b"}),  # the last one counts
        ([entry("ann", "a"), entry("ann", "b"), entry("ann", "a", "undo")], {"ann": "a"}),
        ([entry("ann", "a"), entry("ann", "z", "undo")], {}),
        ([entry("ann", "a"), entry("ben", "b"), entry("ben", "a", "undo")], {"ann": "a"}),
        ([entry("ann", "z", "undo")], {}),
        ([entry("ann", "a"), entry("ben", "b"), entry("ben", "a")], {"ann": "a", "ben": "a"}),
        ([entry("ann", "a"), entry("ann", None)], {}),
        ([entry("ann", "a", status="refused: no")], {}),
        ([entry("", "a")], {}),
    ],
)
def test_the_last_label_of_each_annotator_counts(history: list[Any], wanted: object) -> None:
    assert opinions(history) == ({"1": wanted} if wanted else {})


def test_kappa_is_that_of_scikit_learn() -> None:
    generator = random.Random(2)
    given = {
        f"{n}": {
            who: generator.choice("aabc") if generator.random() < 0.5 else "c"
            for who in ("ann", "ben", "cid")
            if generator.random() < 0.8
        }
        for n in range(200)
    }
    found = agreement(given)
    assert [pair["annotators"] for pair in found] == sorted(
        [("ann", "ben"), ("ann", "cid"), ("ben", "cid")],
        key=lambda pair: -sum(set(pair) <= labels.keys() for labels in given.values()),
    )
    for pair in found:
        one, other = pair["annotators"]
        both = [labels for labels in given.values() if {one, other} <= labels.keys()]
        sides = [labels[one] for labels in both], [labels[other] for labels in both]
        assert pair["messages"] == len(both)
        assert pair["same"] == sum(map(str.__eq__, *sides)) / len(both)
        assert pair["kappa"] == pytest.approx(cohen_kappa_score(*sides), abs=1e-12)
    assert agreement({"1": {"ann": "a", "ben": "a"}})[0]["kappa"] is None


def test_annotators_agree_after_a_refused_label_is_left_out() -> None:
    board = Board()
    board.message("1", {"text": "win cash"})
    board.correct("1", "spam", 1, annotator="ann")
    board.learn("1", "spam")
    board.correct("1", "eggs", 2, annotator="ben")
    assert board.state()["contested"] == 1
    board.refuse(2, "unknown label")
    assert board.state()["contested"] == 0
    assert board.state()["agreement"] == []


def test_disagreements_of_annotators_are_counted_and_listed(browser: Browser) -> None:
    stream = stream_of([Message(f"{n}", "", f"w{n} x y") for n in range(6)])
    with page_of(browser, stream) as page:
        for n in range(6):
            give(stream, f"{n}", "spam", "ann")
        page.get_by_role("link", name="Quality").click()
        expect(page.locator(".counts")).to_contain_text(
            "No message was labelled by two annotators."
        )
        page.get_by_role("link", name="Review").click()
        page.locator("#annotator").fill("ben")
        page.locator("#annotator").press("Escape")
        for n, key in enumerate("11a"):
            page.locator(f"#messages [data-id='{n}']").click()
            # The keys are for the labels that the page has read.
            labels = page.get_by_role("group", name="Label")
            expect(labels.get_by_role("button", name="spam")).to_be_visible()
            if key == "a":
                page.get_by_label("New label").fill("eggs")
                page.get_by_label("New label").press("Enter")
            else:
                page.keyboard.press(key)
            expect(page.locator("#message .note")).to_contain_text(f"Message {n}: learned")
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#agreement tbody tr")).to_have_text("ann, ben366.7 %0.00")
        page.get_by_role("link", name="Show 1 message with different labels").click()
        expect(page.locator("#messages li")).to_have_count(1)
        expect(page.locator("#kind")).to_have_value("contested")
        page.locator("#messages [data-id='2']").click()
        page.keyboard.press("1")  # ben has seen that ann is right
        page.locator("h1").hover()  # the list stands still while the pointer is on it
        expect(page.locator("#messages li")).to_have_count(0)
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#agreement tbody tr")).to_have_text("ann, ben3100.0 %–")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#agreement tbody tr")).to_have_text("ann, ben366.7 %0.00")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#agreement tbody tr")).to_have_text("ann, ben2100.0 %–")
    assert contested(stream.board._present_opinions()) == frozenset()
