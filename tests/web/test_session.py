"""The state of the page: classify, learn, inspect and correct messages."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from streamnb import MNB, OnlineNB, Tokenizer
from streamnb.datasets import Message, SyntheticSMS
from streamnb.errors import InputError
from streamnb.web import Replay, Session
from streamnb.web.inspection import inspect, nearest
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


@pytest.mark.parametrize("model", [MNB(), OnlineNB(tokenizer=Tokenizer(words=(1, 1)))])
def test_what_a_word_adds_is_what_the_score_loses_without_it(model: MNB | OnlineNB) -> None:
    for one in STREAM:
        model.learn_one(one.text, one.label)
    seen = inspect(model, "win cash at noon")
    one, other = seen["label"], seen["against"]
    for piece in seen["pieces"]:
        rest = model.joint_log_likelihood_one("win cash at noon".replace(piece["text"], ""))
        assert piece["adds"] == pytest.approx(seen["lead"] - (rest[one] - rest[other]))
    explained = model.explain_one("win cash at noon")
    total = seen["prior"] + sum(token["adds"] for token in seen["tokens"])
    scores = explained.scores()
    assert total == pytest.approx(scores[one] - scores[other]) == pytest.approx(seen["lead"])


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
    others = {1: "at noon at the pier", 2: "at the", 3: "quite another"}
    assert [number for number, _ in nearest("the pier at noon", others)] == [1, 2]
    assert nearest("pier", {}) == []


def test_costs_of_a_threshold_are_counted() -> None:
    measures = Measures()
    for label, probability in [("spam", 0.9), ("spam", 0.3), ("ham", 0.6), ("ham", 0.1)]:
        decision = "spam" if probability > 0.5 else "ham"
        measures.add(label, decision, {"spam": probability, "ham": 1 - probability})
    cuts = {one["cut"]: (one["lost"], one["missed"]) for one in measures.summary("spam")["cuts"]}
    assert cuts[0.05] == (2, 0)
    assert cuts[0.5] == (1, 1)
    assert cuts[0.95] == (0, 2)


def test_a_curve_stays_bounded_and_a_rise_of_the_error_is_marked() -> None:
    measures = Measures(every=1)
    for number in range(4000):
        right = number < 2000
        measures.add("a", "a" if right else "b", {"a": 0.5, "b": 0.5})
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
