"""The correlation factor: the estimate as it is given, and its limits."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from references.correlation import CorrelationReference, optimal
from references.documents import Document, Documents
from streamnb import CNB, MNB, NBCF, OVA, ComposedNB
from streamnb.errors import InputError
from streamnb.families.correlation import OptimalFactor, optimal_factors
from support.profiles import also_in_soak
from support.streams import assert_same_scores, learned, prefixes, sms_stream, synthetic_stream

EVENTS = ("multinomial", "complement", "one-versus-all")
FACTORS = (0.1, 1e-3, 2.0, 0, "optimal")
each_event = pytest.mark.parametrize("event", EVENTS)


def correlated(event: str, **parameters: Any) -> Any:
    return ComposedNB(event=event, estimate="correlation", **parameters)


def assert_same(got: dict[Any, float], expected: dict[Any, float], where: object) -> None:
    """As `assert_same_scores`, where scores may be infinite."""
    assert got.keys() == expected.keys()
    for label, score in expected.items():
        if math.isinf(score):
            assert got[label] == score, where
        else:
            assert_same_scores({label: got[label]}, {label: score}, where)


def follow(model: Any, reference: Any, stream: list[Document], past: list[Documents]) -> None:
    words = list(past[-1].words)
    fixed: dict[Any, float] = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (x, y, w) in enumerate(stream):
        for message in (x, fixed):
            got = model.joint_log_likelihood_one(message)
            assert_same(got, reference.joint_log_likelihood(past[n], message), n)
            assert not any(map(math.isnan, model.predict_proba_one(message).values()))
        model.learn_one(x, y, w)


@each_event
@pytest.mark.parametrize(
    ("factor", "prior", "messages"),
    [(0.1, None, 150), (2.0, "uniform", 120), (0, None, 120), ("optimal", None, 120)],
    ids=str,
)
def test_equals_reference_at_every_prefix_of_sms(
    event: str, factor: float | str, prior: str | None, messages: int
) -> None:
    parameters: dict[str, Any] = {"factor": factor, "prior": prior}
    stream = sms_stream()[:messages]
    model = correlated(event, refresh_every=1, **parameters)
    follow(model, CorrelationReference(event, **parameters), stream, prefixes(sms_stream))


@each_event
@pytest.mark.parametrize("factor", FACTORS, ids=str)
@pytest.mark.parametrize("weighted", also_in_soak([True], [False]))
def test_equals_reference_at_every_prefix_of_three_classes(
    event: str, factor: float | str, weighted: bool
) -> None:
    model = correlated(event, refresh_every=1, factor=factor)
    past = prefixes(synthetic_stream, weighted=weighted)
    reference = CorrelationReference(event, factor=factor)
    follow(model, reference, synthetic_stream(weighted=weighted), past)


def test_composed_equals_named() -> None:
    for factor in (0.1, "optimal", "auto"):
        composed = correlated("multinomial", factor=factor)
        named = NBCF(factor=factor)
        for x, y, w in synthetic_stream(60):
            assert composed.joint_log_likelihood_one(x) == named.joint_log_likelihood_one(x)
            composed.learn_one(x, y, w)
            named.learn_one(x, y, w)


def test_a_large_factor_leaves_the_prior() -> None:
    """Then every class has the estimate of the whole stream."""
    model = learned(NBCF(factor=1e12), synthetic_stream(80))
    scores = model.joint_log_likelihood_one({"w1": 1, "w2": 2})
    priors = model.joint_log_likelihood_one({})
    differences = [scores[label] - priors[label] for label in scores]
    assert differences == pytest.approx([differences[0]] * len(differences), abs=1e-9)


def test_smoothing_has_no_effect() -> None:
    stream = synthetic_stream(60)
    plain = learned(NBCF(), stream)
    smoothed = learned(NBCF(alpha=0.3, oov="smooth", vocabulary_size=10**6), stream)
    for x, _, _ in stream:
        x = {**x, "never learned": 3}
        assert plain.joint_log_likelihood_one(x) == smoothed.joint_log_likelihood_one(x)


@pytest.mark.parametrize("named", [MNB, CNB, OVA])
def test_additive_is_the_default(named: Any) -> None:
    composed = ComposedNB(event=named.composition.event.name, estimate="additive")
    plain = learned(named(), synthetic_stream(40))
    x = {"w1": 1, "w3": 2}
    assert learned(composed, synthetic_stream(40)).joint_log_likelihood_one(x) == (
        plain.joint_log_likelihood_one(x)
    )
    with pytest.raises(InputError, match=r"factor=5.0 has no effect.*estimate='correlation'"):
        ComposedNB(event=named.composition.event.name, factor=5.0)


# --- what a factor can't be -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "factor", [-0.1, math.nan, math.inf, "best", None, True, 10**400, 2.0**54], ids=str
)
def test_bad_factors_are_refused(factor: Any) -> None:
    with pytest.raises(InputError, match="factor"):
        NBCF(factor=factor)


def test_what_it_does_not_go_with_is_refused() -> None:
    with pytest.raises(InputError, match="bernoulli"):
        correlated("bernoulli")
    with pytest.raises(InputError, match="'additive', not 'correlation'"):
        correlated("multinomial", dependence="hidden")
    with pytest.raises(InputError, match="estimate must be one of"):
        ComposedNB(estimate="median")
    with pytest.raises(InputError):
        learned(ComposedNB(), synthetic_stream(9)).merge(correlated("multinomial"))


# --- factor 0 -------------------------------------------------------------------------------------

ZERO: list[Document] = [
    ({"a": 1, "b": 1}, "ham", 1.0),
    ({"a": 2, "c": 1}, "spam", 1.0),
    ({}, "other", 1.0),
]


@each_event
@pytest.mark.parametrize("x", [{"b": 1}, {"c": 1}, {"b": 1, "c": 1}, {"b": 0.5, "c": 0.5}])
def test_zero_is_the_limit(event: str, x: dict[str, float]) -> None:
    zero = learned(correlated(event, factor=0), ZERO)
    near = learned(correlated(event, factor=1e-200), ZERO)
    scores, expected = zero.joint_log_likelihood_one(x), near.joint_log_likelihood_one(x)
    for label, score in scores.items():
        assert score == expected[label] or (
            abs(score - expected[label]) < 1e-9
            or (math.isinf(score) and expected[label] * math.copysign(1, score) > 200)
        )
    shares = zero.predict_proba_one(x)
    assert sum(shares.values()) == pytest.approx(1)
    assert zero.predict_one(x) in zero.classes_
    assert zero.predict_many([x]) == [zero.predict_one(x)]


def test_zero_decides_for_the_class_that_can_have_it() -> None:
    model = learned(NBCF(factor=0), ZERO[:2])
    assert model.predict_proba_one({"b": 1}) == {"ham": 1.0, "spam": 0.0}
    # Impossible in both: neither is more so, and the first label decides.
    assert model.predict_proba_one({"b": 1, "c": 1}) == {"ham": 0.5, "spam": 0.5}
    assert model.predict_one({"b": 1, "c": 1}) == "ham"


@pytest.mark.parametrize("threshold", [0.5, "auto"])
def test_a_threshold_of_impossible_classes(threshold: float | str) -> None:
    model = learned(NBCF(factor=0, threshold=threshold), [*ZERO[:2], *ZERO[:2]])
    assert model.predict_one({"b": 1}) == "ham"
    assert model.predict_one({"c": 1}) == "spam"
    assert model.predict_one({"b": 1, "c": 1}) == "ham"
    model.learn_one({"b": 1, "c": 1}, "spam")
    assert math.isfinite(model.threshold_)


# --- Theorem 5.1 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_optimal_factors_equal_the_literal_sums(weight: float) -> None:
    stream = synthetic_stream(100)
    model, docs = learned(NBCF(), stream), Documents.from_list(stream)
    factors = optimal_factors(model.counts(), weight)
    sides = [docs.of(label).astype(float) for label in docs.classes]
    for label in docs.classes:
        y = docs.of(label).astype(float)
        own, rest = factors[model._labels.ids[label]]
        assert own == pytest.approx(optimal(docs, y, sides, weight), rel=1e-9)
        assert rest == pytest.approx(optimal(docs, 1 - y, [y, 1 - y], weight), rel=1e-9)
    assert len({round(factor, 12) for factor in factors.ravel()}) == factors.size


@pytest.mark.parametrize("weight", [1.0, 2.0])
def test_optimal_factor_minimises_the_estimated_loss(weight: float) -> None:
    """The summed loss (5.1), squared bias and variance by (A.2) and (A.3), tried at other t."""
    docs = Documents.from_list(synthetic_stream(100))
    tokens = np.array([(docs.weights * docs.of(label)) @ docs.counts for label in docs.classes])
    n, p = tokens.sum(), tokens.sum(axis=1) / tokens.sum()
    theta = tokens / tokens.sum(axis=1, keepdims=True)
    sides = [docs.of(label).astype(float) for label in docs.classes]
    for c, y in enumerate(sides):
        variance = theta * (1 - theta)

        def loss(t: float, c: int = c, variance: Any = variance) -> float:
            bias = t * (p @ theta - theta[c]) / (p[c] + t)
            spread = p[c] * (1 + 2 * t) * variance[c] + t**2 * (p @ variance)
            return float((weight * bias**2 + spread / (n * (p[c] + t) ** 2)).sum())

        best = optimal(docs, y, sides, weight)
        assert 1 / 100 < best < 1
        assert loss(best) < min(loss(best * 0.99), loss(best * 1.01))


@pytest.mark.parametrize(
    "stream",
    [
        [],
        [({}, "ham", 1.0), ({}, "spam", 1.0)],
        [({"a": 3}, "ham", 1.0)],
        [({"a": 3}, "ham", 1.0), ({}, "spam", 1.0)],
        [({"a": 3}, "ham", 1.0), ({"a": 1}, "spam", 1.0)],
        [({"a": 1, "b": 2}, "ham", 1.0), ({"a": 1, "b": 2}, "spam", 1.0)],
        [({"a": 1, "b": 2}, "ham", 0.25), ({"b": 2}, "spam", 0.25)],
    ],
    ids=str,
)
def test_optimal_factors_of_little(stream: list[Document]) -> None:
    model = learned(NBCF(factor="optimal", refresh_every=1), stream)
    factors = optimal_factors(model.counts())
    assert ((factors > 0) & (factors <= 1)).all()
    assert all(map(math.isfinite, model.joint_log_likelihood_one({"a": 1, "b": 1}).values()))


def test_optimal_is_refreshed_on_schedule_and_after_everything() -> None:
    stream = synthetic_stream(120)
    one, many = (NBCF(factor="optimal", refresh_every=7) for _ in range(2))
    learned(one, stream)
    many.learn_many([x for x, _, _ in stream], [y for _, y, _ in stream])
    x = {"w1": 1, "w5": 2}
    assert one.joint_log_likelihood_one(x) == many.joint_log_likelihood_one(x)
    stale = one.joint_log_likelihood_one(x)
    one.refresh()
    assert one.joint_log_likelihood_one(x) != stale
    assert isinstance(one._scorer, OptimalFactor)
    weighted = learned(NBCF(factor="optimal", bias_weight=9.0), stream)
    weighted.refresh()
    assert weighted.joint_log_likelihood_one(x) != one.joint_log_likelihood_one(x)
    loaded = NBCF.from_bytes(one.to_bytes())
    assert loaded.joint_log_likelihood_one(x) == one.joint_log_likelihood_one(x)


def test_a_class_since_the_last_refresh_has_the_papers_factor() -> None:
    model = learned(NBCF(factor="optimal", refresh_every=1000), synthetic_stream(30))
    model.refresh()
    model.learn_one({"w1": 2, "new": 1}, "late")
    plain = learned(NBCF(), synthetic_stream(30))
    plain.learn_one({"w1": 2, "new": 1}, "late")
    x = {"w1": 1, "new": 2}
    got, expected = model.joint_log_likelihood_one(x), plain.joint_log_likelihood_one(x)
    assert got["late"] == expected["late"]
    assert got["a"] != expected["a"]
    # Copies keep the current factors although their class ids may differ.
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.joint_log_likelihood_one(x) == got


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_restored_factors_out_of_range_are_refused(factor: float) -> None:
    model = NBCF(factor="optimal")
    with pytest.raises(ValueError, match="invalid factors"):
        model._scorer.restore([[factor.hex(), (0.1).hex()]])
