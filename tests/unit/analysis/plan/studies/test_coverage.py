"""How often intervals hold the truth: what is counted, and what is told of it."""

import json

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.pages.as_text import render
from analysis.pages.model import page_of
from analysis.plan.error_rates import coverage_study
from analysis.plan.study import drawn_pairs
from analysis.stats.arguments import stream


def test_coverage_of_few_runs(population, rng):
    found = coverage_study(population(), runs=(3,), simulations=30, resamples=99, rng=rng)
    cells = {cell.interval: cell for cell in found.every}
    assert list(cells) == [
        *("percentile", "corrected", "bca", "studentized", "t", "paired-t", "hpt"),
    ]
    assert [cell.interval for cell in found.over_benchmarks] == ["paired-t", "hpt"]
    assert cells["t"].rate > cells["percentile"].rate
    assert cells["t"].width > cells["corrected"].width > cells["percentile"].width
    for cell in cells.values():
        assert cell.held + cell.below + cell.above == 30
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
    assert not {"t", "paired-t", "hpt"} & {cell.interval for cell in found.every}
    with pytest.raises(UsageError, match="no interval is named"):
        coverage_study(population(), mean="harmonic", intervals=("t",), rng=rng)


def test_the_speedup_of_hpt_is_a_lower_bound_and_the_paired_t_scipys(population, rng):
    """Figure 7: 0.95-speedups beside intervals; computed here pair by pair."""
    found = coverage_study(
        population(),
        runs=(5,),
        intervals=("paired-t", "hpt"),
        ratio=2.0,
        simulations=40,
        rng=stream(5, "c"),
    )
    paired, hpt = found.over_benchmarks
    root = int(stream(5, "c").integers(2**63))
    drawn = drawn_pairs(population(), root, 5, 40, "run", factors=2.0)
    pairs = [one.sides() for one in drawn]
    claims = np.array([hpt_speedup(*pair).value for pair in pairs])
    assert (hpt.held, hpt.above, hpt.below, hpt.width) == (
        int((claims <= 2).sum()), int((claims > 2).sum()), 0, None,
    )  # fmt: skip
    assert hpt.low == pytest.approx(claims.mean())
    assert hpt.held >= 36  # "consistently below the true value"
    ends = []
    for ours, theirs in pairs:
        logs = [
            np.log(b).mean() - np.log(a).mean()
            for a, b in zip(ours.samples, theirs.samples, strict=True)
        ]
        ends.append(np.exp(list(stats.ttest_1samp(logs, 0).confidence_interval(0.95))))
    low, high = np.transpose(ends)
    assert paired.held == int(((low <= 2) & (high >= 2)).sum())
    assert (paired.low, paired.width) == pytest.approx((low.mean(), (high - low).mean() / 2))


def test_hpt_claims_nothing_where_it_cannot(population, rng):
    found = coverage_study(population(4), runs=(5,), intervals=("hpt",), simulations=5, rng=rng)
    (cell,) = found.over_benchmarks  # four benchmarks: the smallest p is 1/16
    assert (cell.refused, cell.rate, cell.low) == (5, None, None)
    assert "HPT speedup (5 do not exist)" in render(page_of(found), width=120)


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
    cells = {cell.interval: cell for cell in found.every}
    assert (cells["t"].rate, cells["percentile"].rate) == (1.0, 1.0)
    for cell in cells.values():
        assert cell.held + cell.below + cell.above + cell.refused == 4
    assert str(found)
