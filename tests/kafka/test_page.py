"""The page of a filter on a real broker: a person answers its questions by keyboard."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.filters import text
from support.page import filter_page
from support.scenes.scene import Scene, topics

QUESTIONS = 20
WAVES = ((6, "w"), (200, "m"), (60, "n"))
PARTS = ("feedback", "decisions", "training", "join_state", "dead_letters")


def send(scene: Scene, texts: dict[str, str], labels: dict[str, str] | None = None) -> None:
    """Send messages; their keys choose their partitions."""
    producer = kafka.KafkaProducer(bootstrap_servers=scene.broker.bootstrap)
    for name, content in texts.items():
        fields = {"id": name, "text": content}
        if labels is not None:
            fields["label"] = labels[name]
        producer.send(scene.topics.messages, json.dumps(fields).encode(), name.encode())
    producer.flush()
    producer.close()


def drawn(n: int, prefix: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return texts and labels by id. Random words keep the texts from being near-duplicates."""
    generator = random.Random(prefix)
    labels = {f"{prefix}{at}": generator.choice(("ham", "spam")) for at in range(n)}

    def word() -> str:
        return "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=6))

    texts = {
        name: " ".join(
            [*(word() for _ in range(6)), text(label, generator), text(label, generator)]
        )
        for name, label in labels.items()
    }
    return texts, labels


def accuracy(page: Page) -> float:
    """Return the accuracy in percent that the view of quality shows."""
    page.get_by_role("link", name="Quality").click()
    found = page.locator("#figures td").first.inner_text()
    page.get_by_role("link", name="Review").click()
    return float(found.split()[0])


@pytest.mark.broker_long
def test_questions_are_answered_by_keyboard_while_a_worker_is_killed(
    browser: Browser, broker: Broker, tmp_path: Path, client: str
) -> None:
    settings: dict[str, Any] = {"client": client, "model": "OnlineNB()", "ask_per_day": 400}
    # Wrong labels make the first decisions wrong.
    wrong, (texts, labels), (later, labels_later) = (drawn(n, p) for n, p in WAVES)
    swapped = {name: {"ham": "spam", "spam": "ham"}[label] for name, label in wrong[1].items()}
    with Scene(broker, tmp_path, partitions=2, **settings) as scene:
        worker = scene.worker("a", instance_id="a")
        worker.wait_until_ready()
        send(scene, wrong[0], swapped)
        scene.wait_until_done(len(swapped), len(swapped), seconds=60)
        send(scene, texts)
        options = {f"{part}_topic": getattr(scene.topics, part) for part in PARTS}
        query = "&".join(
            f"{name}={value}" for name, value in (options | {"client": client}).items()
        )
        address = f"kafka://{broker.bootstrap}/{scene.topics.messages}?{query}"
        with filter_page(browser, address) as page:
            expect(page.locator("#messages li")).not_to_have_count(0, timeout=60_000)
            deadline = time.monotonic() + 60
            while page.locator("#messages li").count() < QUESTIONS + 2:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            page.locator("#annotator").fill("ann")
            page.locator("#annotator").press("Escape")
            begun = time.monotonic()
            keys = {"ham": "1", "spam": "2"}
            heading = page.locator("#opened h3 bdi")
            answered: list[str] = []
            first = heading.inner_text()
            page.keyboard.press("s")
            expect(heading).not_to_have_text(first)
            expect(page.locator(f"#messages [data-id={first}]")).to_have_count(0)
            page.keyboard.press("u")  # it is asked again
            expect(page.locator(f"#messages [data-id={first}]")).to_have_count(1)
            for at in range(QUESTIONS):
                if at == QUESTIONS // 2:
                    worker.kill()
                name = heading.inner_text()
                assert name not in answered
                page.keyboard.press(keys[labels[name]])
                answered.append(name)
                expect(heading).not_to_have_text(name)
            assert time.monotonic() < begun + 60
            worker = scene.worker("a", instance_id="a")
            # Labels are sent one after another, so the progress may be older than the last ones.
            rows = page.locator("#history tbody tr")
            learned_rows = rows.filter(has_text="learned").filter(has_text="ann, page")
            expect(learned_rows).to_have_count(QUESTIONS, timeout=90_000)
            expect(rows).to_have_count(QUESTIONS)
            expect(page.locator("#progress")).to_contain_text(", 0 labels not learned yet")
            before = accuracy(page)
            # Decisions on later messages are better, as their own labels show.
            send(scene, later)
            page.locator("#kind").select_option("")
            page.locator("#text").fill("n5")
            expect(page.locator("#messages li")).to_have_count(11, timeout=60_000)  # n5, n50 … n59
            for button in page.locator("#messages button").all():
                button.click()
                name = heading.inner_text()
                page.keyboard.press(keys[labels_later[name]])
                answered.append(name)
            expect(learned_rows).to_have_count(QUESTIONS + 11, timeout=60_000)
            expect(page.locator("#progress")).to_contain_text(", 0 labels not learned yet")
            after = accuracy(page)
            assert after > before
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        events = [event for event in scene.training() if event["id"] not in swapped]
        learned = Counter((event["id"], event["learn"]) for event in events)
        assert learned == Counter((name, (labels | labels_later)[name]) for name in answered)
        assert worker.stop() == 0, worker.text()[-3000:]


def test_several_labels_are_given_at_once(browser: Browser, broker: Broker, tmp_path: Path) -> None:
    """The address does not name the model: the records show that messages have several labels."""
    settings: dict[str, Any] = {"model": "MultiLabelNB()", "labels": ""}
    with Scene(broker, tmp_path, **settings) as scene:
        worker = scene.worker("a")
        worker.wait_until_ready()
        producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
        for name, content, labels in topics(200):
            value = {"id": name, "text": content, "labels": labels}
            producer.send(scene.topics.messages, json.dumps(value).encode(), name.encode())
        for name in ("x", "y"):
            value = {"id": name, "text": f"a new message {name}"}
            producer.send(scene.topics.messages, json.dumps(value).encode(), name.encode())
        producer.close()
        scene.wait_until_done(202, 200, seconds=60)
        options = {f"{part}_topic": getattr(scene.topics, part) for part in PARTS}
        query = "&".join(f"{name}={value}" for name, value in (options | {"labels": ""}).items())
        address = f"kafka://{broker.bootstrap}/{scene.topics.messages}?{query}"
        with filter_page(browser, address) as page:
            page.locator("#kind").select_option("unlabelled")
            expect(page.locator("#messages li")).to_have_count(2)
            page.keyboard.press("Escape")
            page.keyboard.press("a")
            for label in ("new", "more"):
                page.locator("#find-label").fill(label)
                page.locator("#find-label").press("Enter")
            page.get_by_role("button", name="Give 2 labels").click()
            rows = page.locator("#history tbody tr").filter(has_text="tester, page")
            expect(rows.filter(has_text="more, new").filter(has_text="learned at")).to_have_count(2)
            expect(page.locator("#messages li")).to_have_count(0)
            page.get_by_role("button", name="Undo").click()
            undone = page.locator("#history tbody tr").filter(has_text="tester, undo")
            expect(undone.filter(has_text="unlearn")).to_have_count(2)
            expect(page.locator("#messages li")).to_have_count(2)
        learned = [json.loads(each.value) for each in broker.read_all(scene.topics.training)][200:]
        assert [(each.get("learn"), each.get("unlearn")) for each in learned] == [
            *[(["more", "new"], None)] * 2,
            *[(None, ["more", "new"])] * 2,
        ]
        assert worker.stop() == 0
