"""Robustness to noise and dimension, and tables of several classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import sparse

from streamnb.cli import main
from streamnb.reproduce import (
    LOSS_PAPER,
    Plan,
    accuracy,
)
from streamnb.reproduce.papers import robustness
from streamnb.reproduce.papers.attribute_tables import AttributeTable, BinaryTable, OfTable, rows_of
from streamnb.reproduce.runner import cross_validate
from support.data import require_data

if TYPE_CHECKING:
    from pathlib import Path


# Figures


def test_label_noise_degrades_what_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    require_data("tabular/wholesale_customers.csv.xz")
    monkeypatch.setattr(robustness, "NOISE", (0, 40))
    (panel,) = robustness.label_noise(["wholesale"], 2, 1)
    assert (panel.title, panel.places) == ("wholesale", (0, 40))
    assert set(panel.lines) == {"NB", "ENB", "DNB", "LNB", "GDNB"}
    plan = Plan(
        LOSS_PAPER,
        (LOSS_PAPER.collection("wholesale"),),
        (LOSS_PAPER.model("LNB"), LOSS_PAPER.model("NB")),
        folds=2,
    )
    collection = LOSS_PAPER.collection("wholesale").load()
    for model in plan.models:
        scores = cross_validate(collection, model, 2, 1, accuracy)
        assert panel.lines[model.name][0] == pytest.approx(sum(scores) / 2), model.name


def test_dimension_finds_the_attributes_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "DIMENSIONS", (2, 6))
    monkeypatch.setattr(robustness, "TESTED", 100)
    right, shares = robustness.dimension([], 2, 1)
    for values in right.lines.values():
        assert all(value > 90 for value in values)
    assert set(shares.lines) == {"ENB", "DNB", "LNB", "GDNB"}
    for values in shares.lines.values():
        assert all(70 < value <= 100 for value in values)


def test_a_long_figure_shows_its_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(robustness, "DIMENSIONS", (2, 4))
    monkeypatch.setattr(robustness, "TESTED", 20)
    robustness.dimension([], 1, 1)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    robustness.dimension([], 1, 1)
    assert "| 0/2 [" in capsys.readouterr().err


def test_figures_are_printed_and_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    panels = [
        robustness.Panel(title, (0, 5), {"NB": [90.0, 80.5]}) for title in ("one", "two", "3")
    ]
    for name, figure in robustness.FIGURES.items():
        drawn = replace(figure, measure=lambda names, folds, seed: panels)
        monkeypatch.setitem(robustness.FIGURES, name, drawn)
    files = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for file in files:
        assert main(["reproduce", "loss-noise", "--plot", str(file)]) == 0
        assert "NB   90.00   80.50" in capsys.readouterr().out
    assert files[0].read_bytes() == files[1].read_bytes()
    assert b"<svg" in files[0].read_bytes()
    assert main(["reproduce", "loss-noise", "--collections", "nowhere"]) != 0
    assert "it has car, yeast" in capsys.readouterr().err
    assert main(["reproduce", "loss-dimension", "--folds", "1"]) != 0
    assert main(["reproduce", "loss-noise", "--plot", "x.xyz"]) == 2
    assert "the figure is an SVG" in capsys.readouterr().err
    assert main(["reproduce", "loss-noise", "--plot", "absent/x.svg"]) == 2
    assert "not a file in a folder that exists" in capsys.readouterr().err
    assert main(["reproduce", "loss", "--plot", "x.svg"]) != 0
    assert "--plot is for" in capsys.readouterr().err
    assert main(["reproduce", "--list"]) == 0
    assert "loss-dimension: " in capsys.readouterr().out


def test_tables_of_several_classes_leave_out_what_the_paper_does(tmp_path: Path) -> None:
    path = tmp_path / "tiny.csv"
    path.write_text("size,kind,class\n1.5,x,a\n0,y,b\n2,x,rare\n3,z,c\n")
    collection = AttributeTable("tiny", str(path), dropped_classes=("rare",)).load()
    assert collection.labels == ["a", "b", "c"]
    assert rows_of(collection.matrix, collection.vocabulary) == [
        {"size": 1.5, "kind": "x"},
        {"size": 0.0, "kind": "y"},
        {"size": 3.0, "kind": "z"},
    ]
    binary = BinaryTable("tiny", str(path), pos_label="b").load()
    assert binary.labels == ["remainder", "b", "remainder", "remainder"]


def test_numbers_are_binned_beforehand_where_a_model_is_published_so() -> None:
    rng = np.random.default_rng(2)
    classes = np.repeat([0, 1], 60)
    matrix = sparse.csr_array(np.stack([classes * 5 + rng.random(120), rng.random(120)]).T + 1)
    labels = [f"class {y}" for y in classes]
    binned = OfTable("CBFWNB", 2, binned=True, refresh_every=10**9)
    binned.learn_many(matrix, labels, vocabulary=["#told", "#not"])
    binned.refresh()
    assert {name: len(cuts) for name, cuts in binned.cuts.items()} == {"told": 1, "not": 0}
    assert list(binned.predict_many(matrix, vocabulary=["#told", "#not"])) == labels
    assert binned.model.n_words == 3
