"""The paper's experiments with the correlation factor."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from streamnb.reproduce import (
    FORMATS,
    NBCF_PAPER,
    NBCF_PAPER_90,
    CollectionRecipe,
    Experiment,
    Plan,
    RandomSamples,
    Scores,
    make_report,
    published_text,
)

# --- the paper's figures --------------------------------------------------------------------------


def test_experiments_read_texts_with_one_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [
        ("Oil up, oil down", "crude"),
        ("wheat", "grain|wheat"),
        ("none", ""),
        ("ship", "ship"),
    ]
    texts += [("oil tanker", "crude"), ("sea sea", "ship"), ("gold", "gold")]
    records = [
        {"id": str(n), "label": label, "text": text, "time": None}
        for n, (text, label) in enumerate(texts)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "made_up.jsonl.xz").write_bytes(lzma.compress(lines.encode()))
    monkeypatch.setenv("STREAMNB_DATA", str(tmp_path))
    reader = "streamnb.reproduce.papers.nbcf:read_texts"
    recipe = CollectionRecipe("made up", "made_up", reader=reader, options=(2,))
    collection = recipe.load()
    assert collection.labels == ["crude", "ship", "crude", "ship"]
    assert collection.vocabulary == ["oil", "up", "down", "ship", "tanker", "sea"]
    assert collection.matrix.toarray()[0].tolist() == [2, 1, 1, 0, 0, 0]
    assert collection.matrix.toarray()[3].tolist() == [0, 0, 0, 0, 0, 2]


@pytest.mark.parametrize("experiment", [NBCF_PAPER, NBCF_PAPER_90], ids=lambda each: each.name)
def test_experiments_are_printed_without_the_numbers_that_the_paper_does_not_have(
    experiment: Experiment,
) -> None:
    (table,) = experiment.published()
    assert table.figure("reuters-10", "NBCF") is None
    assert "nan" not in published_text(experiment)
    scores = {
        (each.name, model.name): Scores((80.0, 82.0), 1.0)
        for each in experiment.collections
        for model in experiment.models
    }
    plan = Plan(experiment, experiment.collections, experiment.models, folds=2)
    text = FORMATS["text"](make_report(plan, scores))
    assert "(the paper: not said)" in text
    assert "81.00" in text
    assert "nan" not in text
    for model in experiment.models:
        assert model.build(100).alpha == 1.0


def test_samples_learn_the_share_of_each_class() -> None:
    labels = ["a"] * 50 + ["b"] * 30 + ["c"] * 3
    for share, sizes in ((0.1, [5, 3, 1]), (0.9, [45, 27, 3])):
        samples = RandomSamples(share).split(labels, 3, seed=1)
        assert len(samples) == 3
        for learned_places, tested in samples:
            found = [sum(labels[place] == label for place in learned_places) for label in "abc"]
            assert found == sizes
            assert sorted([*learned_places, *tested]) == list(range(len(labels)))
        assert samples[0][0].tolist() != samples[1][0].tolist()
