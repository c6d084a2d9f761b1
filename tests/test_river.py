"""The models as river estimators: river's own check suite, pipelines, evaluation and ensembles."""

from __future__ import annotations

import collections
import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import reference_filters
from model_support import MODELS, ROUNDED
from river import (
    base,
    checks,
    compose,
    ensemble,
    evaluate,
    feature_extraction,
    metrics,
    naive_bayes,
    stream,
)
from test_reference import synthetic_stream

import streamnb

if TYPE_CHECKING:
    from collections.abc import Callable

ESTIMATORS = {name: getattr(streamnb, name)() for name in MODELS} | {
    "ComposedNB": streamnb.ComposedNB(),
    "ComposedNB hidden": streamnb.ComposedNB(event="one-versus-all", dependence="hidden"),
    "ComposedNB minimised": streamnb.ComposedNB(event="one-versus-all", weights="generalised"),
    "ComposedNB online": streamnb.ComposedNB(
        event="complement", document_weights="discriminative-online"
    ),
    "ComposedNB ratios": streamnb.ComposedNB(event="one-versus-all", dependence="hidden-ratios"),
}

# Messages of columns: all of river's checks, but no texts.
CHECKED = ESTIMATORS | {
    "DWMNB online": streamnb.DWMNB(online=True),
    "HNB columns": streamnb.HNB(columns=True),
    "PHNB columns": streamnb.PHNB(columns=True, bag_threshold="auto"),
    **{name: getattr(streamnb, name)() for name in ("ENB", "DNB", "LNB", "GDNB", "MSENB")},
    **{name: getattr(streamnb, name)() for name in reference_filters.FILTERS},
    "ComposedNB numbers": streamnb.ComposedNB(event="gaussian"),
    "ComposedNB direct": streamnb.ComposedNB("gaussian", weights="squared", multiclass="direct"),
    "ComposedNB columns": streamnb.ComposedNB(event="attributes"),
}


def river_checks() -> list[Any]:
    """Return river's checks of every model, each a test of its own."""
    cases = []
    for name, model in CHECKED.items():
        seen: collections.Counter[str] = collections.Counter()
        for check in checks.yield_checks(model):
            if check.__name__ in model._unit_test_skips():
                continue
            seen[check.__name__] += 1
            title = f"{name}: {check.__name__} {seen[check.__name__]}"
            cases.append(pytest.param(model, check, id=title))
    return cases


@pytest.mark.parametrize(("model", "check"), river_checks())
def test_river_check(model: base.Estimator, check: Callable[[base.Estimator], None]) -> None:
    check(model.clone())


@pytest.mark.parametrize("name", CHECKED)
def test_no_river_check_is_skipped(name: str) -> None:
    model = CHECKED[name]
    assert set(model._unit_test_skips()) == set()
    assert isinstance(model, base.Classifier)
    assert isinstance(model, base.MiniBatchClassifier)
    assert model._multiclass
    # The learn_many and pandas checks ran, not only those of a plain classifier.
    names = {check.__name__ for check in checks.yield_checks(model)}
    assert {"check_learn_many_matches_learn_one", "check_bounded_memory_growth"} <= names


TRAIN = [
    ("Chinese Beijing Chinese", "yes"),
    ("Chinese Chinese Shanghai", "yes"),
    ("Chinese Macao", "maybe"),
    ("Tokyo Japan Chinese", "no"),
]
QUERY = "Chinese Chinese Chinese Tokyo Japan"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pipeline_equals_the_model_alone(name: str) -> None:
    """River's BagOfWords before the model gives what the model's own tokeniser gives."""
    pipeline = feature_extraction.BagOfWords() | ESTIMATORS[name].clone()
    alone = ESTIMATORS[name].clone()
    for text, label in TRAIN:
        pipeline.learn_one(text, label)
        alone.learn_one(text, label)
    # Tokens are added up one by one from a text, word by word from a mapping.
    expected = alone.predict_proba_one(QUERY)
    assert pipeline.predict_proba_one(QUERY) == pytest.approx(expected, abs=1e-12)
    assert pipeline.predict_one(QUERY) == alone.predict_one(QUERY)


def test_pipeline_equals_the_same_pipeline_of_river() -> None:
    """The example in the documentation of river's MultinomialNB."""
    ours, theirs = (
        compose.Pipeline(
            ("tokenize", feature_extraction.BagOfWords(lowercase=False)), ("nb", model)
        )
        for model in (streamnb.MNB(), naive_bayes.MultinomialNB())
    )
    for text, label in TRAIN:
        ours.learn_one(text, label)
        theirs.learn_one(text, label)
    for text in ("test", QUERY):
        assert ours.predict_proba_one(text) == pytest.approx(theirs.predict_proba_one(text))
    assert ours.predict_one("test") == theirs.predict_one("test") == "yes"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pipeline_of_n_gram_tuples(name: str) -> None:
    pipeline = feature_extraction.BagOfWords(ngram_range=(1, 2)) | ESTIMATORS[name].clone()
    for text, label in TRAIN:
        pipeline.learn_one(text, label)
    model = pipeline["ComposedNB" if name.startswith("Composed") else name]
    explanation = model.explain_one({("chinese", "beijing"): 1, "japan": 1})
    assert set(explanation.words) == {"chinese beijing", "japan"}
    # Six words, and the pairs chinese beijing, beijing chinese, chinese chinese, chinese shanghai,
    # chinese macao, tokyo japan, japan chinese.
    assert model.n_words == 13
    proba = pipeline.predict_proba_one(QUERY)
    assert set(proba) == {"yes", "maybe", "no"}
    assert sum(proba.values()) == pytest.approx(1)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pipeline_in_mini_batches(name: str) -> None:
    """BagOfWords makes a sparse data frame of a series; the model learns and predicts from it."""
    texts = pd.Series([text for text, _ in TRAIN], index=["d1", "d2", "d3", "d4"])
    labels = pd.Series([label for _, label in TRAIN], index=texts.index)
    many = feature_extraction.BagOfWords() | ESTIMATORS[name].clone()
    one = feature_extraction.BagOfWords() | ESTIMATORS[name].clone()
    many.learn_many(texts, labels)
    for text, label in TRAIN:
        one.learn_one(text, label)
    queries = pd.Series([QUERY, "Shanghai", ""], index=[7, 3, 5])
    proba = many.predict_proba_many(queries)
    assert list(proba.index) == [7, 3, 5]
    assert list(many.predict_many(queries).index) == [7, 3, 5]
    # Fits begin at other weights, and end in the same but for what the optimiser leaves.
    within = 1e-6 if "minimised" in name else 1e-9
    for index, text in queries.items():
        assert proba.loc[index].to_dict() == pytest.approx(one.predict_proba_one(text), abs=within)
        assert many.predict_many(queries)[index] == one.predict_one(text)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_progressive_validation(name: str) -> None:
    dataset = [(counts, label) for counts, label, _ in synthetic_stream(200)]
    metric = evaluate.progressive_val_score(
        dataset, ESTIMATORS[name].clone(), metrics.Accuracy() + metrics.MacroF1()
    )
    # Always answering the largest class would reach about a half.
    assert metric[0].get() > 0.6


def test_progressive_validation_of_roc_auc_in_a_text_pipeline() -> None:
    texts = [
        (" ".join(word for word, count in counts.items() for _ in range(int(count))), label == "b")
        for counts, label, _ in synthetic_stream(200)
        if label != "c"
    ]
    model = feature_extraction.BagOfWords() | streamnb.HMNB()
    assert evaluate.progressive_val_score(texts, model, metrics.ROCAUC()).get() > 0.7


@pytest.mark.parametrize("name", ESTIMATORS)
def test_adwin_bagging_ensemble(name: str) -> None:
    def run() -> tuple[float, ensemble.ADWINBaggingClassifier]:
        model = ensemble.ADWINBaggingClassifier(model=ESTIMATORS[name].clone(), n_models=3, seed=42)
        dataset = [(counts, label) for counts, label, _ in synthetic_stream(150)]
        return evaluate.progressive_val_score(dataset, model, metrics.Accuracy()).get(), model

    accuracy, model = run()
    assert accuracy > 0.55
    assert run()[0] == accuracy
    # Each member drew its own Poisson weights: they are not one model three times over.
    assert len({member.to_bytes() for member in model.models}) == 3


def test_river_ensemble_of_pipelines_over_text() -> None:
    model = ensemble.BaggingClassifier(
        model=feature_extraction.BagOfWords() | streamnb.CNB(), n_models=3, seed=1
    )
    for _ in range(3):
        for text, label in TRAIN:
            model.learn_one(text, label)
    assert model.predict_one("Chinese Chinese Shanghai Beijing") == "yes"


def test_river_feature_union_before_the_model() -> None:
    """Word counts and marks of the writer's own, by river's compose, as one bag of words."""

    def marks(text: str) -> dict[str, int]:
        return {"<digits>": sum(map(str.isdigit, text)), "<capitals>": sum(map(str.isupper, text))}

    union = compose.TransformerUnion(
        feature_extraction.BagOfWords(), compose.FuncTransformer(marks)
    )
    model = union | streamnb.MNB()
    model.learn_one("Win 1000 NOW", "spam")
    model.learn_one("see you at home", "ham")
    assert model.predict_one("CALL 0900 1234") == "spam"
    assert "<digits>" in model["MNB"].explain_one({"<digits>": 1}).words


def test_river_stream_iterators_feed_the_model() -> None:
    X = np.array([[2, 0], [0, 1], [1, 0]])
    y = np.array(["spam", "ham", "spam"])
    model = streamnb.MNB()
    for x, label in stream.iter_array(X, y, feature_names=["win", "home"]):
        model.learn_one(x, label)
    assert model.predict_one({"win": 1}) == "spam"
    assert model.predict_one({"home": 1}) == "ham"


def learned(name: str, n: int = 60) -> Any:
    model = ESTIMATORS[name].clone()
    for counts, label, weight in synthetic_stream(n):
        model.learn_one(counts, label, weight)
    return model


@pytest.mark.parametrize("name", ESTIMATORS)
def test_clone_is_untrained_and_keeps_parameters(name: str) -> None:
    model = learned(name)
    clone = model.clone()
    assert clone.predict_one({"w1": 1}) is None
    assert clone.predict_proba_one({"w1": 1}) == {}
    assert clone._get_params() == model._get_params()
    other = model.clone({"alpha": 0.25, "unseen": "skip"})
    assert (other.alpha, other.unseen) == (0.25, "skip")
    clone.learn_one({"w1": 1}, "a")
    assert model.to_bytes() == learned(name).to_bytes()


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_copies_continue_alike_and_apart(name: str, copier: Callable[[Any], Any]) -> None:
    model = learned(name)
    twin = copier(model)
    assert twin.to_bytes() == model.to_bytes()
    rest = synthetic_stream(110)[60:]
    for counts, label, weight in rest:
        expected = model.joint_log_likelihood_one(counts)
        if name in ROUNDED:
            expected = pytest.approx(expected, rel=1e-12)
        assert twin.joint_log_likelihood_one(counts) == expected
        assert twin.predict_one(counts) == model.predict_one(counts)
        model.learn_one(counts, label, weight)
        twin.learn_one(counts, label, weight)
    assert twin.to_bytes() == model.to_bytes()
    twin.learn_one({"only the twin": 1}, "d")
    assert "d" not in model.classes_
    assert "d" in twin.classes_


@pytest.mark.parametrize("name", ESTIMATORS)
def test_pickle_bytes_are_determined_by_the_state(name: str) -> None:
    model = learned(name)
    once = pickle.dumps(model)
    model.predict_proba_one({"w1": 2, "new": 1})
    model.explain_one({"w1": 2, "new": 1})
    assert pickle.dumps(model) == once
    assert pickle.dumps(learned(name)) == once
    again = pickle.dumps(pickle.loads(once))
    assert pickle.dumps(pickle.loads(again)) == again
