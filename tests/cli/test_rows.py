"""Commands read rows of attributes for models of tables."""

from __future__ import annotations

import json
import random

import pytest

import streamnb
from streamnb import datasets, model_specs
from streamnb.columns.reading import attributes_of
from streamnb.errors import DataError, InputError

TABLE_MODELS = model_specs.TABLE_MODELS


def rows(n=80, seed=3):
    """Return rows with their labels: a number, a category, a code, and missing values."""
    draw = random.Random(seed)
    for number in range(n):
        label = draw.choice(["apple", "melon"])
        size = draw.gauss(1.5 if label == "apple" else 8.0, 1.0)
        row = {
            "size": round(size, 3) if draw.random() < 0.9 else None,
            "colour": draw.choice(["red", "red", "green"] if label == "apple" else ["green"]),
            "market": draw.choice([8001, 8002]),
        }
        yield f"r{number}", label, row


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "fruit.csv"
    lines = [
        f"{name},{row['size'] or ''},{row['colour']},{row['market']},{label}"
        for name, label, row in rows()
    ]
    path.write_text("\n".join(["id,size,colour,market,label", *lines]) + "\n")
    return path


@pytest.fixture
def objects(tmp_path):
    path = tmp_path / "fruit.jsonl"
    lines = [json.dumps({"id": name, "label": label} | row) for name, label, row in rows()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("name", TABLE_MODELS)
def test_every_model_of_tables_is_evaluated(name, run, table):
    status, out, err = run("evaluate", table, "-m", name, "--json", "--pos-label", "melon")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["stream"]["labels"].keys() == {"apple", "melon"}
    # The size separates the classes; a model without it is right for three of four.
    assert found["models"][0]["cumulative"]["accuracy"] > 0.85


def test_files_give_the_rows_that_a_program_learns(run, table, objects, tmp_path):
    """CSV, JSON and Python agree: a number is a number, unless it is named as a category."""
    expected = streamnb.LNB()
    for _, label, row in rows():
        market, size = str(row["market"]), row["size"]
        expected.learn_one(row | {"market": market, "size": size and float(size)}, label)
    for source in (table, objects):
        path = tmp_path / "a.model"
        status, out, _ = run(
            "learn", source, "-m", "LNB", "--categories", "market", "--output", path
        )
        assert status == 0
        assert "classes apple, melon" in out
        assert streamnb.load(path).to_bytes() == expected.to_bytes()
        status, out, _ = run("classify", path, source, "--categories", "market", "--explain", "3")
        assert status == 0
        decisions = [json.loads(line) for line in out.splitlines()]
        assert [each["id"] for each in decisions] == [name for name, _, _ in rows()]
        for decision, (_, _, row) in zip(decisions, rows(), strict=True):
            x = row | {"market": str(row["market"])}
            assert decision["probabilities"] == pytest.approx(expected.predict_proba_one(x))
        named = {each["word"] for decision in decisions for each in decision["words"]}
        assert named == {"size", "colour=red", "colour=green", "market=8001", "market=8002"}


def test_learning_goes_on_from_a_file(run, table, tmp_path):
    path = tmp_path / "a.model"
    assert run("learn", table, "-m", "SBC(window_size=50)", "--output", path)[0] == 0
    assert run("learn", table, "--from", path, "--output", path)[0] == 0
    model = streamnb.load(path)
    assert (model.n_documents, model.window_size) == (50.0, 50)


def test_rows_without_a_label_are_classified(run, table, tmp_path):
    path = tmp_path / "a.model"
    assert run("learn", table, "-m", "ENB", "--output", path)[0] == 0
    new = tmp_path / "new.csv"
    new.write_text("size;colour\n1,5;red\n9;green\n0.9;red\n")
    status, out, _ = run("classify", path, new)
    assert status == 0
    # `1,5` is no number: a size without a value that the model knows.
    assert [json.loads(line)["label"] for line in out.splitlines()][1:] == ["melon", "apple"]


@pytest.mark.parametrize(
    ("arguments", "problem", "advice"),
    [
        (("-m", "ENB", "-m", "MNB"), "reads rows of attributes and MNB reads texts", "KLNB"),
        (("-m", "MNB"), "no column 'text'", "such as ENB"),
        (("-m", "ENB", "--mails"), "contains mails", "HMNB"),
        (("-m", "ENB", "--format", "sms"), "contains sms", "HMNB"),
        (("-m", "ENB", "--fields", "size"), "--fields", "models of texts"),
        (("-m", "river:MultinomialNB", "-m", "PHNB(columns=True)"), "reads rows", "KLNB"),
    ],
)
def test_models_that_do_not_fit_are_refused_at_the_start(arguments, problem, advice, run, table):
    status, out, err = run("evaluate", table, *arguments)
    assert status == (1 if "no column" in problem else 2)
    assert not out
    assert problem in err
    assert advice in err


@pytest.mark.parametrize("source", ["synthetic-sms", "mbox"])
def test_texts_are_refused_for_models_of_tables(source, run, tmp_path):
    path = tmp_path / "inbox.mbox"
    path.write_text("From a@b.example Thu Jan  1 00:00:00 2026\nSubject: hi\n\ntext\n")
    named = path if source == "mbox" else source
    for command in (
        ("evaluate", named, "-m", "ENB"),
        ("learn", named, "-m", "ENB", "-o", tmp_path / "m"),
    ):
        status, _, err = run(*command)
        assert status == 2
        assert "ENB reads rows of attributes" in err
        assert "models that read texts: BNB" in err
    assert not (tmp_path / "m").exists()


def test_words_and_pages_need_texts(run, table):
    for command in (
        ("read", table, "--words", "-m", "ENB"),
        ("serve", "--stream", "synthetic-sms", "-m", "ENB"),
    ):
        status, _, err = run(*command)
        assert status == 2
        assert "ENB" in err


def test_invalid_values_are_bad_lines(tmp_path):
    path = tmp_path / "odd.jsonl"
    lines = [
        {"label": "a", "size": [1]},
        {"label": "a", "size": {"cm": 1}},
        {"label": "a", "size": 10**400},
        {"size": 1},
        {"label": "a", "size": 1, "fresh": True, "note": ""},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    bad = []
    found = list(datasets.read_messages(path, rows=True, report=bad.append))
    assert [each.number for each in bad] == [1, 2, 3, 4]
    assert [each.x for each in found] == [{"size": 1.0, "fresh": True, "note": None}]
    with pytest.raises(DataError, match="line 1: the value of attribute 'size'"):
        list(datasets.read_messages(path, rows=True, on_bad="fail"))
    with pytest.raises(InputError, match="not from sms"):
        datasets.read_messages(path, format="sms", rows=True)


@pytest.mark.parametrize(
    ("value", "typed", "expected"),
    [
        ("1e3", False, 1000.0),
        ("1e3", True, "1e3"),
        (" -0.0 ", False, 0.0),
        ("nan", False, None),
        ("1_000", False, "1_000"),
        ("x", False, "x"),
        ("  ", True, None),
        (7, True, 7.0),
        (True, True, True),
        (float("nan"), True, None),
    ],
)
def test_values(value, typed, expected):
    found = attributes_of({"a": value}, typed=typed)["a"]
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", ["inf", "1e200", float("-inf"), -(10**400)])
def test_numbers_out_of_range_are_refused(value):
    with pytest.raises(InputError, match="'a'"):
        attributes_of({"a": value}, typed=False)
