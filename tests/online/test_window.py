"""Models with a window equal their slow references, and new models of its messages."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import streamnb
from references.forgetting import Forgetting
from streamnb import MNB, InputError, NaiveBayes, NotLearnedError
from support.drawn.messages import refreshed_bytes
from support.models import ALL_MODELS, COLUMNS, EXACT, make_model, make_reference, structures
from support.rows import stream as row_stream
from support.streams import assert_same_scores, learned, sms_stream, synthetic_stream

QUERY = {"w1": 2.0, "w12": 1.0, "w20": 1.0, "w40": 1.0, "never learned": 2.5}


@pytest.mark.parametrize("window", [1, 13])
@structures(ALL_MODELS)
def test_equals_the_reference_at_every_prefix(name: str, window: int) -> None:
    """Classes and words come, go and come again: the third class comes late, and not often."""
    model = make_model(name, refresh_every=1, window_size=window)
    reference = Forgetting(make_reference(name), window_size=window)
    for counts, label, weight in synthetic_stream(weighted=name != "OnlineNB")[:50]:
        for x in (counts, QUERY):
            scores = model.joint_log_likelihood_one(x)
            assert_same_scores(scores, reference.joint_log_likelihood(x), len(reference.stream))
        model.learn_one(counts, label, weight)
        reference.learn(counts, label, weight)
        assert set(model.classes_) == {label for _, label, _ in reference.counting()}


@structures(EXACT)
def test_what_left_leaves_no_trace(name: str) -> None:
    """The bytes equal those of a new model that has learned the last messages only."""
    stream = synthetic_stream(weighted=True)[:90]
    model, new = make_model(name, window_size=25), make_model(name, window_size=25)
    learned(model, stream)
    learned(new, stream[-25:])
    assert refreshed_bytes(model) == refreshed_bytes(new)


@structures()
def test_batches_learn_as_one_by_one(name: str) -> None:
    stream = synthetic_stream()[:100]
    one, many = make_model(name, window_size=20), make_model(name, window_size=20)
    learned(one, stream)
    for start in range(0, 100, 50):
        part = stream[start : start + 50]
        many.learn_many([counts for counts, _, _ in part], [label for _, label, _ in part])
    assert one.classes_ == many.classes_
    assert one.to_bytes() == many.to_bytes()


@structures()
@pytest.mark.parametrize("known", [[], ["c"], ["e", "b"]])
@pytest.mark.parametrize("labels", ["abc", "abca", "abacdaae", "aab"])
def test_labels_come_and_go_within_a_batch(name: str, known: list[str], labels: str) -> None:
    messages = [({"win": 1, f"w{place}": 2}, label) for place, label in enumerate(labels)]
    one, many = (make_model(name, window_size=2, refresh_every=3) for _ in range(2))
    for model in (one, many):
        for label in known:
            model.learn_one({"cash": 1}, label)
    for message, label in messages:
        one.learn_one(message, label)
    many.learn_many([message for message, _ in messages], list(labels))
    assert many.classes_ == one.classes_ == sorted(set(labels[-2:]))
    assert many.to_bytes() == one.to_bytes()
    assert many.predict_one({"win": 1}) == one.predict_one({"win": 1})


@pytest.mark.parametrize("name", ["MNB", "HMNB", "OnlineNB"])
def test_copies_and_files_go_on_as_the_model(name: str) -> None:
    stream = sms_stream()[:60]
    model = learned(make_model(name, window_size=9), stream[:40])
    loaded = NaiveBayes.from_bytes(model.to_bytes())
    for other in (model, pickle.loads(pickle.dumps(model)), copy.deepcopy(model), loaded):
        learned(other, stream[40:])
        assert (other.window_size, other.n_documents) == (9, 9.0)
        assert other.to_bytes() == model.to_bytes()


def test_merging_keeps_the_other_models_messages_as_the_younger() -> None:
    stream = synthetic_stream()[:30]
    merged, other = (learned(MNB(window_size=12), part) for part in (stream[:18], stream[18:]))
    merged.merge(other)
    assert merged.to_bytes() == learned(MNB(window_size=12), stream).to_bytes()
    merged.subtract(other)
    assert merged.n_documents == 0
    assert merged.classes_ == []


def test_a_message_is_unlearned_while_it_is_in_the_window_only() -> None:
    stream = sms_stream()[:20]
    model = learned(MNB(window_size=5), stream)
    with pytest.raises(NotLearnedError):
        model.unlearn_one(stream[0][0], stream[0][1])
    model.unlearn_one(stream[17][0], stream[17][1])
    assert model.n_documents == 4
    # The place is free: the next message makes none leave.
    model.learn_one(*stream[0])
    assert (
        model.to_bytes()
        == learned(MNB(window_size=5), [*stream[15:17], *stream[18:20], stream[0]]).to_bytes()
    )


def test_a_label_that_left_is_unknown_until_it_comes_again() -> None:
    model = MNB(window_size=2, threshold="auto", pos_label="spam")
    model.learn_one("a", "spam")
    model.learn_one("b", "ham")
    model.learn_many(["c", "d"], ["ham", "ham"])
    assert model.classes_ == ["ham"]
    assert model.predict_one("a") == "ham"
    with pytest.raises(NotLearnedError, match="no message was learned with label 'spam'"):
        model.unlearn_one("a", "spam")
    model.learn_many(["a", "a"], ["spam", "other"])
    assert model.classes_ == ["other", "spam"]
    assert sorted(model.predict_proba_one("a")) == ["other", "spam"]


def test_pruned_words_leave_the_window_too() -> None:
    """Pruned words leave the messages of the window, so they are not unlearned twice."""
    stream = [
        ({f"w{(7 * i + k * k) % 211}": 1 + k % 2 for k in range(6)}, "ab"[i % 2], 1.0)
        for i in range(400)
    ]
    model = MNB(window_size=40, max_features=64)
    for x, y, w in stream:
        model.learn_one(x, y, w)
        counts = model.counts()
        assert model.n_words <= 64
        assert counts.tokens.sum() == counts.class_tokens.sum()
    assert model.n_documents == 40


@pytest.mark.parametrize("window", [0, -3, 2.5, "5", True])
def test_windows_that_are_none_are_refused(window: Any) -> None:
    with pytest.raises(InputError, match="window_size must be a whole number from 1 on"):
        MNB(window_size=window)


def test_what_does_not_go_together_is_refused() -> None:
    for name in (*COLUMNS, "PHNB"):
        rows = {"columns": True} if name == "PHNB" else {}
        with pytest.raises(InputError, match="use window_size instead"):
            make_model(name, half_life=10, **rows)
    with pytest.raises(InputError, match="leave index_size at None"):
        MNB(window_size=10, index_size=10)
    with pytest.raises(InputError, match="another half_life or window_size"):
        MNB(window_size=10).merge(MNB(window_size=11))


def test_weights_that_would_leave_a_rest_are_refused() -> None:
    """Nothing of such a message is learned, of one alone or of a batch, its words included."""
    model = learned(MNB(window_size=10), sms_stream()[:3])
    before = model.to_bytes()
    for label in ("ham", "spam", "new"):
        with pytest.raises(InputError, match=r"multiple of 2\*\*-20"):
            model.learn_one("words never seen", label, 0.1)
        with pytest.raises(InputError, match=r"multiple of 2\*\*-20"):
            model.learn_many(["words never seen", "twice"], [label, "newer"], 0.1)
    assert model.to_bytes() == before
    assert model.n_words == NaiveBayes.from_bytes(before).n_words
    model.learn_one("words never seen", "new", 0.125)
    assert model.n_documents == 3.125


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_that_left_leave_no_trace(name: str) -> None:
    """Bytes and scores equal those of a new model that has learned the last rows only."""
    rows = row_stream(90, "abc", weighted=True)
    model = make_model(name, window_size=25, refresh_every=7)
    for start in range(0, 90, 30):
        part = rows[start : start + 30]
        for row, label, weight in part[:10]:
            model.learn_one(row, label, weight)
        for row, label, weight in part[10:]:
            model.learn_many([row], [label], weight)
        last = rows[: start + 30][-25:]
        new = make_model(name, window_size=25, refresh_every=7)
        plain = make_model(name)
        for row, label, weight in last:
            new.learn_one(row, label, weight)
            plain.learn_one(row, label, weight)
        assert model.classes_ == sorted({label for _, label, _ in last})
        assert refreshed_bytes(model) == refreshed_bytes(new)
        loaded = NaiveBayes.from_bytes(model.to_bytes())
        plain.refresh()
        for row, _, _ in rows[::9]:
            expected = plain.joint_log_likelihood_one(row)
            for each in (model, loaded, pickle.loads(pickle.dumps(model))):
                assert_same_scores(each.joint_log_likelihood_one(row), expected, name)


@pytest.mark.parametrize("name", ["HNB", "PHNB"])
def test_binned_rows_leave_the_window(name: str) -> None:
    """The ranges of numbers stay; the scores are those of the last rows in these ranges."""
    rows = row_stream(60, "abc")
    model, unlearned = (
        make_model(name, columns=True, refresh_every=1, **more)
        for more in ({"window_size": 20}, {})
    )
    for model_ in (model, unlearned):
        model_.learn_many([row for row, _, _ in rows], [label for _, label, _ in rows])
    for row, label, _ in rows[:40]:
        unlearned.unlearn_one(row, label)
    assert model.n_documents == 20.0
    model.refresh()
    for row, _, _ in rows[::7]:
        expected = unlearned.joint_log_likelihood_one(row)
        assert_same_scores(model.joint_log_likelihood_one(row), expected, name)


def test_labels_of_rows_come_and_go() -> None:
    one, many = (streamnb.LNB(window_size=2) for _ in range(2))
    labels = "abacdaae"
    for place, label in enumerate(labels):
        one.learn_one({"size": float(place)}, label)
    many.learn_many([{"size": float(place)} for place in range(8)], list(labels))
    assert one.classes_ == many.classes_ == ["a", "e"]
    assert one.to_bytes() == many.to_bytes()
    with pytest.raises(NotLearnedError):
        one.unlearn_one({"size": 0.0}, "a")
    one.unlearn_one({"size": 6.0}, "a")
    assert one.classes_ == ["e"]


def test_windows_of_rows_merge() -> None:
    rows = row_stream(30, "abc")
    merged, other = (streamnb.KLNB(window_size=12) for _ in range(2))
    expected = streamnb.KLNB(window_size=12)
    for place, (row, label, _) in enumerate(rows):
        (merged if place < 18 else other).learn_one(row, label)
        expected.learn_one(row, label)
    merged.merge(other)
    assert merged.to_bytes() == refreshed_bytes(expected)
