"""The papers' experiments: published tables, figures on real data, and the report."""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

from benchmarks.papers import __main__ as command
from benchmarks.papers import pages, robustness, runs
from benchmarks.papers.attribute_tables import AttributeTable, BinaryTable, TableModel, rows_of
from benchmarks.papers.competitors import (
    HONB_COMPETITORS,
    TABLE_COMPETITORS,
    TEXT_COMPETITORS,
)
from benchmarks.papers.compositions import COMPOSITIONS
from benchmarks.papers.experiment import CollectionRecipe, ModelRecipe, accuracy, read_table
from benchmarks.papers.hmnb import HMNB_PAPER
from benchmarks.papers.honb import HONB_PAPER
from benchmarks.papers.loss import LOSS_PAPER
from benchmarks.papers.nbcf import NBCF_PAPER, read_texts
from benchmarks.papers.phnb import PHNB_PAPER
from benchmarks.papers.pure_paths import PurePaths
from benchmarks.papers.report import published_text, report
from benchmarks.papers.runs import Plan, Scores, cross_validate
from benchmarks.stored_runs import StoredRun
from streamnb.errors import DataError, InputError
from support.data import require_data

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLES = ("hmnb-table2", "hmnb-table3", "hmnb-table4")


class Reference:
    """Multinomial naive Bayes with Laplace priors in numpy, with the interface of the models."""

    def __init__(self, model: str, vocabulary_size: int) -> None:
        self.m, self.complement = vocabulary_size, model == "CNB"

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        self.classes = sorted(set(y))
        member = np.array([[label == name for label in y] for name in self.classes], dtype=float)
        documents, counts = member.sum(axis=1), np.asarray(member @ X)
        if self.complement:
            documents, counts = documents.sum() - documents, counts.sum(axis=0) - counts
        self.prior = np.log((documents + 1) / (len(y) + len(self.classes)))
        self.logs = np.log((counts + 1) / (counts.sum(axis=1, keepdims=True) + self.m))

    def refresh(self) -> None:
        pass

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> list[str]:
        scores = np.asarray(X @ self.logs.T) + self.prior
        best = (-scores if self.complement else scores).argmax(axis=1)
        return [self.classes[place] for place in best]


@pytest.mark.parametrize("name", TABLES)
def test_published_tables_agree_with_their_last_rows(name: str) -> None:
    table = read_table(name)
    assert len(table.rows) == 11
    assert len(table.columns) == 7
    for place, model in enumerate(table.columns):
        figures = [row[place] for row in table.rows.values()]
        assert abs(sum(figures) / 11 - table.average[place]) < 0.0051
        if place:
            marks = list(table.marks(model).values())
            counts = "/".join(str(marks.count(mark)) for mark in ">=<")
            assert counts == table.win_tie_loss[place]
    text = published_text(HMNB_PAPER)
    assert all(f"{figure:.2f}" in text for row in table.rows.values() for figure in row)


@pytest.mark.parametrize(("model", "table"), [("MNB", "hmnb-table2"), ("CNB", "hmnb-table3")])
def test_folds_reproduce_a_published_figure_to_its_last_digit(model: str, table: str) -> None:
    require_data("counts/oh0.svm.xz")
    recipe = ModelRecipe(model, model, adapter=Reference)
    collection = HMNB_PAPER.collection("oh0").load()
    runs = [cross_validate(collection, recipe, 10, seed) for seed in range(1, 11)]
    assert round(sum(map(sum, runs)) / 100, 2) == read_table(table).figure("oh0", model)
    assert cross_validate(collection, HMNB_PAPER.model(model), 10, 1) == runs[0]


def test_la1s_has_the_words_of_the_published_runs() -> None:
    require_data("counts/la1s.svm.xz")
    assert HMNB_PAPER.collection("la1s").load().matrix.shape == (3204, 13195)


def test_higher_order_paths_gain_as_published() -> None:
    require_data("counts/cora.svm.xz")
    collection = HONB_PAPER.collection("Cora").load()
    means = {}
    for name in ("NB", "HONB"):
        scores = cross_validate(collection, HONB_PAPER.model(name), 3, 1, HONB_PAPER.protocol)
        means[name] = sum(scores) / len(scores)
        assert abs(means[name] - HONB_PAPER.published()[0].figure("Cora", name)) < 3
    assert means["HONB"] > means["NB"] + 15


@pytest.mark.soak
def test_newsgroups_are_prepared_as_in_the_paper() -> None:
    require_data("text/20news_bydate.jsonl.xz")
    collection = HONB_PAPER.collection("RELIGION").load()
    assert collection.matrix.shape == (1500, 2000)
    assert set(Counter(collection.labels).values()) == {500}
    assert set(collection.matrix.data) == {1.0}
    assert collection.matrix.sum(axis=0).min() >= 3


def test_texts_with_one_label_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [
        *(("Oil up, oil down", "crude"), ("wheat", "grain|wheat"), ("none", ""), ("ship", "ship")),
        *(("oil tanker", "crude"), ("sea sea", "ship"), ("gold", "gold")),
    ]
    records = [
        {"id": str(n), "label": label, "text": text, "time": None}
        for n, (text, label) in enumerate(texts)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "toy.jsonl.xz").write_bytes(lzma.compress(lines.encode()))
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path))
    collection = CollectionRecipe("toy", "toy", reader=read_texts, options=(2,)).load()
    assert collection.labels == ["crude", "ship", "crude", "ship"]
    assert collection.vocabulary == ["oil", "up", "down", "ship", "tanker", "sea"]
    assert collection.matrix.toarray()[0].tolist() == [2, 1, 1, 0, 0, 0]
    assert collection.matrix.toarray()[3].tolist() == [0, 0, 0, 0, 0, 2]


def test_compositions_are_valid_and_have_different_names() -> None:
    models = COMPOSITIONS.models
    # HCNB, 3 events x 6 term weightings x 2 weights x 2 rounds, and 3 x 2 of a loss.
    assert len({model.name for model in models}) == len(models) == 1 + 72 + 6
    assert len({str(sorted(model.parameters.items())) for model in models}) == len(models)
    for model in models:
        assert list(model.build(10).predict_many(["nothing was learned"])) == [None]


def test_attribute_tables_leave_out_classes(tmp_path: Path) -> None:
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


def test_numbers_are_discretised_before_a_model_of_categories() -> None:
    rng = np.random.default_rng(2)
    classes = np.repeat([0, 1], 60)
    matrix = sparse.csr_array(np.stack([classes * 5 + rng.random(120), rng.random(120)]).T + 1)
    labels = [f"class {y}" for y in classes]
    binned = TableModel("CBFWNB", 2, binned=True, refresh_every=10**9)
    binned.learn_many(matrix, labels, vocabulary=["#informative", "#noise"])
    binned.refresh()
    assert {name: len(cuts) for name, cuts in binned.cuts.items()} == {"informative": 1, "noise": 0}
    assert list(binned.predict_many(matrix, vocabulary=["#informative", "#noise"])) == labels


def test_label_noise_of_zero_equals_cross_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    require_data("tabular/wholesale_customers.csv.xz")
    monkeypatch.setattr(robustness, "NOISE", (0, 40))
    (panel,) = robustness.label_noise(["wholesale"], 2, 1)
    collection = LOSS_PAPER.collection("wholesale").load()
    for name in ("LNB", "NB"):
        scores = cross_validate(collection, LOSS_PAPER.model(name), 2, 1)
        assert panel.lines[name][0] == pytest.approx(sum(scores) / 2), name


def test_weighted_models_find_the_attributes_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness, "DIMENSIONS", (2, 6))
    monkeypatch.setattr(robustness, "TESTED", 100)
    right, shares = robustness.dimension([], 2, 1)
    assert all(value > 90 for values in right.lines.values() for value in values)
    assert all(70 < value <= 100 for values in shares.lines.values() for value in values)


def test_report_compares_measured_and_published_figures() -> None:
    experiment = HMNB_PAPER
    plan = Plan(
        experiment,
        tuple(map(experiment.collection, ("re0", "oh0"))),
        tuple(map(experiment.model, ("MNB", "HMNB", "HOVA-log"))),
        folds=2,
    )
    means = {"MNB": (80.0, 82.0), "HMNB": (90.0, 92.1), "HOVA-log": (70.0, 72.0)}
    scores = {
        (collection.name, model.name): Scores(means[model.name], 1.0)
        for collection in plan.collections
        for model in plan.models
    }
    text = report(plan, scores)
    assert "| re0 | 91.05 / 83.29 / +7.76 | 81.00 / 80.02 / +0.98 |" in text
    assert "| mean absolute difference | 4.2" in text
    ranks = "R⁺ 3, R⁻ 0, p 0.5000"
    assert f"| HMNB, MNB | 2/0/0 | 2/0/0 | 2/0/0 | {ranks} | {ranks} |" in text
    assert "| re0 | 71.00 |" in text
    assert "| HMNB | `HMNB(alpha=1.0, prior='laplace')` |" in text
    assert "MNB, HOVA-log" in report(plan, scores, compare="mnb")
    nbcf = Plan(NBCF_PAPER, NBCF_PAPER.collections[:1], NBCF_PAPER.models[:1], folds=2)
    text = report(nbcf, {("reuters-10 balanced", "NBCF"): Scores((80.0, 82.0), 1.0)})
    assert "(the paper: unknown)" in text
    assert "81.00" in text
    assert "nan" not in text


def test_corrected_and_plain_t_tests_differ() -> None:
    plan = Plan(
        HONB_PAPER,
        HONB_PAPER.collections[-1:],
        tuple(map(HONB_PAPER.model, ("HONB", "NB"))),
        folds=3,
    )
    scores = {
        ("WebKB", "HONB"): Scores((66.0, 67.0, 68.0), 1),
        ("WebKB", "NB"): Scores((60, 63, 63), 1),
    }
    assert "| HONB, NB | 0/1/0 | 1/0/0 | 1/0/0 |" in report(plan, scores)


def test_wilcoxon_tables_follow_from_the_published_figures() -> None:
    """The paper's marks are those of its accuracies: this checks both transcriptions."""
    parts = "\n".join(pages.wilcoxon_matrices())
    cells = [cell.split(" / ") for cell in parts.replace("\n", " | ").split(" | ") if " / " in cell]
    assert len(cells) == 3 * 42 + 6
    assert [cell for cell in cells if cell[1] != cell[2]] == []


def test_p_values_of_the_loss_paper_follow_from_its_accuracies() -> None:
    text = pages.loss_improvements()[-1]
    cells = [
        cell.strip(" |").split(" / ")[-2:]
        for row in text.splitlines()[2:]
        for cell in row.split(" | ")
        if " / " in cell
    ]
    assert sum(ours == printed for ours, printed in cells) == 35
    assert len(cells) == 40


def test_pages_have_recorded_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MEASURED", tmp_path)
    settings = {"collection": "sick", "model": ["HNB", "", {}], "folds": 10, "seed": 1}
    run = StoredRun(settings, (97.0, 98.0), 60.0, {"test_seconds": 2.5})
    runs.record("phnb", [run])
    runs.record("phnb", [run, StoredRun({**settings, "seed": 2}, (98.0, 99.0), 60.0)])
    text = pages.PAGES["phnb"].text()
    assert "| sick | – / 97.73 / – | 98.00 / 97.79 / +0.21 | – / 97.79 / – |" in text
    assert "| sick | – / 0.09 / – | 2.50 / 0.17 / +2.33 | – / 0.16 / – |" in text
    assert "in 2.0 minutes" in text


def test_pages_are_those_of_the_recorded_runs() -> None:
    for name in ("hmnb", "honb", "nbcf", "phnb"):
        page = (pages.DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert page == pages.PAGES[name].text(), f"{name}.md: run make papers"
    assert (pages.DOCS / "index.md").read_text(encoding="utf-8") == pages.paper_map()


@pytest.mark.parametrize(("name", "attributes"), [("sick", 28), ("arrhythmia", 263)])
def test_nominal_tables_have_the_papers_attributes(name: str, attributes: int) -> None:
    """Table I of the PHNB paper counts the class."""
    require_data(f"tabular/{name}.csv.xz")
    words = PHNB_PAPER.collection(name).load().vocabulary
    assert len({word.partition("=")[0] for word in words}) + 1 == attributes


def test_map_names_existing_classes() -> None:
    text = pages.paper_map()
    for paper in ("HMNB", "HONB", "NBCF", "PHNB", "Loss"):
        assert f"## {paper} paper" in text
    for missing in ("SP-TAN", "LBR", "WAODE", "ODANB"):
        assert missing in text


def test_word_counts_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "tiny.wc.arff"
    path.write_text(
        "@relation tiny\n@attribute 'a word' numeric\n@attribute CLASS_ATT {x,y}\n"
        "@attribute b numeric\n@data\n{0 2,2 1}\n{1 y,2 3}\n"
    )
    collection = command._collection(HMNB_PAPER, f"la2s={path}").load()
    assert collection.labels == ["x", "y"]
    assert collection.vocabulary == ["a word", "b"]
    assert collection.matrix.toarray().tolist() == [[2, 1], [0, 3]]
    lines = tmp_path / "tiny.svm"
    lines.write_text("x 1:2 2:1\ny 2:3\n")
    again = command._collection(HMNB_PAPER, f"la2s={lines}").load()
    assert again.matrix.toarray().tolist() == [[2, 1], [0, 3]]
    path.write_text("@attribute b numeric\n@data\n{0 1}\n")
    with pytest.raises(DataError, match="0 nominal attributes"):
        command._collection(HMNB_PAPER, f"la2s={path}").load()


def test_pure_paths_of_the_class_are_those_of_honb() -> None:
    rng = np.random.default_rng(4)
    matrix = sparse.csr_array((rng.random((40, 12)) < 0.15).astype(float))
    labels = [str(label) for label in rng.integers(0, 3, 40)]
    names = [f"w{place}" for place in range(12)]
    literal = PurePaths("class", 12)
    literal.learn_many(matrix, labels, vocabulary=names)
    model = HONB_PAPER.model("HONB pure").build(12)
    model.learn_many(matrix, labels, vocabulary=names)
    model.refresh()
    whole = PurePaths("collection", 12)
    whole.learn_many(matrix, labels, vocabulary=names)
    for row in range(40):
        one = matrix[[row]]
        assert literal.predict_many(one, vocabulary=names) == list(
            model.predict_many(one, vocabulary=names)
        )
    scores = model.joint_log_likelihood_one({"w1": 1, "w4": 1})
    presence = np.zeros(12)
    presence[[1, 4]] = 1
    expected = presence @ (literal.present - literal.absent).T + literal.absent.sum(axis=1)
    found = [scores[name] for name in literal.classes]
    assert found == pytest.approx(expected + literal.priors, abs=1e-9)
    assert not np.allclose(whole.present, literal.present)


def test_competitors_classify_texts_and_tables() -> None:
    rng = np.random.default_rng(1)
    labels = ["a", "b"] * 30
    counts = rng.poisson(1.0, (60, 6)).astype(float)
    counts[::2, 0] += 4
    counts[1::2, 1] += 4
    matrix = sparse.csr_array(counts)
    names = [str(place) for place in range(6)]
    for recipe in (*TEXT_COMPETITORS, *TABLE_COMPETITORS, *HONB_COMPETITORS):
        if recipe.model == "text SVD + kNN":
            continue  # it needs more than 100 words
        model = recipe.build(6)
        model.learn_many(matrix, labels, vocabulary=names)
        predicted = model.predict_many(matrix, vocabulary=names)
        assert accuracy(labels, predicted) > 90, recipe.name


def test_command_measures_and_lists(tmp_path: Path) -> None:
    require_data("counts/oh0.svm.xz")
    options = ["hmnb", "--collections", "oh0", "--models", "MNB,OVA", "--folds", "2"]

    def parsed(*more: str) -> argparse.Namespace:
        return command.parser().parse_args(
            [*options, "--results", str(tmp_path / "runs.jsonl"), *more]
        )

    text = command.measure(parsed())
    assert "OVA" in text
    assert command.measure(parsed()) == text  # from the file: even the seconds are the same
    assert len((tmp_path / "runs.jsonl").read_text().splitlines()) == 2
    with pytest.raises(InputError, match="no model 'XNB'"):
        command.measure(parsed("--models", "XNB"))
    with pytest.raises(InputError, match="not among"):
        command.measure(parsed("--compare", "CNB"))
    assert "hmnb:" in command.listing()


def test_missing_data_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path / "none"))
    with pytest.raises(DataError, match="STREAMNB_DATA"):
        HMNB_PAPER.collection("oh0").load()
