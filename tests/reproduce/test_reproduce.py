"""`streamnb reproduce`: published tables, reports and the command."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

from streamnb.cli import reproduce as command
from streamnb.errors import DataError, InputError
from streamnb.reproduce import (
    FORMATS,
    HMNB_PAPER,
    HONB_PAPER,
    Experiment,
    Plan,
    Scores,
    default_runs_path,
    experiments,
    find_experiment,
    make_report,
    published_text,
    read_table,
    register,
)
from streamnb.reproduce import runner as runner_module
from support.data import require_data
from support.experiments import TABLES, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# Published tables


@pytest.mark.parametrize("name", TABLES)
def test_published_tables_agree_with_their_own_feet(name: str) -> None:
    table = read_table(name)
    assert list(table.rows) == [
        *("fbis", "la1s", "la2s", "oh0", "oh10", "oh15", "oh5", "ohscal", "re0", "re1", "wap")
    ]
    assert len(table.columns) == 7
    for place, model in enumerate(table.columns):
        figures = [row[place] for row in table.rows.values()]
        assert abs(sum(figures) / 11 - table.average[place]) < 0.0051
        if place:
            marks = list(table.marks(model).values())
            counts = "/".join(str(marks.count(mark)) for mark in ">=<")
            assert counts == table.win_tie_loss[place]


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(DataError, match="no published table"):
        read_table("hmnb-table99")


def test_published_text_has_every_figure() -> None:
    text = published_text(HMNB_PAPER)
    for name in TABLES:
        for row in read_table(name).rows.values():
            assert all(f"{figure:.2f}" in text for figure in row)


def test_registry() -> None:
    assert find_experiment("hmnb") == HMNB_PAPER
    assert HMNB_PAPER in experiments()
    with pytest.raises(InputError, match="no experiment"):
        find_experiment("nothing")
    with pytest.raises(InputError, match="no model 'XNB'"):
        HMNB_PAPER.model("XNB")
    assert HMNB_PAPER.model("hmnb").name == "HMNB"


# Reports


def made_up_scores(experiment: Experiment) -> dict[tuple[str, str], Scores]:
    random = np.random.default_rng(1)
    means = {"MNB": 80.0, "CNB": 82.0, "HMNB": 90.0, "Own": 90.0}
    return {
        (collection.name, model.name): Scores(
            tuple((means[model.name] + random.normal(0, 1, 10)).tolist()), 1.5
        )
        for collection in experiment.collections
        for model in experiment.models
    }


def test_report(experiment: Experiment) -> None:
    scores = made_up_scores(experiment)
    report = make_report(plan_of(experiment), scores)
    names = [table.table.name for table in report.tables]
    assert names == ["hmnb-table2", "hmnb-table3", "unpublished"]
    table = report.tables[0]
    assert table.measured == ("HMNB", "MNB")
    assert "SEMNB" in table.published_only
    cell = table.cells["re0"]["MNB"]
    assert cell.published == 80.02
    assert cell.measured == scores["re0", "MNB"].mean
    differences = [
        abs(scores[name, "MNB"].mean - figure) for name, figure in (("re0", 80.02), ("oh0", 89.55))
    ]
    assert table.mean_absolute_difference["MNB"] == pytest.approx(sum(differences) / 2)
    assert table.average["MNB"].published == pytest.approx((80.02 + 89.55) / 2)
    [pair] = report.comparisons
    assert (pair.first, pair.second) == ("HMNB", "MNB")
    assert pair.marks == {"re0": ">", "oh0": ">"}
    assert pair.published_marks == {"re0": ">", "oh0": ">"}
    assert report.tables[2].cells["re0"]["Own"].published is None
    assert report.tables[2].mean_absolute_difference == {}


def test_report_of_one_against_all(experiment: Experiment) -> None:
    scores = made_up_scores(experiment)
    report = make_report(plan_of(experiment), scores, compare="own")
    assert [pair.second for pair in report.comparisons] == ["MNB", "CNB", "HMNB"]
    assert report.comparisons[0].published_ranks is None
    with pytest.raises(InputError, match="level"):
        make_report(plan_of(experiment), scores, level=5)
    one = Plan(experiment, experiment.collections, experiment.models[:1])
    with pytest.raises(InputError, match="not among"):
        make_report(one, scores, compare="CNB")


def test_formats(experiment: Experiment) -> None:
    report = make_report(plan_of(experiment), made_up_scores(experiment))
    mean = report.tables[0].cells["re0"]["MNB"].measured
    assert mean is not None
    text = FORMATS["text"](report)
    assert f"{mean:.2f}" in text
    assert "HMNB against MNB" in text
    assert "corrected resampled" in text
    assert "(publ.)" in text
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"](report))))
    [row] = [each for each in rows if each["row"] == "re0" and each["model"] == "MNB"]
    assert float(row["measured"]) == pytest.approx(mean, abs=1e-4)
    assert row["published"] == "80.0200"
    [foot] = [each for each in rows if each["row"] == "win/tie/loss against MNB"]
    assert (foot["model"], foot["measured"], foot["published"]) == ("HMNB", "2/0/0", "2/0/0")
    content = json.loads(FORMATS["json"](report))
    assert content["tables"][0]["rows"]["re0"]["MNB"]["measured"] == mean
    assert content["tables"][0]["rows"]["re0"]["SEMNB"]["measured"] is None
    assert content["comparisons"][0]["win_tie_loss"] == "2/0/0"


# The command


@pytest.fixture
def registered(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Experiment]:
    from streamnb.reproduce import experiment as module

    monkeypatch.setattr(module, "_REGISTRY", dict(module._REGISTRY))
    return register(experiment)


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    return parser.parse_args(["reproduce", *given])


def test_command(
    registered: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["toy", "--runs", "2", "--folds", "5", "--results", str(tmp_path / "r.jsonl")]
    assert command.run(arguments(*options, "--models", "hmnb, MNB,", "--collections", "re0")) == 0
    output = capsys.readouterr()
    assert "HMNB against MNB" in output.out
    assert "oh0" not in output.out
    assert output.err == ""  # no progress bar: this is not a terminal
    assert command.run(arguments(*options, "--format", "json", "--t-test", "plain")) == 0
    assert json.loads(capsys.readouterr().out)["t_test"] == "plain"
    with pytest.raises(InputError, match="no collection 'xx'"):
        command.run(arguments(*options, "--collections", "xx"))
    with pytest.raises(InputError, match="not among"):
        command.run(arguments(*options, "--models", "MNB", "--compare", "CNB"))


def test_command_lists(registered: Experiment, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run(arguments("--list")) == 0
    text = capsys.readouterr().out
    assert "hmnb:" in text
    assert "toy:" in text
    assert command.run(arguments("hmnb", "--published")) == 0
    assert "Table 4" in capsys.readouterr().out
    with pytest.raises(InputError, match="--list"):
        command.run(arguments())


def test_absent_data_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path / "none"))
    with pytest.raises(DataError, match="STREAMNB_DATA"):
        command.run(arguments("hmnb", "--results", str(tmp_path / "r.jsonl")))


def test_results_are_kept_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_runs_path("toy") == tmp_path / "streamnb" / "reproduce" / "toy.jsonl"


def test_higher_order_paths_gain_as_published() -> None:
    require_data("counts/cora.svm.xz")
    collection = HONB_PAPER.collection("Cora").load()
    means = {}
    for name in ("NB", "HONB"):
        model = HONB_PAPER.model(name)
        scores = runner_module.cross_validate(
            collection, model, 3, 1, HONB_PAPER.metric, HONB_PAPER.protocol
        )
        means[name] = sum(scores) / len(scores)
        published = HONB_PAPER.published()[0].figure("Cora", name)
        assert abs(means[name] - published) < 3
    assert means["HONB"] > means["NB"] + 15


def test_newsgroups_as_the_paper_prepares_them() -> None:
    require_data("text/20news_bydate.jsonl.xz")
    collection = HONB_PAPER.collection("RELIGION").load()
    assert collection.matrix.shape == (1500, 2000)
    assert set(Counter(collection.labels).values()) == {500}
    assert set(collection.matrix.data) == {1.0}
    assert collection.matrix.sum(axis=0).min() >= 3


def test_compositions_are_models_of_different_names() -> None:
    models = find_experiment("compositions").models
    assert len({model.name for model in models}) == len(models) == 79
    assert len({str(sorted(model.parameters.items())) for model in models}) == len(models)
    for model in models:
        assert list(model.build(10).predict_many(["nothing was learned"])) == [None]
