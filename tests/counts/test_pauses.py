"""No learn call takes long on an endless stream, as in `benchmarks/bench_pauses.py`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import bench_pauses

    yield bench_pauses
    for name in ("bench_pauses", "rounds"):
        sys.modules.pop(name, None)


def test_quantiles_of_a_histogram(pauses: Any) -> None:
    histogram = pauses.Histogram()
    durations = [7 * i * i % 100_003 for i in range(5_000)]
    for duration in durations:
        histogram.add(duration)
    for share in (0.1, 0.5, 0.99, 1.0):
        exact = sorted(durations)[max(round(share * len(durations)) - 1, 0)]
        assert histogram.quantile(share) <= exact <= histogram.quantile(share) * 1.02 + 1
    assert histogram.longest == max(durations)


def test_the_benchmark_runs(pauses: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert pauses.main(["--messages", "2000", "--max-features", "500", "3000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["learn_one", "max_features", "clock"]
    assert len([line for line in lines if line.startswith("MNB")]) == 6
    assert len([line for line in lines if line.startswith("target")]) == 6


@pytest.mark.soak
@pytest.mark.parametrize("max_features", [100_000, 1_000_000])
def test_the_longest_learn_of_ten_million(
    pauses: Any, max_features: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = pauses.measure("MNB", max_features, 10_000_000)
    with capsys.disabled():
        print("\n" + pauses.report([found]))
    assert found.faster_of_two.quantile(0.9999) / 1e3 < pauses.P9999
    assert found.faster_of_two.longest / 1e3 < pauses.LONGEST
    assert max(found.memory[1:]) <= pauses.FLAT * found.memory[0]
