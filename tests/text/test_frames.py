"""Batches of polars and pyarrow: the same as lists and pandas, and no import without them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pandas as pd
import pytest

from streamnb import LNB, MNB, OnlineNB
from streamnb.errors import InputError
from streamnb.text import frames

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

TEXTS = ["win cash now", "see you at noon", "free cash"]
LABELS = ["spam", "ham", "spam"]
COUNTS = {"win": [1, 0, 2], "you": [0, 3, 0], "cash": [1, 0, 1]}

COLUMNS = {
    "polars": pl.Series,
    "polars categories": lambda values: pl.Series(values, dtype=pl.Categorical),
    "pyarrow": pa.array,
    "pyarrow large": lambda values: pa.array(values, pa.large_string()),
    "pyarrow chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "pyarrow dictionary": lambda values: pa.array(values).dictionary_encode(),
}
TABLES = {"polars": pl.DataFrame, "pyarrow": pa.table, "record batch": pa.RecordBatch.from_pydict}


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("model", [MNB, OnlineNB, lambda: MNB(tokenizer=str.split)])
def test_columns_are_texts_and_labels(kind: str, model: Any) -> None:
    given, listed = model(), model()
    given.learn_many(COLUMNS[kind](TEXTS), COLUMNS[kind](LABELS))
    listed.learn_many(TEXTS, LABELS)
    assert given.classes_ == ["ham", "spam"]
    X = COLUMNS[kind](TEXTS)
    assert given.predict_many(X) == listed.predict_many(TEXTS)
    assert given.predict_proba_many(X) == listed.predict_proba_many(TEXTS)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("model", [MNB, OnlineNB])
def test_tables_are_counts(kind: str, model: Any) -> None:
    given, known = model(), model()
    given.learn_many(TABLES[kind](COUNTS), LABELS)
    known.learn_many(pd.DataFrame(COUNTS), pd.Series(LABELS))
    assert given.predict_proba_many(TABLES[kind](COUNTS)) == [
        dict(row) for _, row in known.predict_proba_many(pd.DataFrame(COUNTS)).iterrows()
    ]


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_rows_of_attributes(kind: str) -> None:
    table = {"colour": ["red", "blue", "red"], "size": [1.5, 2.0, 1.0]}
    given, known = LNB(), LNB()
    given.learn_many(TABLES[kind](table), LABELS)
    known.learn_many(pd.DataFrame(table), LABELS)
    assert given.predict_many(TABLES[kind](table)) == known.predict_many(
        pd.DataFrame(table).to_dict(orient="records")
    )


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_with_a_column_of_texts_is_records(kind: str) -> None:
    given, known = MNB(), MNB()
    given.learn_many(TABLES[kind]({"id": [1, 2, 3], "text": TEXTS}), LABELS)
    known.learn_many(TEXTS, LABELS)
    assert given.to_bytes() == known.to_bytes()
    with pytest.raises(InputError, match=r"labels must be a list or Series.*y\['label'\]"):
        MNB().learn_many(TEXTS, TABLES[kind]({"label": LABELS}))


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_lists_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match="'tokens' contains neither: leave it out"):
        MNB().learn_many(TABLES[kind]({"tokens": [["a"], ["b"]]}), ["x", "y"])


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_missing_text_is_refused(kind: str) -> None:
    model = MNB()
    with pytest.raises(InputError, match="not NoneType"):
        model.learn_many(COLUMNS[kind](["a", None, "b"]), LABELS)
    with pytest.raises(InputError, match="a label must not be None"):
        model.learn_many(TEXTS, COLUMNS[kind](["spam", None, "ham"]))
    assert model.n_documents == 0


MISSING = [pd.NA, None, pd.NaT, float("nan")]


@pytest.mark.parametrize("label", MISSING)
def test_a_missing_label_names_the_call_that_leaves_it_out(label: object) -> None:
    model = MNB()
    for y in (pd.Series(["spam", label, "ham"]), ["spam", label, "ham"]):
        with pytest.raises(
            InputError, match=r"known = y\.notna\(\); model\.learn_many\(X\[known\]"
        ):
            model.learn_many(pd.Series(TEXTS), y)
    with pytest.raises(InputError, match="no label"):
        model.learn_one("win", label)
    assert model.n_documents == 0
    X, y = pd.Series(TEXTS), pd.Series(["spam", label, "ham"])
    known = y.notna()
    model.learn_many(X[known], y[known])
    assert model.n_documents == 2


def test_a_frame_with_a_column_of_texts_is_records() -> None:
    known = MNB()
    known.learn_many(TEXTS, LABELS)
    frame = pd.DataFrame({"id": [1, 2, 3], "text": TEXTS})
    for X in (frame[["text"]], frame, frame[["text"]].astype("string")):
        given = MNB()
        given.learn_many(X, LABELS)
        assert given.to_bytes() == known.to_bytes()
        assert given.predict_many(X).tolist() == known.predict_many(TEXTS)
    with pytest.raises(InputError, match=r"X\[:, 0\]"):
        MNB().predict_many(frame[["text"]].to_numpy())


def test_a_list_of_texts_is_taken_as_it_is() -> None:
    assert frames.plain(TEXTS)[0] is TEXTS


def test_they_are_not_imported_for_others() -> None:
    program = """
import sys, streamnb
model = streamnb.MNB()
model.learn_many(["win cash", "see you"], ["spam", "ham"])
model.predict_many(["cash"])
assert not {"polars", "pyarrow", "pandas"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
