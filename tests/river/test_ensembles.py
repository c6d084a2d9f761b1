"""Ensembles of the models: river's on texts and mappings, and boosting by weights."""

from __future__ import annotations

import collections
import copy
import math
import pickle
from typing import TYPE_CHECKING, Any

import pytest
from river import drift, ensemble, evaluate, feature_extraction, metrics

import streamnb
from streamnb import InputError
from streamnb.ensembles import WeightedBoosting
from support.estimators import river_checks
from support.streams import synthetic_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from river import base

MODELS = {
    "MNB": streamnb.MNB(),
    "HMNB": streamnb.HMNB(),
    "DWMNB": streamnb.DWMNB(),
}
RIVER = {
    kind.__name__: kind
    for kind in (
        ensemble.AdaBoostClassifier,
        ensemble.ADWINBoostingClassifier,
        ensemble.BOLEClassifier,
        ensemble.BaggingClassifier,
        ensemble.ADWINBaggingClassifier,
        ensemble.LeveragingBaggingClassifier,
    )
}
COUNTS = [(counts, label) for counts, label, _ in synthetic_stream(150)]
TEXTS = [
    (" ".join(word for word, count in counts.items() for _ in range(int(count))), label)
    for counts, label in COUNTS
]


def followed(model: Any, messages: Any) -> tuple[float, list[Any]]:
    """Learn messages; return the accuracy before each was learned, and probabilities after all."""
    accuracy = evaluate.progressive_val_score(messages, model, metrics.Accuracy()).get()
    return accuracy, [model.predict_proba_one(x) for x, _ in messages[:20]]


@pytest.mark.parametrize("kind", RIVER)
@pytest.mark.parametrize("name", MODELS)
def test_rivers_ensembles_take_texts_as_they_take_mappings(kind: str, name: str) -> None:
    def make() -> Any:
        return RIVER[kind](MODELS[name].clone(), n_models=3, seed=7)

    accuracy, expected = followed(make(), COUNTS)
    assert accuracy > 0.55
    again, got = followed(make(), TEXTS)
    assert again == accuracy
    for one, other in zip(got, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


@pytest.mark.parametrize("kind", RIVER)
def test_rivers_ensembles_are_copied_and_cloned(kind: str) -> None:
    model = RIVER[kind](streamnb.OVA(), n_models=3, seed=7)
    _, expected = followed(model, TEXTS)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert [other.predict_proba_one(x) for x, _ in TEXTS[:20]] == expected
        # Their random numbers go on from the same place.
        copied = copy.deepcopy(model)
        for x, y in TEXTS[:40]:
            copied.learn_one(x, y)
            other.learn_one(x, y)
        assert [m.to_bytes() for m in other.models] == [m.to_bytes() for m in copied.models]
    clone = model.clone()
    assert not clone.predict_proba_one(TEXTS[0][0])
    assert [member.n_documents for member in clone.models] == [0, 0, 0]


def test_weights_pass_through_rivers_boosting() -> None:
    """A message that is drawn twice with weight 2 counts 4 times."""
    once, twice = (ensemble.AdaBoostClassifier(streamnb.MNB(), 2, seed=3) for _ in range(2))
    for x, y in TEXTS[:30]:
        once.learn_one(x, y)
        twice.learn_one(x, y, w=2)
    first = once.models[0].n_documents
    assert twice.models[0].n_documents == 2 * first > 0


def test_random_patches_need_mappings() -> None:
    """They draw subsets of the names of the first message: texts have none."""
    model = ensemble.SRPClassifier(
        streamnb.MNB(),
        n_models=2,
        drift_detector=drift.ADWIN(),
        warning_detector=drift.ADWIN(),
        seed=1,
    )
    with pytest.raises(AttributeError):
        model.learn_one(*TEXTS[0])
    pipeline = feature_extraction.BagOfWords() | ensemble.SRPClassifier(
        streamnb.MNB(), n_models=2, seed=1
    )
    for text, label in TEXTS:
        pipeline.learn_one(text, label)
    assert pipeline.predict_one(TEXTS[-1][0]) in {"a", "b", "c"}


# --- boosting by weights --------------------------------------------------------------------------


class Literal:
    """The formulas of `WeightedBoosting`, over lists."""

    def __init__(self, model: Any, n_models: int) -> None:
        self.members = [model.clone() for _ in range(n_models)]
        self.right, self.wrong = [0.0] * n_models, [0.0] * n_models

    def learn(self, x: Any, y: Any, w: float) -> list[float]:
        weights = [float(w)]
        for m, member in enumerate(self.members):
            is_right = member.predict_one(x) == y
            member.learn_one(x, y, weights[-1])
            of_side = self.right if is_right else self.wrong
            of_side[m] += weights[-1]
            share = (self.right[m] + self.wrong[m]) / (2 * of_side[m]) if of_side[m] else 0.0
            weights.append(round(1024 * weights[-1] * share) / 1024)
        return weights[:-1]

    def votes(self, x: Any) -> dict[Any, float]:
        total: dict[Any, float] = collections.defaultdict(float)
        for m, member in enumerate(self.members):
            epsilon = self.wrong[m] / (self.right[m] + self.wrong[m])
            vote = math.log((1 - epsilon) / epsilon) if 0 < epsilon <= 0.5 else 1.0
            for label, share in member.predict_proba_one(x).items():
                total[label] += vote * share
        return {label: share / sum(total.values()) for label, share in total.items()}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
def test_equals_the_formulas_at_every_prefix(name: str, weighted: bool) -> None:
    literal = Literal(MODELS[name], 4)
    model = WeightedBoosting(MODELS[name].clone(), n_models=4)
    seen: set[float] = set()
    for x, y, w in synthetic_stream(weighted=weighted):
        model.learn_one(x, y, w)
        seen.update(literal.learn(x, y, w))
        got, expected = model.predict_proba_one(x), literal.votes(x)
        assert got == pytest.approx(expected, abs=1e-9)
    assert len(seen) > 50
    ours = [member.to_bytes() for member in model.models]
    assert ours == [member.to_bytes() for member in literal.members]


def test_the_first_member_is_the_model_alone() -> None:
    alone, boosted = streamnb.MNB(), WeightedBoosting(streamnb.MNB(), n_models=2)
    for x, y in TEXTS:
        boosted.learn_one(x, y)
        alone.learn_one(x, y)
    assert boosted.models[0].to_bytes() == alone.to_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_texts_as_mappings_and_nothing_left_to_chance(name: str) -> None:
    accuracy, expected = followed(WeightedBoosting(MODELS[name].clone(), 3), COUNTS)
    assert accuracy > 0.55
    again, got = followed(WeightedBoosting(MODELS[name].clone(), 3), TEXTS)
    assert again == accuracy
    for one, other in zip(got, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_copies_and_clones() -> None:
    model = WeightedBoosting(streamnb.DWCNB(), 3)
    _, expected = followed(model, TEXTS)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert [other.predict_proba_one(x) for x, _ in TEXTS[:20]] == expected
    clone = model.clone()
    assert (len(clone), clone.n_models, clone.predict_one("w1")) == (3, 3, None)
    assert clone.model._get_params() == model.model._get_params()


BOOSTED = {name: WeightedBoosting(model, n_models=3) for name, model in MODELS.items()}
# Members with counts alone, and with an index.
BOOSTED_BRIEFLY = {"MNB", "HMNB"}


def boosted_mark(name: str) -> pytest.MarkDecorator:
    return pytest.mark.matrix if name in BOOSTED_BRIEFLY else pytest.mark.soak


@pytest.mark.parametrize(("model", "check"), river_checks(BOOSTED, boosted_mark))
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    assert not model._unit_test_skips()
    check(model.clone())


def test_weight_0_learns_nothing() -> None:
    model = WeightedBoosting(streamnb.MNB(), 3)
    model.learn_one("never", "z", w=0)
    assert model.predict_one("never") is None
    assert not any([*model.correct_weight.values(), *model.wrong_weight.values()])


def test_what_can_not_be_learned_changes_no_member() -> None:
    model = WeightedBoosting(streamnb.MNB(), 3)
    for x, y in TEXTS[:40]:
        model.learn_one(x, y)
    before = pickle.dumps(model)
    for x, y, w in (({"a": -1}, "a", 1), ("a", None, 1), ("a", "a", -1), ("a", "a", 2**54)):
        with pytest.raises(InputError):
            model.learn_one(x, y, w=w)
    assert pickle.dumps(model) == before


def test_weights_stay_within_bounds() -> None:
    """A message that contradicts a thousand others weighs the more, member by member."""
    model = WeightedBoosting(streamnb.MNB(), 40)
    for _ in range(1000):
        model.learn_one("same", "ham", w=2**40)
    model.learn_one("same", "spam", w=2**40)
    for member in model:
        assert all(map(math.isfinite, member.joint_log_likelihood_one("same").values()))


@pytest.mark.parametrize("n_models", [1, 2.5, True, "3"])
def test_parameters_out_of_range(n_models: Any) -> None:
    with pytest.raises(InputError, match="n_models"):
        WeightedBoosting(streamnb.MNB(), n_models)
