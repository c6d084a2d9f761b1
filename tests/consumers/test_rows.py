"""Filters of rows: models of tables, whose records are JSON objects of attributes."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from msgspec import structs

from streamnb import model_specs
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import BadRecordError, SettingsError
from streamnb_consumers.pipeline.reading import RowReader
from streamnb_consumers.records import Feedback, Record
from support.filters import PLACE, folded, handle_all, records, restored

SETTINGS = Settings(
    model="ENB", labels=("apple", "melon"), pos_label="melon", negative="apple", max_fpr=0.0
)


def fruit(n: int = 60, seed: int = 3) -> list[dict[str, Any]]:
    """Return rows with labels, some of which arrive later, or change."""
    draw, found = random.Random(seed), []
    for number in range(n):
        label = draw.choice(["apple", "melon"])
        row = {
            "id": f"r{number}",
            "size": round(draw.gauss(1.5 if label == "apple" else 8.0, 1.0), 2),
            "weight": draw.randrange(1, 9),
            "colour": draw.choice(["red", "green"]),
            "fresh": draw.random() < 0.5,
            "market": 8001,
        }
        if number % 3:
            found.append(row | {"label": label})
        else:
            found += [row, {"id": row["id"], "label": label}]
    found += [{"id": "r0", "label": "apple"}, {"id": "r0", "label": "melon"}]
    return [*found, {"id": "r3", "unlearn": True}]


def read(fields: dict[str, Any], **parameters: Any) -> Any:
    value = json.dumps(fields).encode()
    return RowReader(**parameters).read(Record(PLACE, 0, value))


@pytest.mark.parametrize("model", [*model_specs.TABLE_MODELS, "SBC(window_size=70)"])
def test_each_model_of_tables_filters(model: str) -> None:
    settings = structs.replace(SETTINGS, model=model, explain_top_k=2)
    worker = make_filter("sms", settings)
    sizes = {"big": 9.0, "small": 1.0}
    last = [{"id": name, "size": size, "colour": "green"} for name, size in sizes.items()]
    outputs = handle_all(worker, [*fruit(), *last])
    decisions = [each for output in outputs for each in output.decisions]
    assert not any(output.dead_letters for output in outputs)
    assert len(decisions) == 62
    assert [each.label for each in decisions[-2:]] == ["melon", "apple"]
    assert decisions[-1].words
    again = restored(worker, lambda: make_filter("sms", settings))
    for row in last:
        x = {"size": row["size"], "colour": "green"}
        assert again.learner.model.predict_one(x) == worker.learner.model.predict_one(x)


@pytest.mark.parametrize("model", ["ENB(refresh_every=7)", "PHNB(columns=True, window_size=15)"])
def test_workers_share_rows_by_the_training_log(model: str) -> None:
    """The values of attributes keep their types in the log."""
    settings = structs.replace(SETTINGS, model=model, categories=("market",))
    shared = structs.replace(settings, bootstrap_servers="localhost:9092")
    alone = make_filter("sms", settings)
    worker = folded(alone, records(fruit()), lambda **_: make_filter("sms", shared))
    assert worker.learner.model.to_bytes() == alone.learner.model.to_bytes()
    assert any(
        "market=8001" in word for word in worker.learner.model.tokens_one({"market": "8001"})
    )


def test_records() -> None:
    message = read({"id": 7, "size": 3, "fresh": True, "note": "", "label": 1}, labels=["1"])
    assert message == ("7", {"size": 3.0, "fresh": True, "note": None}, "1", ())
    assert read({"text": "win cash"}).features == {"text": "win cash"}
    assert read({"code": 7}, categories=["code"]).features == {"code": "7"}
    assert read({"id": "7", "label": "a"}) == Feedback("7", "a")
    assert read({"id": "7", "unlearn": True}) == Feedback("7", None)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"size": [1]}, "attribute 'size'"),
        ({"size": {"cm": 1}}, "attribute 'size'"),
        ({"size": 10**400}, "attribute 'size'"),
        ({"id": "7"}, "feedback needs id"),
        ({"size": 1, "label": "pear"}, "is not one of"),
    ],
)
def test_invalid_rows_are_dead_letters(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadRecordError, match=problem):
        read(fields, labels=["apple"])


@pytest.mark.parametrize(
    ("kind", "changes", "problem"),
    [
        ("spam", {}, "use streamnb-sms, or a model of texts: BNB"),
        ("sms", {"fields": ("size",)}, "reads all attributes of a row"),
        ("sms", {"model": "MNB", "categories": ("a",)}, "or choose a model of tables: CBFWNB"),
        ("sms", {"model": "WeightedBoosting(model=ENB())"}, "no model file"),
    ],
)
def test_models_that_do_not_fit_are_refused(
    kind: str, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem):
        make_filter(kind, structs.replace(SETTINGS, **changes))


def test_workers_with_other_categories_are_other_workers() -> None:
    names = {
        make_filter("sms", structs.replace(SETTINGS, categories=categories)).reader.name
        for categories in ((), ("a",), ("a", "b"))
    }
    assert len(names) == 3
