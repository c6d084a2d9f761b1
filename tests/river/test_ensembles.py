"""River's ensembles of the models, on texts and mappings."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from river import drift, ensemble, evaluate, feature_extraction, metrics

import streamnb
from support.streams import synthetic_stream

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
