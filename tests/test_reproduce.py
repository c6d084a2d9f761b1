"""`streamnb reproduce`: folds, tests of significance, published tables, resuming, formats."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from data_support import require_data
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

from streamnb.cli import main
from streamnb.cli import reproduce as command
from streamnb.errors import DataError, InputError
from streamnb.reproduce import (
    FORMATS,
    HMNB_PAPER,
    HONB_PAPER,
    LOSS_PAPER,
    CollectionRecipe,
    Experiment,
    ModelRecipe,
    Plan,
    RandomSamples,
    RunsFile,
    Scores,
    accuracy,
    default_runs_path,
    experiments,
    find_experiment,
    make_report,
    paired_t_test,
    published_text,
    read_table,
    register,
    run_plan,
    weka_folds,
    wilcoxon,
)
from streamnb.reproduce import runner as runner_module
from streamnb.reproduce.folds import JavaRandom
from streamnb.reproduce.papers import robustness
from streamnb.reproduce.papers.attribute_tables import AttributeTable, BinaryTable, OfTable, rows_of
from streamnb.reproduce.runner import cross_validate
from streamnb.reproduce.runs import settings_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TABLES = ("hmnb-table2", "hmnb-table3", "hmnb-table4")


class Stub:
    """Multinomial naive Bayes with Laplace priors, as the models take and give it."""

    built = 0

    def __init__(self, vocabulary_size: int, complement: bool = False) -> None:
        type(self).built += 1
        self.m, self.complement = vocabulary_size, complement
        self.refreshed = False

    def learn_many(self, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        assert X.shape == (len(y), len(vocabulary))
        self.classes = sorted(set(y))
        member = np.array([[label == name for label in y] for name in self.classes], dtype=float)
        documents, counts = member.sum(axis=1), np.asarray(member @ X)
        if self.complement:
            documents, counts = documents.sum() - documents, counts.sum(axis=0) - counts
        self.prior = np.log((documents + 1) / (len(y) + len(self.classes)))
        self.logs = np.log((counts + 1) / (counts.sum(axis=1, keepdims=True) + self.m))

    def refresh(self) -> None:
        self.refreshed = True

    def predict_many(self, X: Any, *, vocabulary: Sequence[str]) -> list[str]:
        assert self.refreshed
        assert X.shape[1] == len(vocabulary)
        scores = np.asarray(X @ self.logs.T) + self.prior
        best = (-scores if self.complement else scores).argmax(axis=1)
        return [self.classes[place] for place in best]


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    random = np.random.default_rng(3)
    recipes = []
    for name in ("re0", "oh0"):
        lines = []
        for place in range(60):
            label = place % 3
            weights = np.where(np.arange(30) % 3 == label, 3.0, 1.0)
            counts = random.poisson(weights / 2)
            cells = " ".join(f"{at + 1}:{n}" for at, n in enumerate(counts) if n)
            lines.append(f"class{label} {cells}".rstrip())
        path = tmp_path / f"{name}.svm"
        path.write_text("\n".join(lines) + "\n")
        recipes.append(CollectionRecipe(name, str(path)))
    models = (
        ModelRecipe("MNB", f"{__name__}:Stub"),
        ModelRecipe("CNB", f"{__name__}:Stub", {"complement": True}),
        ModelRecipe("HMNB", f"{__name__}:Stub", {"complement": True}),
        ModelRecipe("Own", f"{__name__}:Stub"),
    )
    return Experiment("toy", "A paper", "toys", TABLES, tuple(recipes), models)


def plan_of(experiment: Experiment, **settings: Any) -> Plan:
    settings = {"runs": 2, "folds": 5, **settings}
    return Plan(experiment, experiment.collections, experiment.models, **settings)


# Folds


def test_java_random_is_javas() -> None:
    # new java.util.Random(42).nextInt(10), and of powers of two and large bounds.
    random = JavaRandom(42)
    assert [random.next_int(10) for _ in range(10)] == [0, 3, 8, 4, 0, 5, 5, 8, 9, 3]
    random = JavaRandom(0)
    assert [random.next_int(2**31 - 1) for _ in range(2)] == [1569741360, 1785505948]


def test_java_random_stays_in_bounds_and_is_even() -> None:
    random = JavaRandom(7)
    drawn = Counter(random.next_int(6) for _ in range(6000))
    assert set(drawn) == set(range(6))
    assert max(drawn.values()) - min(drawn.values()) < 200
    # Nearly half of the numbers are rejected at this bound.
    assert all(0 <= random.next_int(2**30 + 1) <= 2**30 for _ in range(100))


@given(
    labels=st.lists(st.integers(0, 4), min_size=12, max_size=80),
    n_folds=st.integers(2, 10),
    seed=st.integers(-5, 2**50),
)
def test_folds_are_stratified_partitions(labels: list[int], n_folds: int, seed: int) -> None:
    folds = weka_folds(labels, n_folds, seed)
    everything = sorted(place for _, tested in folds for place in tested.tolist())
    assert everything == list(range(len(labels)))
    sizes = {len(tested) for _, tested in folds}
    assert max(sizes) - min(sizes) <= 1
    for learned, tested in folds:
        assert sorted([*learned.tolist(), *tested.tolist()]) == everything
    for label in set(labels):
        per_fold = [sum(labels[place] == label for place in tested) for _, tested in folds]
        # Folds are contiguous shares of what is dealt out, so a class may be cut at either end.
        assert max(per_fold) - min(per_fold) <= 2


def test_folds_depend_on_the_seed_only() -> None:
    labels = ["a", "b", "c"] * 20

    def tested(seed: int) -> list[list[int]]:
        return [part.tolist() for _, part in weka_folds(labels, 10, seed)]

    assert tested(1) == tested(1)
    assert tested(1) != tested(2)


@pytest.mark.parametrize("n_folds", [0, 1, 4])
def test_impossible_folds(n_folds: int) -> None:
    with pytest.raises(InputError, match="need 2 to 3"):
        weka_folds(["a", "b", "c"], n_folds)


@pytest.mark.parametrize(("complement", "column"), [(False, "MNB"), (True, "CNB")])
def test_the_folds_are_those_of_the_published_tables(complement: bool, column: str) -> None:
    """Ten runs give the published figure to its last digit, so every fold is WEKA's."""
    require_data("counts/oh0.svm.xz")
    recipe = ModelRecipe(column, f"{__name__}:Stub", {"complement": complement})
    collection = HMNB_PAPER.collection("oh0").load()
    scores = [
        score
        for seed in range(1, 11)
        for score in runner_module.cross_validate(collection, recipe, 10, seed, HMNB_PAPER.metric)
    ]
    table = read_table("hmnb-table3" if complement else "hmnb-table2")
    assert round(sum(scores) / 100, 2) == table.figure("oh0", column)


def test_la1s_has_the_words_of_the_published_runs() -> None:
    require_data("counts/la1s.svm.xz")
    collection = HMNB_PAPER.collection("la1s").load()
    assert collection.matrix.shape == (3204, 13195)
    assert len(collection.vocabulary) == 13195


# Tests of significance


@given(
    first=st.lists(st.integers(0, 100), min_size=3, max_size=30),
    shift=st.lists(st.integers(-9, 9), min_size=3, max_size=30),
)
def test_plain_t_test_is_scipys(first: list[int], shift: list[int]) -> None:
    n = min(len(first), len(shift))
    one = np.array(first[:n], dtype=float)
    other = one + np.array(shift[:n])
    ours = paired_t_test(one.tolist(), other.tolist())
    if len(set(shift[:n])) == 1:
        assert ours.p == (1.0 if shift[0] == 0 else 0.0)
        return
    theirs = stats.ttest_rel(one, other)
    assert ours.t == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue)


def test_corrected_t_test_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, sample variance 1; error sqrt(1/3 + 1/2), 2 degrees of freedom.
    test = paired_t_test([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], test_train_ratio=0.5)
    assert test.t == pytest.approx(2 / np.sqrt(5 / 6))
    # For 2 degrees of freedom P(|T| > t) = 1 - t / sqrt(2 + t^2).
    assert test.p == pytest.approx(1 - test.t / np.sqrt(2 + test.t**2))
    assert test.mark(0.2) == ">"
    assert test.mark(0.05) == "="
    assert paired_t_test([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], 0.5).mark(0.2) == "<"


def test_t_test_of_equal_differences() -> None:
    assert paired_t_test([1.0, 2.0], [1.0, 2.0]).mark() == "="
    assert paired_t_test([2.0, 3.0], [1.0, 2.0]).mark() == ">"
    assert paired_t_test([1.0, 2.0], [2.0, 3.0]).mark() == "<"
    with pytest.raises(InputError):
        paired_t_test([1.0], [2.0])
    with pytest.raises(InputError):
        paired_t_test([1.0, 2.0], [2.0])


def column(table: str, name: str) -> list[float]:
    published = read_table(table)
    return [row[published.columns.index(name)] for row in published.rows.values()]


@pytest.mark.parametrize(
    ("table", "other", "significant"),
    [
        # The first rows of Tables 5, 6 and 7.
        *(("hmnb-table2", other, True) for other in read_table("hmnb-table2").columns[1:]),
        *(("hmnb-table3", name, name != "DWCNB") for name in read_table("hmnb-table3").columns[1:]),
    ],
)
def test_wilcoxon_finds_what_the_paper_found(table: str, other: str, significant: bool) -> None:
    ranks = wilcoxon(column(table, read_table(table).lead), column(table, other))
    assert ranks.n == 11
    assert ranks.positive + ranks.negative == 66
    # The paper's rule for 11 collections at 0.05.
    assert (min(ranks.positive, ranks.negative) <= 11) == significant


def test_wilcoxon_against_known_ranks() -> None:
    ranks = wilcoxon([10, 20, 30, 40, 50, 60.0], [11, 18, 27, 36, 45, 60.0])
    # Differences -1, 2, 3, 4, 5, 0: the zero has rank 1, half of it on either side.
    assert (ranks.positive, ranks.negative) == (3 + 4 + 5 + 6 + 0.5, 2 + 0.5)
    assert wilcoxon([1.0, 2.0], [1.0, 2.0]).p == 1.0
    assert wilcoxon(range(1, 8), [0] * 7).p == pytest.approx(2 / 2**7)
    # 0.3 - 0.2 and 0.2 - 0.1 are the same difference as printed.
    assert wilcoxon([0.3, 0.2], [0.2, 0.3]).positive == 1.5
    with pytest.raises(InputError):
        wilcoxon([1.0], [])


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=8))
def test_wilcoxon_is_scipys(differences: list[int]) -> None:
    ours = wilcoxon(differences, [0] * len(differences))
    if not any(differences):
        assert ours.p == 1.0
        return
    every = stats.PermutationMethod(n_resamples=np.inf)
    theirs = stats.wilcoxon(differences, zero_method="zsplit", method=every)
    assert min(ours.positive, ours.negative) == theirs.statistic
    assert ours.p == pytest.approx(theirs.pvalue)


def test_wilcoxon_of_many_collections() -> None:
    ranks = wilcoxon(list(range(60)), [29.5] * 60)
    assert ranks.p == pytest.approx(stats.wilcoxon(np.arange(60) - 29.5).pvalue)


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


# Running and resuming


def test_a_second_plan_runs_only_what_is_new(experiment: Experiment, tmp_path: Path) -> None:
    path = tmp_path / "kept" / "toy.jsonl"
    Stub.built = 0
    first = run_plan(plan_of(experiment), RunsFile(path))
    runs = 2 * len(experiment.models) * 2
    assert Stub.built == runs * 5
    assert len(path.read_text().splitlines()) == runs
    again = run_plan(plan_of(experiment), RunsFile(path))
    assert again == first
    assert Stub.built == runs * 5
    more = run_plan(plan_of(experiment, runs=3), RunsFile(path))
    assert Stub.built == runs * 5 * 3 // 2
    assert more["re0", "MNB"].values[:10] == first["re0", "MNB"].values
    run_plan(plan_of(experiment, folds=4), RunsFile(path))
    assert Stub.built == runs * 5 * 3 // 2 + runs * 4
    run_plan(plan_of(experiment), RunsFile(path), fresh=True)
    assert Stub.built == runs * 5 * 5 // 2 + runs * 4


def test_changed_data_or_code_is_run_again(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.jsonl"
    run_plan(plan_of(experiment), RunsFile(path))
    lines = len(path.read_text().splitlines())
    with (tmp_path / "re0.svm").open("a") as file:
        file.write("class0 1:1\n")
    run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == lines * 3 // 2
    monkeypatch.setattr(runner_module, "code_fingerprint", lambda: "other")
    run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == lines * 5 // 2


def test_an_interrupted_run_goes_on(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.jsonl"
    learn = Stub.learn_many
    calls = iter(range(10**6))

    def interrupted(self: Stub, X: Any, y: Sequence[str], *, vocabulary: Sequence[str]) -> None:
        if next(calls) == 23:
            raise KeyboardInterrupt
        learn(self, X, y, vocabulary=vocabulary)

    with monkeypatch.context() as patch:
        patch.setattr(Stub, "learn_many", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_plan(plan_of(experiment), RunsFile(path))
    assert len(path.read_text().splitlines()) == 4  # 23 folds: 4 whole runs of 5
    with path.open("a") as file:
        file.write('{"key": "torn of')
    Stub.built = 0
    scores = run_plan(plan_of(experiment), RunsFile(path))
    assert Stub.built == (16 - 4) * 5
    assert len(path.read_text().splitlines()) == 16  # the torn line is gone
    whole = run_plan(plan_of(experiment), RunsFile(tmp_path / "whole.jsonl"))
    assert {names: each.values for names, each in scores.items()} == {
        names: each.values for names, each in whole.items()
    }


def test_a_spoiled_results_file(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    path.write_text("[]\n")
    with pytest.raises(DataError, match="line 1: not a result"):
        RunsFile(path)
    with pytest.raises(DataError, match="cannot read"):
        RunsFile(tmp_path)


def test_processes_give_the_same(experiment: Experiment, tmp_path: Path) -> None:
    alone = run_plan(plan_of(experiment), RunsFile(tmp_path / "1.jsonl"))
    together = run_plan(plan_of(experiment, jobs=2), RunsFile(tmp_path / "2.jsonl"))
    assert {names: each.values for names, each in alone.items()} == {
        names: each.values for names, each in together.items()
    }


def test_keys_do_not_depend_on_order() -> None:
    assert settings_key({"a": 1, "b": [2]}) == settings_key({"b": [2], "a": 1})
    assert settings_key({"a": 1}) != settings_key({"a": 1.5})


@pytest.mark.parametrize("settings", [{"runs": 0}, {"folds": 1}, {"jobs": 0}])
def test_impossible_plans(experiment: Experiment, settings: dict[str, int]) -> None:
    with pytest.raises(InputError, match="should be at least"):
        plan_of(experiment, **settings)


def test_the_papers_models_end_to_end(experiment: Experiment, tmp_path: Path) -> None:
    models = pytest.importorskip("streamnb", exc_type=ImportError)
    if not hasattr(models, "MNB"):
        pytest.skip("the native core is not built")
    # The stub is MNB and CNB, by numpy.
    real = replace(experiment, models=HMNB_PAPER.models)
    scores = run_plan(plan_of(real, runs=1), RunsFile(tmp_path / "real.jsonl"))
    stubs = run_plan(plan_of(experiment, runs=1), RunsFile(tmp_path / "stubs.jsonl"))
    for collection in ("re0", "oh0"):
        for model in ("MNB", "CNB"):
            assert scores[collection, model].values == stubs[collection, model].values
        for model in ("OVA", "HMNB", "HCNB", "HOVA", "SEMNB", "SECNB", "SEOVA"):
            assert scores[collection, model].mean > 60  # chance is 33
    assert "HOVA against OVA" in FORMATS["text"](make_report(plan_of(real, runs=1), scores))


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


# The higher-order paper


def test_small_samples_are_stratified_and_drawn_afresh() -> None:
    labels = ["a"] * 100 + ["b"] * 40 + ["c"] * 3
    trials = RandomSamples(0.05).split(labels, 8, seed=1)
    assert len({tuple(learned) for learned, _ in trials}) == 8
    for learned, tested in trials:
        assert sorted([*learned, *tested]) == list(range(len(labels)))
        assert Counter(labels[place] for place in learned) == {"a": 5, "b": 2, "c": 1}
    again = RandomSamples(0.05).split(labels, 8, seed=1)
    assert all((one[0] == other[0]).all() for one, other in zip(trials, again, strict=True))


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
    binary = BinaryTable("tiny", str(path), positive="b").load()
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
