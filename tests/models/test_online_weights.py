"""Online document weights: batches, unlearning, merging, files and bounds."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import pytest
from scipy import sparse

import streamnb
from references.online import OnlineReference
from streamnb import ComposedNB, InputError, NotLearnedError
from support.models import EVENTS, WORD_WEIGHTS
from support.profiles import also_in_soak
from support.streams import assert_same_scores, learned, sms_stream, synthetic_stream

STREAM = synthetic_stream(120)
WEIGHTED = synthetic_stream(weighted=True)


def make(event: str = "MNB", **parameters: Any) -> Any:
    return getattr(streamnb, f"DW{event}")(online=True, **parameters)


def test_by_hand() -> None:
    """Of two classes: the first message of each is no surprise less than all, then P decides."""
    model = make(prior="uniform")
    model.learn_one({"a": 1}, "ham")
    # Nothing was known: weight 2, and 2 tokens. Of one class, the second is expected.
    model.learn_one({"a": 1}, "ham")
    model.learn_one({"b": 1}, "spam")
    scores = model.joint_log_likelihood_one({"a": 1})
    assert scores["ham"] == pytest.approx(math.log((3 + 1) / (3 + 2)), abs=1e-15)
    assert scores["spam"] == pytest.approx(math.log(1 / (2 + 2)), abs=1e-15)
    # P(spam | a) = 1/4 / (4/5 + 1/4) = 5/21, so it counts for 1 + 16/21, of 1024ths the nearest.
    model.learn_one({"a": 1}, "spam")
    more = 1 + round(16 / 21 * 1024) / 1024
    scores = model.joint_log_likelihood_one({"b": 1})
    assert scores["spam"] == pytest.approx(math.log((2 + 1) / (2 + more + 2)), abs=1e-15)
    # Counts stay as given; additional weights are stored separately.
    assert model.counts().tokens.sum() == 4
    assert model.n_documents == 4


SETTINGS: list[dict[str, Any]] = [
    {},
    {"alpha": 0.5, "prior": "laplace", "oov": "skip"},
    {"prior": "uniform", "vocabulary_size": 4000},
    {"prior": "empirical", "index_size": 40},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("stream", also_in_soak(["sms", "weighted"], ["synthetic"]))
def test_equals_the_reference_at_every_prefix(
    event: str, settings: dict[str, Any], stream: str
) -> None:
    documents = {"sms": sms_stream()[:120], "synthetic": STREAM, "weighted": WEIGHTED}[stream]
    model, reference = make(event, **settings), OnlineReference(event, **settings)
    for n, (x, y, w) in enumerate(documents):
        query = x | {"never learned": 2.5}
        expected = reference.joint_log_likelihood(query)
        assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    # Some were surprises, and most were not.
    assert 0 < sum(extra > 0.5 for extra in reference.extra) < len(documents) / 2


def test_on_many_real_messages() -> None:
    model, reference = make(), OnlineReference("MNB")
    for n, (x, y, w) in enumerate(sms_stream()):
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
        if n % 10 == 9:
            expected = reference.joint_log_likelihood(x)
            assert_same_scores(model.joint_log_likelihood_one(x), expected, n)


@pytest.mark.parametrize("words", WORD_WEIGHTS)
@pytest.mark.parametrize("event", EVENTS)
def test_together_with_weights_of_words(event: str, words: str) -> None:
    model = ComposedNB(
        event=EVENTS[event],
        weights=WORD_WEIGHTS[words],
        document_weights="discriminative-online",
        refresh_every=1,
    )
    reference = OnlineReference(event, words=words)
    for n, (x, y, w) in enumerate(STREAM[:40]):
        query = x | {"new": 1.0}
        expected = reference.joint_log_likelihood(query)
        assert_same_scores(model.joint_log_likelihood_one(query), expected, n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    # Between refreshes too, weights of words are those before, and totals follow.
    copied = copy.deepcopy(model)
    assert copied.weights_ == model.weights_
    for x, _, _ in STREAM[:10]:
        got, expected = copied.joint_log_likelihood_one(x), model.joint_log_likelihood_one(x)
        assert got == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("event", EVENTS)
def test_composed_model_equals_the_named_one(event: str) -> None:
    composed = ComposedNB(event=EVENTS[event], document_weights="discriminative-online")
    assert learned(composed, STREAM)._store.snapshot(False) == learned(
        make(event), STREAM
    )._store.snapshot(False)


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("term_weighting", ["counts", "log-unit"])
def test_batch_equals_one_by_one(event: str, term_weighting: str) -> None:
    one = learned(make(event, term_weighting=term_weighting), STREAM)
    many, rows = (
        make(event, term_weighting=term_weighting),
        make(event, term_weighting=term_weighting),
    )
    labels = [y for _, y, _ in STREAM]
    for start, stop in ((0, 1), (1, 50), (50, 51), (51, len(STREAM))):
        many.learn_many([x for x, _, _ in STREAM[start:stop]], labels[start:stop])
    names = sorted({word for x, _, _ in STREAM for word in x})
    table = sparse.csr_array([[x.get(word, 0.0) for word in names] for x, _, _ in STREAM])
    rows.learn_many(table, labels, vocabulary=names)
    assert one.to_bytes() == many.to_bytes() == rows.to_bytes()


def test_texts_in_a_batch() -> None:
    texts = ["win cash now", "see you at noon", "win a phone", "noon, win", "you win", "phone me"]
    labels = ["spam", "ham", "spam", "ham", "ham", "ham"]
    one, many = make(), make()
    for text, label in zip(texts, labels, strict=True):
        one.learn_one(text, label)
    many.learn_many(texts, labels)
    assert one.to_bytes() == many.to_bytes()


def test_a_learned_threshold_in_a_batch() -> None:
    stream = [(x, "b" if y == "c" else y, w) for x, y, w in STREAM]
    one, many = make(threshold="auto"), make(threshold="auto")
    learned(one, stream)
    many.learn_many([x for x, _, _ in stream], [y for _, y, _ in stream])
    assert one.to_bytes() == many.to_bytes()


# --- unlearning, merging, saving ------------------------------------------------------------------


@pytest.mark.parametrize("term_weighting", ["counts", "log", "log-unit"])
@pytest.mark.parametrize("stream", [STREAM, WEIGHTED], ids=["unit weights", "weighted"])
def test_unlearning_goes_back_step_by_step(term_weighting: str, stream: Any) -> None:
    """Last to first, the state is that before each message, to the last byte and the last bit."""
    model, states = make(term_weighting=term_weighting), []
    for x, y, w in stream:
        states.append((model.to_bytes(), model._store.weights()))
        model.learn_one(x, y, w)
    for (x, y, w), (data, weights) in zip(reversed(stream), reversed(states), strict=True):
        model.unlearn_one(x, y, w)
        assert model.to_bytes() == data
        if stream is STREAM:
            assert model._store.weights() == weights
    assert model.to_bytes() == make(term_weighting=term_weighting).to_bytes()


@pytest.mark.parametrize("event", EVENTS)
def test_unlearning_in_any_order_takes_away_what_was_added(event: str) -> None:
    model, reference = learned(make(event), STREAM), OnlineReference(event)
    for document in STREAM:
        reference.learn(*document)
    rng = random.Random(3)
    # Of equal messages the newest leaves.
    for step in range(len(STREAM)):
        x, y, w = reference.documents[rng.randrange(len(reference.documents))]
        newest = max(i for i, d in enumerate(reference.documents) if d == (x, y, w))
        reference.unlearn(newest)
        model.unlearn_one(x, y, w)
        for query, _, _ in STREAM[:3]:
            expected = reference.joint_log_likelihood(query)
            assert_same_scores(model.joint_log_likelihood_one(query), expected, step)


def test_parts_of_a_weight_are_unlearned() -> None:
    model, expected = make(), make()
    learned(model, STREAM[:30])
    learned(expected, STREAM[:30])
    model.learn_one({"w1": 2, "w40": 1}, "c", 4)
    expected.learn_one({"w1": 2, "w40": 1}, "c", 3)
    model.unlearn_one({"w1": 2, "w40": 1}, "c", 1)
    assert model.to_bytes() == expected.to_bytes()
    assert model._store.weights() == expected._store.weights()
    with pytest.raises(NotLearnedError):
        model.unlearn_one({"w1": 2, "w40": 1}, "c", 3.5)
    assert model.to_bytes() == expected.to_bytes()


def test_merging_keeps_what_each_was_learned_with() -> None:
    first, second = OnlineReference("MNB"), OnlineReference("MNB")
    for document in STREAM[:70]:
        first.learn(*document)
    for document in STREAM[70:]:
        second.learn(*document)
    both = learned(make(), STREAM[:70])
    before = both.to_bytes()
    other = learned(make(), STREAM[70:])
    both.merge(other)
    first.documents += second.documents
    first.extra += second.extra
    for x, _, _ in STREAM[::7]:
        expected = first.joint_log_likelihood(x)
        assert_same_scores(both.joint_log_likelihood_one(x), expected, x)
    both.subtract(other)
    assert both.to_bytes() == before
    learned(both, STREAM[70:])
    assert both.to_bytes() == learned(make(), STREAM).to_bytes()


def test_models_that_weigh_otherwise_do_not_merge() -> None:
    model = learned(make(), STREAM)
    for other in (streamnb.DWMNB(), streamnb.MNB(), make("CNB")):
        with pytest.raises(InputError):
            model.merge(other)


@pytest.mark.parametrize("event", EVENTS)
def test_files_and_copies_hold_the_weights(event: str) -> None:
    model = learned(make(event, index_size=60), WEIGHTED)
    others = (
        type(model).from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
    )
    for other in others:
        assert other.to_bytes() == model.to_bytes()
        for x, _, _ in STREAM[::3]:
            got, expected = other.joint_log_likelihood_one(x), model.joint_log_likelihood_one(x)
            assert got == pytest.approx(expected, abs=1e-9)
    for trained in (model, *others):
        learned(trained, STREAM[::3])
    assert {other.to_bytes() for other in others} == {model.to_bytes()}
    assert set(model.clone().classes_) == set()


# --- at bounds ------------------------------------------------------------------------------------


def test_without_an_index_every_message_weighs_the_same() -> None:
    model, plain = learned(make(index_size=0), STREAM), learned(streamnb.MNB(), STREAM)
    for x, _, _ in STREAM[::5]:
        assert_same_scores(model.joint_log_likelihood_one(x), plain.joint_log_likelihood_one(x), x)


def test_messages_that_left_the_index_are_unlearned_as_they_count() -> None:
    """All but the extra weight, which left with the message: nothing stays behind."""
    model, reference = (
        learned(make(index_size=25), STREAM),
        OnlineReference("MNB", index_size=25),
    )
    for document in STREAM:
        reference.learn(*document)
    # The oldest first; those in the index keep their places from the end.
    for x, y, w in STREAM[: len(STREAM) - 25]:
        if (x, y, w) in STREAM[len(STREAM) - 25 :]:
            continue
        place = reference.documents.index((x, y, w))
        reference.unlearn(place)
        model.unlearn_one(x, y, w)
        expected = reference.joint_log_likelihood({"w1": 1, "w20": 2})
        got = model.joint_log_likelihood_one({"w1": 1, "w20": 2})
        assert_same_scores(got, expected, place)


def test_pruned_words_leave_nothing_behind() -> None:
    model = learned(make(max_features=30), STREAM)
    assert model.n_words <= 30
    model._store.prune(10)
    loaded = streamnb.DWMNB.from_bytes(model.to_bytes())
    for x, y, w in STREAM:
        got, expected = loaded.joint_log_likelihood_one(x), model.joint_log_likelihood_one(x)
        assert got == pytest.approx(expected, abs=1e-9)
        model.learn_one(x, y, w)
        loaded.learn_one(x, y, w)
    assert loaded.to_bytes() == model.to_bytes()


def test_labels_that_go_leave_nothing_behind() -> None:
    model = learned(make(), STREAM)
    for x, y, w in reversed([document for document in STREAM if document[1] == "c"]):
        model.unlearn_one(x, y, w)
    assert model.classes_ == ["a", "b"]
    loaded = streamnb.DWMNB.from_bytes(model.to_bytes())
    for other in (model, loaded):
        other.learn_one({"w2": 1, "new": 1}, "d")
    assert model.to_bytes() == loaded.to_bytes()
    assert_same_scores(
        model.joint_log_likelihood_one({"w2": 1, "w3": 1}),
        loaded.joint_log_likelihood_one({"w2": 1, "w3": 1}),
        "a new label",
    )


def test_weight_0_learns_nothing() -> None:
    model = learned(make(), STREAM)
    before = model.to_bytes()
    model.learn_one({"never": 1}, "a", 0)
    model.learn_many([{"never": 1}], ["z"], w=0)
    assert model.to_bytes() == before


def test_explanations_add_up() -> None:
    model = learned(make("OVA"), STREAM)
    for x, _, _ in STREAM[::9]:
        explanation = model.explain_one(x)
        for label, score in model.joint_log_likelihood_one(x).items():
            parts = sum(terms[label] for terms in explanation.words.values())
            assert explanation.baseline[label] + parts == pytest.approx(score, abs=1e-9)


# --- invalid values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"event": "bernoulli"}, "word counts"),
        ({"event": "attributes"}, "word counts"),
        ({"estimate": "correlation"}, "correlation factor"),
        ({"dependence": "hidden"}, "document_weights 'uniform'"),
        ({"neighbourhood": "tree"}, "'stream'"),
    ],
    ids=str,
)
def test_what_it_does_not_go_with(others: dict[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        ComposedNB(document_weights="discriminative-online", **others)


def test_parameters_out_of_range() -> None:
    with pytest.raises(InputError, match="online must be True or False"):
        streamnb.DWMNB(online="yes")  # type: ignore[arg-type]


def test_counts_of_other_models_are_refused() -> None:
    model = learned(streamnb.MNB(), STREAM)
    with pytest.raises(InputError, match="no instance weights"):
        model._store.weigh_instances(model._scoring)
