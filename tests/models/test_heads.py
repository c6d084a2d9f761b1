"""Several heads of OnlineNB: scores, shares, unlearning, merging and files."""

from __future__ import annotations

import copy
import json
import lzma
import random
from typing import Any

import pytest

from references.online_weights import OnlineWeightsReference
from streamnb import InputError, NaiveBayes, OnlineNB
from support.data import require_data
from support.models import make_model
from support.profiles import also_in_soak
from support.streams import assert_same_parts, assert_same_scores, learned, sms_stream
from support.streams import synthetic_stream as synthetic


def marked(stream: Any) -> Any:
    """Each second word becomes an n-gram of characters, which some heads do not see."""
    return [
        ({("\v" + word if n % 2 else word): v for n, (word, v) in enumerate(x.items())}, y, w)
        for x, y, w in stream
    ]


STREAMS = {
    "two classes": sms_stream()[:60],
    "marked": marked(sms_stream()[:60]),
    "three classes": marked(synthetic(120)),
    "weighted": marked(synthetic(weighted=True)),
}
TEXTS = [
    ("win cash now", "spam"),
    ("see you at noon", "ham"),
    ("win a phone now", "spam"),
    ("cash at noon", "ham"),
    ("call now, win", "spam"),
] * 6


def make(heads: str, **parameters: Any) -> Any:
    """A model that takes steps from the first message on: streams here are short."""
    return make_model("OnlineNB", **{"warm_up": 0, "heads": heads, **parameters})


def make_reference(heads: str, **parameters: Any) -> OnlineWeightsReference:
    return OnlineWeightsReference(**{"warm_up": 0, "heads": heads, **parameters})


def both(heads: str, stream: Any, **parameters: Any) -> tuple[Any, OnlineWeightsReference]:
    """A model and its reference after a stream."""
    model, reference = make(heads, **parameters), make_reference(heads, **parameters)
    for x, y, w in stream:
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    return model, reference


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("heads", ["two", "three"])
def test_equals_the_reference_at_every_prefix(heads: str, stream: str) -> None:
    model, reference = make(heads), make_reference(heads)
    for n, (x, y, w) in enumerate(STREAMS[stream]):
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), n)
        model.learn_one(x, y, w)
        reference.learn(x, y, w)
    # Every head has learned, and the shares have moved.
    assert all(any(head.sums.values()) for head in reference.heads())
    assert all(head.share_sum for head in reference.heads())


@pytest.mark.parametrize("heads", also_in_soak(["two"], ["three"]))
def test_wrong_labels_are_estimated_from_the_score(heads: str) -> None:
    rng, model, reference = random.Random(3), make(heads), make_reference(heads)
    for n, (x, y, w) in enumerate(marked(sms_stream()) * 2):
        label = {"ham": "spam", "spam": "ham"}[y] if n > 60 and rng.random() < 0.3 else y
        if n % 5 == 0:
            assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), n)
        model.learn_one(x, label, w)
        reference.learn(x, label, w)
        if n > 200:
            break
    assert any(rates.out or rates.into for rates in reference.flips.values())


@pytest.mark.parametrize("heads", ["two", "three"])
@pytest.mark.parametrize("stream", ["marked", "three classes"])
def test_explanations_have_the_parts_of_the_reference(heads: str, stream: str) -> None:
    model, reference = both(heads, STREAMS[stream])
    for x, _, _ in STREAMS[stream][::7]:
        asked = x | {"never": 2, "\vnever": 1}
        explanation, scores = model.explain_one(asked), model.joint_log_likelihood_one(asked)
        assert explanation.scores() == pytest.approx(scores, abs=1e-9)
        for label in scores:
            assert_same_parts(explanation, reference.parts(asked, label), label, x)


@pytest.mark.parametrize("heads", ["two", "three"])
@pytest.mark.parametrize("stream", ["marked", "three classes", "weighted"])
def test_unlearning_takes_the_steps_of_all_heads_back(heads: str, stream: str) -> None:
    messages = STREAMS[stream]
    model, reference = both(heads, messages)
    for x, y, w in messages[::5]:
        model.unlearn_one(x, y, w)
        reference.unlearn(x, y, w)
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), x)


@pytest.mark.parametrize("heads", ["two", "three"])
def test_a_message_that_is_taken_back_leaves_no_corrections(heads: str) -> None:
    # The estimate of wrong labels keeps the margins of a message.
    model = learned(make(heads, estimate_noise=False), STREAMS["marked"][:40])
    for x, y, _ in STREAMS["marked"][40:]:
        before = {
            k: model.joint_log_likelihood_one(m) for k, (m, _, _) in enumerate(STREAMS["marked"])
        }
        copied = NaiveBayes.from_bytes(model.to_bytes())
        copied.learn_one(x, "spam" if y == "ham" else "ham")
        # In a copy of another process, whose words and classes have other ids.
        copied = NaiveBayes.from_bytes(copied.to_bytes())
        copied.unlearn_one(x, "spam" if y == "ham" else "ham")
        after = {
            k: copied.joint_log_likelihood_one(m) for k, (m, _, _) in enumerate(STREAMS["marked"])
        }
        assert {k: pytest.approx(v, abs=1e-9) for k, v in before.items()} == after


@pytest.mark.parametrize("heads", ["two", "three"])
def test_merging_averages_corrections_and_shares(heads: str) -> None:
    messages = STREAMS["three classes"]
    (model, reference), (other, others) = both(heads, messages[:70]), both(heads, messages[70:])
    model.merge(other)
    reference.merge(others)
    for x, _, _ in messages[::5]:
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), x)


@pytest.mark.parametrize("heads", ["two", "three"])
def test_files_copies_batches_and_messages_that_are_predicted_first(heads: str) -> None:
    one, other, many = (OnlineNB(heads=heads, warm_up=0) for _ in range(3))
    for x, y in TEXTS:
        one.learn_one(x, y)
        other.predict_one(x)
        other.learn_one(x, y)
    many.learn_many(*zip(*TEXTS, strict=True))
    assert one.to_bytes() == other.to_bytes() == many.to_bytes()
    for again in (NaiveBayes.from_bytes(one.to_bytes()), copy.deepcopy(one)):
        assert again.to_bytes() == one.to_bytes()
        again.learn_one("see the phone", "ham")
        many = copy.deepcopy(one)
        many.learn_one("see the phone", "ham")
        assert again.to_bytes() == many.to_bytes()
        assert again._get_params()["heads"] == heads


@pytest.mark.parametrize("heads", ["two", "three"])
def test_a_class_that_goes_takes_its_corrections_with_it(heads: str) -> None:
    messages = STREAMS["three classes"]
    model, reference = both(heads, messages)
    gone = messages[0][1]
    for x, y, w in messages:
        if y == gone:
            model.unlearn_one(x, y, w)
            reference.unlearn(x, y, w)
    for x, _, _ in messages[::9]:
        assert_same_scores(model.joint_log_likelihood_one(x), reference.scores(x), x)


def test_heads_share_tokens_with_fields() -> None:
    texts = [("subject: win cash\nfrom: bob", "spam"), ("subject: noon\nfrom: eve", "ham")] * 8
    tokenizer = copy.copy(OnlineNB.default_tokenizer)
    model = OnlineNB(heads="two", warm_up=0, tokenizer=tokenizer, half_life=20)
    for x, y in texts:
        model.learn_one(x, y)
    explanation = model.explain_one("subject: win")
    scores = model.joint_log_likelihood_one("subject: win")
    assert explanation.scores() == pytest.approx(scores, abs=1e-9)


def test_unknown_heads_are_refused() -> None:
    with pytest.raises(InputError, match="heads"):
        OnlineNB(heads="four")


def test_questions_gain() -> None:
    path = require_data("text/trec_questions.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf8") as file:
        rows = [(each["text"], each["label"]) for each in map(json.loads, file)][:2500]
    right = dict.fromkeys(("one", "two"), 0)
    for heads in right:
        model = OnlineNB(heads=heads)
        for x, y in rows:
            right[heads] += model.predict_one(x) == y
            model.learn_one(x, y)
    assert right["two"] > 1.01 * right["one"]
