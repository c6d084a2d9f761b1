"""Batches on several threads give the same bytes as on one thread."""

from __future__ import annotations

import copy
import os
import random
import time
from typing import Any

import numpy as np
import pytest

from streamnb import BNB, CNB, HMNB, HNB, HONB, MNB, OVA, PHNB, OnlineNB, _core
from streamnb.errors import InputError
from streamnb.families import higher_order as paths
from streamnb.families import packaged as packages
from support.models import ALL_MODELS, make_model, structures
from support.profiles import also_in_soak
from support.streams import sms_stream, synthetic_stream

JOBS = (2, 5)


def learned(model: Any, messages: list[Any], labels: list[Any]) -> Any:
    half = len(messages) // 2
    model.learn_many(messages[:half], labels[:half])
    model.learn_many(messages[half:], labels[half:])
    return model


def assert_same(one: Any, many: Any, messages: list[Any]) -> None:
    assert many.to_bytes() == one.to_bytes()
    asks = ("predict_many", "predict_proba_many", "predictions_many")
    scores = ("joint_log_likelihood_many", "predict_log_proba_many")
    expected = {ask: getattr(one, ask)(messages) for ask in (*asks, *scores)}
    for jobs in JOBS:
        one._threads = jobs
        for ask in asks:
            assert getattr(one, ask)(messages) == expected[ask]
        for ask in scores:
            assert np.array_equal(getattr(one, ask)(messages), expected[ask])
    one._threads = 1


@structures(ALL_MODELS)
def test_no_byte_depends_on_the_threads(name: str) -> None:
    stream = synthetic_stream(360)
    messages, labels = [x for x, _, _ in stream], [y for _, y, _ in stream]
    one = learned(make_model(name), messages, labels)
    for jobs in JOBS:
        assert_same(one, learned(make_model(name, n_jobs=jobs), messages, labels), messages)


@pytest.mark.parametrize(
    ("model", "times"), [(MNB, 1), (OVA, 1), (BNB, 1), (OnlineNB, 1), (HMNB, 80)]
)
def test_a_large_batch_is_learned_by_other_threads_too(model: Any, times: int) -> None:
    """Short texts that an index keeps are left to one thread."""
    text = " ".join(["word{0} and {1} of {2} more"] * times)
    texts = [text.format(i % 9, i % 4_000, i % 3_000) for i in range(60_000 // times)]
    labels = ["ham", "spam"] * (len(texts) // 2)
    others = {}
    for jobs in (1, 2):
        fresh = model(n_jobs=jobs)
        began, own = time.process_time(), time.thread_time()
        fresh.learn_many(texts, labels)
        whole = time.process_time() - began
        others[jobs] = 1 - (time.thread_time() - own) / whole
    assert others[1] < 0.05
    assert others[2] > 0.2


@pytest.mark.parametrize("jobs", also_in_soak([3], [1]))
@pytest.mark.parametrize(
    ("model", "place", "function"),
    [
        pytest.param(HNB, packages, "pair_information", marks=pytest.mark.soak),
        (PHNB, packages, "pair_information"),  # its scores depend on the sum of all pairs, too
        (HONB, paths, "cooccurrence_squares"),
    ],
)
def test_words_that_meet_are_counted_on_all_threads(
    monkeypatch: pytest.MonkeyPatch, model: Any, place: Any, function: str, jobs: int
) -> None:
    asked = []

    class Core:
        def __getattr__(self, name: str) -> Any:
            def call(*arguments: Any) -> Any:
                asked.append((name, arguments[-1]))
                return getattr(_core, name)(*arguments)

            return call

    draw = random.Random(4)
    words = [f"w{i}" for i in range(600)]
    # More than three million pairs in each class: enough for three threads.
    bags = [dict.fromkeys(draw.sample(words, 300), 1) for _ in range(144)]
    one, many = (model(n_jobs=n, refresh_every=10**9) for n in (1, jobs))
    for each in (one, many):
        each.learn_many(bags, ["ham", "spam"] * 72)
    one.refresh()
    monkeypatch.setattr(place, "_core", Core())
    many.refresh()
    assert set(asked) == {(function, jobs)}
    assert many._store.snapshot(True) == one._store.snapshot(True)
    scores = [each.joint_log_likelihood_many(bags[:50]).tobytes() for each in (one, many)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("model", [MNB, OnlineNB])
def test_texts_are_read_on_all_threads(model: Any) -> None:
    """Long words, capitals, accents, repeated words, and empty messages."""
    own = ["", "Ärger, ÄRGER und ärger", "x" * 40 + " " + "x" * 41, "σΣς Σ", "win WIN win " * 50]
    stream = sms_stream(300)
    texts = [" ".join(x) for x, _, _ in stream] + own * 20
    labels = [y for _, y, _ in stream] + ["ham", "spam"] * 50
    one = learned(model(), texts, labels)
    for jobs in JOBS:
        assert_same(one, learned(model(n_jobs=jobs), texts, labels), texts)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        *(
            (model, options)
            for model in (MNB, CNB, BNB, OVA)
            for options in ({}, {"max_features": 700}, {"half_life": 900.0})
        ),
        (OnlineNB, {"max_features": 700, "half_life": 900.0}),
        *(
            pytest.param(OnlineNB, options, marks=pytest.mark.soak)
            for options in ({}, {"max_features": 700}, {"half_life": 900.0})
        ),
    ],
)
def test_a_batch_that_is_worth_threads_is_learned_to_the_same_bytes(
    model: Any, options: dict[str, Any]
) -> None:
    """Threads count separately if the sums keep their bits; otherwise one thread counts."""
    stream = sms_stream(400)
    own = ("word", "Wörd", "слово")
    texts = [f"{' '.join(x)} {own[at % 3]}{at * at}" for at in range(12) for x, _, _ in stream]
    labels = [y for _ in range(12) for _, y, _ in stream]
    assert sum(map(len, texts)) > 300_000  # two shares at least
    one, many = model(**options), model(n_jobs=3, **options)
    for weight in (1.0, 2.0, 0.1, 1.0):
        for each in (one, many):
            each.learn_many(texts, labels, weight)
        assert many.to_bytes() == one.to_bytes()
        assert many.predictions_many(texts[:50]) == one.predictions_many(texts[:50])


@pytest.mark.parametrize(
    "options",
    [{}, {"index_size": 500}, {"window_size": 500}, {"max_features": 900}],
)
@pytest.mark.parametrize(
    ("messages", "together"), [pytest.param(12_000, 1, marks=pytest.mark.soak), (600, 20)]
)
def test_indexed_messages_of_a_batch_are_learned_on_threads(
    options: dict[str, Any], messages: int, together: int
) -> None:
    """Short messages, and several together, whose texts other threads tokenise."""
    stream = [" ".join(x) for x, _, _ in sms_stream(400)]
    texts = [f"{' '.join(stream[i % 380 :][:together])} {i % 1_009}" for i in range(messages)]
    assert sum(map(len, texts)) > 300_000  # two shares at least
    labels = ["ham", "spam", "other"] * (messages // 3)
    one, many = HMNB(**options), HMNB(n_jobs=3, **options)
    for batch in (texts, [dict.fromkeys(text.split(), 1) for text in texts[:300]]):
        for each in (one, many):
            each.learn_many(batch, labels[: len(batch)])
        assert many.to_bytes() == one.to_bytes()
        scores = [each.joint_log_likelihood_many(texts[:200]).tobytes() for each in (one, many)]
        assert scores[0] == scores[1]


@pytest.mark.parametrize("max_features", [20, 407])
def test_a_thread_that_had_to_prune_alone_counts_for_nothing(max_features: int) -> None:
    """Its remaining counts fit next to the few words of the first share; the pruned ones are
    missing.
    """
    few = ["only these few words stay " * 3] * 6_000
    many = [
        f"word{i % (2 * max_features)} is number {i % (max_features + 5)} " * 3
        for i in range(6_000)
    ]
    texts, labels = [*few, *many], ["ham", "spam"] * 6_000
    one, threads = MNB(max_features=max_features), MNB(max_features=max_features, n_jobs=2)
    for each in (one, threads):
        each.learn_many(texts, labels)
    assert threads.to_bytes() == one.to_bytes()


@pytest.mark.parametrize("share", [0.005, 0.039, 0.145])
def test_cells_that_are_no_whole_numbers_are_added_to_by_one_thread(share: float) -> None:
    """Rounding at each message differs from rounding once, so fractions are added by one thread."""
    texts = ["often again and more"] * 4_000 + ["often again " * 10] * 4_000
    labels = ["ham"] * len(texts)
    one, many = MNB(), MNB(n_jobs=2)
    for each in (one, many):
        each.learn_one("often", "ham", share)
        each.learn_one("again", "ham", 1 - share)
        each.learn_many(texts, labels)
    assert many.to_bytes() == one.to_bytes()


def test_shares_that_fit_a_bound_each_and_not_together_are_learned_by_one_thread() -> None:
    texts = [f"{side}{i % 100} again and again " * 20 for side in "ab" for i in range(1_000)]
    labels = ["ham", "spam"] * 1_000
    one, many = MNB(max_features=150), MNB(max_features=150, n_jobs=2)
    for each in (one, many):
        each.learn_many(texts, labels)
    assert many.to_bytes() == one.to_bytes()


def test_what_is_no_text_in_a_large_batch_is_refused_whole() -> None:
    texts, labels = ["win a prize now " * 20] * 2_000, ["spam", "ham"] * 1_000
    model = MNB(n_jobs=2)
    with pytest.raises(InputError):
        model.learn_many([*texts, 3], [*labels, "ham"])
    assert model.to_bytes() == MNB().to_bytes()


@pytest.mark.parametrize("n_jobs", [None, 1, 3, -1])
def test_jobs_are_no_part_of_a_model(n_jobs: int | None) -> None:
    model = MNB(n_jobs=n_jobs)
    model.learn_one("win", "spam")
    assert MNB.from_bytes(model.to_bytes()).n_jobs is None
    again = MNB.from_bytes(model.to_bytes(), n_jobs=n_jobs)
    assert (again.n_jobs, again._threads) == (model.n_jobs, model._threads)
    assert copy.deepcopy(model).n_jobs == n_jobs
    available = len(os.sched_getaffinity(0))
    assert model._threads == {None: 1, -1: available}.get(n_jobs, n_jobs)


@pytest.mark.parametrize("bad", [0, -2, 1.5, True, "all"])
def test_what_is_no_number_of_threads_is_refused(bad: Any) -> None:
    with pytest.raises(InputError, match="n_jobs must be None, -1 for all processors, or a number"):
        MNB(n_jobs=bad)
    with pytest.raises(InputError, match="n_jobs must be"):
        MNB.from_bytes(MNB().to_bytes(), n_jobs=bad)
