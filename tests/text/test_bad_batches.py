"""Batches whose parts do not fit together, or that are damaged."""

from __future__ import annotations

import math
import pickle

import pandas as pd
import pytest
from scipy import sparse

import streamnb
from streamnb.errors import InputError, StreamNBError
from support.batches import COLUMNS, COUNTS, LABELS, TABLE, TEXTS, learned, new
from support.models import structures


@structures()
def test_mismatched_lengths(name: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    table = sparse.csr_array(TABLE)
    frame = pd.DataFrame(TABLE, columns=COLUMNS)
    for call in (
        lambda: model.learn_many(TEXTS, LABELS[:4]),
        lambda: model.learn_many(COUNTS, [*LABELS, "ham"]),
        lambda: model.learn_many(table, LABELS[:4], vocabulary=COLUMNS),
        lambda: model.learn_many(frame, pd.Series(LABELS[:4])),
    ):
        with pytest.raises(InputError, match=r"(?s)6.*4|4.*6|6.*7|7.*6"):
            call()
        assert model.to_bytes() == before


@structures()
def test_sparse_matrix_and_its_vocabulary(name: str) -> None:
    model = learned(name)
    before = model.to_bytes()
    table = sparse.csr_array(TABLE)
    for call in (
        lambda: model.learn_many(table, LABELS),
        lambda: model.predict_many(table),
        lambda: model.learn_many(table, LABELS, vocabulary=COLUMNS[:-1]),
        lambda: model.predict_many(table, vocabulary=[*COLUMNS, "more"]),
    ):
        with pytest.raises(InputError, match=r"(?i)vocabulary"):
            call()
    for bad in (-1.0, math.nan, math.inf):
        damaged = sparse.csr_array(TABLE.astype(float))
        damaged.data[-1] = bad
        for call in (
            lambda damaged=damaged: model.learn_many(damaged, LABELS, vocabulary=COLUMNS),
            lambda damaged=damaged: model.predict_many(damaged, vocabulary=COLUMNS),
        ):
            with pytest.raises(InputError, match=r"(?i)-1|nan|inf|negative|finite"):
                call()
    assert model.to_bytes() == before


def test_corrupt_sparse_matrix_is_refused() -> None:
    """Column numbers beyond the shape must not be read as words."""
    model = learned()
    before = model.to_bytes()
    damaged = sparse.csr_array(TABLE.astype(float))
    damaged.indices[0] = 10_000
    with pytest.raises(StreamNBError):
        model.learn_many(damaged, LABELS, vocabulary=COLUMNS)
    negative = sparse.csr_array(TABLE.astype(float))
    negative.indices[0] = -1
    with pytest.raises(StreamNBError):
        model.predict_many(negative, vocabulary=COLUMNS)
    backwards = sparse.csr_array(TABLE.astype(float))
    backwards.indptr[1] = 10_000
    with pytest.raises(StreamNBError):
        model.predict_many(backwards, vocabulary=COLUMNS)
    assert model.to_bytes() == before


@pytest.mark.parametrize("kind", ["csc", "coo", "dense", "one text", "number"])
def test_other_batches_are_read_rightly_or_refused(kind: str) -> None:
    X = {
        "csc": sparse.csc_array(TABLE),
        "coo": sparse.coo_array(TABLE),
        "dense": TABLE,
        "one text": "win cash",
        "number": 5,
    }[kind]
    model = learned()
    expected = model.predict_many(TEXTS)
    keywords = {"vocabulary": COLUMNS} if kind in ("csc", "coo", "dense") else {}
    try:
        got = model.predict_many(X, **keywords)
    except InputError as error:
        assert "list" in str(error)  # noqa: PT017 - which of the two happens is what is tested
    else:
        assert kind in ("csc", "coo", "dense")
        assert got == expected


def test_series_and_frames_with_missing_or_wrong_values() -> None:
    model = learned()
    before = model.to_bytes()
    for X in (
        pd.Series(["fine", None]),
        pd.Series(["fine", 3], dtype=object),
        pd.DataFrame({"a": [1.0, math.nan]}),
        pd.DataFrame({"a": [1, -1]}),
        pd.DataFrame({"a": ["x", "y"]}),
    ):
        with pytest.raises(InputError):
            model.learn_many(X, pd.Series(["ham", "ham"]))
        with pytest.raises(InputError):
            model.predict_many(X)
    assert model.to_bytes() == before


def test_frame_columns_repeated_add_up_or_are_refused() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    model, plain = new("MNB"), new("MNB")
    plain.learn_one({"a": 3}, "ham")
    try:
        model.learn_many(frame, pd.Series(["ham"]))
    except InputError:
        assert model.n_documents == 0
    else:
        assert model.to_bytes() == plain.to_bytes()


def test_a_refused_batch_does_not_move_the_schedule() -> None:
    model = streamnb.HMNB(refresh_every=2)
    model.learn_many(["a", "b c", "d"], ["x", "y", "x"])
    before = pickle.dumps(model)
    for weight in (-1, math.nan, "1"):
        with pytest.raises(InputError):
            model.learn_many(["q", "r", "s"], ["x", "y", "x"], w=weight)
        assert pickle.dumps(model) == before
