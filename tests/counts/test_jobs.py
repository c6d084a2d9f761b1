"""Batches on several threads: every byte is that of one thread."""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np
import pytest

from streamnb import MNB, OnlineNB
from streamnb.errors import InputError
from support.models import ALL_MODELS, make_model, matrix
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


@matrix(ALL_MODELS)
def test_no_byte_depends_on_the_threads(name: str) -> None:
    stream = synthetic_stream(360)
    messages, labels = [x for x, _, _ in stream], [y for _, y, _ in stream]
    one = learned(make_model(name), messages, labels)
    for jobs in JOBS:
        assert_same(one, learned(make_model(name, n_jobs=jobs), messages, labels), messages)


@pytest.mark.parametrize("model", [MNB, OnlineNB])
def test_texts_are_read_on_all_threads(model: Any) -> None:
    """Long words, capitals, accents, words many times, and empty messages."""
    own = ["", "Ärger, ÄRGER und ärger", "x" * 40 + " " + "x" * 41, "σΣς Σ", "win WIN win " * 50]
    stream = sms_stream(300)
    texts = [" ".join(x) for x, _, _ in stream] + own * 20
    labels = [y for _, y, _ in stream] + ["ham", "spam"] * 50
    one = learned(model(), texts, labels)
    for jobs in JOBS:
        assert_same(one, learned(model(n_jobs=jobs), texts, labels), texts)


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
