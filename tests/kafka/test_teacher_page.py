"""The page of a filter whose teacher is a program: both opinions, and disagreements first."""

from __future__ import annotations

import json
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from streamnb.datasets import stream
from streamnb_consumers.kafka.python_client.client import kafka
from support.broker import Broker
from support.chat_server import ChatServer
from support.clients import until
from support.page import opened, served
from support.scenes.scene import Scene
from support.scenes.teacher import TeacherProgram

PARTS = ("feedback", "decisions", "training", "join_state", "dead_letters")


def test_disagreements_come_first_with_both_opinions(
    browser: Browser, broker: Broker, tmp_path: Path
) -> None:
    from streamnb_consumers.page import open_filter

    messages = list(stream("synthetic-sms", limit=200))
    # The teacher changes its mind: from the middle on, it answers the other label.
    other = {"ham": "spam", "spam": "ham"}
    answers = {
        text: label if at < len(messages) // 2 else other[label]
        for at, (text, label) in enumerate(messages)
    }
    with ChatServer(answers) as server:
        settings = server.settings(
            teacher_agreement=0.9, teacher_audit_share=0.3, teacher_wait_seconds=60.0
        )
        with Scene(broker, tmp_path, **settings) as scene:
            worker, teacher = scene.worker("a"), TeacherProgram(scene)
            worker.wait_until_ready()
            producer = kafka.KafkaProducer(bootstrap_servers=broker.bootstrap)
            for at, (text, _) in enumerate(messages):
                value = json.dumps({"id": f"m{at}", "text": text}).encode()
                producer.send(scene.topics.messages, value, f"m{at}".encode())
                if at == len(messages) // 2:
                    producer.flush()
                    scene.wait_until_done(at + 1, 0, seconds=60)
            producer.close()
            scene.wait_until_done(len(messages), 0, seconds=60)
            questions = scene.count(scene.topics.questions)
            until(lambda: len(scene.training()) == questions, seconds=60)
            decisions = [json.loads(each.value) for each in broker.read_all(scene.topics.decisions)]
            disputed = {
                each["id"]: each
                for each in decisions
                if each.get("model_label") not in (None, each["label"])
            }
            assert len(messages) > questions > len(disputed) > 5
            options = {f"{part}_topic": getattr(scene.topics, part) for part in PARTS}
            query = "&".join(f"{name}={value}" for name, value in options.items())
            feed = open_filter(f"kafka://{broker.bootstrap}/{scene.topics.messages}?{query}")
            feed.check()
            with served(feed) as address:
                until(lambda: feed.board.state()["disputed"] == len(disputed), seconds=60)
                with opened(browser, address) as page:
                    # They are the first list, and the first choice of the lists.
                    expect(page.locator("#kind")).to_have_value("disputed")
                    choice = page.locator("#kind option").first
                    expect(choice).to_have_text(f"teacher disagrees ({len(disputed)})")
                    rows = page.locator("#messages li")
                    expect(rows).to_have_count(len(disputed))
                    for name, decision in disputed.items():
                        row = page.locator(f"#messages button[data-id={name}]")
                        opinions = row.locator(".answer")
                        expect(opinions).to_have_count(2)
                        expect(opinions.nth(0)).to_contain_text(f"teacher: {decision['label']}")
                        model = f"filter: {decision['model_label']}"
                        expect(opinions.nth(1)).to_contain_text(model)
                        # The answer was learned, so the model's opinion counts as wrong.
                        expect(opinions.nth(1)).to_have_class("answer wrong")
                        expect(opinions.nth(0)).to_have_class("answer")
                    # The whole message has both opinions; a person has the last word.
                    name, decision = next(iter(disputed.items()))
                    page.locator(f"#messages button[data-id={name}]").click()
                    expect(page.locator("#opened h3")).to_have_text(f"Message {name}")
                    line = page.locator("#opened p", has_text="Decision:")
                    expect(line).to_contain_text(f"teacher: {decision['label']}")
                    expect(line).to_contain_text(f"filter: {decision['model_label']}")
                    found = Axe().run(page)
                    assert found.violations_count == 0, found.generate_report()
                    page.get_by_role("button", name=decision["model_label"], exact=True).click()
                    history = page.locator("#history tbody tr").first
                    expect(history).to_contain_text(f"{decision['model_label']}")
                    expect(history).to_contain_text("learned at")
                    expect(line.locator(".answer").nth(0)).to_have_class("answer wrong")
                    expect(rows).to_have_count(len(disputed))
                    # All messages are one step away, and the address leads back.
                    page.locator("#kind").select_option("")
                    expect(rows).not_to_have_count(len(disputed))
                    expect(page.locator("#messages button .answer").first).to_be_visible()
                    page.reload()
                    expect(page.locator("#kind")).to_have_value("")
            assert (teacher.stop(), worker.stop()) == (0, 0)
