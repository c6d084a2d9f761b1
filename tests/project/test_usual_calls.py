"""Calls of users of river and scikit-learn: each works, or its error shows the right call."""

from __future__ import annotations

import contextlib
import gzip
import io
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from river import compose, evaluate, feature_extraction, metrics, stream
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import streamnb
from streamnb import LNB, MNB, OnlineNB, Tokenizer
from streamnb.datasets import read_messages
from streamnb.errors import DataError, InputError, UnknownParameterError
from streamnb.sklearn import StreamNBClassifier

TEXTS = ["win cash now", "see you at noon", "free cash", "lunch at noon?"]
LABELS = ["spam", "ham", "spam", "ham"]
SENDERS = ["shop", "ann", "shop", "bob"]
CSV = "id,label,body\n" + "".join(
    f"{number},{label},{text}\n"
    for number, (label, text) in enumerate(zip(LABELS, TEXTS, strict=True))
)
FRAME = pd.DataFrame({"body": TEXTS, "sender": SENDERS, "label": LABELS})
FIELDS = Tokenizer(fields=("sender",))
COUNTED = pd.DataFrame({"win": [1, 0], "noon": [0, 2]})


def learned(model: Any, X: Any = FRAME["body"], y: Any = FRAME["label"]) -> Any:
    """Return the model after a batch."""
    model.learn_many(X, y)
    return model


def one_by_one(model: Any, messages: Any, labels: Any = tuple(LABELS)) -> Any:
    """Return the model after messages one by one."""
    for x, y in zip(messages, labels, strict=True):
        model.learn_one(x, y)
    return model


def of_csv(model: Any, **options: Any) -> Any:
    for x, y in stream.iter_csv(io.StringIO(CSV), target="label", **options):
        model.learn_one(x, y)
    return model


def of_pandas(model: Any, columns: list[str]) -> Any:
    for x, y in stream.iter_frame(FRAME[columns], FRAME["label"]):
        model.learn_one(x, y)
    return model


def frame_of(module: str, columns: list[str] = ["body", "label"]) -> Any:  # noqa: B006
    make = pytest.importorskip(module)
    table = {name: FRAME[name].tolist() for name in columns}
    return make.table(table) if module == "pyarrow" else make.DataFrame(table)


def progressive(model: Any) -> Any:
    data = stream.iter_frame(FRAME[["body"]], FRAME["label"])
    evaluate.progressive_val_score(data, model, metrics.Accuracy())
    return model


def pipeline_of_counts() -> Any:
    bag = feature_extraction.BagOfWords(on="body")
    return one_by_one(bag | MNB(), [{"body": text} for text in TEXTS])


# Each returns a model that has learned `TEXTS`; it then decides about a text in the same form.
RIVER: dict[str, tuple[Callable[[], Any], Any]] = {
    "a text": (lambda: one_by_one(MNB(), TEXTS), "win cash"),
    "a record of SMSSpam": (
        lambda: one_by_one(MNB(), [{"body": text} for text in TEXTS]),
        {"body": "win cash"},
    ),
    **{
        f"a record with {name}": (
            lambda name=name: one_by_one(OnlineNB(), [{name: text} for text in TEXTS]),
            {name: "win cash"},
        )
        for name in ("text", "message", "content", "subject", "Body", " TEXT ")
    },
    "id, label and time": (
        lambda: one_by_one(MNB(), [{"id": 1, "label": "?", "time": 2.5, "text": t} for t in TEXTS]),
        {"id": 7, "text": "win cash"},
    ),
    "numpy texts": (lambda: one_by_one(MNB(), list(np.array(TEXTS))), np.str_("win cash")),
    "iter_csv": (lambda: of_csv(MNB()), {"id": "9", "body": "win cash"}),
    "iter_csv with converters": (lambda: of_csv(MNB(), converters={"id": int}), {"body": "win"}),
    "iter_pandas": (lambda: of_pandas(MNB(), ["body"]), {"body": "win cash"}),
    "iter_pandas with a label": (lambda: of_pandas(MNB(), ["body", "label"]), {"body": "cash"}),
    "Select": (
        lambda: of_pandas(compose.Select("body") | OnlineNB(), ["body", "sender"]),
        {"body": "win cash", "sender": "shop"},
    ),
    "Discard": (
        lambda: of_pandas(compose.Discard("sender") | MNB(), ["body", "sender"]),
        {"body": "win cash", "sender": "shop"},
    ),
    "BagOfWords": (pipeline_of_counts, {"body": "win cash"}),
    "TFIDF": (
        lambda: one_by_one(
            feature_extraction.TFIDF(on="body") | MNB(), [{"body": text} for text in TEXTS]
        ),
        {"body": "win cash"},
    ),
    "fields": (
        lambda: of_pandas(MNB(tokenizer=FIELDS), ["body", "sender"]),
        {"body": "win cash", "sender": "shop"},
    ),
    "a second text": (
        lambda: one_by_one(
            MNB(tokenizer=Tokenizer(texts=("subject",))),
            [{"body": text, "subject": text} for text in TEXTS],
        ),
        {"body": "win cash", "subject": ""},
    ),
    "an own tokenizer": (
        lambda: one_by_one(MNB(tokenizer=str.split), [{"body": text} for text in TEXTS]),
        {"body": "win cash"},
    ),
    "progressive_val_score": (lambda: progressive(MNB()), {"body": "win cash"}),
    "a batch of a Series": (lambda: learned(MNB()), "win cash"),
    "a batch of a frame of one column": (
        lambda: learned(MNB(), FRAME[["body"]]),
        {"body": "win cash"},
    ),
    "a batch of a frame with a label": (
        lambda: learned(MNB(), FRAME[["body", "label"]]),
        {"body": "win cash"},
    ),
    "a batch of a frame with fields": (
        lambda: learned(MNB(tokenizer=FIELDS), FRAME),
        {"body": "win cash", "sender": "shop"},
    ),
    "a batch with a threshold": (
        lambda: learned(MNB(threshold="auto"), FRAME[["body"]]),
        {"body": "win cash"},
    ),
    "a batch of string dtype": (
        lambda: learned(MNB(), FRAME[["body"]].astype("string")),
        {"body": "win cash"},
    ),
    "a batch of categories": (
        lambda: learned(MNB(), FRAME[["body"]].astype("category")),
        {"body": "win cash"},
    ),
    "a batch of records": (
        lambda: learned(MNB(), FRAME[["body"]].to_dict("records"), LABELS),
        {"body": "win cash"},
    ),
    "a batch of polars": (lambda: learned(MNB(), frame_of("polars"), LABELS), {"body": "win"}),
    "a batch of pyarrow": (lambda: learned(MNB(), frame_of("pyarrow"), LABELS), {"body": "win"}),
    "a batch of polars with fields": (
        lambda: learned(MNB(tokenizer=FIELDS), frame_of("polars", ["body", "sender"]), LABELS),
        {"body": "win", "sender": "shop"},
    ),
    "a pipeline over a batch": (
        lambda: learned(compose.Select("body") | MNB(), FRAME, FRAME["label"]),
        {"body": "win cash"},
    ),
}


@pytest.mark.parametrize("name", RIVER)
def test_a_call_of_a_user_of_river_works(name: str) -> None:
    learn, x = RIVER[name]
    model = learn()
    assert model.predict_one(x) == "spam"
    assert max(model.predict_proba_one(x), key=model.predict_proba_one(x).get) == "spam"


@pytest.mark.parametrize("X", [FRAME[["body"]], FRAME[["body", "label"]]], ids=["one", "two"])
def test_a_frame_with_a_text_keeps_its_index(X: pd.DataFrame) -> None:
    X = X.set_index(pd.Index([3, 1, 4, 2]))
    model = learned(MNB(), X)
    assert model.to_bytes() == learned(MNB(), TEXTS, LABELS).to_bytes()
    decided = model.predict_many(X)
    assert decided.index.tolist() == [3, 1, 4, 2]
    assert decided.tolist() == LABELS
    assert model.predict_proba_many(X).index.tolist() == [3, 1, 4, 2]


def test_all_methods_read_a_record_as_its_text() -> None:
    model, x = learned(OnlineNB()), {"id": 7, "body": "win at noon"}
    text = x["body"]
    for method in (
        model.predict_one,
        model.predict_proba_one,
        model.joint_log_likelihood_one,
        model.explain_one,
        model.tokens_one,
        model.evidence_one,
    ):
        assert method(x) == method(text), method
    assert Tokenizer()(x) == Tokenizer()(str(text))
    model.learn_one(x, "ham")
    same = learned(OnlineNB())
    same.learn_one(text, "ham")
    assert model.to_bytes() == same.to_bytes()
    model.unlearn_one(x, "ham")
    assert model.class_count_ == {"spam": 2.0, "ham": 2.0}


def classifier(model: Any = "MNB") -> StreamNBClassifier:
    return StreamNBClassifier(model, shuffle=False)


SKLEARN: dict[str, tuple[Callable[[], Any], Any]] = {
    "texts": (lambda: classifier().fit(TEXTS, LABELS), ["win cash"]),
    "an array": (lambda: classifier().fit(np.array(TEXTS), LABELS), np.array(["win cash"])),
    "an array of objects": (
        lambda: classifier().fit(np.array(TEXTS, object), LABELS),
        np.array(["win cash"], object),
    ),
    "a Series": (lambda: classifier().fit(FRAME["body"], FRAME["label"]), pd.Series(["win cash"])),
    "a frame": (
        lambda: classifier().fit(FRAME[["body"]], FRAME["label"]),
        pd.DataFrame({"body": ["win cash"]}),
    ),
    "a frame with fields": (
        lambda: classifier(MNB(tokenizer=FIELDS)).fit(FRAME, FRAME["label"]),
        pd.DataFrame({"body": ["win cash"], "sender": ["shop"]}),
    ),
    "records": (
        lambda: classifier().fit([{"body": text} for text in TEXTS], LABELS),
        [{"body": "win cash"}],
    ),
    "polars": (lambda: classifier().fit(frame_of("polars"), LABELS), ["win cash"]),
    "pyarrow": (lambda: classifier().fit(frame_of("pyarrow"), LABELS), ["win cash"]),
    "partial_fit": (
        lambda: classifier().partial_fit(FRAME[["body"]], LABELS, classes=["ham", "spam"]),
        ["win cash"],
    ),
    "sample weights": (lambda: classifier().fit(TEXTS, LABELS, [1, 1, 2, 1]), ["win cash"]),
    "weights of a frame": (
        lambda: classifier().fit(FRAME[["body"]], LABELS, [1, 1, 2, 1]),
        ["win cash"],
    ),
    "a vectorizer": (
        lambda: make_pipeline(CountVectorizer(), classifier()).fit(TEXTS, LABELS),
        ["win cash"],
    ),
    "a grid": (
        lambda: GridSearchCV(classifier(), {"model__alpha": [0.5, 1.0]}, cv=2).fit(TEXTS, LABELS),
        ["win cash"],
    ),
    "a grid over tokenizer options": (
        lambda: GridSearchCV(
            classifier(OnlineNB()), {"model__tokenizer__words": [(1, 1), (1, 2)]}, cv=2
        ).fit(TEXTS, LABELS),
        ["win cash"],
    ),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_a_call_of_a_user_of_scikit_learn_works(name: str) -> None:
    fit, X = SKLEARN[name]
    assert fit().predict(X).tolist() == ["spam"]


def test_cross_validation_takes_a_frame_of_records() -> None:
    scores = cross_val_score(classifier(), FRAME[["body"]], FRAME["label"], cv=2)
    assert len(scores) == 2
    assert np.isfinite(scores).all()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a field that nothing reads": (
        lambda: MNB().learn_one({"body": "win", "sender": "shop"}, "spam"),
        r"'sender' beside its text 'body'.*Tokenizer\(fields=\('sender',\)\).*x\['body'\].*Select",
    ),
    "a number beside a text": (
        lambda: MNB().learn_one({"text": "win", "price": 9}, "spam"),
        r"'price' beside its text 'text'.*fields=\('price',\)",
    ),
    "counts and a text": (
        lambda: MNB().learn_one({"win": 1, "cash": "two"}, "spam"),
        r"a str at 'cash' \('two'\).*x\['cash'\].*numbers only",
    ),
    "an unusual name": (
        lambda: MNB().learn_one({"review": "good"}, "up"),
        r"a str at 'review'.*'text', 'body'.*\{'text': x\['review'\]\}",
    ),
    "a frame with an unusual name": (
        lambda: MNB().learn_many(pd.DataFrame({"review": ["good"]}), ["up"]),
        r"message 0 .*\{'text': x\['review'\]\}",
    ),
    "a frame with a field that nothing reads": (
        lambda: MNB().predict_many(FRAME),
        r"message 0 .*'sender' beside its text 'body'",
    ),
    "a missing text": (
        lambda: MNB().learn_one({"text": None}, "up"),
        "count of token 'text' is None.*text is missing: leave",
    ),
    "a missing text in a frame": (
        lambda: MNB().learn_many(pd.DataFrame({"body": ["a", None]}), ["x", "y"]),
        "message 1 .*'body'.*text is missing",
    ),
    "a bad message in a batch": (
        lambda: MNB().learn_many(["a", 7, "b"], ["x", "y", "z"]),
        r"message 1 \(counted from 0\).*not int: 7",
    ),
    "a bad count in a batch": (
        lambda: MNB().predict_many([{"a": 1}, {"a": -1}]),
        "message 1 .*count of token 'a' is -1",
    ),
    "a bad row of a table": (
        lambda: LNB().predict_many([{"a": 1.0}, "text"]),
        "message 1 .*must map attributes",
    ),
    "a bad label in a batch": (
        lambda: MNB().learn_many(["a", "b", "c"], ["x", "y", None]),
        r"label 2 \(counted from 0\).*must not be None",
    ),
    "an array of texts": (
        lambda: MNB().predict_many(FRAME[["body"]].to_numpy()),
        r"X\[:, 0\]",
    ),
    "an array of texts in scikit-learn": (
        lambda: classifier().fit(FRAME[["body"]].to_numpy(), LABELS),
        r"X\[:, 0\]",
    ),
    "one text in scikit-learn": (lambda: classifier().fit("win", ["spam"]), r"\[X\]"),
    "labels as a frame": (
        lambda: MNB().learn_many(TEXTS, FRAME[["label"]]),
        r"y\['label'\]",
    ),
    "a label that is no label of the explanation": (
        lambda: learned(MNB()).explain_one("win").top("nope"),
        "no label 'nope'; its labels are 'ham', 'spam'",
    ),
    "another label that is none": (
        lambda: learned(MNB()).explain_one("win").towards("spam", "nope"),
        "no label 'nope'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_error_shows_the_right_call(name: str) -> None:
    call, said = REFUSED[name]
    with pytest.raises(InputError, match=f"(?s){said}"):
        call()


def test_a_wrong_parameter_suggests_the_right_one() -> None:
    with pytest.raises(
        UnknownParameterError, match=r"^MNB\.__init__\(\).*'aplha': did you mean 'alpha'"
    ):
        MNB(aplha=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^HMNB\.__init__\(\).*'alhpa'.*'alpha'"):
        streamnb.HMNB(alhpa=1)  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"MNB has no parameter 'aplha'.*alpha"):
        classifier().set_params(model__aplha=1)
    with pytest.raises(InputError, match=r"Tokenizer has no parameter 'word'.*words"):
        classifier().set_params(model__tokenizer__word=(1, 2))


def test_completion_lists_what_users_call() -> None:
    assert set(dir(streamnb)) >= set(streamnb.__all__)
    assert not {"Any", "Callable", "Iterable", "Path", "annotations"} & set(dir(streamnb))
    for name in ("columns", "families", "model", "headers"):
        assert name not in dir(streamnb)


def test_a_command_reads_the_usual_names(tmp_path: Path) -> None:
    path = tmp_path / "sms.csv"
    FRAME.to_csv(path, index=False)
    assert [message.text for message in read_messages(path)] == TEXTS


@pytest.mark.parametrize("kind", ["parquet", "feather", "xlsx", "sqlite", "parquet.gz"])
def test_a_binary_table_is_refused_with_the_command_that_converts_it(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"d.{kind}"
    if kind.startswith("parquet"):
        FRAME.to_parquet(path, compression=None)
        path.write_bytes(gzip.compress(path.read_bytes()) if "gz" in kind else path.read_bytes())
    elif kind == "feather":
        FRAME.to_feather(path)
    elif kind == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("create table d (text)")
            database.commit()
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sheet.xml", "<sheet/>")
    advice = {"sqlite": "sqlite3 -header -csv", "xlsx": "export it as CSV"}.get(kind, "to_csv")
    for given in (None, "csv", "jsonl"):
        with pytest.raises(DataError, match=f"(?s)d.{kind} is .*{advice}.*learn_many"):
            list(read_messages(path, format=given))


def test_the_result_of_a_query_names_the_call_that_works() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql(
        "select * from (values ('win cash', 'spam'), ('noon', 'ham')) t(body, label)"
    )
    with pytest.raises(InputError, match=r"(?s)messages must be .*; pass X\.df\(\)"):
        MNB().learn_many(relation, ["spam", "ham"])
    with pytest.raises(InputError, match=r"labels must be .*; pass y\.df\(\)"):
        MNB().learn_many(["win", "noon"], relation)
    frame = relation.df()
    assert learned(MNB(), frame, frame["label"]).predict_one("cash") == "spam"


def test_a_data_set_of_hugging_face_is_a_list_of_records() -> None:
    # The folder tests/datasets has the name of the package.
    datasets = pytest.importorskip("datasets.arrow_dataset")
    found = datasets.Dataset.from_pandas(FRAME[["body", "label"]])
    expected = learned(MNB()).to_bytes()
    assert learned(MNB(), found, found["label"]).to_bytes() == expected
    assert one_by_one(MNB(), found, found["label"]).to_bytes() == expected


def test_a_url_names_the_calls_that_work() -> None:
    url = "memory://streamnb/sms.csv"
    with pytest.raises(
        DataError, match=r"read_messages\(fsspec\.open\('memory://.*curl .* learn -"
    ):
        list(read_messages(url))
    command = [sys.executable, "-m", "streamnb.cli", "learn", url, "--output", "model"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"curl -s {url} | streamnb learn -" in done.stderr
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open(url, "w") as file:
        FRAME.to_csv(file, index=False)
    with fsspec.open(url) as file:
        assert [message.text for message in read_messages(file, format="csv")] == TEXTS
