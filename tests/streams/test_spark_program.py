"""The program of a guide for Spark is killed while it reads files; each label is learned once.

The connector of Spark for Kafka is a Java package that tests cannot install, so the source is a
folder of JSON lines. Its records and its batches are those of a topic.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import streamnb
from streamnb.datasets import SyntheticSMS
from support.processes.programs import changed, program, running, wait_until

KILLS = 2
FILES, LINES = 3, 100  # of each run

pytestmark = [
    pytest.mark.broker_long,
    pytest.mark.skipif(
        importlib.util.find_spec("pyspark") is None, reason="make test-spark installs Spark"
    ),
]


def records() -> list[dict[str, Any]]:
    """Return messages and their labels: some together, some later, some before the message."""
    generator, listed = random.Random(11), []
    for number, one in enumerate(SyntheticSMS((KILLS + 1) * FILES * LINES, seed=5).messages()):
        message = {"id": str(number), "text": one.text}
        label = {"id": str(number), "label": one.label}
        delay = generator.choice([0, 3, 250, -120])
        if delay == 0:
            listed.append((number, message | label))
        else:
            listed += [(number, message), (number + delay, label)]
    return [each for _, each in sorted(listed, key=lambda pair: pair[0])]


def test_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    inbox, folder = tmp_path / "inbox", tmp_path / "filter"
    source, log = tmp_path / "program.py", tmp_path / "log"
    inbox.mkdir()
    options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    local = ".master('local[2]')" + "".join(f".config{each!r}" for each in options.items())
    text = changed(
        program("spark_filter.py"),
        ('format("kafka")', 'format("text").option("maxFilesPerTrigger", 1)'),
        (".load()", f".load({str(inbox)!r})"),
        ("builder.", f"builder{local}."),
        ("OnlineNB", "MNB"),
    )
    source.write_text(text, encoding="utf-8")
    sent = records()
    piece = len(sent) // ((KILLS + 1) * FILES) + 1
    pieces = [sent[start : start + piece] for start in range(0, len(sent), piece)]
    expected = streamnb.MNB()
    texts = {each["id"]: each["text"] for each in sent if "text" in each}
    for each in sent:
        if "label" in each:
            expected.learn_one(texts[each["id"]], each["label"])

    def newest() -> int:
        return max((int(path.stem) for path in folder.glob("states/*.model")), default=-1)

    generator = random.Random(3)
    for kill in range(KILLS + 1):
        for number in range(kill * FILES, min((kill + 1) * FILES, len(pieces))):
            part = inbox / f".{number}"
            part.write_text("".join(json.dumps(each) + "\n" for each in pieces[number]))
            part.rename(inbox / f"{number:03}.json")
        before = newest()
        with running(source, log, python=Path(sys.executable)) as process:
            # One wait for each batch: the machine may be busy.
            for number in range(before + 1, len(pieces) if kill == KILLS else before + 2):
                wait_until(lambda: newest() >= number, process, log)  # noqa: B023
            if kill == KILLS:
                break
            time.sleep(generator.uniform(0.0, 2.0))
        assert newest() < len(pieces) - 1
    model = streamnb.load(folder / f"states/{len(pieces) - 1}.model")
    assert model.to_bytes() == expected.to_bytes()
    decided = [
        json.loads(line)["id"]
        for path in sorted(folder.glob("decisions/*/*.json"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert sorted(decided) == sorted(texts)
