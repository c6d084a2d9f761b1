"""The benchmark of growing streams: every model of the command line, on short streams."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from streamnb.model_specs import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("matplotlib")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(Path(__file__).parent.parent.parent / "benchmarks")
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")  # as the benchmark does, but given back
    import bench_growth
    import growth

    monkeypatch.setattr(growth, "ASKED", 20)
    monkeypatch.setattr(growth, "TRIALS", 1)
    pairs = [("win cash now", "spam"), ("see you at noon", "ham"), ("win at noon", "ham")]
    monkeypatch.setattr(growth, "streams", lambda: {"short": lambda: growth.noisy(pairs)})
    yield bench_growth
    for name in ("bench_growth", "growth", "rounds"):
        sys.modules.pop(name, None)


def test_every_model_appears_by_itself(bench: Any) -> None:
    assert set(MODELS) - {"ComposedNB"} <= set(bench.growth.REGISTRY)


def test_table_and_plot_are_written(
    bench: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "growth.md").write_text("before\n<!-- make growth -->outdated<!-- end -->\nafter\n")
    options = ["--lengths", "50,120", "--into", str(tmp_path), "--json", str(tmp_path / "g.json")]
    assert bench.main([*options, "--model", "MNB", "--model", "SEMNB(index_size=30)"]) == 0
    page = (tmp_path / "growth.md").read_text()
    assert page.startswith("before\n<!-- make growth -->\n```text\n")
    assert page.endswith("growth.svg)\n<!-- end -->\nafter\n")
    assert "outdated" not in page
    rows = [line.split() for line in page.splitlines() if line.startswith(("MNB ", "SEMNB("))]
    assert [(row[0], row[1]) for row in rows[:4]] == [
        ("MNB", "50"),
        ("MNB", "120"),
        ("SEMNB(index_size=30)", "50"),
        ("SEMNB(index_size=30)", "120"),
    ]
    assert rows[0][5] == "-"  # nothing to refresh
    assert "holds predict_one up, in medians" in page
    assert (tmp_path / "growth.svg").read_text().count("SEMNB(index_size=30)") >= 1
    assert (tmp_path / "g.json").exists()
    assert capsys.readouterr().out.strip() in page


def test_noise_keeps_bringing_new_words(bench: Any) -> None:
    pairs = [("one two three four", "a"), ("five six", "b")]
    stream = list(itertools.islice(bench.growth.noisy(pairs), 400))
    assert stream[:2] == pairs
    assert {label for _, label in stream} == {"a", "b"}
    words = {word for text, _ in stream for word in text.split()}
    assert 60 < len(words) < 400
    assert stream == list(itertools.islice(bench.growth.noisy(pairs), 400))
