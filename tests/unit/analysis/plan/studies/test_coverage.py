"""How often intervals hold the truth: what is counted, and what is told of it."""

from __future__ import annotations

import json

import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.plan.coverage import coverage_study


def test_coverage_of_few_runs(population, rng):
    found = coverage_study(population(), runs=(3,), simulations=60, resamples=199, rng=rng)
    cells = {cell.interval: cell for cell in found.cells}
    assert list(cells) == ["percentile", "corrected", "bca", "studentized", "t"]
    assert cells["t"].rate > cells["percentile"].rate
    assert cells["t"].width > cells["corrected"].width > cells["percentile"].width
    for cell in cells.values():
        assert cell.held + cell.below + cell.above == 60
    assert "hold the true 2" in " ".join(str(found).split())


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_ratio_is_a_speedup(population, rng, better):
    found = coverage_study(
        population(better=better), runs=(10,), intervals=("t",), ratio=3.0, simulations=30, rng=rng
    )
    assert found.cells[0].rate > 0.8


def test_other_means_have_no_t_interval(population, rng):
    found = coverage_study(
        population(), runs=(5,), mean="arithmetic", simulations=5, resamples=99, rng=rng
    )
    assert "t" not in {cell.interval for cell in found.cells}
    with pytest.raises(UsageError, match="no interval is named"):
        coverage_study(population(), mean="harmonic", intervals=("t",), rng=rng)


def test_progress_counts_the_trials_of_all_numbers_of_runs(population, rng):
    seen = []
    coverage_study(
        population(),
        runs=(3, 4),
        intervals=("t",),
        simulations=3,
        rng=rng,
        progress=lambda done, whole: seen.append((done, whole)),
    )
    assert seen == [(k, 6) for k in range(1, 7)]


def test_intervals_that_do_not_exist_are_counted(rng):
    flat = PerformanceMatrix.from_samples("p", {"a": [1.0] * 9, "b": [2.0] * 9}, better="lower")
    found = coverage_study(flat, runs=(3,), simulations=4, resamples=99, rng=rng)
    json.dumps(found.to_dict(), allow_nan=False)
    cells = {cell.interval: cell for cell in found.cells}
    assert (cells["t"].rate, cells["percentile"].rate) == (1.0, 1.0)
    for cell in cells.values():
        assert cell.held + cell.below + cell.above + cell.refused == 4
    assert str(found)
