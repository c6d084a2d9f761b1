"""Higher-order naive Bayes: paths against enumeration, other orders along streams, stale paths."""

from __future__ import annotations

import copy
import math
import pickle
import random
import threading
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import streamnb
from references.documents import Document
from references.documents import Documents as PlainDocuments
from references.higher_order import PathsReference, enumerated, second_order
from streamnb import HONB, ComposedNB
from streamnb.errors import InputError
from streamnb.families import higher_order as paths
from streamnb.statistics import long_paths
from streamnb.statistics.counts import Counts
from streamnb.statistics.documents import Documents
from support.profiles import examples
from support.streams import assert_same_scores, sms_stream, synthetic_stream

KINDS: dict[str, dict[str, Any]] = {
    "order 2": {},
    "pure": {"pure": True},
    "order 3": {"order": 3},
    "order 4": {"order": 4},
}


each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)

collections = st.lists(st.frozensets(st.integers(0, 7), max_size=5), max_size=6)


def laid_out(documents: Iterable[frozenset[Any]], weights: list[float] | None = None) -> Documents:
    """Documents of one class whose words are the ids 0 to 7."""
    listed = list(documents)
    presence = np.zeros((len(listed), 8))
    for row, document in enumerate(listed):
        presence[row, sorted(document)] = 1
    return Documents(
        counts=Counts.of(streamnb.MNB()._store),
        classes=np.zeros(len(listed), dtype=np.int64),
        weights=np.ones(len(listed)) if weights is None else np.array(weights),
        words=sparse.csr_array(presence),
        attributes=np.arange(8),
    )


def plain(found: tuple[Any, Any]) -> tuple[float, dict[int, float]]:
    totals, counts = found
    if not len(totals):
        return 0.0, {}
    column = counts.toarray()[:, 0]
    return float(totals[0]), {word: n for word, n in enumerate(column) if n}


# --- counting -------------------------------------------------------------------------------------


@each_kind
@examples(25)
@given(documents=collections)
def test_closed_forms_equal_enumeration(
    kind: dict[str, Any], documents: list[frozenset[int]]
) -> None:
    total, counts = enumerated(documents, **{"order": 2, **kind})
    assert plain(paths.count_paths(laid_out(documents), paths.HigherOrderPaths(**kind))) == (
        total,
        counts,
    )


@each_kind
def test_closed_forms_equal_enumeration_of_longer_documents(kind: dict[str, Any]) -> None:
    draw = random.Random(2)
    documents = [frozenset(draw.sample(range(8), draw.randint(4, 7))) for _ in range(5)]
    total, counts = enumerated(documents, **{"order": 2, **kind})
    assert total > 100 or kind.get("pure")
    assert plain(paths.count_paths(laid_out(documents), paths.HigherOrderPaths(**kind))) == (
        total,
        counts,
    )


@each_kind
@examples(25)
@given(documents=collections.filter(lambda listed: len(listed) < 4), data=st.data())
def test_a_weight_is_so_many_copies(
    kind: dict[str, Any], documents: list[frozenset[int]], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(documents)))[: len(documents)]
    copies = [each for each, n in zip(documents, weights, strict=True) for _ in range(n)]
    weighted = paths.count_paths(
        laid_out(documents, [float(n) for n in weights]), paths.HigherOrderPaths(**kind)
    )
    assert plain(weighted) == plain(
        paths.count_paths(laid_out(copies), paths.HigherOrderPaths(**kind))
    )


@given(documents=collections)
def test_the_two_ways_of_the_reference_agree(documents: list[frozenset[int]]) -> None:
    total, counts = second_order(tuple((document, 1.0) for document in documents))
    found = {word: n for word, n in counts.items() if n}
    assert (total, found) == enumerated(documents, 2)


def test_the_papers_example() -> None:
    """Figures 5 and 6: e_1 - {1, 2, 5} - e_2 - {1, 2, 3, 4} - e_3."""
    e1, e2, e3 = 0, 1, 2
    records = [{e1, e2, e3}, {e1, e2, e3}, {e2, e3}, {e2, e3}, {e1, e2}]
    # Theorem 1: e_2 in the middle 3 · 4 − 2 times; e_1 with {1, 2}: 2 · 3 − 2; e_3: 2 · 4 − 2.
    effective = paths.count_paths(laid_out(map(frozenset, records)), paths.HigherOrderPaths())
    assert plain(effective) == (20, {e1: 20, e2: 20, e3: 20})


def test_signs_are_those_of_the_theorems() -> None:
    """Theorem 3: 1, −1, 2, 1, −6 by the sizes of the blocks; Theorem 2: 1, −1, 2."""
    by_sizes = {
        tuple(sorted(map(blocks.count, set(blocks)))): long_paths._sign(blocks)
        for blocks in long_paths._partitions(4)
    }
    assert by_sizes == {(1, 1, 1, 1): 1, (1, 1, 2): -1, (1, 3): 2, (2, 2): 1, (4,): -6}
    assert [len(list(long_paths._partitions(n))) for n in range(1, 6)] == [1, 2, 5, 15, 52]


def test_general_sums_equal_the_closed_form_of_second_order() -> None:
    draw = np.random.default_rng(3)
    presence = sparse.csr_array((draw.random((60, 90)) < 0.1).astype(float))
    weights = draw.integers(1, 4, 60).astype(float)
    total, counts = long_paths.all_paths(presence, weights, 2)
    closed_total, closed = paths._second_order(presence, weights, threads=1)
    assert total == closed_total
    np.testing.assert_array_equal(counts, closed)


def test_bounded_words_are_those_in_most_documents_then_by_bytes() -> None:
    model = HONB(max_path_words=3, refresh_every=1)
    bags = [dict.fromkeys(words, 1) for words in ("bza", "bya", "zyc", "bq")]
    for bag in bags:
        model.learn_one(bag, "spam")
    # b is in three documents; a, y and z in two: the bytes of a and y come first.
    reference = PathsReference("HONB", words=frozenset("bay"))
    documents = PlainDocuments.from_list([(bag, "spam", 1.0) for bag in bags])
    x = dict.fromkeys("bzc", 1)
    assert_same_scores(
        model.joint_log_likelihood_one(x), reference.joint_log_likelihood(documents, x), x
    )


# --- along streams --------------------------------------------------------------------------------


@cache
def short_sms() -> list[Document]:
    """The first words of messages: so few that all their paths can be walked."""
    return [(dict(list(counts.items())[:4]), label, 1.0) for counts, label, _ in sms_stream(120)]


def follow(kind: dict[str, Any], stream: list[Document], every: int, **parameters: Any) -> None:
    model = HONB(refresh_every=1, **kind, **parameters)
    reference = PathsReference("HONB", **kind, **parameters)
    for n, (x, label, _) in enumerate(stream):
        if n % every == 0:
            past = PlainDocuments.from_list(stream[:n])
            expected = reference.joint_log_likelihood(past, x)
            assert_same_scores(model.joint_log_likelihood_one(x), expected, n)
        model.learn_one(x, label)


SETTINGS = [{}, {"alpha": 0.5, "prior": "laplace", "oov": "smooth", "vocabulary_size": 400}]


@pytest.mark.parametrize("parameters", SETTINGS, ids=["defaults", "other settings"])
@pytest.mark.parametrize(
    ("kind", "messages", "every"),
    [
        ("pure", 120, 12),
        ("order 3", 48, 8),
        ("order 4", 24, 6),
        *(
            pytest.param(*more, marks=pytest.mark.soak)
            for more in [("order 3", 60, 6), ("order 4", 36, 4)]
        ),
    ],
)
def test_other_kinds_equal_enumeration_along_sms(
    kind: str, messages: int, every: int, parameters: dict[str, Any]
) -> None:
    follow(KINDS[kind], short_sms()[:messages], every, **parameters)


@pytest.mark.parametrize("kind", ["pure", "order 3", "order 4"])
def test_other_kinds_equal_enumeration_at_every_prefix_of_three_classes(kind: str) -> None:
    few = {"pure": 45, "order 3": 30, "order 4": 20}[kind]
    stream = [(x, label, 1.0) for x, label, _ in synthetic_stream(few)]
    follow(KINDS[kind], stream, 1)


def test_paths_are_of_the_latest_documents() -> None:
    stream = sms_stream(120)
    bounded, latest = HONB(index_size=50), HONB()
    for x, label, _ in stream:
        bounded.learn_one(x, label)
    for x, label, _ in stream[-50:]:
        latest.learn_one(x, label)
    bounded.refresh()
    latest.refresh()
    ours, theirs = effective(bounded), effective(latest)
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]


def effective(model: streamnb.NaiveBayes) -> tuple[list[float], dict[str, dict[int, float]]]:
    """The effective counts in use: totals by class, and each word's counts by class."""
    totals, indptr, classes, counts = (
        np.frombuffer(each, kind)
        for each, kind in zip(
            model._store.effective(), (float, np.int64, np.int64, float), strict=True
        )
    )
    words = sorted(filter(None, model._store.words()), key=str.encode)
    of_words = {}
    for word, start, stop in zip(words, indptr[:-1], indptr[1:], strict=True):
        if start < stop:
            of_words[word] = dict(
                zip(classes[start:stop].tolist(), counts[start:stop].tolist(), strict=True)
            )
    return totals.tolist(), of_words


# --- between refreshes ----------------------------------------------------------------------------

SPAM = ("win cash now", "cash prize now", "claim prize today")
HAM = ("see you at noon", "lunch at noon", "see lunch menu")


def fresh(**parameters: Any) -> HONB:
    model = HONB(refresh_every=10**6, **parameters)
    for spam, ham in zip(SPAM, HAM, strict=True):
        model.learn_one(spam, "spam")
        model.learn_one(ham, "ham")
    model.refresh()
    return model


def test_new_words_and_classes_have_no_paths_until_the_refresh() -> None:
    model = fresh(prior="uniform")
    (ham, spam), counts = effective(model)
    model.learn_one("brand new words", "third")
    assert effective(model) == ([ham, spam, 0.0], counts)
    scores = model.joint_log_likelihood_one("brand cash")
    # Present: "brand" (no path) and "cash"; 15 known words in all, three of them new.
    expected = math.log(1 / (spam + 2)) + math.log((counts["cash"][1] + 1) / (spam + 2))
    expected += sum(
        math.log((spam - counts.get(word, {}).get(1, 0) + 1) / (spam + 2))
        for word in filter(None, model._store.words())
        if word not in ("brand", "cash")
    )
    assert model.n_words == 15
    assert scores["spam"] == pytest.approx(expected, abs=1e-12)
    # A class without paths: one half for every word, there or not.
    assert scores["third"] == pytest.approx(model.n_words * math.log(0.5), abs=1e-12)
    model.learn_one("new words again", "third")
    model.refresh()
    assert effective(model)[0] == [ham, spam, 6.0]


def test_an_id_used_again_does_not_inherit_paths() -> None:
    model = fresh()
    for text in SPAM:
        model.unlearn_one(text, "spam")
    assert set(effective(model)[1]).isdisjoint({"win", "cash", "prize"})
    model.learn_one("other things entirely", "third")
    assert model.classes_ == ["ham", "third"]
    assert effective(model)[0][1] == 0
    anew = HONB(refresh_every=1)
    for text in HAM:
        anew.learn_one(text, "ham")
    anew.learn_one("other things entirely", "third")
    model.refresh()
    for text in (*SPAM, *HAM, "other things"):
        assert model.joint_log_likelihood_one(text) == anew.joint_log_likelihood_one(text)


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_keep_stale_paths(duplicate: Callable[[HONB], HONB]) -> None:
    model = fresh()
    model.learn_one("a word before all others", "another label first")
    model.unlearn_one(HAM[0], "ham")
    again = duplicate(model)
    assert effective(again) == effective(model)
    for text in (*SPAM, *HAM):
        expected = model.joint_log_likelihood_one(text)
        assert again.joint_log_likelihood_one(text) == pytest.approx(expected, abs=1e-12)
    model.refresh()
    assert effective(again) != effective(model)


def test_predictions_go_on_and_ids_change_while_paths_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A refresh during which words are forgotten is done again."""
    model = fresh()
    counted = []
    count_paths = paths.count_paths

    def slow(*arguments: Any) -> Any:
        result = count_paths(*arguments)
        if not counted:
            thread = threading.Thread(target=lambda: model._store.unlearn(HAM[2], 1, 1.0))
            thread.start()
            thread.join()
            assert model.predict_one("win cash") == "spam"
        counted.append(result)
        return result

    monkeypatch.setattr("streamnb.families.higher_order.count_paths", slow)
    model.refresh()
    assert len(counted) == 2
    assert "menu" not in effective(model)[1]


def test_explanations_add_up() -> None:
    model = fresh()
    explanation = model.explain_one("win cash tomorrow")
    scores = model.joint_log_likelihood_one("win cash tomorrow")
    for label in model.classes_:
        parts = sum(terms[label] for terms in explanation.words.values())
        assert explanation.baseline[label] + parts == pytest.approx(scores[label], abs=1e-9)


# --- parts and parameters -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("paths", "order 2"),
        ("pure-paths", "pure"),
        ("paths-3", "order 3"),
        ("paths-4", "order 4"),
    ],
)
def test_composed_model_equals_the_named_one(name: str, kind: str) -> None:
    composed = ComposedNB(event="bernoulli", estimate=name, refresh_every=1)
    named = HONB(**KINDS[kind], refresh_every=1)
    for x, label, weight in synthetic_stream(20):
        assert composed.joint_log_likelihood_one(x) == named.joint_log_likelihood_one(x)
        composed.learn_one(x, label, weight)
        named.learn_one(x, label, weight)
    assert type(named).from_bytes(named.to_bytes()).to_bytes() == named.to_bytes()


@pytest.mark.parametrize(
    "parameters",
    [
        {"pure": 1},
        {"max_path_words": 0},
        {"max_path_words": 2.5},
        {"order": 1},
        {"order": 5},
        {"order": 3.0},
        {"order": 3, "pure": True},
    ],
    ids=str,
)
def test_wrong_parameters(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        HONB(**parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"estimate": "paths"},
        {"estimate": "paths", "event": "complement", "dependence": "hidden"},
        {"estimate": "longer paths", "event": "bernoulli"},
    ],
    ids=str,
)
def test_wrong_parts(parameters: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        ComposedNB(**parameters)


def test_models_of_different_paths_are_not_merged() -> None:
    with pytest.raises(InputError):
        HONB().merge(HONB(order=3))
    one, other = HONB(order=3), HONB(order=3)
    other.learn_one("a b", "spam")
    one.merge(other)
    assert one.n_documents == 1
