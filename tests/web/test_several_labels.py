"""The page of models of several labels: sets of labels, their reasons, corrections and export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from starlette.testclient import TestClient

from streamnb import MNB, MultiLabelNB, Tokenizer
from streamnb.cli import main
from streamnb.datasets import Message
from streamnb.errors import InputError
from streamnb.evaluation import LabelTally
from streamnb.web import Stream, create_app
from streamnb.web.inspection import inspect
from streamnb.web.measures import Measures
from streamnb.web.security import CSRF_HEADER
from support.page import page_of

TEXTS = {
    ("corn", "wheat"): "wheat and corn prices fall",
    ("corn",): "corn harvest begins",
    ("interest",): "bank raises rates",
    (): "see you at noon",
}


def messages_of(n: int) -> list[Message]:
    pairs = list(TEXTS.items())
    return [
        Message(f"m{number}", "", f"{text} {number % 7}", labels=labels[::-1])
        for number in range(n)
        for labels, text in [pairs[number % 4]]
    ]


def stream_of(messages: list[Message], **models: Any) -> Stream:
    stream = Stream(models or {"topics": MultiLabelNB()}, messages)
    while stream.step():
        pass
    return stream


def client_of(stream: Stream) -> tuple[TestClient, dict[str, str]]:
    client = TestClient(create_app(stream), base_url="http://127.0.0.1:1")
    csrf = client.get("/").text.partition('name="csrf" content="')[2].partition('"')[0]
    return client, {CSRF_HEADER: csrf}


def test_sets_are_decided_learned_and_corrected_as_by_the_model_alone() -> None:
    model, alone = MultiLabelNB(), MultiLabelNB()
    messages = [*messages_of(40), Message("new", "", "corn and interest rates")]
    stream = stream_of(messages, topics=model)
    decisions = []
    for one in messages:
        decisions.append(alone.predict_one(one.text))
        if one.labels is not None:
            alone.learn_one(one.text, one.labels)
    listed = stream.board.search()[::-1]
    assert [set(one["answers"]["topics"]["label"]) for one in listed] == decisions
    assert (listed[0]["label"], listed[-1]["label"]) == (("corn", "wheat"), None)
    for name, before, labels in (
        ("new", None, ("corn", "interest")),
        ("m1", {"corn"}, ()),
        ("m1", set(), None),
        ("m3", set(), ("corn", "rye")),
    ):
        (item,) = stream.board.items([name])
        stream.send([(item, labels)], "ann")
        if before is not None:
            alone.unlearn_one(item.text, before)
        if labels is not None:
            alone.learn_one(item.text, labels)
        assert item.label == labels
    assert model.to_bytes() == alone.to_bytes()
    assert stream.board.state()["labelled"]["rye"] == 1
    assert stream.board.state()["labels"] == ["corn", "wheat", "interest", "rye"]


@pytest.mark.parametrize("tokenizer", [None, Tokenizer(words=(1, 2), characters=(3, 4))])
def test_reasons_add_up_to_the_score_of_each_label(tokenizer: Tokenizer | None) -> None:
    model = MultiLabelNB(tokenizer=tokenizer)
    for one in messages_of(60):
        model.learn_one(one.text, one.labels or ())
    for text in ("wheat and corn prices", "corn harvest rates 3", "new words only"):
        seen = inspect(model, text, ("interest",))
        scores = model.joint_log_likelihood_one(text)
        in_words = model.explain_one(text).in_words().words
        assert set(seen["label"]) == model.predict_one(text)
        assert {"interest", *seen["label"]} <= set(seen["reasons"])
        for label, reason in seen["reasons"].items():
            pieces = sum(piece["adds"] for piece in reason["pieces"])
            assert reason["lead"] == pytest.approx(scores[label], abs=1e-9)
            assert reason["prior"] + pieces + reason["rest"] == pytest.approx(
                scores[label], abs=1e-9
            )
            words = sum(terms[label] for terms in in_words.values())
            assert reason["prior"] + words == pytest.approx(scores[label], abs=1e-9)
            for word, adds in reason["words"]:
                assert adds == pytest.approx(in_words[word][label], abs=1e-9)
            if reason["without"]:
                rest = " ".join(word for word in text.split() if word not in reason["without"])
                assert (label in model.predict_one(text)) > (label in model.predict_one(rest))


def test_reasons_at_arrival_are_those_of_the_model_at_that_moment() -> None:
    model, before = MultiLabelNB(), MultiLabelNB()
    for one in messages_of(40):
        model.learn_one(one.text, one.labels or ())
        before.learn_one(one.text, one.labels or ())
    stream = stream_of([Message("w", "", "wheat and corn", labels=("interest",))], topics=model)
    explained = before.explain_one("wheat and corn").in_words()
    arrival = stream.board.open("w")["arrival"]["topics"]
    assert set(arrival["label"]) == before.predict_one("wheat and corn") == {"corn", "wheat"}
    assert set(arrival["reasons"]) == {"corn", "wheat", "interest"}
    for label, words in arrival["reasons"].items():
        assert words == [each for each in explained.towards(label) if each[1]]
    best = dict(stream.board.top_tokens()["topics"]["wheat"])
    assert best["wheat"] == max(best.values()) == dict(arrival["reasons"]["wheat"])["wheat"]
    # A message whose decision is right and that is long is not explained at its arrival.
    long = stream_of([Message("l", "", "wheat and corn " * 200)], topics=model)
    assert long.board.open("l")["arrival"]["topics"]["reasons"] == {}


def test_long_texts_and_new_models_have_decisions_only() -> None:
    assert inspect(MultiLabelNB(), "corn")["reasons"] == {}
    (model,) = stream_of(messages_of(40))._models.values()
    seen = inspect(model, "wheat and corn " * 5_000)
    assert seen["label"] == ("corn", "wheat")
    assert set(seen["reasons"].values()) == {None}


def test_figures_are_those_of_an_evaluation() -> None:
    measures, tally = Measures(), LabelTally()
    pairs = [(("a", "b"), ("a",)), ((), ()), (("c",), ("a", "c")), (("b",), ("b",)), ((), ("c",))]
    for number, (given, decision) in enumerate(pairs, 1):
        measures.count(number, given, decision, {"a": 0.9, "b": 0.1})
        tally.add(given, decision)
    figures, scores = measures.summary("a"), tally.scores()
    assert figures["micro_f1"] == pytest.approx(scores.micro_f1)
    assert figures["accuracy"] == scores.subset_accuracy == 0.4
    found = {(one["label"], one["decision"]): one["messages"] for one in figures["confusion"]}
    assert found == {
        ("a", "a"): 1,
        ("b", "b"): 1,
        ("c", "c"): 1,
        ("b", None): 1,
        (None, "a"): 1,
        (None, "c"): 1,
    }
    assert figures["cuts"][50] == {"cut": 0.51, "lost": 4, "missed": 0}
    measures.count(1, None, ("a",), {})
    assert measures.summary("a")["messages"] == 4


def test_decisions_are_searched_by_each_label() -> None:
    board = Stream({"topics": MultiLabelNB()}, []).board
    for name, labels, corn in (("1", ("corn", "wheat"), 0.9), ("2", ("wheat",), 0.4), ("3", (), 0)):
        board.message(name, {"text": name})
        board.decide(
            name, {"label": labels, "probabilities": {"corn": corn, "wheat": 0.6}}, "topics"
        )
        board.learn(name, ("wheat",))

    def found(**conditions: Any) -> list[str]:
        return [one["id"] for one in board.search(**conditions)]

    assert found(label="corn") == ["1"]
    assert found(label="wheat") == ["2", "1"]
    assert found(label="corn", high=0.8) == found(label="wheat", low=0.7) == []
    assert found(low=0.8) == ["1"]
    assert found(kind="wrong") == ["3", "1"]


def test_labels_of_requests_are_lists_that_can_be_taken_back(tmp_path: Path) -> None:
    unlabelled = [one._replace(labels=None) for one in messages_of(8)]
    stream = stream_of(unlabelled)
    model = stream._models["topics"]
    client, headers = client_of(stream)
    assert client.get("/api/state").json()["several"] is True

    def post(path: str, **body: Any) -> Any:
        return client.post(f"/api/{path}", json={"annotator": "ann", **body}, headers=headers)

    given = post("labels", ids=["m0", "m4"], label=[" wheat ", "corn", "corn", ""])
    assert given.json() == {"before": [["m0", None], ["m4", None]]}
    assert model.predict_one("wheat and corn prices fall") == {"corn", "wheat"}
    changed = post("labels", ids=["m0"], label=[])
    assert changed.json() == {"before": [["m0", ["corn", "wheat"]]]}
    assert client.get("/api/message?id=m0").json()["label"] == []
    lines = [json.loads(line) for line in client.get("/api/corrections.jsonl").text.splitlines()]
    assert [(one["id"], one["labels"], one["old_labels"]) for one in lines] == [
        ("m4", ["corn", "wheat"], None),
        ("m0", [], None),
    ]
    file, output = tmp_path / "corrections.jsonl", tmp_path / "learned.model"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["learn", str(file), "--model", "MultiLabelNB", "--output", str(output)]) == 0
    assert MultiLabelNB.load(output).n_documents == model.n_documents == 2
    post("restore", labels=changed.json()["before"])
    assert client.get("/api/message?id=m0").json()["label"] == ["corn", "wheat"]
    post("restore", labels=given.json()["before"])
    assert model.n_documents == 0
    seen = post("try", text="wheat").json()["looks"]["topics"]
    assert seen["label"] == []
    for label in ("corn", 5, ["corn", 5], {"corn": True}, ["x" * 101]):
        refused = post("labels", ids=["m0"], label=label)
        assert refused.status_code == 400, label
    assert "it must be a list of strings" in post("labels", ids=["m0"], label="corn").text
    assert client.post("/api/labels", json={"ids": ["m0"]}, headers=headers).status_code == 400
    assert model.n_documents == 0


def test_a_page_of_one_label_refuses_lists() -> None:
    stream = stream_of([Message("1", "spam", "win cash")], MNB=MNB())
    client, headers = client_of(stream)
    body = {"ids": ["1"], "label": ["ham"], "annotator": ""}
    answer = client.post("/api/labels", json=body, headers=headers)
    assert answer.status_code == 400
    assert "it must be a string" in answer.text


def test_models_that_the_page_cannot_show_together_are_refused() -> None:
    with pytest.raises(InputError, match="some decide on one label and others on sets"):
        Stream({"a": MultiLabelNB(), "b": MNB()}, [])
    with pytest.raises(InputError, match="leave output at 'sets'"):
        Stream({"a": MultiLabelNB(output="dicts")}, [])


# --- in a browser ---------------------------------------------------------------------------------


def pressed(page: Page) -> list[str]:
    """The picked labels."""
    return page.locator("#opened .labels [aria-pressed=true] bdi").all_inner_texts()


def test_letters_behind_a_key_belong_to_the_field(browser: Browser) -> None:
    """They may come before the next frame: the field has the focus when the key is handled."""
    focus = """key => {
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
        return document.activeElement.id;
    }"""
    with page_of(browser, stream_of(messages_of(40))) as page:
        page.locator("#messages button").first.click()
        expect(page.locator("#find-label")).to_be_visible()
        for key, field in (("l", "find-label"), ("/", "draft")):
            assert page.evaluate(focus, key) == field
            page.keyboard.press("Escape")


def test_several_labels_are_picked_given_and_taken_back(browser: Browser) -> None:
    stream = stream_of([*messages_of(40), Message("new", "", "wheat and corn prices")])
    with page_of(browser, stream) as page:
        entry = page.locator("#messages button[data-id='new']")
        expect(entry).to_contain_text("corn")
        expect(entry).to_contain_text("wheat")
        expect(entry).to_contain_text("not labelled")
        entry.click()
        opened, note = page.locator("#opened"), page.locator("#message .note")
        expect(opened.locator(".decision")).to_have_text("corn, wheat")
        assert pressed(page) == ["corn", "wheat"]  # a decision is confirmed by one key
        page.keyboard.press("2")  # wheat is dropped
        page.keyboard.press("3")  # interest
        assert pressed(page) == ["corn", "interest"]
        page.get_by_role("button", name="Give 2 labels").click()
        expect(note).to_contain_text("learned as corn, interest")
        expect(entry).to_contain_text("corn, interest, learned")
        page.keyboard.press("u")
        expect(note).to_contain_text("taken back")
        expect(entry).to_contain_text("not labelled")
        page.keyboard.press("l")
        page.keyboard.type("rye")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        expect(opened.get_by_role("button", name="rye")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("g")
        expect(note).to_contain_text("learned as corn, rye, wheat")
        page.keyboard.press("0")
        expect(note).to_contain_text("unlearned")
        expect(page.locator("#history tbody tr").first).to_contain_text("unlearn")
        page.locator("#messages button[data-id='m0']").click()
        for key in ("1", "2"):
            page.keyboard.press(key)
        page.get_by_role("button", name="Give no label").click()
        expect(note).to_contain_text("learned as without labels")
        expect(page.locator("#messages button[data-id='m0']")).to_contain_text(
            "without labels, corrected"
        )
    assert stream.board.items(["m0"])[0].label == ()


def test_selected_messages_get_the_same_labels(browser: Browser) -> None:
    stream = stream_of([one._replace(labels=None) for one in messages_of(12)])
    with page_of(browser, stream) as page:
        page.locator("#text").fill("wheat")
        page.keyboard.press("Escape")
        expect(page.locator("#messages li")).to_have_count(3)
        page.keyboard.press("a")
        expect(page.locator(".selection")).to_contain_text("3 selected")
        for label in ("wheat", "corn"):
            page.get_by_label("New label").fill(label)
            page.get_by_label("New label").press("Enter")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Give 2 labels").click()
        expect(page.locator(".note").first).to_contain_text("3 messages: learned as corn, wheat")
        expect(page.locator("#messages .truth")).to_have_text(["corn, wheat, learned"] * 3)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#messages .truth")).to_have_text(["not labelled"] * 3)
    assert stream._models["topics"].n_documents == 0


def test_each_label_has_its_reasons(browser: Browser) -> None:
    stream = stream_of([*messages_of(40), Message("new", "", "wheat prices and corn harvest")])
    with page_of(browser, stream) as page:
        page.locator("#messages button[data-id='new']").click()
        reasons = page.locator("#opened details.reason")
        expect(reasons).to_have_count(2)
        expect(reasons.locator("> summary bdi")).to_have_text(["corn", "wheat"])
        (wheat,) = reasons.filter(has=page.locator("> summary bdi", has_text="wheat")).all()
        wheat.locator("> summary").click()
        words = wheat.locator("mark")
        expect(words).to_have_text(["wheat", "prices", "and", "corn", "harvest"])
        assert (words.nth(0).get_attribute("class") or "").startswith("for-")
        assert (words.nth(4).get_attribute("class") or "").startswith("against-")
        expect(wheat).to_contain_text("The score for wheat is +")
        expect(wheat.locator(".without")).to_contain_text("it would not have wheat")
        expect(wheat.locator("table").first).to_contain_text("strongest words")


@pytest.mark.parametrize("width", [1200, 380])
def test_it_can_be_used_by_everybody(browser: Browser, width: int) -> None:
    """axe finds nothing, nothing is wider than the window, and labels are text."""
    hostile = "<img src=x onerror='window.hacked = 1'>"
    strange = [Message(f"x{n}", "", "strange words", labels=(hostile, "corn")) for n in range(5)]
    with page_of(browser, stream_of([*messages_of(60), *strange]), width=width) as page:
        page.locator("#messages button").first.click()
        expect(page.locator("#opened .decision")).to_contain_text(hostile)
        for view in ("Review", "Quality", "Words"):
            page.get_by_role("link", name=view).click()
            if view == "Quality":
                expect(page.locator("#figures")).to_contain_text("micro-F1")
                expect(page.locator("#confusion table")).to_contain_text("missed")
            if view == "Words":
                page.locator("#draft").fill("wheat and corn")
                expect(page.locator("#tried .decision")).to_have_text("corn, wheat")
                page.get_by_role("button", name="Show tokens of the last 200 messages").click()
                expect(page.locator("#tokens table").first).to_be_visible()
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("give the picked labels")
        assert page.evaluate("window.hacked") is None
