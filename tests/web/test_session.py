"""The state of the page: classify, learn, inspect and correct messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from streamnb import MNB, OnlineNB, Tokenizer
from streamnb.datasets import Message, SyntheticSMS
from streamnb.errors import DataError, InputError
from streamnb.web import Replay, Session
from streamnb.web.inspection import inspect, nearest, word_set
from streamnb.web.measures import Measures

STREAM = [
    Message("1", "spam", "win cash now"),
    Message("2", "ham", "see you at noon"),
    Message("3", "spam", "cash prize now"),
    Message("4", "ham", "lunch at noon"),
]


def session_of(*messages: Message, **models: object) -> Session:
    session = Session(models or {"MNB": MNB()}, messages)
    while session.step():
        pass
    return session


def learned(*pairs: tuple[str, str]) -> MNB:
    model = MNB()
    for text, label in pairs:
        model.learn_one(text, label)
    return model


def test_each_message_is_decided_before_it_is_learned() -> None:
    session = Session({"MNB": MNB()}, STREAM)
    session.step()
    assert session.messages()[0]["answers"]["MNB"]["label"] is None
    session.step()
    assert session.messages()[1]["answers"]["MNB"]["label"] == "spam"
    assert session.state()["models"]["MNB"]["accuracy"] == 0.0


def test_a_correction_is_unlearning_and_learning_to_the_byte() -> None:
    model = MNB()
    session = session_of(*STREAM, MNB=model)
    told = session.correct(2, "spam")
    pairs = [(one.text, one.label) for one in STREAM]
    pairs[1] = (pairs[1][0], "spam")
    assert model.to_bytes() == learned(*pairs).to_bytes()
    assert told["label"] == "spam"
    assert told["corrected"]
    assert told["now"]["MNB"]["label"] == "spam"
    assert not session.correct(2, "ham")["corrected"]
    assert session.correct(2, "")["label"] is None
    del pairs[1]
    assert model.to_bytes() == learned(*pairs).to_bytes()


def test_a_message_without_a_label_waits_for_one() -> None:
    model = MNB()
    session = session_of(*STREAM[:2], Message("3", "", "cash for you"), MNB=model)
    assert session.messages()[-1]["label"] is None
    assert model.n_documents == 2
    session.correct(3, "spam")
    assert model.n_documents == 3


def test_the_last_messages_are_kept() -> None:
    session = Session({"MNB": MNB()}, STREAM, keep=2)
    while session.step():
        pass
    assert [one["number"] for one in session.messages()] == [3, 4]
    assert session.state()["kept_from"] == 3
    with pytest.raises(InputError, match="message 1 is not kept; only the last 2 messages are"):
        session.open(1)


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
    assert all(2000 <= number < 2500 for number in summary["drifts"][:1])


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(InputError, match="no model"):
        Session({}, STREAM)
    with pytest.raises(InputError, match="keep is 0"):
        Session({"MNB": MNB()}, STREAM, keep=0)
    with pytest.raises(InputError, match="only text models"):
        Session({"other": object()}, STREAM)
    with pytest.raises(InputError, match="rate is 0"):
        Replay(session_of(), rate=0)


def test_the_replay_takes_all_and_ends() -> None:
    session = Session({"MNB": MNB()}, STREAM)
    replay = Replay(session, rate=1000)
    replay.start()
    assert not replay.playing
    replay.play()
    for _ in range(500):
        if session.ended:
            break
        threading.Event().wait(0.01)
    replay.stop()
    assert session.ended
    assert len(session.messages()) == 4


def test_a_waiting_stream_does_not_block_other_methods() -> None:
    more = threading.Event()
    waits = threading.Event()

    def slow() -> Iterator[Message]:
        yield STREAM[0]
        waits.set()
        more.wait()
        yield STREAM[1]

    session = Session({"MNB": MNB()}, slow())
    replay = Replay(session, rate=1000)
    replay.start()
    replay.play()
    assert waits.wait(5)
    assert session.state()["messages"] == 1
    assert session.correct(1, "ham")["label"] == "ham"
    more.set()
    replay.stop()


def test_tokens_are_shown_as_a_person_reads_them() -> None:
    """The marks of the tokeniser's kinds of tokens are control characters: a page shows boxes."""
    session = Session({"OnlineNB": OnlineNB()}, SyntheticSMS(60, seed=1).messages())
    for _ in range(60):
        session.step()
    words = [word for label in session.top_words()["OnlineNB"].values() for word, _ in label]
    seen = inspect(OnlineNB.from_bytes(session._models["OnlineNB"].to_bytes()), "win a free prize")
    shown = [*words, *(token["token"] for token in seen["tokens"])]
    assert any(word.startswith("letters ") for word in shown)
    assert all(word.isprintable() for word in shown)


def test_labels_keep_their_types_and_their_keys() -> None:
    model = MNB()
    model.learn_one("win cash", 1)
    model.learn_one("see you", 0)
    session = session_of(Message("1", "1", "win"), Message("2", "x", "new"), MNB=model)
    assert model.classes_ == [0, 1, "x"]
    session.correct(1, "0")
    session.correct(1, "a")
    assert model.classes_ == [0, 1, "a", "x"]
    # A class that comes later has the next key.
    assert session.state()["labels"] == ["0", "1", "x", "a"]


def test_corrections_count_in_the_figures() -> None:
    session = session_of(*STREAM, Message("5", "", "cash now"))
    figures = session.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"]) == (3, 2 / 3)  # the first has no decision
    session.correct(2, "spam")
    figures = session.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"], figures["recent"]) == (3, 1.0, 1.0)
    assert {"label": "spam", "decision": "spam", "messages": 2} in figures["confusion"]
    assert all(pair["label"] == pair["decision"] for pair in figures["confusion"])
    session.correct(5, "ham")
    session.correct(2, "")
    figures = session.state()["models"]["MNB"]
    assert (figures["messages"], figures["accuracy"]) == (3, 2 / 3)
    assert figures["cuts"][0]["lost"] == 2


def test_the_threshold_decides_for_the_chosen_label() -> None:
    session = session_of(*STREAM)
    assert session.state()["pos_label"] == "spam"
    assert session.state("none")["pos_label"] == "spam"
    state = session.state("ham")
    assert state["pos_label"] == "ham"
    assert state["models"]["MNB"]["cuts"] != session.state("spam")["models"]["MNB"]["cuts"]


def test_a_message_tells_its_decision_at_arrival() -> None:
    session = session_of(*STREAM)
    opened = session.open(3)
    then, now = opened["arrival"]["MNB"], opened["looks"]["MNB"]
    assert then["label"] == now["label"] == "spam"
    assert then["probabilities"]["spam"] < now["probabilities"]["spam"]
    assert dict(then["tokens"])["cash"] < {t["token"]: t["adds"] for t in now["tokens"]}["cash"]


def test_a_broken_stream_is_reported_and_not_played() -> None:
    def broken() -> Iterator[Message]:
        yield STREAM[0]
        raise DataError("line 2 is damaged")

    session = Session({"MNB": MNB()}, broken())
    replay = Replay(session, rate=1000)
    replay.start()
    replay.play()
    for _ in range(500):
        if replay.error:
            break
        threading.Event().wait(0.01)
    assert replay.error == "line 2 is damaged"
    assert not replay.playing
    assert session.state()["messages"] == 1


@pytest.mark.parametrize("label", ["ham", "ham \ud800", ""])
def test_lone_surrogates_are_replaced(label: str) -> None:
    session = session_of(Message("1", label, "win \ud800 cash"), STREAM[1])
    assert session.open(1)["text"] == "win ? cash"
    session.correct(1, "\udfff")
    assert session.open(1)["label"] == "?"
    assert session.try_out("win \ud800")["looks"]["MNB"]["label"]
    with pytest.raises(InputError, match="a label has 101 characters; it may have 100"):
        session.correct(1, "x" * 101)
