"""HNB and PHNB, on texts and on columns, against the slow literal reference."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import pytest

import streamnb
from references.packaged import ColumnsReference, PackagedReference, Row
from streamnb.families.packaged import BagThreshold
from support.drawn.messages import refreshed_bytes
from support.streams import assert_same_scores, prefixes, sms_stream, synthetic_stream

EVENTS = {"multinomial": "MNB", "complement": "CNB", "one-versus-all": "OVA"}

TEXT: dict[str, tuple[str, dict[str, Any]]] = {
    "HNB": ("HNB", {}),
    "HNB, alpha 0.5, laplace": ("HNB", {"alpha": 0.5, "prior": "laplace"}),
    "PHNB": ("PHNB", {}),
    "PHNB, number, skip": ("PHNB", {"bag_threshold": 0.02, "oov": "skip"}),
    "PHNB, m fixed": ("PHNB", {"vocabulary_size": 2500, "prior": "uniform"}),
    "complement": ("complement", {"bag_threshold": "average"}),
    "one-versus-all": ("one-versus-all", {"bag_threshold": 0.001}),
}


def make(name: str, parameters: dict[str, Any]) -> tuple[Any, PackagedReference]:
    """Return a model and its reference."""
    literal = {k: v for k, v in parameters.items() if k != "bag_threshold"}
    threshold = 0.0 if name == "HNB" else parameters.get("bag_threshold", "average")
    if name in EVENTS:
        model = streamnb.ComposedNB(name, "packaged", refresh_every=1, **parameters)
        return model, PackagedReference(threshold, EVENTS[name], **literal)
    model = getattr(streamnb, name)(refresh_every=1, **parameters)
    return model, PackagedReference(threshold, **literal)


@pytest.mark.parametrize("stream", ["sms", "three classes", "weighted"])
def test_texts_equal_the_reference_at_every_prefix(stream: str) -> None:
    """All settings side by side, as the information of a prefix is slow to compute."""
    kind, parameters = {
        "sms": (sms_stream, {"n": 60}),
        "three classes": (synthetic_stream, {"n": 80}),
        "weighted": (synthetic_stream, {"n": 70, "weighted": True}),
    }[stream]
    past = prefixes(kind, **parameters)
    models = {title: make(*settings) for title, settings in TEXT.items()}
    if stream == "sms":
        models = {title: models[title] for title in ("HNB", "PHNB", "PHNB, number, skip")}
    words = list(past[-1].words)
    fixed = {word: 1 + i % 3 for i, word in enumerate(words[2:60:7])}
    fixed |= {"never learned": 2.5, words[1]: 0}
    for n, (counts, label, weight) in enumerate(kind(**parameters)):
        for title, (model, reference) in models.items():
            for x in (counts, fixed):
                expected = reference.joint_log_likelihood(past[n], x)
                assert_same_scores(model.joint_log_likelihood_one(x), expected, (title, n))
            model.learn_one(counts, label, weight)


def test_extreme_thresholds_are_plain_and_hidden_naive_bayes() -> None:
    plain, hidden = streamnb.MNB(), streamnb.HNB(refresh_every=1)
    none = streamnb.PHNB(bag_threshold=math.inf, refresh_every=1)
    every = streamnb.PHNB(bag_threshold=-1, refresh_every=1)
    for counts, label, weight in synthetic_stream():
        assert_same_scores(
            none.joint_log_likelihood_one(counts), plain.joint_log_likelihood_one(counts), "none"
        )
        assert_same_scores(
            every.joint_log_likelihood_one(counts), hidden.joint_log_likelihood_one(counts), "every"
        )
        for model in (plain, hidden, none, every):
            model.learn_one(counts, label, weight)


def test_learned_threshold_is_the_best_so_far() -> None:
    model = streamnb.PHNB(bag_threshold="auto", refresh_every=1)
    past = prefixes(synthetic_stream)
    grid = BagThreshold.grid
    references = [PackagedReference((factor,)) for factor in grid]
    losses = [0.0] * len(grid)
    chosen = set()
    for n, (counts, label, weight) in enumerate(synthetic_stream(60)):
        factor = model._tunings[0].factor
        chosen.add(factor)
        assert losses[grid.index(factor)] <= min(losses) + 1e-6
        expected = references[grid.index(factor)].joint_log_likelihood(past[n], counts)
        assert_same_scores(model.joint_log_likelihood_one(counts), expected, n)
        if label in past[n].classes and len(past[n].classes) > 1:
            for place, reference in enumerate(references):
                scores = reference.joint_log_likelihood(past[n], counts)
                highest = max(scores.values())
                total = sum(math.exp(score - highest) for score in scores.values())
                losses[place] += weight * (highest + math.log(total) - scores[label])
        model.learn_one(counts, label, weight)
        assert model._tunings[0].costs == pytest.approx(losses, abs=1e-5)  # rounded losses
    assert len(chosen) > 1
    for twin in (streamnb.PHNB.from_bytes(model.to_bytes()), pickle.loads(pickle.dumps(model))):
        assert twin._tunings[0].costs == model._tunings[0].costs
        expected = model.joint_log_likelihood_one(counts)
        assert twin.joint_log_likelihood_one(counts) == pytest.approx(expected, abs=1e-9)


# --- columns --------------------------------------------------------------------------------------


def nominal_stream(n: int = 45, weighted: bool = False, seed: int = 5) -> list[Row]:
    """Return rows of three classes over five attributes that depend on one another."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        label = rng.choice("ab" if i < 20 else "aabbc")
        first = rng.choice("xyz" if label == "a" else "xx" + "yz")
        row: dict[str, Any] = {
            "first": first,
            "second": first if rng.random() < 0.7 else rng.choice("xyz"),
            "third": rng.random() < (0.3 if label == "b" else 0.6),
            "fourth": rng.randrange(4),
            "a=b": rng.choice(["p", "q=", "\\"]) if rng.random() < 0.8 else None,
            "constant": "same",
        }
        rows.append((row, label, rng.choice([0.5, 1.0, 2.0]) if weighted else 1.0))
    return rows


COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "HNB": ("HNB", {}),
    "PHNB": ("PHNB", {}),
    "PHNB, number": ("PHNB", {"bag_threshold": 0.01}),
    "PHNB, alpha": ("PHNB", {"alpha": 0.5}),
    "HNB, values": ("HNB", {"values": {"fourth": 9, "a=b": 3, "other": 2}}),
    "NB": ("PHNB", {"bag_threshold": math.inf}),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["unit weights", "weighted"])
@pytest.mark.parametrize("title", COLUMNS)
def test_columns_equal_the_reference_at_every_prefix(title: str, weighted: bool) -> None:
    name, parameters = COLUMNS[title]
    model = getattr(streamnb, name)(columns=True, refresh_every=1, **parameters)
    threshold = 0.0 if name == "HNB" else parameters.get("bag_threshold", "average")
    literal = {key: parameters[key] for key in ("alpha", "values") if key in parameters}
    reference = ColumnsReference(threshold, **literal)
    rows = nominal_stream(weighted=weighted)
    odd = {"first": "never", "second": "x", "fourth": 2, "unknown": "x", "third": None}
    for n, (row, label, weight) in enumerate(rows):
        for x in (row, odd):
            expected = reference.joint_log_likelihood(rows[:n], x)
            assert_same_scores(model.joint_log_likelihood_one(x), expected, (n, x))
        model.learn_one(row, label, weight)


NUMBERS = [0.5, 0.75, 3.0, -2.0, 0.5, 41.0, 7.5, 1000.0, 12.0, -0.25]


def mixed_stream(n: int = 40, seed: int = 3) -> list[Row]:
    """Return rows with numbers of a range that grows, categories and missing values."""
    rng = random.Random(seed)
    rows: list[Row] = []
    for i in range(n):
        label = rng.choice(["a", "b", "c"])
        row: dict[str, Any] = {
            "size": NUMBERS[i % len(NUMBERS)] * (2 if label == "a" else 1),
            "flag": label == "b" if i % 3 else None,
            "kind": rng.choice("xyz"),
            "tiny": 1e-300 * i,
            "nan": float("nan") if i % 2 else 1.0,
        }
        rows.append((row, label, 1.0))
    return rows


def learned(rows: list[Row], **parameters: Any) -> Any:
    model = streamnb.PHNB(columns=True, **parameters)
    for row, label, weight in rows:
        model.learn_one(row, label, weight)
    return model


def test_bins_join_as_the_range_grows() -> None:
    """The order of arrival, and so every widening on the way, leaves nothing behind."""
    rows = mixed_stream()
    model, turned = learned(rows), learned(rows[::-1])
    # Only the order of the indexed documents differs.
    model.refresh()
    turned.refresh()
    for row, _, _ in rows:
        assert_same_scores(
            model.joint_log_likelihood_one(row), turned.joint_log_likelihood_one(row), row
        )
    words = [word for word in model._store.words() if word.startswith("size=")]
    assert 2 <= len(words) <= 10
    assert set(words) == {word for word in turned._store.words() if word.startswith("size=")}
    many = streamnb.PHNB(columns=True)
    many.learn_many([row for row, _, _ in rows], [label for _, label, _ in rows])
    assert refreshed_bytes(many) == model.to_bytes()


def test_columns_unlearn_merge_and_subtract() -> None:
    rows = mixed_stream()
    whole, first, second = learned(rows), learned(rows[:15]), learned(rows[15:])
    before = refreshed_bytes(first)
    first.merge(second)
    assert first.to_bytes() == refreshed_bytes(whole)
    widened = learned(rows[:15])
    widened._columns.widen(widened._store, whole._columns.ranges)
    first.subtract(second)
    assert first.to_bytes() == refreshed_bytes(widened)
    for row, label, weight in rows[15:]:
        widened.learn_one(row, label, weight)
        widened.unlearn_one(row, label, weight)
    assert first.to_bytes() == refreshed_bytes(widened) != before
    with pytest.raises(streamnb.NotLearnedError):
        learned(rows[:3]).subtract(whole)
    with pytest.raises(streamnb.InputError):
        learned(rows).merge(learned(rows, bins=5))


def test_columns_survive() -> None:
    rows = mixed_stream()
    for parameters in ({}, {"bag_threshold": "auto"}, {"values": {"kind": 7}, "bins": 4}):
        model = learned(rows, **parameters)
        restored = streamnb.PHNB.from_bytes(model.to_bytes())
        assert restored.to_bytes() == model.to_bytes()
        copied = copy.deepcopy(model)
        for row, _, _ in rows:
            for other in (restored, copied):
                assert_same_scores(
                    other.joint_log_likelihood_one(row), model.joint_log_likelihood_one(row), row
                )
        row = rows[0][0] | {"size": 1e9}
        copied.learn_one(row, "a")
        model.learn_one(row, "a")
        assert copied.to_bytes() == model.to_bytes() != restored.to_bytes()


@pytest.mark.parametrize(
    "x",
    [
        "a text",
        {"size": float("inf")},
        {"size": [1]},
        {"kind": b"x"},
        {1.5: "x"},
        7,
    ],
    ids=repr,
)
def test_what_is_no_row_is_refused(x: Any) -> None:
    model = learned(mixed_stream(5))
    before = model.to_bytes()
    for act in (lambda: model.learn_one(x, "a"), lambda: model.predict_one(x)):
        with pytest.raises(streamnb.InputError):
            act()
    with pytest.raises(streamnb.InputError):
        model.learn_many([{"size": 1e9}, x], ["a", "b"])
    with pytest.raises(streamnb.InputError):
        model.learn_one({"size": 1e9}, "a", w=-1)
    assert model.to_bytes() == before


@pytest.mark.parametrize(
    "parameters",
    [
        {"bag_threshold": "mean"},
        {"bag_threshold": math.nan},
        {"bag_threshold": None},
        {"bins": 1},
        {"values": {"a": 0}},
        {"values": 3},
        {"max_links": -1},
    ],
    ids=repr,
)
def test_parameters_out_of_range(parameters: dict[str, Any]) -> None:
    with pytest.raises(streamnb.InputError):
        streamnb.PHNB(columns=True, **parameters)


def test_bags_keep_to_their_bound() -> None:
    model = streamnb.HNB(max_links=7)
    whole = streamnb.HNB()
    for counts, label, weight in synthetic_stream():
        model.learn_one(counts, label, weight)
        whole.learn_one(counts, label, weight)
    model.refresh()
    whole.refresh()
    strongest = sorted((bits for _, _, bits in whole._store.packages()), reverse=True)[:7]
    assert sorted((bits for _, _, bits in model._store.packages()), reverse=True) == strongest


def test_bags_survive_words_that_are_forgotten() -> None:
    """A word that gets the id of a forgotten one does not get its bag."""
    model = streamnb.HNB(max_features=12, refresh_every=10**6)
    plain = streamnb.MNB(max_features=12)
    stream = synthetic_stream(60)
    for counts, label, _ in stream[:12]:
        model.learn_one(counts, label)
        plain.learn_one(counts, label)
    model.refresh()
    for n in range(40):
        for each in (model, plain):
            each.learn_one({f"new {n}": 1, f"newer {n}": 1}, "a")
    x = {f"new {n}": 1 for n in range(30, 40)} | {f"newer {n}": 1 for n in range(30, 40)}
    assert_same_scores(
        model.joint_log_likelihood_one(x), plain.joint_log_likelihood_one(x), "new words"
    )


@pytest.mark.parametrize("columns", [False, True])
def test_explanations_add_up(columns: bool) -> None:
    stream = nominal_stream(40) if columns else synthetic_stream(60)
    model = streamnb.PHNB(columns=columns, refresh_every=1)
    for x, label, weight in stream:
        model.learn_one(x, label, weight)
    for x, _, _ in stream[::7]:
        explanation = model.explain_one(x)
        for label, score in model.joint_log_likelihood_one(x).items():
            total = sum(terms[label] for terms in explanation.words.values())
            assert explanation.baseline[label] + total == pytest.approx(score, abs=1e-9)
