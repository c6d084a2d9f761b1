"""Cascades on a stream: the figures of `evaluate_cascades`, and its picture."""

from __future__ import annotations

import random

import pytest

from streamnb import MNB, OnlineNB
from streamnb.cascade import Cascade
from streamnb.datasets import stream
from streamnb.errors import InputError
from streamnb.evaluation import evaluate_cascades, plot_calls

ROWS = list(stream("synthetic-sms", limit=1500))
OTHER = {"ham": "spam", "spam": "ham"}


def test_the_figures_equal_a_loop_over_the_stream() -> None:
    cascade = Cascade(OnlineNB(), agreement=0.99)
    answers: dict[int, str] = {}
    (found,) = evaluate_cascades(
        {"one": cascade}, ROWS, window=100, label_noise=0.1, noise_seed=5, call_price=0.5
    )
    again = Cascade(OnlineNB(), agreement=0.99)
    drawn, labels = random.Random(5), []
    decided = []
    for number, (x, y) in enumerate(ROWS):
        labels += [] if y in labels else [y]
        wrong = len(labels) > 1 and drawn.random() < 0.1
        answers[number] = drawn.choice([OTHER[y]]) if wrong else y
        decision = again.propose_one(x)
        if decision.asked:
            decision = again.answer_one(x, decision, answers[number])
        decided.append(decision.label)
    agreed = [label == answers[n] for n, label in enumerate(decided)]
    windows = [sum(agreed[n - 100 : n]) / 100 for n in range(1100, len(ROWS) + 1)]
    assert (found.n_calls, found.n_messages) == (again.n_calls, len(ROWS))
    assert found.agreement == sum(agreed) / len(ROWS)
    assert found.lowest == min(windows)
    right = sum(label == y for label, (_, y) in zip(decided, ROWS, strict=True))
    assert found.accuracy == right / len(ROWS)
    assert found.teacher_accuracy == sum(answers[n] == y for n, (_, y) in enumerate(ROWS)) / len(
        ROWS
    )
    assert 0.85 < found.teacher_accuracy < 0.95
    assert found.cost == 0.5 * found.n_calls
    assert found.estimate == again.agreement_estimate()
    assert cascade.to_bytes() == again.to_bytes()
    last = found.curve[-1]
    assert (last.n_messages, last.n_calls) == (1500, found.n_calls)
    assert last.agreement == sum(agreed[-100:]) / 100


def test_a_long_curve_keeps_every_second_point() -> None:
    (found,) = evaluate_cascades({"a": Cascade(MNB(), budget=0.05)}, ROWS, window=10)
    assert 200 <= len(found.curve) < 400
    assert found.curve[-1].n_messages == len(ROWS)
    assert found.goal == "budget=0.05"


def test_a_cascade_must_be_new_and_the_stream_labelled() -> None:
    used = Cascade(MNB(), agreement=0.9)
    used.propose_one("win")
    for cascade in (used, Cascade(MNB(), str.upper, agreement=0.9)):
        with pytest.raises(InputError, match="a: give a new cascade without a teacher"):
            evaluate_cascades({"a": cascade}, ROWS)
    with pytest.raises(InputError, match="message 2 of the stream has no label"):
        evaluate_cascades({"a": Cascade(MNB(), agreement=0.9)}, [("win", "spam"), ("noon", None)])
    with pytest.raises(InputError, match="no cascade"):
        evaluate_cascades({}, ROWS)
    assert evaluate_cascades({"a": Cascade(MNB(), agreement=0.9)}, []) == []


def test_the_picture_has_a_line_for_each_model(tmp_path, monkeypatch) -> None:
    figure = pytest.importorskip("matplotlib.figure")
    kept, saved = [], figure.Figure.savefig
    monkeypatch.setattr(
        figure.Figure, "savefig", lambda self, *a, **k: (kept.append(self), saved(self, *a, **k))
    )
    found = []
    for goal in (0.9, 0.99):
        models = {"MNB": MNB(), "OnlineNB": OnlineNB()}
        cascades = {name: Cascade(model, agreement=goal) for name, model in models.items()}
        found += evaluate_cascades(cascades, ROWS[:600], window=100)
    path = plot_calls(found, tmp_path / "calls.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    calls, agreement, shares = kept[0].axes
    drawn = {line.get_label(): list(line.get_xdata()) for line in calls.lines}
    assert drawn == {
        name: sorted(100 * each.agreement for each in found if each.name == name)
        for name in ("MNB", "OnlineNB")
    }
    assert len(agreement.lines) == len(shares.lines) == 4
    with pytest.raises(InputError, match="no cascade to draw"):
        plot_calls([], tmp_path / "none.png")
