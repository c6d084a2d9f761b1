"""Spark with executors that are processes of their own: the same bytes, whatever is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamnb import MNB, NBCF, OnlineNB, load
from streamnb.datasets import SyntheticSMS
from streamnb.errors import InputError

pytest.importorskip("pyspark", reason="Spark is not installed: make test-spark installs it")

from pyspark.sql import DataFrame, SparkSession

from streamnb.spark import Prequential, learn, predict

MESSAGES = [(one.text, one.label) for one in SyntheticSMS(3000, seed=3).messages()]
SCHEMA = "text string, label string"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", str(folder / "local"))
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def frame_of(spark: SparkSession, rows: list[Any], partitions: int) -> DataFrame:
    return spark.createDataFrame(rows, SCHEMA).repartition(partitions)


def alone(model: Any) -> Any:
    model.learn_many([text for text, _ in MESSAGES], [label for _, label in MESSAGES])
    return model


@pytest.mark.parametrize("partitions", [1, 7])
def test_partitions_change_no_byte(spark: SparkSession, partitions: int) -> None:
    learned = learn(frame_of(spark, MESSAGES, partitions), MNB())
    assert learned.to_bytes() == alone(MNB()).to_bytes()


def test_it_goes_on_from_what_the_model_knows(spark: SparkSession) -> None:
    model = MNB()
    model.learn_one("a message before", "ham")
    before = model.to_bytes()
    learned = learn(frame_of(spark, MESSAGES, 3), model, depth=3)
    assert model.to_bytes() == before
    model.learn_many([text for text, _ in MESSAGES], [label for _, label in MESSAGES])
    assert learned.to_bytes() == model.to_bytes()


def test_nothing_to_learn_changes_nothing(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], SCHEMA)
    assert learn(empty, MNB(alpha=0.5)).to_bytes() == MNB(alpha=0.5).to_bytes()


def test_a_model_that_depends_on_the_order_loses_little(spark: SparkSession) -> None:
    learned = learn(frame_of(spark, MESSAGES, 4), OnlineNB())
    assert learned.n_documents == len(MESSAGES)
    texts = [text for text, _ in MESSAGES]
    right = sum(a == b for a, (_, b) in zip(learned.predict_many(texts), MESSAGES, strict=True))
    assert right / len(MESSAGES) > 0.98


def executors() -> list[int]:
    """The processes of the executors, of whoever's Spark they are a grandchild of this one."""
    told = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True)
    lines = (line.split(None, 1) for line in told.stdout.splitlines()[1:])
    return [int(pid) for pid, args in lines if "CoarseGrainedExecutorBackend" in args]


def test_an_executor_that_is_killed_changes_no_byte(spark: SparkSession) -> None:
    def slowly(batches: Iterator[Any]) -> Iterator[Any]:
        time.sleep(0.5)
        yield from batches

    frame = frame_of(spark, MESSAGES, 12).mapInArrow(slowly, SCHEMA)
    victims = executors()
    assert len(victims) == 2
    killed = threading.Timer(2.0, os.kill, (victims[0], signal.SIGKILL))
    killed.start()
    learned = learn(frame, MNB())
    killed.join()
    assert victims[0] not in executors()
    assert learned.to_bytes() == alone(MNB()).to_bytes()


def test_decisions_are_those_of_the_model(spark: SparkSession) -> None:
    model = alone(MNB())
    rows = [*MESSAGES[:50], (None, None)]
    decided = predict(frame_of(spark, rows, 3), model, probabilities="shares").collect()
    assert len(decided) == 51
    for row in decided:
        if row["text"] is None:
            assert row["prediction"] is None
            assert row["shares"] is None
        else:
            assert row["prediction"] == model.predict_one(row["text"])
            assert row["shares"] == pytest.approx(model.predict_proba_one(row["text"]))
    nothing = predict(frame_of(spark, MESSAGES[:3], 1), MNB()).collect()
    assert [row["prediction"] for row in nothing] == [None] * 3


def test_what_cannot_be_learned_is_told(spark: SparkSession) -> None:
    frame = frame_of(spark, [*MESSAGES[:5], ("no label", None)], 2)
    with pytest.raises(InputError, match="column 'label' has nulls"):
        learn(frame, MNB())
    with pytest.raises(InputError, match="no column 'body'; it has text, label"):
        learn(frame, MNB(), text="body")
    with pytest.raises(InputError, match=r"depth must be .* from 1 on, not 0"):
        learn(frame, MNB(), depth=0)
    with pytest.raises(InputError, match="the frame already has a column 'label'"):
        predict(frame, MNB(), prediction="label")
    with pytest.raises(InputError, match="already"):
        predict(frame, MNB(), prediction="p", probabilities="p")


def test_statistics_are_of_the_merged_counts(spark: SparkSession) -> None:
    model = learn(frame_of(spark, MESSAGES, 5), NBCF())
    assert model.to_bytes() == alone(NBCF()).to_bytes()


def run_batches(spark: SparkSession, folder: Path, model: Any, files: int) -> Prequential:
    """Runs the stream of the inbox until it has nothing more."""
    prequential = Prequential(model, folder)
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", files)
    query = (
        reader.json(str(folder.parent / "inbox"))
        .writeStream.foreachBatch(prequential)
        .option("checkpointLocation", str(folder.parent / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)
    return prequential


def put(inbox: Path, name: str, rows: list[tuple[str, str]]) -> None:
    inbox.mkdir(exist_ok=True)
    lines = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows)
    part = inbox / f".{name}"
    part.write_text(lines, encoding="utf-8")
    part.rename(inbox / f"{name}.json")


def test_a_batch_of_a_stream_is_learned_once(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "filter"
    put(tmp_path / "inbox", "one", MESSAGES[:40])
    first = run_batches(spark, folder, MNB(), 1)
    assert first.batch == 0
    put(tmp_path / "inbox", "two", MESSAGES[40:100])
    second = run_batches(spark, folder, MNB(), 1)
    assert second.batch == 1
    expected = MNB()
    expected.learn_many([t for t, _ in MESSAGES[:40]], [y for _, y in MESSAGES[:40]])
    decided = {
        row["text"]: row["prediction"]
        for path in (folder / "decisions/batch=1").glob("*.json")
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }
    assert decided == {text: expected.predict_one(text) for text, _ in MESSAGES[40:100]}
    expected.learn_many([t for t, _ in MESSAGES[40:100]], [y for _, y in MESSAGES[40:100]])
    assert second.model.to_bytes() == expected.to_bytes()
    # What Spark runs again after a crash, as its own log of batches was not written yet.
    again = frame_of(spark, MESSAGES[40:100], 2)
    second(again, 1)
    Prequential(MNB(), folder)(again, 1)
    assert load(folder / "states/1.model").to_bytes() == expected.to_bytes()


def test_a_batch_that_broke_off_is_run_again(spark: SparkSession, tmp_path: Path) -> None:
    frame = frame_of(spark, MESSAGES[:60], 2)
    broken = Prequential(MNB(), tmp_path)
    # A folder in the place of the state: the decisions are written, but the model cannot be saved.
    (tmp_path / "states/0.model").mkdir()
    with pytest.raises(IsADirectoryError):
        broken(frame, 0)
    assert broken.batch == -1
    assert not broken.model.n_documents
    (tmp_path / "states/0.model").rmdir()
    whole = Prequential(MNB(), tmp_path)
    assert whole.batch == -1
    whole(frame, 0)
    files = list((tmp_path / "decisions/batch=0").glob("*.json"))
    lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == 60
    for number in (1, 2, 3):
        whole(frame, number)
    assert sorted(path.name for path in (tmp_path / "states").iterdir()) == ["2.model", "3.model"]


JOINED_SCHEMA = "id string, text string, label string"


def test_labels_join_the_texts_of_their_messages(spark: SparkSession, tmp_path: Path) -> None:
    prequential = Prequential(MNB(), tmp_path, message_id="id", join_batches=2)
    batches: list[list[tuple[str | None, str | None, str | None]]] = [
        [("a", "win cash", None), ("b", None, "ham"), (None, "no id", "ham"), (None, "cash", None)],
        [("a", None, "spam"), ("b", "see you", None), ("a", "win cash", None)],
        [("c", None, "spam"), ("d", "lunch", "work")],
        [("d", None, "ham"), ("e", "at noon", None)],
        [("e", None, "ham"), ("f", None, "work")],
        [("c", "too late", None)],
        [("f", "in time", None)],
    ]
    decided = []
    for number, rows in enumerate(batches):
        prequential(spark.createDataFrame(rows, JOINED_SCHEMA), number)
        files = (tmp_path / f"decisions/batch={number}").glob("*.json")
        lines = [line for path in files for line in path.read_text(encoding="utf-8").splitlines()]
        decided.append(sorted(json.loads(line)["text"] for line in lines))
    assert decided == [
        ["cash", "no id", "win cash"],
        ["see you"],
        ["lunch"],
        ["at noon"],
        [],
        ["too late"],
        ["in time"],
    ]
    expected = MNB()
    for text, label in (
        *(("no id", "ham"), ("win cash", "spam"), ("see you", "ham")),
        *(("lunch", "work"), ("lunch", "ham"), ("at noon", "ham"), ("in time", "work")),
    ):
        expected.learn_one(text, label)
    assert prequential.model.to_bytes() == expected.to_bytes()
    nothing_known = spark.createDataFrame([(None, None, "spam")], JOINED_SCHEMA)
    with pytest.raises(InputError, match="has nulls"):
        prequential(nothing_known, len(batches))
