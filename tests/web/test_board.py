"""The board: decisions of a running filter, corrections, and what is learned of them."""

from __future__ import annotations

import itertools
import random

import pytest

from streamnb.errors import InputError
from streamnb.mail.content import mail_text
from streamnb.web.board import Board, read_mail


def decision(label: str, share: float, **more: object) -> dict[str, object]:
    other = {"ham": "spam", "spam": "ham"}[label]
    return {"label": label, "probabilities": {label: share, other: 1 - share}, **more}


def board_of(n: int, keep: int = 100) -> Board:
    board = Board(keep, ("filter", "other"))
    for at in range(n):
        board.message(f"m{at}", {"text": f"win cash {at}", "sender": f"s{at % 3}"}, at, at % 2)
        board.decide(f"m{at}", decision(("ham", "spam")[at % 2], 0.5 + at / 100, ask=at % 5 == 0))
    return board


def test_questions_wait_for_a_label_or_a_skip() -> None:
    board = board_of(15)
    assert [one["id"] for one in board.search("questions")] == ["m0", "m5", "m10"]
    board.mark("m5", True)
    board.sent(["m10"], "spam")
    assert [one["id"] for one in board.search("questions")] == ["m0"]
    board.mark("m5", False)
    assert [one["id"] for one in board.search("questions")] == ["m0", "m5"]
    assert board.state()["waiting"] == 2


def test_messages_are_found_by_each_condition() -> None:
    board = board_of(20)

    def found(**conditions: object) -> list[str]:
        return [one["id"] for one in board.search(**conditions)]  # type: ignore[arg-type]

    assert found(text="CASH 1") == [f"m{at}" for at in (*range(19, 9, -1), 1)]
    assert found(text="m7") == ["m7"]
    assert found(sender="S2", label="spam") == ["m17", "m11", "m5"]
    assert found(low=0.6, high=0.615) == ["m11", "m10"]
    assert len(found()) == len(found(kind="unlabelled")) == 20
    board.learn("m3", "spam")
    board.learn("m5", "ham")
    assert found(kind="wrong") == ["m5"]
    assert "m3" not in found(kind="unlabelled")
    board.decide("m3", decision("ham", 0.9), "other")
    assert found(kind="disputed") == ["m3"]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_records_may_arrive_in_any_order(order: tuple[int, ...]) -> None:
    """Topics are read independently of each other."""
    board = Board()
    records = [
        lambda: board.message("a", {"text": "win"}),
        lambda: board.decide("a", decision("ham", 0.7, ask=True)),
        lambda: board.correct("a", "spam", "feedback 0:1", annotator="ann", source="page"),
        lambda: board.learn("a", "spam", "training 0:5", {"filter": "ham"}),
    ]
    for place in order:
        records[place]()
    (item,) = board.search()
    assert (item["label"], item["sent"], item["waits"]) == ("spam", None, False)
    (entry,) = board.history()
    assert entry["status"].startswith("learned")
    assert (entry["label"], entry["annotator"], entry["source"]) == ("spam", "ann", "page")
    assert board.state()["models"]["filter"]["accuracy"] == 0.0


def test_a_refused_label_says_why() -> None:
    for first in (True, False):
        board = board_of(1)
        board.sent(["m0"], "x")
        if first:
            board.refuse("feedback 0:1", "label 'x' is not one of ham, spam")
        board.correct("m0", "x", "feedback 0:1")
        if not first:
            board.refuse("feedback 0:1", "label 'x' is not one of ham, spam")
        assert board.history()[0]["status"] == "refused: label 'x' is not one of ham, spam"
        assert board.search("questions")[0]["id"] == "m0"


def test_a_later_label_replaces_one_that_is_not_learned() -> None:
    board = board_of(1)
    board.correct("m0", "spam", 1)
    board.correct("m0", "ham", 2)
    board.correct("m0", "ham", 2)  # read again after a lost connection
    board.learn("m0", "spam", "training 0:0")
    assert board.search()[0]["sent"] == {"label": "ham"}
    board.learn("m0", "ham", "training 0:1")
    assert [one["status"] for one in board.history()] == ["learned at training 0:1", "replaced"]
    assert board.state()["models"]["filter"]["messages"] == 1
    board.learn("m0", None, "training 0:2")
    assert board.state()["models"]["filter"]["messages"] == 0


def test_all_that_is_kept_has_bounds() -> None:
    board = Board(keep=50)
    generator = random.Random(1)
    for at in range(12_000):
        name = f"m{at}"
        board.message(name, {"text": "word " * 10_000 if at < 100 else "win"})
        board.decide(name, decision("ham", 0.9, tokens=[("w", 1.0)] * 99))
        board.learn(f"other{at}", "ham", "x", {"filter": "spam"})
        board.refuse(("x", at), "why")
        board.correct(f"m{generator.randrange(at + 1)}", f"label {at}", at)
    assert len(board._items) == 50
    assert len(board._history) == 10_000
    assert len(board._pending) <= 10_000
    assert len(board._refused) == len(board._early) == 1000
    assert len(board.state()["labels"]) == 200
    assert all(len(item.text) <= 20_000 for item in board._items.values())
    assert all(len(item.answers["filter"]["tokens"]) == 20 for item in board._items.values())
    with pytest.raises(InputError, match="message 'm0' is not kept; only the last 50"):
        board.open("m0")


def test_tokens_count_for_the_class_that_they_support() -> None:
    board = board_of(0)
    board.decide("a", decision("ham", 0.9, tokens=[("noon", 2.0), ("cash", -1.0)]))
    board.decide("b", decision("spam", 0.9, tokens=[("noon", -3.0)], against="ham"))
    board.decide("c", decision("ham", 0.9, tokens=[("noon", 1.0), ("see", 1.0)]))
    assert board.top_tokens()["filter"] == {"ham": [("noon", 3.0), ("see", 1.0)]}


def test_a_mail_has_its_parts() -> None:
    headers = "From: Ann <a@x.example>\nTo: b@x.example\nSubject: Caf\u00e9\nDate: today\n"
    assert read_mail(f"{headers}See: you\n\nhi\n") == {
        "sender": "Ann <a@x.example>",
        "subject": "Caf\u00e9",
        "date": "today",
        "text": "\nhi\n",
    }
    html = "<p>Hello <img src='http://x.example/y.png'><b>you</b><script>bad()</script>"
    text = mail_text(f"Subject: x\nContent-Type: text/html\n\n{html}".encode())
    assert read_mail(text)["text"] == "Hello you"
