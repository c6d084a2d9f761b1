"""The classifier inside scikit-learn's pipelines, searches, cross-validation and calibration."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline

from streamnb import MNB
from streamnb.datasets import SyntheticSMS
from streamnb.sklearn import StreamNBClassifier

_PAIRS = list(SyntheticSMS(600, 1))
TEXTS = [text for text, _ in _PAIRS]
LABELS = np.array([label for _, label in _PAIRS])
# Sorted by class, as data sets often are.
SORTED = np.argsort(LABELS, kind="stable")


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(),
        TfidfVectorizer(),
        HashingVectorizer(alternate_sign=False, n_features=4096),
    ],
)
def test_pipeline_with_each_vectorizer(vectorizer: object) -> None:
    pipeline = make_pipeline(vectorizer, StreamNBClassifier("MNB(alpha=0.1)"))
    scores = cross_val_score(pipeline, TEXTS, LABELS, cv=3)
    assert scores.min() > 0.9


def test_texts_in_a_pipeline_and_in_a_column() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": TEXTS, "n": [len(text) for text in TEXTS]})
    counted = ColumnTransformer([("words", CountVectorizer(), "text"), ("n", "passthrough", ["n"])])
    pipeline = Pipeline([("counts", counted), ("nb", StreamNBClassifier("CNB"))])
    assert pipeline.fit(frame[:400], LABELS[:400]).score(frame[400:], LABELS[400:]) > 0.9


def test_classes_in_order_do_not_harm() -> None:
    texts, labels = [TEXTS[place] for place in SORTED], LABELS[SORTED]
    scores = cross_val_score(StreamNBClassifier(random_state=0), texts, labels, cv=3)
    assert scores.min() > 0.9


def test_grid_search_over_models_and_their_parameters() -> None:
    search = GridSearchCV(
        Pipeline([("words", CountVectorizer()), ("nb", StreamNBClassifier())]),
        [
            {"nb__model": ["MNB"], "nb__model__alpha": [0.1, 1.0], "words__binary": [True, False]},
            {"nb__model": [MNB(alpha=1e6)]},
        ],
        cv=2,
        scoring="neg_log_loss",
    ).fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 5
    assert search.best_estimator_["nb"].model_.alpha in (0.1, 1.0)
    assert search.cv_results_["rank_test_score"][4] == 5
    assert search.predict(TEXTS[:3]).tolist() == LABELS[:3].tolist()


def test_calibrated() -> None:
    calibrated = CalibratedClassifierCV(StreamNBClassifier("MNB"), cv=3).fit(TEXTS, LABELS)
    shares = calibrated.predict_proba(TEXTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert calibrated.score(TEXTS, LABELS) > 0.9


def test_others_that_hold_it() -> None:
    shares = cross_val_predict(
        StreamNBClassifier("MNB"), TEXTS, LABELS, cv=2, method="predict_log_proba"
    )
    assert shares.shape == (600, 2)
    votes = VotingClassifier(
        [("a", StreamNBClassifier("MNB")), ("b", StreamNBClassifier("CNB"))], voting="soft"
    ).fit(TEXTS, LABELS)
    assert votes.score(TEXTS, LABELS) > 0.9
    three = np.where(np.arange(600) % 3 == 0, "other", LABELS)
    rest = OneVsRestClassifier(StreamNBClassifier("MNB")).fit(
        CountVectorizer().fit_transform(TEXTS), three
    )
    assert len(rest.classes_) == 3


def test_weights_by_class_through_a_pipeline() -> None:
    weights = np.where(LABELS == "spam", 50.0, 1.0)
    pipeline = Pipeline([("words", TfidfVectorizer()), ("nb", StreamNBClassifier("MNB"))])
    plain = pipeline.fit(TEXTS, LABELS).predict(TEXTS)
    weighted = pipeline.fit(TEXTS, LABELS, nb__sample_weight=weights).predict(TEXTS)
    assert (weighted == "spam").sum() > (plain == "spam").sum()
