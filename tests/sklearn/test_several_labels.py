"""MultiLabelNB in scikit-learn: indicator matrices, pipelines, searches and scores."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer

from streamnb import InputError, MultiLabelNB
from streamnb.sklearn import StreamNBClassifier, StreamNBMultiLabelClassifier

TEXTS = ["wheat and corn prices fall", "corn harvest", "bank raises rates", "nothing new"] * 8
SETS = [{"wheat", "corn"}, {"corn"}, {"interest"}, set()] * 8
BINARIZER = MultiLabelBinarizer().fit(SETS)
Y = BINARIZER.transform(SETS)


def test_an_indicator_matrix_is_learned_and_predicted() -> None:
    classifier = StreamNBMultiLabelClassifier(shuffle=False).fit(TEXTS, Y)
    found = classifier.predict(TEXTS[-4:])
    assert found.tolist() == Y[-4:].tolist()
    assert found.dtype == Y.dtype
    assert metrics.f1_score(Y, classifier.predict(TEXTS), average="micro") > 0.9
    own = MultiLabelNB()
    for text, row in zip(TEXTS, Y, strict=True):
        own.learn_one(text, row.nonzero()[0].tolist())
    assert classifier.model_.to_bytes() == own.to_bytes()
    shares = classifier.predict_proba(TEXTS[:2])
    assert shares[0].tolist() == list(own.predict_proba_one(TEXTS[0]).values())
    assert np.exp(classifier.predict_log_proba(TEXTS[:2])) == pytest.approx(shares)
    assert classifier.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("form", [sparse.csr_matrix, list, np.asarray, lambda y: y.astype(bool)])
def test_forms_of_the_matrix_teach_the_same(form: Any) -> None:
    expected = StreamNBMultiLabelClassifier(random_state=1).fit(TEXTS, Y).model_.to_bytes()
    found = StreamNBMultiLabelClassifier(random_state=1).fit(TEXTS, form(Y))
    assert found.model_.to_bytes() == expected


def test_columns_of_a_frame_name_the_labels() -> None:
    frame = pd.DataFrame(Y, columns=BINARIZER.classes_)
    classifier = StreamNBMultiLabelClassifier(random_state=1)
    classifier.partial_fit(TEXTS[:16], frame[:16]).partial_fit(TEXTS[16:], frame[16:])
    assert classifier.classes_.tolist() == ["corn", "interest", "wheat"]
    own = MultiLabelNB()
    own.learn_many(TEXTS, SETS)
    assert classifier.model_.to_bytes() == own.to_bytes()
    with pytest.raises(InputError, match="not those of the first call"):
        classifier.partial_fit(TEXTS, frame[["corn", "wheat"]])
    numbered = StreamNBMultiLabelClassifier().partial_fit(TEXTS, Y, classes=BINARIZER.classes_)
    assert numbered.model_.to_bytes() == own.to_bytes()


def test_pipelines_searches_and_copies() -> None:
    pipeline = make_pipeline(CountVectorizer(), StreamNBMultiLabelClassifier(random_state=1))
    assert cross_val_score(pipeline, TEXTS, Y, scoring="f1_micro", cv=2).min() > 0.8
    search = GridSearchCV(
        StreamNBMultiLabelClassifier(random_state=1),
        {"model__threshold": [0.3, 0.5], "model__tokenizer__words": [(1, 1), (1, 2)]},
        scoring="f1_micro",
        cv=2,
    ).fit(TEXTS, Y)
    assert search.best_score_ > 0.8
    assert set(search.best_params_) == {"model__threshold", "model__tokenizer__words"}
    copied = clone(search.best_estimator_)
    assert not hasattr(copied, "model_")
    fitted = pickle.loads(pickle.dumps(search.best_estimator_))
    assert (fitted.predict(TEXTS) == search.predict(TEXTS)).all()


def test_weights_count_messages_several_times() -> None:
    classifier = StreamNBMultiLabelClassifier("MultiLabelNB(output='dicts')", shuffle=False)
    classifier.fit(TEXTS[:4], Y[:4], sample_weight=[2, 1, 1, 1])
    assert classifier.model_.class_count_ == {0: 3.0, 1: 1.0, 2: 2.0}
    assert classifier.predict(TEXTS[:4]).shape == (4, 3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (SETS, "MultiLabelBinarizer"),
        ([sorted(each) for each in SETS], "MultiLabelBinarizer"),
        (["corn"] * len(TEXTS), "an indicator matrix of 0 and 1"),
        (Y + 1, "an indicator matrix of 0 and 1"),
        (Y[1:], "X has 32 messages and y 31 rows"),
    ],
)
def test_other_labels_are_refused_with_the_call_that_works(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        StreamNBMultiLabelClassifier().fit(TEXTS, y)


def test_each_adapter_names_the_other() -> None:
    with pytest.raises(InputError, match="StreamNBMultiLabelClassifier takes it"):
        StreamNBClassifier(MultiLabelNB()).fit(TEXTS, ["a"] * len(TEXTS))
    with pytest.raises(InputError, match="as in MultiLabelNB"):
        StreamNBMultiLabelClassifier("MNB").fit(TEXTS, Y)
    with pytest.raises(InputError, match="MultiLabelNB has no parameter 'prior'"):
        StreamNBMultiLabelClassifier().set_params(model__prior="uniform")
