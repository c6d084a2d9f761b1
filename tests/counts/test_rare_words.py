"""Words below `min_df` are not parents and are not counted given a parent."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from river import checks

from references.documents import Documents
from streamnb import HMNB, MNB, SEMNB, ComposedNB, NaiveBayes
from streamnb.errors import InputError
from streamnb.families import Hidden, Multinomial
from support.drawn.messages import refreshed_bytes
from support.models import RATIOS, make_model, make_reference
from support.streams import assert_same_scores, follow, prefixes, synthetic_stream

NAMES = ["HMNB", "HCNB", "HOVA", "SEMNB", "SEOVA", RATIOS]


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_df": 2},
        {"min_df": 4, "max_parents": 3, "alpha": 0.5, "oov": "skip"},
        {"min_df": 3, "vocabulary_size": 60},
    ],
    ids=["two", "four, with other bounds", "three, m fixed"],
)
@pytest.mark.parametrize("name", NAMES)
def test_equals_the_reference_at_every_prefix(name: str, parameters: dict[str, Any]) -> None:
    past = prefixes(synthetic_stream, n=50, weighted=True)
    follow(name, parameters, synthetic_stream(50, weighted=True), past)


@pytest.mark.parametrize("name", ["HMNB", "SEMNB"])
def test_words_leave_as_messages_are_unlearned(name: str) -> None:
    stream = synthetic_stream(40)
    model = make_model(name, min_df=3, refresh_every=1)
    reference = make_reference(name, min_df=3)
    for x, y, w in stream:
        model.learn_one(x, y, w)
    left = list(stream)
    for x, y, w in stream[::2]:
        model.unlearn_one(x, y, w)
        left.remove((x, y, w))
        expected = reference.joint_log_likelihood(Documents.from_list(left), x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, len(left))


@pytest.mark.parametrize("model", [HMNB, SEMNB])
def test_a_word_that_falls_below_is_no_parent_even_before_a_refresh(model: Any) -> None:
    parents = model(min_df=2, vocabulary_size=20, refresh_every=10**9)
    independent = MNB(vocabulary_size=20)
    for each in (parents, independent):
        for x, y in [("win cash", "spam"), ("win now", "spam"), ("buy this pill", "spam")]:
            each.learn_one(x, y)
        each.learn_many(["noon", "noon"], ["ham", "ham"])
    parents.refresh()
    scores = parents.joint_log_likelihood_one("win cash")
    assert scores != pytest.approx(independent.joint_log_likelihood_one("win cash"))
    for each in (parents, independent):
        each.unlearn_one("win now", "spam")
    expected = independent.joint_log_likelihood_one("win cash")
    assert parents.joint_log_likelihood_one("win cash") == pytest.approx(expected)


@pytest.mark.parametrize("name", ["HMNB", "SEMNB"])
def test_merged_saved_copied_and_pruned_models_know_which_words_count(name: str) -> None:
    stream = synthetic_stream(60)
    whole, first, second = (make_model(name, min_df=3) for _ in range(3))
    for i, (x, y, w) in enumerate(stream):
        whole.learn_one(x, y, w)
        (first if i < 30 else second).learn_one(x, y, w)
    first.merge(second)
    assert first.to_bytes() == refreshed_bytes(whole)
    x = stream[3][0]
    expected = whole.joint_log_likelihood_one(x)
    for model in (
        first,
        NaiveBayes.from_bytes(whole.to_bytes()),
        copy.deepcopy(whole),
        pickle.loads(pickle.dumps(whole)),
    ):
        model.refresh()
        assert model.joint_log_likelihood_one(x) == pytest.approx(expected)
    first.subtract(second)
    pruned = make_model(name, min_df=3, max_features=20)
    for x, y, w in stream:
        pruned.learn_one(x, y, w)
    for model in (first, pruned):
        model.refresh()
        again = NaiveBayes.from_bytes(model.to_bytes())
        expected = again.joint_log_likelihood_one(x)
        assert model.joint_log_likelihood_one(x) == pytest.approx(expected)


def test_a_window_lets_words_leave() -> None:
    stream = synthetic_stream(50)
    model = HMNB(min_df=3, window_size=12, refresh_every=1)
    for x, y, w in stream:
        model.learn_one(x, y, w)
    reference = make_reference("HMNB", min_df=3)
    docs = Documents.from_list(stream[-12:])
    for x, _, _ in stream[:10]:
        expected = reference.joint_log_likelihood(docs, x)
        assert_same_scores(model.joint_log_likelihood_one(x), expected, x)


def test_the_default_follows_the_paper_and_files_keep_the_parameter() -> None:
    models = [HMNB(), HMNB(min_df=1), HMNB(min_df=2)]
    for model in models:
        model.learn_one("win cash now", "spam")
    assert models[0].to_bytes() == models[1].to_bytes() != models[2].to_bytes()
    assert NaiveBayes.from_bytes(models[2].to_bytes())._get_params()["min_df"] == 2
    composed = ComposedNB(Multinomial(), dependence=Hidden(min_df=3))
    again = ComposedNB.from_bytes(composed.to_bytes())
    assert again.saved_parameters()["dependence"] == composed.saved_parameters()["dependence"]
    assert again.dependence.min_df == 3


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2", None])
def test_what_is_no_number_of_messages_is_refused(bad: Any) -> None:
    for model in (HMNB, SEMNB, Hidden):
        with pytest.raises(InputError, match="min_df must be a whole number from 1 on, not"):
            model(min_df=bad)


@pytest.mark.soak
def test_river_accepts_it() -> None:
    checks.check_estimator(HMNB(min_df=2))
