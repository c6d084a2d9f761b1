"""A message that is scored and then learned is tokenised once, without visible effect."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from streamnb import OnlineNB, Tokenizer
from support.streams import synthetic_stream

TEXTS = [
    (" ".join(word for word, count in x.items() for _ in range(int(count))), y)
    for x, y, *_ in synthetic_stream(80)
]
# A capital sigma, no words, and only unknown words, repeated.
ODD = [("ΟΔΟΣ ΣΑΣ free", "ham"), ("", "spam"), ("unheard unheard ofofofofofofofofof", "ham")]
TERM_WEIGHTINGS = ["presence", "counts", "log", "unit"]
ASKED = ["predict_one", "predict_proba_one", "joint_log_likelihood_one"]


def make(**parameters: Any) -> OnlineNB:
    return OnlineNB(**parameters)


def state(model: OnlineNB) -> bytes:
    return model._store.snapshot(True)


@pytest.mark.parametrize("term_weighting", TERM_WEIGHTINGS)
def test_asking_before_learning_leaves_no_trace(term_weighting: str) -> None:
    asked, silent = make(term_weighting=term_weighting), make(term_weighting=term_weighting)
    draw = random.Random(7)
    for x, y in [*TEXTS[:40], *ODD, *TEXTS[40:]]:
        before = copy.deepcopy(silent).joint_log_likelihood_one(x)
        for name in draw.sample(ASKED, draw.randrange(len(ASKED) + 1)):
            found = getattr(asked, name)(x)
            if name == "joint_log_likelihood_one":
                assert found == before == asked.joint_log_likelihood_one(x)
        asked.learn_one(x, y)
        silent.learn_one(x, y)
        assert state(asked) == state(silent)


def test_what_changes_between_asking_and_learning_counts() -> None:
    taken: dict[OnlineNB, Any] = {}
    changes: dict[str, Any] = {
        "learned": lambda model: model.learn_one("cash and cash again", "spam"),
        "unlearned": lambda model: model.unlearn_one(*next(taken[model])),
        "pruned": lambda model: model._store.prune(100),
        "merged": lambda model: model.merge(other),
        "asked of another": lambda model: model.predict_one("see you at noon"),
        "weighs nothing": lambda model: model.learn_one("words never seen", "spam", w=0.0),
        "a new class": lambda model: model.learn_one("an invoice", "work"),
    }
    other = make()
    for x, y in TEXTS[50:]:
        other.learn_one(x, y)
    for name, change in changes.items():
        asked, silent = make(), make()
        for x, y in TEXTS[:20]:
            asked.learn_one(x, y)
            silent.learn_one(x, y)
        taken = {asked: iter(TEXTS), silent: iter(TEXTS)}
        for x, y in TEXTS[20:30]:
            asked.predict_one(x)
            change(asked)
            change(silent)
            assert asked.joint_log_likelihood_one(x) == silent.joint_log_likelihood_one(x), name
            asked.learn_one(x, y, w=2.0)
            silent.learn_one(x, y, w=2.0)
            assert state(asked) == state(silent), name


def test_a_copy_recalls_nothing_of_its_model() -> None:
    model = make()
    for x, y in TEXTS[:20]:
        model.learn_one(x, y)
    twin = copy.deepcopy(model)
    model.learn_one("free cash", "spam")
    twin.learn_one("lunch at noon", "ham")
    # Both are at the same version, after different messages.
    asked = model.joint_log_likelihood_one("free lunch")
    assert twin.joint_log_likelihood_one("free lunch") != asked
    silent = copy.deepcopy(twin)
    for learner in (twin, silent):
        learner.learn_one("free lunch", "ham")
    assert state(twin) == state(silent)


def test_a_model_of_the_same_counts_scores_as_it_is_made() -> None:
    """A model with equal counts but other parameters does not use the cached scores."""
    model = make(tokenizer=Tokenizer())
    for x, y in TEXTS[:20]:
        model.learn_one(x, y)
    own = model.joint_log_likelihood_one(TEXTS[5][0])
    others = make(tokenizer=Tokenizer(), nb_weight=9.0)._scoring
    assert model._store.scores(TEXTS[5][0], others, False) != list(own.values())
    assert model.joint_log_likelihood_one(TEXTS[5][0]) == own
