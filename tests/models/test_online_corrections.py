"""Online corrections: scores, unlearning, merging, files and bounds."""

from __future__ import annotations

import copy
import itertools
import json
import lzma
import math
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamnb
from references.balance import BalanceReference
from references.online_weights import OnlineWeightsReference, average
from streamnb import ComposedNB, InputError, NotLearnedError, OnlineNB
from streamnb.families import OnlineWeights
from support.data import require_data
from support.drawn.messages import Stream, documents, streams
from support.models import make_model
from support.streams import (
    assert_same_parts,
    assert_same_scores,
    learned,
    sms_stream,
    synthetic_stream,
)

STREAM = synthetic_stream(120)
WEIGHTED = synthetic_stream(weighted=True)


def make(**parameters: Any) -> Any:
    """A model that takes steps from the first message on: streams here are short."""
    return make_model("OnlineNB", **{"warm_up": 0, **parameters})


def make_reference(**parameters: Any) -> OnlineWeightsReference:
    return OnlineWeightsReference(**{"warm_up": 0, **parameters})


def counts_of(model: Any) -> Any:
    """The counts in an order that does not depend on ids."""
    counts = model.counts()
    tokens, documents = counts.tokens.toarray(), counts.documents.toarray()
    names = model._store.words()
    classes = [class_id for _, class_id in model._labels.order]
    return {
        name: (tuple(tokens[word, classes]), tuple(documents[word, classes]))
        for word, name in enumerate(names)
        if tokens[word].any()
    }


# --- scores ---------------------------------------------------------------------------------------


def test_by_hand() -> None:
    """Two classes: no step while one is known, then one by the whole error, mirrored."""
    model = make()
    model.learn_one({"a": 1}, "ham")
    model.learn_one({"b": 1}, "spam")
    # Both were learned before two were known: l = ln (1 + α)/(1 + 2α) − ln α/(1 + 2α), times c; x
    # of a word that one message has is 2^−0.1 in parts of 4096.
    x = 3822 / 4096
    odds = 5 * math.log(1.03 / 0.03) / x
    assert model.joint_log_likelihood_one({"a": 1}) == pytest.approx({"ham": odds, "spam": -odds})
    # An unknown word has no effect of its own but reduces the weight of the other.
    lessened = model.joint_log_likelihood_one({"a": 1, "new": 1})["ham"]
    assert lessened == pytest.approx(odds * x / (x + 1))
    model.learn_one({"c": 1}, "spam")
    # The score of {c} was 0: g = 1/2 times the trust, b = g / √(1 + 64 g²), w = 8 b.
    balance = BalanceReference()
    factor, exponent = balance.learn("spam", {"ham": 1.0, "spam": 1.0})
    g = 0.5 * factor * 0.5**exponent
    root = math.sqrt(1 + 64 * g**2)
    explanation = model.explain_one({"c": 1})
    assert explanation.baseline["spam"] == pytest.approx(g / root, abs=1e-6)
    assert explanation.corrections["c"]["spam"] == pytest.approx(8 * g / root, abs=1e-5)
    assert explanation.corrections["c"]["ham"] == -explanation.corrections["c"]["spam"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"learning_rate": 1.0, "bias_rate": 0.5, "rate_decay": 1.0, "margin": 0.0},
        {"nb_weight": 8.0, "margin": 0.3, "rate_decay": 0.0, "learning_rate": 0.5},
        {"nb_weight": 0.0, "damping": 0.0},
        {"damping": 0.8},
        {"loss": "deviance"},
        {"loss": "exponential", "nb_weight": 1.0, "learning_rate": 1.0},
        {"loss": "squared"},
        {"warm_up": 7},
    ],
    ids=str,
)
@pytest.mark.parametrize("stream", [STREAM, WEIGHTED], ids=["three classes", "weighted"])
def test_parameters_are_those_of_the_reference(parameters: dict[str, Any], stream: Any) -> None:
    names = {"nb_weight": "scale", "learning_rate": "rate", "rate_decay": "decay"}
    reference = make_reference(**{names.get(k, k): v for k, v in parameters.items()})
    model = make(**parameters)
    for n, (x, y, w) in enumerate(stream):
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)


@pytest.mark.parametrize("correction", ["additive", "multiplicative"])
@pytest.mark.parametrize("share", [0.2, 0.5])
def test_wrong_labels_are_estimated_as_in_the_reference(share: float, correction: str) -> None:
    rng = random.Random(3)
    model = make(correction=correction)
    reference = make_reference(correction=correction)
    plain = make(correction=correction, estimate_noise=False)
    for n, (x, y, w) in enumerate(STREAM):
        label = rng.choice("abc") if rng.random() < share else y
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), n)
        model.learn_one(x, label, w)
        plain.learn_one(x, label, w)
        reference.learn(x, label, w)
    assert len(reference.flips) == 3
    assert all(0 < rate <= 0.4 for flips in reference.flips.values() for rate in flips)
    x = STREAM[0][0]
    assert model.joint_log_likelihood_one(x) != plain.joint_log_likelihood_one(x)
    loaded = type(model).from_bytes(model.to_bytes())
    assert loaded.to_bytes() == model.to_bytes()
    expected = model.joint_log_likelihood_one(x)
    assert loaded.joint_log_likelihood_one(x) == pytest.approx(expected, abs=1e-9)


def test_rate_0_is_naive_bayes_to_the_last_bit() -> None:
    """c / n times the sums of one-versus-all naive Bayes: no step was taken, nothing is added."""
    model = make(learning_rate=0.0, bias_rate=0.0, damping=0.0, estimate_noise=False)
    plain = streamnb.OVA(alpha=0.03, prior="uniform", oov="skip", term_weighting="presence")
    for x, y, _ in sms_stream():
        model.learn_one(x, y)
        plain.learn_one(x, y)
    for x, _, _ in sms_stream()[::3]:
        query = x | {"never learned": 1}
        expected = {
            label: 5.0 * (score / len(query))
            for label, score in plain.joint_log_likelihood_one(query).items()
        }
        assert model.joint_log_likelihood_one(query) == expected


@pytest.mark.parametrize("term_weighting", ["presence", "counts", "log-unit"])
def test_explanations_have_the_parts_of_the_reference(term_weighting: str) -> None:
    model, reference = make(term_weighting=term_weighting), make_reference()
    for x, y, w in STREAM:
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    for x, _, _ in STREAM[::7]:
        explanation = model.explain_one(x | {"never": 2})
        scores = model.joint_log_likelihood_one(x | {"never": 2})
        assert explanation.scores() == pytest.approx(scores, abs=1e-9)
        if term_weighting != "presence":
            continue
        for label in scores:
            parts = reference.parts(x | {"never": 2}, label)
            assert_same_parts(explanation, parts, label, x)


def test_values_are_those_of_the_form() -> None:
    """With counts as values: c Σ x l / Σ x, and steps of x / ‖x‖."""
    model = make(term_weighting="counts")
    model.learn_one({"a": 1}, "ham")
    model.learn_one({"b": 1}, "spam")
    model.learn_one({"c": 3, "d": 4}, "spam")
    corrections = model.explain_one({"c": 1, "d": 1}).corrections
    factor, exponent = BalanceReference().learn("spam", {"ham": 1.0, "spam": 1.0})
    g = 0.5 * factor * 0.5**exponent
    for word, share in (("c", 3 / 5), ("d", 4 / 5)):
        step = 8 * g * share / math.sqrt(1 + 64 * (g * share) ** 2)
        assert corrections[word]["spam"] == pytest.approx(step / math.sqrt(2), abs=1e-5)
    # Tokens of a word that is not known are one word of as many.
    texts = make(term_weighting="counts")
    for text, label in (("a", "ham"), ("b", "spam"), ("c c c", "spam")):
        texts.learn_one({word: text.split().count(word) for word in text.split()}, label)
    one = texts.joint_log_likelihood_one({"c": 2, "new": 2})
    assert texts.joint_log_likelihood_many([{"c": 2, "new": 2}]).tolist() == [
        [one["ham"], one["spam"]]
    ]


# --- what becomes of corrections ------------------------------------------------------------------


@given(stream=streams, extra=documents)
def test_unlearning_takes_counts_and_steps_back(stream: Stream, extra: Any) -> None:
    model, reference = make(), make_reference()
    for x, y, w in stream:
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    before = counts_of(model)
    model.learn_one(*extra)
    reference.learn(*extra)
    model.unlearn_one(*extra)
    reference.unlearn(*extra)
    assert counts_of(model) == before
    for x, _, _ in [*stream, extra]:
        expected = reference.scores(x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, x)
    # Removed words leave nothing behind: the next word with the id starts from scratch.
    model.learn_one({"fresh": 1}, "ham")
    reference.learn({"fresh": 1}, "ham")
    assert_same_scores(
        model.joint_log_likelihood_one({"fresh": 1}), reference.scores({"fresh": 1}), "fresh"
    )


@given(parts=st.lists(streams, min_size=2, max_size=3))
def test_merging_adds_counts_and_averages_corrections(parts: list[Stream]) -> None:
    models = [learned(make(), part) for part in parts]
    references = [make_reference() for _ in parts]
    for reference, part in zip(references, parts, strict=True):
        for document in part:
            reference.learn(*document)
    merged = models[0]
    for model, reference in zip(models[1:], references[1:], strict=True):
        swapped = copy.deepcopy(model)
        swapped.merge(merged)
        merged.merge(model)
        references[0].merge(reference)
        together = [document for part in parts for document in part]
        for x, _, _ in together:
            expected = references[0].scores(x)
            assert_same_scores(merged.joint_log_likelihood_one(x), expected, x)
            proba = swapped.predict_proba_one(x)
            assert merged.predict_proba_one(x) == pytest.approx(proba, abs=1e-6)
    assert counts_of(merged) == counts_of(learned(make(), together))
    again = type(merged).from_bytes(merged.to_bytes())
    assert again.to_bytes() == merged.to_bytes()


def test_merging_averages_by_evidence() -> None:
    values, evidence = {"w": 1.0}, {"w": 3.0}
    average(values, evidence, {"w": -1.0, "v": 2.0}, {"w": 1.0, "v": 5.0}, rate=1.0, decay=0.0)
    assert (values, evidence) == ({"w": 0.5, "v": 2.0}, {"w": 4.0, "v": 5.0})


def test_four_shards_merged_lose_nothing_that_can_be_measured() -> None:
    """The first half of a stream learned by four, merged, and learned on: as by one."""
    with lzma.open(require_data("text/sms_spam.jsonl.xz"), "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line, _ in zip(lines, range(3000), strict=False)]
    stream = [(record["text"], record["label"]) for record in records]
    half = len(stream) // 2
    one, four = OnlineNB(), [OnlineNB() for _ in range(4)]
    for i, (x, y) in enumerate(stream[:half]):
        one.learn_one(x, y)
        four[i % 4].learn_one(x, y)
    for model in four[1:]:
        four[0].merge(model)
    assert counts_of(four[0]) == counts_of(one)
    hits = [0, 0]
    for x, y in stream[half:]:
        for place, model in enumerate((one, four[0])):
            hits[place] += model.predict_one(x) == y
            model.learn_one(x, y)
    # Within two standard errors of the difference of two such shares.
    share = hits[0] / (len(stream) - half)
    assert abs(hits[0] - hits[1]) <= 2 * math.sqrt(2 * half * share * (1 - share))
    assert share > 0.97


def test_subtracting_takes_counts_back() -> None:
    model, other = learned(make(), STREAM[:70]), learned(make(), STREAM[70:])
    before = counts_of(model)
    model.merge(other)
    model.subtract(other)
    assert counts_of(model) == before
    with pytest.raises(NotLearnedError):
        model.subtract(learned(make(), [({"never": 1}, "a", 1.0)]))


def test_files_copies_and_pickles_hold_corrections() -> None:
    model = learned(make(), WEIGHTED)
    others = [
        OnlineNB.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        copy.deepcopy(copy.deepcopy(model)),
    ]
    for x, y, w in STREAM:
        for other in others:
            assert other.joint_log_likelihood_one(x) == model.joint_log_likelihood_one(x)
        for each in (model, *others):
            each.learn_one(x, y, w)
    assert {other.to_bytes() for other in others} == {model.to_bytes()}


def test_corrections_are_numbers_that_a_file_may_not_forge() -> None:
    model = learned(make(), STREAM)
    snapshot = model._store.snapshot(False)
    tokenizer = streamnb.Tokenizer().native()
    # The last number is the number of messages; the excess loss and the sums of wrong labels of the
    # last class come before it.
    for value, end in itertools.product((math.nan, math.inf, -1.0), (0, 16)):
        forged = (
            snapshot[: -8 - end] + np.float64(value).tobytes() + snapshot[len(snapshot) - end :]
        )
        with pytest.raises(streamnb.ModelFileError):
            streamnb._core.CountStore.restore(tokenizer, forged)
    for end in range(1, 200, 7):
        with pytest.raises(streamnb.ModelFileError):
            streamnb._core.CountStore.restore(tokenizer, snapshot[:-end])


def test_labels_that_go_take_their_corrections_with_them() -> None:
    model = learned(make(), STREAM)
    for x, y, w in STREAM:
        if y == "c":
            model.unlearn_one(x, y, w)
    assert model.classes_ == ["a", "b"]
    loaded = OnlineNB.from_bytes(model.to_bytes())
    for other in (model, loaded):
        other.learn_one({"w2": 1, "new": 1}, "d")
        learned(other, STREAM[:20])
    assert model.to_bytes() == loaded.to_bytes()


def test_pruned_words_leave_nothing_behind() -> None:
    model = learned(make(max_features=30), STREAM)
    assert model.n_words <= 30
    loaded = OnlineNB.from_bytes(model.to_bytes())
    assert learned(loaded, STREAM).to_bytes() == learned(model, STREAM).to_bytes()


def test_weight_0_takes_no_step() -> None:
    model = learned(make(), STREAM)
    before = model.to_bytes()
    model.learn_one({"w1": 1, "never": 1}, "a", 0)
    model.learn_many([{"w1": 1, "never": 1}], ["z"], w=0)
    assert model.to_bytes() == before


def test_words_in_another_order_learn_the_same() -> None:
    rng = random.Random(5)
    shuffled = [({w: x[w] for w in rng.sample(list(x), len(x))}, y, n) for x, y, n in sms_stream()]
    assert learned(make(), shuffled).to_bytes() == learned(make(), sms_stream()).to_bytes()


# --- invalid values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "why"),
    [
        ({"event": "multinomial"}, "event must be 'one-versus-all'"),
        ({"event": "complement"}, "event must be 'one-versus-all'"),
        ({"event": "bernoulli"}, "event must be 'one-versus-all'"),
        ({"event": "one-versus-all", "dependence": "hidden"}, "'independent'"),
        ({"event": "one-versus-all", "estimate": "correlation"}, "correlation factor"),
        ({"event": "one-versus-all", "neighbourhood": "tree"}, "'stream'"),
        ({"event": "one-versus-all", "document_weights": "discriminative"}, "'uniform'"),
    ],
    ids=str,
)
def test_what_it_does_not_go_with(others: dict[str, str], why: str) -> None:
    with pytest.raises(InputError, match=why):
        ComposedNB(weights="online", **others)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("nb_weight", [-1, math.nan, math.inf, 1e7, "5", True]),
        ("learning_rate", [-1, math.nan, None]),
        ("bias_rate", [-0.1]),
        ("rate_decay", [-0.1, 1e9]),
        ("margin", [-0.1, 1.1]),
        ("damping", [-0.1, 1.1, "much"]),
        ("loss", ["hinge", None, 1]),
        ("forgetting_factor", [0, 1.1, -1]),
        ("calibrated", [1, "yes", None]),
        ("estimate_noise", [1, "yes", None]),
    ],
)
def test_parameters_out_of_range(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(InputError, match=name):
            OnlineNB(**{name: value})


def test_composed_model_equals_the_named_one() -> None:
    composed = ComposedNB(
        event="one-versus-all",
        weights=OnlineWeights(warm_up=0),
        alpha=0.03,
        term_weighting="presence",
    )
    named = learned(make(), STREAM)
    assert learned(composed, STREAM)._store.snapshot(False) == named._store.snapshot(False)


def test_counts_of_other_models_are_refused() -> None:
    with pytest.raises(InputError, match="no online weights"):
        streamnb.MNB()._store.correct_online(OnlineNB()._scoring)
    with pytest.raises(InputError, match="no online weights"):
        OnlineNB()._store.correct_online(streamnb.MNB()._scoring)
    with pytest.raises(InputError):
        OnlineNB().merge(streamnb.OVA())


def test_the_default_tokenizer_reads_every_script() -> None:
    model = OnlineNB()
    texts = [("免费领奖 立即点击", "spam"), ("मुफ्त इनाम जीतें", "spam"), ("中午见面吗", "ham")]
    for text, label in texts * 3:
        model.learn_one(text, label)
    for text, label in texts:
        assert model.predict_one(text) == label
    assert model.tokenizer is None
    assert OnlineNB.from_bytes(model.to_bytes()).predict_one("免费") == "spam"
    assert OnlineNB(tokenizer=streamnb.Tokenizer())._messages._native_tokenizer.tokens(
        "Win €5!"
    ) == ["win"]
    assert "subject: win" in model._messages._native_tokenizer.tokens(
        "To: ann\nSubject: Win\n\nnow"
    )
