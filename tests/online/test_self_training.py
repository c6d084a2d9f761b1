"""Self-training: which messages a model learns without a label, and what that changes."""

from __future__ import annotations

from typing import Any

import pytest
from river.naive_bayes import MultinomialNB

from streamnb import MNB, OnlineNB
from streamnb.active import LabelRequester, self_train
from streamnb.challenger import Challenger
from streamnb.datasets import read_text, stream
from streamnb.errors import InputError
from streamnb.evaluation import prequential
from support.data import require_data

SPAM, HAM = "win free cash", "see you at noon"


def trained(n_spam: int, n_ham: int, model: Any = None) -> Any:
    model = MNB() if model is None else model
    for text, label, n in ((SPAM, "spam", n_spam), (HAM, "ham", n_ham)):
        for _ in range(n):
            model.learn_one(text, label)
    return model


@pytest.mark.parametrize(
    ("n_spam", "n_ham", "text", "label"),
    [
        (20, 20, f"{SPAM} {SPAM}", "spam"),
        (20, 20, f"{HAM} {HAM}", "ham"),
        (20, 20, "win", None),  # P(spam) is .95
        (20, 20, "", None),
        (19, 20, f"{HAM} {HAM}", None),
        (20, 19, f"{HAM} {HAM}", None),
        (40, 0, f"{SPAM} {SPAM}", None),
        (0, 0, SPAM, None),
    ],
)
def test_confident_predictions_of_known_labels_are_learned(
    n_spam: int, n_ham: int, text: str, label: str | None
) -> None:
    model, expected = trained(n_spam, n_ham), trained(n_spam, n_ham)
    assert self_train(model, text) == label
    if label is not None:
        expected.learn_one(text, label, w=0.1)
    assert model.to_bytes() == expected.to_bytes()


def test_the_second_most_likely_label_needs_messages_too() -> None:
    model, text = trained(20, 20), f"{SPAM} {SPAM}"
    learned = []
    for _ in range(20):
        model.learn_one("the match", "sports")  # its few words are no evidence against it
        learned.append(self_train(model, text))
    assert learned == [None] * 19 + ["spam"]
    assert model.class_count_ == {"ham": 20.0, "spam": 20.1, "sports": 20.0}


def test_own_labels_do_not_quiet_the_drift_alarm() -> None:
    """A challenged model watches its errors on the labels of users only."""
    model = trained(20, 20, Challenger(MNB()))
    before = model.alarm.count, model._n_learned
    assert self_train(model, f"{SPAM} {SPAM}") == "spam"
    assert (model.alarm.count, model._n_learned) == before
    assert model.class_count_["spam"] == 20.1


@pytest.mark.parametrize("delay", [0, 40])
@pytest.mark.parametrize("make", [MNB, OnlineNB])
def test_evaluation_equals_a_plain_loop(make: Any, delay: int) -> None:
    pairs = list(stream("synthetic-sms", limit=1500))
    model, requester, right = make(), LabelRequester(seed=3), 0
    waiting: list[tuple[str, str, bool]] = []

    def learn(x: str, y: str, ask: bool) -> None:
        if ask:
            model.learn_one(x, y)
            return
        shares = model.predict_proba_one(x)
        if len(shares) > 1 and max(shares.values()) >= 0.99:
            second, best = sorted(shares, key=shares.__getitem__)[-2:]
            counts = model.class_count_
            if counts[best] >= 20 and counts[second] >= 20:
                model.learn_one(x, best, w=0.1)

    for x, y in pairs:
        right += model.predict_one(x) == y
        waiting.append((x, y, requester.ask(x, model.predict_proba_one(x), 0.2)))
        if len(waiting) > delay:
            learn(*waiting.pop(0))
    for each in waiting:
        learn(*each)
    found = make()
    options: dict[str, Any] = {"label_share": 0.2, "ask": "uncertain", "noise_seed": 3}
    result = prequential({"own": found}, pairs, label_delay=delay, self_training=True, **options)[
        "own"
    ]
    assert found.to_bytes() == model.to_bytes()
    assert found.n_documents > result.n_labels + 10  # messages were learned without a label
    answered = result.n_messages - result.n_unanswered
    assert result.cumulative.accuracy == pytest.approx(right / answered)


def test_two_percent_of_the_sms_labels_serve_better_with_self_training() -> None:
    messages = list(read_text(require_data("text/sms_spam.jsonl.xz")))
    found = {}
    for own in (False, True):
        options: dict[str, Any] = {"label_share": 0.02, "ask": "uncertain", "self_training": own}
        (result,) = prequential(OnlineNB(), messages, **options).values()
        assert result.n_labels <= 1.1 * 0.02 * len(messages)
        found[own] = result.cumulative
    # Means of six seeds: 98.4 and 98.8 %, (1 - AUC)% .67 and .36.
    assert found[True].accuracy > max(0.985, found[False].accuracy or 0.0)
    before, after = (each.one_minus_auc_percent_both_known for each in found.values())
    assert before is not None
    assert after is not None
    assert after < 0.8 * before


def test_models_without_counts_are_refused() -> None:
    model = MultinomialNB()
    with pytest.raises(InputError, match="self_training needs models of streamnb"):
        prequential(model, [(SPAM, "spam")], self_training=True)
