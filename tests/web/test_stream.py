"""A stream as the feed of the page: classify, learn, inspect and correct messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from streamnb import MNB, OnlineNB, Tokenizer
from streamnb.datasets import Message, SyntheticSMS
from streamnb.errors import DataError, InputError
from streamnb.web import Stream
from streamnb.web.inspection import inspect, nearest, word_set
from streamnb.web.measures import Measures

STREAM = [
    Message("1", "spam", "win cash now"),
    Message("2", "ham", "see you at noon"),
    Message("3", "spam", "cash prize now"),
    Message("4", "ham", "lunch at noon"),
]


def stream_of(*messages: Message, **models: object) -> Stream:
    stream = Stream(models or {"MNB": MNB()}, messages, rate=1000)
    while stream.step():
        pass
    return stream


def listed(stream: Stream) -> list[dict[str, Any]]:
    """The messages in the order of their arrival."""
    return stream.board.search()[::-1]


def correct(stream: Stream, name: str, label: str | None) -> dict[str, Any]:
    """Give a message another label, and return it."""
    stream.send([(stream.board.items([name])[0], label)], "ann")
    return stream.board.open(name)


def start(stream: Stream) -> None:
    threading.Thread(target=stream.follow, daemon=True).start()


def opened(stream: Stream, name: str) -> dict[str, Any]:
    """A message with its reasons, as the page asks for it."""
    return stream.board.open(name) | stream.inspect(stream.board.items([name])[0])


def learned(*pairs: tuple[str, str]) -> MNB:
    model = MNB()
    for text, label in pairs:
        model.learn_one(text, label)
    return model


def test_each_message_is_decided_before_it_is_learned() -> None:
    stream = Stream({"MNB": MNB()}, STREAM)
    stream.step()
    assert listed(stream)[0]["answers"]["MNB"]["label"] is None
    stream.step()
    assert listed(stream)[1]["answers"]["MNB"]["label"] == "spam"
    assert stream.board.state()["models"]["MNB"]["accuracy"] == 0.0


def test_a_correction_is_unlearning_and_learning_to_the_byte() -> None:
    model = MNB()
    stream = stream_of(*STREAM, MNB=model)
    told = correct(stream, "2", "spam")
    pairs = [(one.text, one.label) for one in STREAM]
    pairs[1] = (pairs[1][0], "spam")
    assert model.to_bytes() == learned(*pairs).to_bytes()
    assert (told["given"], told["label"]) == ("ham", "spam")
    assert opened(stream, "2")["looks"]["MNB"]["label"] == "spam"
    assert correct(stream, "2", "ham")["label"] == "ham"
    assert correct(stream, "2", None)["label"] is None
    del pairs[1]
    assert model.to_bytes() == learned(*pairs).to_bytes()


def test_a_message_without_a_label_waits_for_one() -> None:
    model = MNB()
    stream = stream_of(*STREAM[:2], Message("3", "", "cash for you"), MNB=model)
    assert listed(stream)[-1]["label"] is None
    assert model.n_documents == 2
    correct(stream, "3", "spam")
    assert model.n_documents == 3


def test_the_last_messages_are_kept() -> None:
    stream = Stream({"MNB": MNB()}, STREAM, keep=2)
    while stream.step():
        pass
    assert [one["number"] for one in listed(stream)] == [3, 4]
    assert list(stream._texts) == ["3", "4"]
    with pytest.raises(InputError, match="message '1' is not kept; only the last 2 messages are"):
        stream.board.open("1")


@pytest.mark.parametrize("model", [MNB(), OnlineNB()])
def test_contributions_of_words_add_up_to_the_score(model: MNB | OnlineNB) -> None:
    for one in SyntheticSMS(200, seed=1).messages():
        model.learn_one(one.text, one.label)
    for one in SyntheticSMS(30, seed=2).messages():
        seen = inspect(model, one.text)
        assert [piece["text"] for piece in seen["pieces"]] == one.text.split()
        words = sum(piece["adds"] for piece in seen["pieces"])
        scores = model.joint_log_likelihood_one(one.text)
        lead = scores[seen["label"]] - scores[seen["against"]]
        assert seen["prior"] + words + seen["rest"] == pytest.approx(lead)
        assert seen["lead"] == pytest.approx(lead)
        # Only the tokens of the length belong to no word.
        length = sum(
            terms[seen["label"]] - terms[seen["against"]]
            for token, terms in model.explain_one(one.text).words.items()
            if token.startswith("\x0c")
        )
        assert seen["rest"] == pytest.approx(length, abs=1e-9)


def test_a_pair_of_words_colours_both() -> None:
    model = MNB(tokenizer=Tokenizer(words=(2, 2), boundaries="unicode"))
    model.learn_one("win cash now", "spam")
    model.learn_one("win now cash", "ham")
    first, second, other = inspect(model, "win cash yes")["pieces"]
    assert first["adds"] == pytest.approx(second["adds"])
    assert first["adds"] > 0
    assert other["adds"] == pytest.approx(0)


def test_a_long_text_is_decided_as_a_whole() -> None:
    model = learned(("win", "spam"), ("see", "ham"))
    text = "you " * 6000 + "win " * 50
    seen = inspect(model, text)
    assert seen["label"] == model.predict_one(text) == "spam"
    assert seen["hidden"] == len(text) - 20_000
    assert len(seen["pieces"]) == 5000
    longer = inspect(model, text * 3)
    assert (longer["label"], longer["lead"], longer["hidden"]) == ("spam", None, len(text) * 3)


def test_without_its_reasons_the_decision_is_another() -> None:
    model = learned(*((one.text, one.label) for one in STREAM))
    seen = inspect(model, "cash cash at noon")
    assert seen["label"] == "spam"
    assert seen["without"] == ["cash"]
    assert model.predict_one("at noon") == "ham"


def test_a_wrong_decision_is_compared_with_the_right_label() -> None:
    model = MNB()
    for _ in range(3):
        for text, label in (("corn crop", "corn"), ("crop wheat", "wheat"), ("ship port", "ship")):
            model.learn_one(text, label)
    stream = stream_of(Message("w", "ship", "corn crop"), MNB=model)
    arrival = opened(stream, "w")["arrival"]["MNB"]
    assert arrival["label"] == "corn"
    assert arrival["against"] == "ship"  # wheat is the next likely one


@pytest.mark.parametrize("letters", [20, 3_000])
def test_a_wrong_decision_keeps_its_reasons_in_words(letters: int) -> None:
    """They are reasons of the model before it learned the message, however long the message is."""
    model, before = OnlineNB(warm_up=0), OnlineNB(warm_up=0)
    for each in (model, before):
        for one in SyntheticSMS(50, seed=1).messages():
            each.learn_one(one.text, one.label)
    text = "win a free prize now " * (letters // 20)
    stream = stream_of(Message("w", "ham", text), Message("r", "spam", text), OnlineNB=model)
    explained = before.explain_one(text).in_words().towards("spam", "ham")
    arrival = opened(stream, "w")["arrival"]["OnlineNB"]
    assert before.predict_one(text) == "spam"
    assert (arrival["label"], arrival["against"]) == ("spam", "ham")
    assert arrival["tokens"] == [each for each in explained[:20] if each[1]]
    assert {"prize", "now", "free"} <= dict(arrival["tokens"]).keys()
    now = opened(stream, "w")["looks"]["OnlineNB"]
    present = dict(model.explain_one(text).in_words().towards(now["label"], now["against"]))
    assert now["words"] == [(word, present[word]) for word, _ in now["words"]]
    assert dict(now["words"]) != dict(arrival["tokens"])
    # A long message with a right decision is not explained at its arrival.
    right = stream.board.items(["r"])[0]
    is_right = stream.board.open(right.id)["arrival"]["OnlineNB"]["label"] == "spam"
    tokens = stream.board.open(right.id)["arrival"]["OnlineNB"]["tokens"]
    assert bool(tokens) == (letters < 2_000 or not is_right)


def test_before_two_classes_there_is_nothing_to_explain() -> None:
    assert inspect(MNB(), "win")["label"] is None
    assert inspect(learned(("win", "spam")), "win")["against"] is None


def test_messages_that_share_rare_words_are_near() -> None:
    texts = {1: "at noon at the pier", 2: "at the", 3: "quite another"}
    others = {number: word_set(text) for number, text in texts.items()}
    assert [number for number, _ in nearest(word_set("the pier at noon"), others)] == [1, 2]
    assert nearest(word_set("pier"), {}) == []


def test_costs_of_a_threshold_are_counted() -> None:
    measures = Measures()
    labelled = [("spam", 0.9), ("spam", 0.3), ("ham", 0.6), ("ham", 0.1)]
    for number, (label, probability) in enumerate(labelled):
        decision = "spam" if probability > 0.5 else "ham"
        measures.count(number, label, decision, {"spam": probability, "ham": 1 - probability})
    cuts = {one["cut"]: (one["lost"], one["missed"]) for one in measures.summary("spam")["cuts"]}
    assert cuts[0.05] == (2, 0)
    assert cuts[0.5] == (1, 1)
    assert cuts[0.95] == (0, 2)


def test_a_curve_stays_bounded_and_a_rise_of_the_error_is_marked() -> None:
    measures = Measures(every=1)
    for number in range(4000):
        right = number < 2000
        measures.count(number, "a", "a" if right else "b", {"a": 0.5, "b": 0.5})
    summary = measures.summary(None)
    assert len(summary["curve"]) <= 400
    assert summary["drifts"]
    assert all(2000 <= number < 2500 for number, _ in summary["drifts"][:1])


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(InputError, match="no model"):
        Stream({}, STREAM)
    with pytest.raises(InputError, match=r"keep must be .* from 1 on, not 0"):
        Stream({"MNB": MNB()}, STREAM, keep=0)
    with pytest.raises(InputError, match="only text models"):
        Stream({"other": object()}, STREAM)
    with pytest.raises(InputError, match="rate is 0"):
        Stream({"MNB": MNB()}, STREAM, rate=0)


def test_the_stream_is_taken_and_ends() -> None:
    stream = Stream({"MNB": MNB()}, STREAM, rate=1000)
    start(stream)
    assert not stream.state()["stream"]["playing"]
    stream.control("play")
    for _ in range(500):
        if stream.ended:
            break
        threading.Event().wait(0.01)
    stream.stop()
    assert stream.ended
    assert len(listed(stream)) == 4


def test_a_waiting_stream_does_not_block_other_methods() -> None:
    more = threading.Event()
    waits = threading.Event()

    def slow() -> Iterator[Message]:
        yield STREAM[0]
        waits.set()
        more.wait()
        yield STREAM[1]

    stream = Stream({"MNB": MNB()}, slow(), rate=1000)
    start(stream)
    stream.control("play")
    assert waits.wait(5)
    assert stream.board.state()["messages"] == 1
    assert correct(stream, "1", "ham")["label"] == "ham"
    more.set()
    stream.stop()


def test_tokens_are_shown_as_a_person_reads_them() -> None:
    """The marks of the tokeniser's kinds of tokens are control characters: a page shows boxes."""
    stream = Stream({"OnlineNB": OnlineNB()}, SyntheticSMS(60, seed=1).messages())
    for _ in range(60):
        stream.step()
    words = [word for label in stream.board.top_tokens()["OnlineNB"].values() for word, _ in label]
    seen = inspect(OnlineNB.from_bytes(stream._models["OnlineNB"].to_bytes()), "win a free prize")
    shown = [*words, *(token["token"] for token in seen["tokens"])]
    assert any(word.startswith("letters ") for word in shown)
    assert all(word.isprintable() for word in shown)


def test_labels_keep_their_types_and_their_keys() -> None:
    model = MNB()
    model.learn_one("win cash", 1)
    model.learn_one("see you", 0)
    stream = stream_of(Message("1", "1", "win"), Message("2", "x", "new"), MNB=model)
    assert model.classes_ == [0, 1, "x"]
    correct(stream, "1", "0")
    correct(stream, "1", "a")
    assert model.classes_ == [0, 1, "a", "x"]
    # A class that comes later has the next key.
    assert stream.board.state()["labels"] == ["0", "1", "x", "a"]


def test_corrections_count_in_the_figures() -> None:
    stream = stream_of(*STREAM, Message("5", "", "cash now"))
    figures = stream.board.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"]) == (3, 2 / 3)  # the first has no decision
    correct(stream, "2", "spam")
    figures = stream.board.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"], figures["recent"]) == (3, 1.0, 1.0)
    assert {"label": "spam", "decision": "spam", "messages": 2} in figures["confusion"]
    assert all(pair["label"] == pair["decision"] for pair in figures["confusion"])
    correct(stream, "5", "ham")
    correct(stream, "2", None)
    figures = stream.board.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"]) == (3, 2 / 3)
    assert figures["cuts"][0]["lost"] == 2


def test_the_threshold_decides_for_the_chosen_label() -> None:
    stream = stream_of(*STREAM)
    assert stream.board.state()["pos_label"] == "spam"
    assert stream.board.state("none")["pos_label"] == "spam"
    state = stream.board.state("ham")
    assert state["pos_label"] == "ham"
    assert state["models"]["MNB"]["cuts"] != stream.board.state("spam")["models"]["MNB"]["cuts"]


def test_a_message_tells_its_decision_at_arrival() -> None:
    stream = stream_of(*STREAM)
    found = opened(stream, "3")
    then, now = found["arrival"]["MNB"], found["looks"]["MNB"]
    assert then["label"] == now["label"] == "spam"
    assert then["probabilities"]["spam"] < now["probabilities"]["spam"]
    assert dict(then["tokens"])["cash"] < {t["token"]: t["adds"] for t in now["tokens"]}["cash"]


def test_a_broken_stream_is_reported_and_not_played() -> None:
    def broken() -> Iterator[Message]:
        yield STREAM[0]
        raise DataError("line 2 is damaged")

    stream = Stream({"MNB": MNB()}, broken(), rate=1000)
    start(stream)
    stream.control("play")
    for _ in range(500):
        if stream.error:
            break
        threading.Event().wait(0.01)
    assert stream.error == "line 2 is damaged"
    assert not stream.state()["stream"]["playing"]
    assert stream.board.state()["messages"] == 1


@pytest.mark.parametrize("label", ["ham", "ham \ud800", ""])
def test_lone_surrogates_are_replaced(label: str) -> None:
    stream = stream_of(Message("1", label, "win \ud800 cash"), STREAM[1])
    assert stream.board.open("1")["text"] == "win ? cash"
    assert stream.try_out("win \ud800")["looks"]["MNB"]["label"]
