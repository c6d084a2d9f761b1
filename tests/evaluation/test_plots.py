"""Learning curves as pictures."""

from __future__ import annotations

import builtins

import pytest

from streamnb import OnlineNB, evaluation
from streamnb.errors import InputError, MissingDependencyError
from support.streams import noisy_messages as messages
from support.streams import river_mnb


def saved_figures(monkeypatch):
    """Return a list that gets each figure that is saved."""
    figure = pytest.importorskip("matplotlib.figure")
    kept = []
    saved = figure.Figure.savefig
    monkeypatch.setattr(
        figure.Figure,
        "savefig",
        lambda self, *a, **k: (kept.append(self), saved(self, *a, **k)),
    )
    return kept


class TestPlots:
    @pytest.mark.parametrize("labels", [("ham", "spam"), ("ham", "spam", "news")])
    def test_png(self, tmp_path, labels):
        pytest.importorskip("matplotlib")
        results = evaluation.prequential(
            {"one": river_mnb(), "two": river_mnb()}, messages(300, labels), window=50
        )
        path = evaluation.plot_curves(results, tmp_path / "curve.png")
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")

    def test_lines_are_told_apart_and_those_that_coincide_named_once(self, tmp_path, monkeypatch):
        kept = saved_figures(monkeypatch)
        stream = list(messages(300, noise=0.7))
        models = {"one": river_mnb(), "two": river_mnb(), "other": OnlineNB()}
        results = evaluation.prequential(models, stream, window=50, calibration_skip=10)
        evaluation.plot_curves(results, tmp_path / "curve.png")
        (drawn,) = kept
        assert len(drawn.axes) == 4  # accuracy, area, reliability, ROC
        for axes in drawn.axes:
            lines = [line for line in axes.lines if line.get_color() != "#b9bdc3"]
            assert len(lines) == 2
            assert len({(line.get_color(), str(line.get_linestyle())) for line in lines}) == 2
            names = [text.get_text() for text in axes.get_legend().get_texts()]
            assert len(names) == 2
            assert any(name.startswith("one") and " = two" in name for name in names), names

    def test_accuracy_by_number_of_labels(self, tmp_path, monkeypatch):
        kept = saved_figures(monkeypatch)
        results = evaluation.prequential(river_mnb(), messages(300), label_share=0.5, window=50)
        evaluation.plot_curves(results, tmp_path / "curve.png")
        (axes,) = [axes for axes in kept[0].axes if axes.get_xlabel() == "labels"]
        (line,) = axes.lines
        assert line.get_xdata()[-1] == results["Pipeline"].n_labels < 200

    def test_nothing_to_draw(self, tmp_path):
        with pytest.raises(InputError, match="no learning curve"):
            evaluation.plot_curves({}, tmp_path / "curve.png")

    def test_folder_that_does_not_exist(self, tmp_path):
        pytest.importorskip("matplotlib")
        results = evaluation.prequential(river_mnb(), messages(30))
        with pytest.raises(InputError, match="cannot write"):
            evaluation.plot_curves(results, tmp_path / "absent" / "curve.png")

    def test_without_matplotlib(self, tmp_path, monkeypatch):
        real = builtins.__import__

        def without(name, *args, **kwargs):
            if name.startswith("matplotlib"):
                raise ModuleNotFoundError(name, name=name)
            return real(name, *args, **kwargs)

        results = evaluation.prequential(river_mnb(), messages(30))
        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(MissingDependencyError, match=r"pip install 'streamnb\[plots\]'"):
            evaluation.plot_curves(results, tmp_path / "curve.png")
