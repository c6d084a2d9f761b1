"""Messages and streams drawn by hypothesis, and properties of a model after them."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from support.models import make_model

# Few words and classes, so messages share them, and ties and repetitions are common.
WORDS = ("a", "b", "c", "d", "é", "\U0001f600", ("a", "b"))
LABELS = ("ham", "spam", "other")
messages = st.dictionaries(st.sampled_from(WORDS), st.integers(1, 4), max_size=5)
integer_weights = st.integers(1, 3).map(float)
documents = st.tuples(messages, st.sampled_from(LABELS), integer_weights)
streams = st.lists(documents, max_size=12)
Stream = list[tuple[dict[Any, Any], Any, float]]


def build(name: str, stream: Stream, **parameters: Any) -> Any:
    model = make_model(name, **parameters)
    for x, y, w in stream:
        model.learn_one(x, y, w)
    return model


def refreshed_bytes(model: Any) -> bytes:
    model.refresh()
    return bytes(model.to_bytes())


def check_sane(model: Any, x: Any) -> None:
    """Probabilities are a distribution over the classes, and every score is a finite number."""
    scores = model.joint_log_likelihood_one(x)
    assert list(scores) == model.classes_ or set(scores) == set(model.classes_)
    assert all(math.isfinite(score) for score in scores.values()), scores
    proba = model.predict_proba_one(x)
    assert proba.keys() == scores.keys()
    if proba:
        assert all(0.0 <= p <= 1.0 for p in proba.values()), proba
        assert math.isclose(sum(proba.values()), 1.0, rel_tol=1e-9), proba
        if model.threshold is None or len(proba) <= 2:  # a threshold decides between two
            assert model.predict_one(x) in proba


# --- scores ---------------------------------------------------------------------------------------

any_parameters = st.fixed_dictionaries(
    {},
    optional={
        "alpha": st.sampled_from([1.0, 0.5, 1e-3, 20.0]),
        "prior": st.sampled_from(["empirical", "laplace", "uniform"]),
        "oov": st.sampled_from(["smooth", "skip"]),
        "vocabulary_size": st.sampled_from([8, 100]),
    },
)
queries = st.dictionaries(
    st.sampled_from([*WORDS, "oov", "unseen too"]),
    st.one_of(st.integers(0, 5), st.floats(0, 1e12)),
)
