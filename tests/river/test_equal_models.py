"""The models that river has too, against river's."""

from __future__ import annotations

import math

import pytest
from river import naive_bayes

import streamnb
from references.documents import Documents
from references.independent import Reference
from support.streams import assert_same_scores, sms_stream

# --- river's own models -------------------------------------------------------------------------


def river_bernoulli(model: naive_bayes.BernoulliNB, x: dict[str, int]) -> dict[str, float]:
    """Return river's scores without the 10e-10 it adds inside each logarithm."""
    corrected = {}
    for label, score in model.joint_log_likelihood(x).items():
        for word in model.feature_counts:
            p = model.p_feature_given_class(word, label)
            p = p if x.get(word, 0) > model.true_threshold else 1.0 - p
            score -= math.log1p(10e-10 / p)
        corrected[label] = score
    return corrected


RIVER = {
    "MNB": (naive_bayes.MultinomialNB, naive_bayes.MultinomialNB.joint_log_likelihood, {}),
    "CNB": (
        naive_bayes.ComplementNB,
        naive_bayes.ComplementNB.joint_log_likelihood,
        {"prior": "uniform"},
    ),
    "BNB": (naive_bayes.BernoulliNB, river_bernoulli, {}),
}


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("name", RIVER)
def test_model_and_reference_equal_river_along_sms(name: str, alpha: float) -> None:
    river_class, score, parameters = RIVER[name]
    theirs = river_class(alpha=alpha)
    ours = getattr(streamnb, name)(alpha=alpha, **parameters)
    reference = Reference(name, alpha=alpha, **parameters)
    stream = sms_stream()
    documents = Documents.from_list(stream)
    for n, (counts, label, weight) in enumerate(stream):
        # River's complement model rebuilds every count at every score, so look in every tenth time.
        if n % 10 == 0:
            expected = score(theirs, counts)
            past = documents.first(n)
            assert_same_scores(reference.joint_log_likelihood(past, counts), expected, n)
            assert_same_scores(ours.joint_log_likelihood_one(counts), expected, n)
        theirs.learn_one(counts, label)
        ours.learn_one(counts, label, weight)


def test_mnb_equals_river_along_the_whole_sms_stream() -> None:
    theirs, ours = naive_bayes.MultinomialNB(), streamnb.MNB()
    for n, (counts, label, _) in enumerate(sms_stream(6000)):
        assert_same_scores(
            ours.joint_log_likelihood_one(counts), theirs.joint_log_likelihood(counts), n
        )
        theirs.learn_one(counts, label)
        ours.learn_one(counts, label)
