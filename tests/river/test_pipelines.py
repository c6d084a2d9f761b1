"""The models in river's pipelines, evaluation and ensembles."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from river import (
    compose,
    ensemble,
    evaluate,
    feature_extraction,
    metrics,
    naive_bayes,
    stream,
)

import streamnb
from support.estimators import ESTIMATORS
from support.models import structures
from support.streams import synthetic_stream

TRAIN = [
    ("Chinese Beijing Chinese", "yes"),
    ("Chinese Chinese Shanghai", "yes"),
    ("Chinese Macao", "maybe"),
    ("Tokyo Japan Chinese", "no"),
]
QUERY = "Chinese Chinese Chinese Tokyo Japan"


@structures(ESTIMATORS)
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


@structures(ESTIMATORS)
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


@structures(ESTIMATORS)
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


@structures(ESTIMATORS)
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


@structures(ESTIMATORS)
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
