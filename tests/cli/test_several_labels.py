"""Records with an array of labels in `evaluate`, `learn` and `classify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sklearn import metrics
from sklearn.preprocessing import MultiLabelBinarizer

import streamnb
from streamnb import MultiLabelNB, datasets
from streamnb.evaluation import LabelTally
from support.data import require_data

RECORDS: list[dict[str, Any]] = [
    {"id": "1", "text": "wheat and corn prices fall", "labels": ["wheat", "corn"]},
    {"id": "2", "text": "corn harvest", "labels": ["corn"]},
    {"id": "3", "text": "bank raises rates", "labels": ["interest"]},
    {"id": "4", "text": "nothing new", "labels": []},
] * 10


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    path = tmp_path / "topics.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return path


def test_evaluate_prints_the_metrics_of_sets(run: Any, topics: Path) -> None:
    status, out, err = run("evaluate", topics, "--model", "MultiLabelNB", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    model, given, predicted = MultiLabelNB(), [], []
    for record in RECORDS:
        given.append(record["labels"])
        predicted.append(model.predict_one(record["text"]))
        model.learn_one(record["text"], record["labels"])
    binarizer = MultiLabelBinarizer().fit(given)
    y, p = binarizer.transform(given), binarizer.transform(predicted)
    (result,) = found["models"]
    assert result["scores"] == pytest.approx(
        {
            "micro_f1": metrics.f1_score(y, p, average="micro"),
            "macro_f1": metrics.f1_score(y, p, average="macro"),
            "subset_accuracy": metrics.accuracy_score(y, p),
            "hamming_loss": metrics.hamming_loss(y, p),
        }
    )
    assert 0.5 < result["scores"]["micro_f1"] < 1
    assert result["labels"] == {"corn": 20, "interest": 10, "wheat": 10}
    assert found["stream"]["n_messages"] == 40
    status, out, _ = run("evaluate", topics, "--model", "MultiLabelNB(threshold=0.3)")
    assert status == 0
    assert "40 messages, 3 labels (corn 20, interest 10, wheat 10), 1.00 for each message" in out
    assert "micro-F1  macro-F1  subset acc %  Hamming loss %" in out


def test_learned_labels_are_classified_and_explained(
    run: Any, topics: Path, tmp_path: Path
) -> None:
    model = tmp_path / "topics.model"
    status, out, _ = run("learn", topics, "--model", "MultiLabelNB", "-o", model)
    assert status == 0
    assert "MultiLabelNB learned 40 messages: now 40 messages" in out
    status, _, _ = run("learn", topics, "--from", model, "-o", model)
    assert status == 0
    whole = MultiLabelNB()
    whole.learn_many(
        [each["text"] for each in RECORDS * 2], [each["labels"] for each in RECORDS * 2]
    )
    assert streamnb.load(model).to_bytes() == whole.to_bytes()
    status, out, err = run("classify", model, topics, "--limit", "4", "--explain", "2")
    assert (status, err) == (0, "4 messages classified\n")
    decisions = [json.loads(line) for line in out.splitlines()]
    assert [each["labels"] for each in decisions] == [["corn", "wheat"], ["corn"], ["interest"], []]
    assert list(decisions[0]) == ["id", "labels", "probabilities", "words"]
    assert list(decisions[0]["words"]) == ["corn", "wheat"]
    assert decisions[0]["words"]["wheat"][0]["towards"] > 0
    plain = tmp_path / "plain.sms"
    plain.write_text("corn harvest\n")
    status, out, _ = run("classify", model, plain)
    assert status == 0
    assert json.loads(out)["labels"] == ["corn"]


@pytest.mark.parametrize(
    ("record", "arguments", "expected"),
    [
        (RECORDS[0], [], "no field 'label', but 'labels': use the model MultiLabelNB"),
        (
            {"text": "wheat", "label": ["wheat", "corn"]},
            [],
            "field 'label' has several labels: use the model MultiLabelNB",
        ),
        (
            {"text": "wheat"},
            ["--model", "MultiLabelNB"],
            "no field 'labels' with an array of labels, as in {\"text\": ",
        ),
        (
            {"text": "wheat", "labels": [["corn"]]},
            ["--model", "MultiLabelNB"],
            "field 'labels' should be a string or a number, not an array",
        ),
        (
            {"text": "wheat", "labels": ["corn", ""]},
            ["--model", "MultiLabelNB"],
            "field 'labels' has an empty label",
        ),
    ],
)
def test_records_of_another_form_name_the_model(
    run: Any, tmp_path: Path, record: Any, arguments: list[str], expected: str
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps(record) + "\n")
    status, _, err = run("evaluate", path, *arguments)
    assert status == 1
    assert expected in err


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--model", "MultiLabelNB", "--model", "MNB"], "run the command for each kind"),
        (["--model", "MultiLabelNB", "--pos-label", "corn"], "--pos-label has no meaning"),
        (["--model", "MultiLabelNB", "--agreement", "0.9"], "need models of one label"),
        (["--model", "MultiLabelNB", "--format", "csv"], "several labels are read from records"),
        (["--model", "MultiLabelNB(threshold=2)"], "threshold must be a probability"),
    ],
)
def test_options_without_meaning_are_refused(
    run: Any, topics: Path, arguments: list[str], expected: str
) -> None:
    status, _, err = run("evaluate", topics, *arguments)
    assert status in (1, 2)
    assert expected in err


def test_a_single_label_is_a_set_of_one(run: Any, tmp_path: Path) -> None:
    path, model = tmp_path / "some.jsonl", tmp_path / "some.model"
    path.write_text('{"text": "win cash", "label": "spam"}\n')
    assert run("learn", path, "--model", "MultiLabelNB", "-o", model)[0] == 0
    assert streamnb.load(model).classes_ == ["spam"]


def test_the_stream_of_reuters_has_the_topics_of_the_modapte_split(run: Any) -> None:
    require_data("text/reuters21578.jsonl.xz")
    messages = list(datasets.stream("reuters-topics").messages())
    parts = [message.id.partition("/")[2] for message in messages]
    assert parts == ["TRAIN/YES"] * 7770 + ["TEST/YES"] * 3019
    assert len({topic for message in messages for topic in message.labels or ()}) == 90
    text, labels = next(iter(datasets.stream("reuters-topics", limit=1)))
    assert labels == {"cocoa"}
    assert text == messages[0].text
    status, _, err = run("evaluate", "reuters-topics", "--model", "MNB")
    assert status in (1, 2)
    assert "the messages have sets of labels: use the model MultiLabelNB" in err
    arguments = ("evaluate", "reuters-topics", "--model", "MultiLabelNB", "--limit", "3000")
    status, out, _ = run(*arguments, "--json")
    assert status == 0
    assert json.loads(out)["models"][0]["scores"]["micro_f1"] > 0.7


def test_a_tally_without_labels_has_no_f1() -> None:
    tally = LabelTally()
    assert tally.scores().subset_accuracy is None
    tally.add([], [])
    scores = tally.scores()
    assert (scores.micro_f1, scores.macro_f1) == (None, None)
    assert (scores.subset_accuracy, scores.hamming_loss) == (1.0, 0.0)
