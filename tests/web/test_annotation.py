"""Labels for many classes, by keyboard, in a browser; and their export, which `learn` reads."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.testclient import TestClient

from streamnb import MNB, OnlineNB, Tokenizer
from streamnb.cli import main
from streamnb.datasets import Message, SyntheticSMS
from streamnb.web import Stream, create_app
from streamnb.web.security import CSRF_HEADER
from support.page import page_of, served

CLASSES = [f"{topic} {place}" for topic in ("bill", "card", "loan", "fees") for place in range(10)]


def messages_of(n: int, given: int = 0) -> list[Message]:
    """Messages of 40 classes, of which the first have a label."""
    generator = random.Random(5)
    made = []
    for number in range(n):
        label = CLASSES[number % 40] if number < given else generator.choice(CLASSES)
        own = [f"{label.replace(' ', '')}{word}" for word in range(8)]
        words = " ".join(generator.choices([*own, "please", "help", "with", "this"], k=12))
        fields = {"user": f"u{number % 3}"}
        made.append(Message(f"o{number}-18", label if number < given else "", words, fields=fields))
    return made


def stream_of(messages: list[Message], model: Any = None) -> Stream:
    stream = Stream({"model": model or OnlineNB()}, messages)
    while stream.step():
        pass
    return stream


def exported(page: Page) -> list[dict[str, Any]]:
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON lines").click()
    return [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]


def test_a_hundred_messages_of_forty_classes_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    start = OnlineNB()
    for one in messages_of(40, 40):
        start.learn_one(one.text, one.label)
    path = tmp_path / "start.model"
    start.save(path)
    model = OnlineNB.load(path)
    messages = messages_of(100)
    truth = {one.id: CLASSES[place] for place, one in zip(_places(messages), messages, strict=True)}
    with page_of(browser, stream_of(messages, model)) as page:
        page.locator("#kind").select_option("unlabelled")
        expect(page.locator("#messages li")).to_have_count(100)
        page.keyboard.press("Escape")
        begun = time.monotonic()
        page.keyboard.press("j")
        heading = page.locator("#opened h3 bdi")
        for number in range(100):
            name = heading.inner_text()
            page.keyboard.press("l")
            expect(page.locator("#find-label")).to_be_focused()
            page.keyboard.type(truth[name])
            page.keyboard.press("Enter")
            if number < 99:
                expect(heading).not_to_have_text(name)
        expect(page.locator("#messages li")).to_have_count(0)
        seconds = time.monotonic() - begun
        assert seconds < 240
        lines = exported(page)
    assert {line["id"]: line["label"] for line in lines} == truth
    assert {line["text"] for line in lines} == {one.text for one in messages}
    assert {line["old_label"] for line in lines} == {None}
    file, output = tmp_path / "corrections.jsonl", tmp_path / "learned.model"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["learn", str(file), "--from", str(path), "--output", str(output)]) == 0
    assert OnlineNB.load(output).to_bytes() == model.to_bytes()


def _places(messages: list[Message]) -> list[int]:
    """The place of the class of each message: its own words begin with the name of the class."""
    return [
        next(
            place
            for place, label in enumerate(CLASSES)
            if any(word.startswith(label.replace(" ", "")) for word in one.text.split())
        )
        for one in messages
    ]


def test_the_export_has_ids_fields_whole_texts_and_old_labels(browser: Browser) -> None:
    long = Message("long/1", "bill 1", "word " * 12_000, fields={"user": "ann"})
    with page_of(browser, stream_of([*messages_of(3, 3), long])) as page:
        page.locator("#messages [data-id='long/1']").click()
        expect(page.locator(".hidden").first).to_contain_text("60,000 characters")
        text = page.locator("#opened .body")
        expect(text).to_be_visible()
        page.get_by_role("button", name="Show the next part").click()
        expect(page.locator("#opened .body")).to_have_text("word " * 8_000, use_inner_text=False)
        page.get_by_role("button", name="Show the next part").click()
        expect(page.locator("#opened .more")).to_have_count(0)
        page.locator("#messages [data-id='o0-18']").click()
        page.keyboard.press("2")
        expect(page.locator("#message .note")).to_contain_text("learned as")
        page.keyboard.press("u")
        expect(page.locator("#message .note")).to_contain_text("taken back")
        page.locator("#messages [data-id='long/1']").click()
        page.keyboard.press("2")
        expect(page.locator("#message .note")).to_contain_text("long/1: learned as bill 1")
        page.keyboard.press("1")
        expect(page.locator("#message .note")).to_contain_text("long/1: learned as bill 0")
        (line,) = exported(page)
        assert (line["id"], line["label"], line["old_label"]) == ("long/1", "bill 0", "bill 1")
        assert (line["user"], line["annotator"]) == ("ann", "tester")
        assert line["text"] == long.text


def test_a_search_works_while_the_pointer_rests_on_the_list(browser: Browser) -> None:
    with page_of(browser, stream_of(messages_of(30, 30))) as page:
        page.locator("#messages button").first.hover()
        page.keyboard.press("Escape")
        page.locator("#text").focus()
        page.keyboard.type("o7-18")
        expect(page.locator("#messages li")).to_have_count(1)


def test_the_address_has_view_search_and_message(browser: Browser) -> None:
    with page_of(browser, stream_of(messages_of(30, 30))) as page:
        page.locator("#text").fill("o1")
        expect(page.locator("#messages li")).to_have_count(11)
        page.locator("#messages [data-id='o12-18']").click()
        page.locator("#messages [data-id='o13-18']").click()
        page.keyboard.press("2")
        expect(page.locator("#message .note")).to_contain_text("learned as")
        page.get_by_role("link", name="Quality").click()
        expect(page.locator("#figures")).to_be_visible()
        page.go_back()
        expect(page.locator("#opened h3")).to_have_text("Message o13-18")
        page.go_back()
        expect(page.locator("#opened h3")).to_have_text("Message o12-18")
        page.go_forward()
        address = page.url
        page.reload()
        expect(page.locator("#opened h3")).to_have_text("Message o13-18")
        expect(page.locator("#text")).to_have_value("o1")
        expect(page.locator("#messages li")).to_have_count(11)
        page.keyboard.press("u")  # the last action before the page was loaded again
        expect(page.locator("#message .note")).to_contain_text("o13-18: taken back")
        page.goto("about:blank")
        page.goto(address)
        expect(page.locator("#opened h3")).to_have_text("Message o13-18")


def test_all_that_match_are_labelled_with_one_undo(browser: Browser) -> None:
    stream = stream_of(messages_of(300), MNB())
    with page_of(browser, stream) as page:
        page.locator("#text").fill("bill0")
        page.keyboard.press("Escape")
        found = [item.id for item in stream.board.find(text="bill0")]
        assert 3 < len(found) < 100
        expect(page.locator("#messages li")).to_have_count(len(found))
        page.locator("#messages [type=checkbox]").first.click()
        page.locator("#messages [type=checkbox]").nth(2).click(modifiers=["Shift"])
        expect(page.locator(".selection")).to_contain_text("3 selected")
        page.keyboard.press("a")
        expect(page.locator(".selection")).to_contain_text(f"{len(found)} selected")
        page.get_by_label("New label").fill("bill 0")
        page.get_by_label("New label").press("Enter")
        expect(page.locator(".note").first).to_contain_text(f"{len(found)} messages: learned")
        assert stream._models["model"].n_documents == len(found)
        assert len(exported(page)) == len(found)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".note").first).to_contain_text("taken back")
        assert exported(page) == []
    assert stream._models["model"].n_documents == 0


@pytest.mark.parametrize("view", ["review", "quality", "words"])
def test_a_view_fits_on_a_screen_and_is_one_column_on_a_phone(browser: Browser, view: str) -> None:
    stream = stream_of(list(SyntheticSMS(400).messages()))
    with served(stream) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{address}#view={view}")
        expect(page.locator("main section").first).to_be_visible()
        size = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        assert page.evaluate(size) == [1280, 800]
        page.set_viewport_size({"width": 375, "height": 800})
        assert page.evaluate(size)[0] == 375
        boxes = [one.bounding_box() for one in page.locator("main > section").all()]
        assert len({round(box["x"]) for box in boxes if box}) == 1
        page.close()


def test_single_keys_can_be_switched_off(browser: Browser) -> None:
    with page_of(browser, stream_of(messages_of(30, 30))) as page:
        page.keyboard.press("?")
        page.get_by_label("Use single keys").uncheck()
        page.get_by_role("button", name="Close").click()
        page.locator("#messages [data-id='o3-18']").click()
        for key in ("1", "0", "q", "u"):
            page.keyboard.press(key)
        expect(page.locator("#opened h3")).to_have_text("Message o3-18")
        expect(page.locator("#history")).to_contain_text("No label was given yet.")


def test_one_tab_stop_leads_through_the_list(browser: Browser) -> None:
    with page_of(browser, stream_of(messages_of(200, 200))) as page:
        assert page.locator("#messages [tabindex='0']").count() == 1
        page.locator("#messages [tabindex='0']").focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("#messages [aria-current]")).to_be_focused()


def test_forced_colours_keep_words_apart(browser: Browser) -> None:
    messages = [
        Message("1", "spam", "win cash now"),
        Message("2", "ham", "see you at noon"),
        Message("3", "spam", "cash at noon win"),
    ]
    with served(stream_of(messages, MNB())) as address:
        page = browser.new_page(forced_colors="active")
        page.goto(f"{address}#id=3")
        expect(page.locator("#opened mark").first).to_be_visible()
        styles = page.locator("#opened mark").evaluate_all(
            "all => all.map((one) => [one.className.split('-')[0], "
            "getComputedStyle(one).borderBottomStyle])"
        )
        assert len({style for _, style in styles}) > 1
        assert {style for kind, style in styles if kind == "against"} == {"dotted"}
        page.close()


def test_a_filter_with_fixed_labels_refuses_others_with_the_reason() -> None:
    stream = stream_of(messages_of(50, 45))
    stream.takes_new_labels = False
    client = TestClient(create_app(stream), base_url="http://127.0.0.1:1")
    csrf = client.get("/").text.partition('name="csrf" content="')[2].partition('"')[0]
    assert client.get("/api/state").json()["new_labels"] is False
    for path, body in (
        ("labels", {"ids": ["o1-18"], "label": "other", "annotator": ""}),
        ("restore", {"labels": [["o1-18", "other"]], "annotator": ""}),
        ("restore", {"labels": ["o1-18"], "annotator": ""}),
        ("restore", {"labels": [], "annotator": ""}),
    ):
        answer = client.post(f"/api/{path}", json=body, headers={CSRF_HEADER: csrf})
        assert answer.status_code == 400
    assert client.get("/api/text?id=o1-18&begin=-1").status_code == 400


def test_models_on_the_page_read_the_fields_of_a_record() -> None:
    stream = stream_of(messages_of(40, 40), MNB(tokenizer=Tokenizer(fields=("user",))))
    wanted = MNB(tokenizer=Tokenizer(fields=("user",)))
    for one in messages_of(40, 40):
        wanted.learn_one({**(one.fields or {}), "text": one.text}, one.label)
    assert stream._models["model"].to_bytes() == wanted.to_bytes()
