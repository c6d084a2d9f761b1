"""The map of the papers: each system and equation has a model that runs everywhere, or a reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
from river import evaluate, metrics

from benchmarks.papers.pages import MapRow, map_rows
from streamnb import families, model_specs
from streamnb.errors import InputError
from streamnb_consumers.daemon.assembly import make_filter
from streamnb_consumers.daemon.settings import Settings
from streamnb_consumers.errors import SettingsError
from support.filters import handle_all
from support.rows import stream as rows
from support.streams import synthetic_stream

ROWS = [row for paper in map_rows().values() for row in paper]
# Reasons that a reader of the paper accepts; others begin with "missing: ".
REASONS = {"notation", "proofs", "illustrations"}
TEXTS = [
    (" ".join(word for word, count in counts.items() for _ in range(int(count))), label)
    for counts, label, _ in synthetic_stream(60)
    if counts
]
TABLE = [(row, label) for row, label, _ in rows(60, "abc")]
each_model = pytest.mark.parametrize(
    "row", {row.code: row for row in ROWS if row.is_model}.values(), ids=lambda row: row.code
)


def stream(row: MapRow) -> list[tuple[Any, str]]:
    return TABLE if row.cells()[2] == "rows" else TEXTS


@each_model
def test_models_run_in_rivers_loop(row: MapRow) -> None:
    accuracy = evaluate.progressive_val_score(stream(row), row.build(), metrics.Accuracy())
    assert accuracy.get() > 0.4


@each_model
def test_models_run_in_filters_or_are_refused_at_the_start(row: MapRow) -> None:
    settings = Settings(model=row.code, labels=(), pos_label="a", negative="b", max_fpr=0.0)
    allowed = row.cells()[3]
    for kind in ("sms", "spam"):
        if allowed == "both" or (allowed == "`streamnb-sms`" and kind == "sms"):
            make_filter(kind, settings)
        else:
            with pytest.raises(SettingsError, match="model: "):
                make_filter(kind, settings)
    if allowed.startswith("no"):
        return
    worker = make_filter("sms", settings)
    messages = [
        ({"text": x} if isinstance(x, str) else dict(x)) | {"id": f"m{n}", "label": y}
        for n, (x, y) in enumerate(stream(row)[:20])
    ]
    messages = [{k: None if v != v else v for k, v in message.items()} for message in messages]
    outputs = handle_all(worker, messages)
    assert not any(output.dead_letters for output in outputs)
    assert outputs[-1].decisions[0].label in ("a", "b", "c")


@each_model
def test_models_forget_as_the_map_says(row: MapRow) -> None:
    cell = row.cells()[4]
    assert cell == "by its members" or "`window_size`" in cell
    for name in ("half_life", "window_size") if cell != "by its members" else ():
        if f"`{name}`" in cell:
            row.build(**{name: 10})
        else:
            with pytest.raises(InputError, match="half_life"):
                row.build(**{name: 10})


def test_rows_without_a_model_have_a_command_or_a_reason() -> None:
    for row in ROWS:
        assert row.paper, row
        assert row.status, row
        if not row.code:
            assert row.status in REASONS or re.match(r"missing: \w", row.status), row


def test_every_model_is_in_the_map() -> None:
    """Models without a paper of the five are named here."""
    text = " ".join(f"{row.paper} {row.code}" for row in ROWS)
    absent = {name for name in families.MODELS if not re.search(rf"\b{name}\b", text)}
    assert absent == {"LossCNB", "LossOVA", "OnlineNB", "TWCNB"}
    wrappers = set(model_specs.WRAPPERS) - {"Challenger", "WithVectors"}
    assert wrappers <= set(re.findall(r"\w+", text))
