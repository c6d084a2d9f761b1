"""Alarms of drift in an evaluation: its results, its report, its picture."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from river import drift

from streamnb import HMNB, MNB, evaluation
from streamnb.cli import main
from streamnb.errors import InputError

WORDS = {
    "ham": ["noon", "lunch", "see", "you", "home", "later"],
    "spam": ["win", "cash", "free", "call", "prize"],
}


def swapping(n: int = 800, swapped: int = 400, seed: int = 3) -> list[tuple[str, str]]:
    """Messages of five words, whose labels change sides half way."""
    rng = random.Random(seed)
    stream = []
    for number in range(n):
        label = rng.choice(["ham", "spam"])
        other = "ham" if label == "spam" else "spam"
        text = " ".join(rng.choices(WORDS[label], k=5))
        stream.append((text, label if number < swapped else other))
    return stream


def by_river(stream: list[tuple[str, str]], delay: int) -> list[int]:
    """Where ADWIN, told of each error when its label comes, finds that errors rose."""
    model, detector = MNB(), drift.ADWIN()
    waiting: list[tuple[str, str, Any]] = []
    alarms = []
    for number, (x, y) in enumerate(stream, 1):
        waiting.append((x, y, model.predict_one(x)))
        if len(waiting) > delay:
            due, label, decided = waiting.pop(0)
            model.learn_one(due, label)
            if decided is None:
                continue
            before = detector.estimation
            detector.update(int(decided != label))
            if detector.drift_detected and detector.estimation > before:
                alarms.append(number)
    return alarms


@pytest.mark.parametrize("delay", [0, 25])
def test_alarms_are_those_of_river(delay: int) -> None:
    stream = swapping()
    models = {"one": MNB(), "two": HMNB()}
    results = evaluation.prequential(models, stream, label_delay=delay, drift="adwin")
    expected = by_river(stream, delay)
    assert results["one"].alarms == expected
    assert results["one"].n_alarms == len(expected) > 0
    assert 400 + delay < expected[0] < 500 + delay
    assert results["one"].to_dict()["alarms"] == expected


def test_without_a_detector_there_are_none() -> None:
    result = evaluation.prequential(MNB(), swapping())["MNB"]
    assert (result.n_alarms, result.alarms) == (0, [])
    with pytest.raises(InputError, match="must be one of 'adwin', 'ddm'"):
        evaluation.prequential(MNB(), swapping(10), drift="none")


def test_the_picture_has_a_line_at_each_alarm(tmp_path: Any, monkeypatch: Any) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    kept: list[Any] = []
    monkeypatch.setattr(figure.Figure, "savefig", lambda self, *a, **k: kept.append(self))
    results = evaluation.prequential({"MNB": MNB()}, swapping(), window=50, drift="adwin")
    evaluation.plot_curves(results, tmp_path / "curve.png")
    lines = [line for line in kept[0].axes[0].lines if line.get_gid() == "drift"]
    assert [line.get_xdata()[0] for line in lines] == results["MNB"].alarms


def test_the_command_lists_them(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(json.dumps({"text": x, "label": y}) + "\n" for x, y in swapping()))
    assert main(["evaluate", str(path), "--drift", "adwin", "-m", "MNB", "-m", "HMNB"]) == 0
    shown = capsys.readouterr().out
    table = shown.partition("Alarms of drift (adwin)\n")[2].partition("\n\n")[0].splitlines()
    assert table[0].split() == ["model", "alarms", "after", "messages"]
    first = by_river(swapping(), 0)
    assert table[1].split(maxsplit=2) == ["MNB", str(len(first)), ", ".join(map(str, first))]
    assert main(["evaluate", str(path), "--drift", "adwin", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"][0]["alarms"] == first
    assert main(["evaluate", str(path)]) == 0
    assert "Alarms" not in capsys.readouterr().out
