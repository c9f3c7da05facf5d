"""Power and type-I error: what is counted, and what is told of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.pages.as_text import render
from analysis.pages.model import Table, Value
from analysis.plan.draw import draw_study
from analysis.plan.error_rates import (
    CoverageStudy,
    coverage_study,
    power_study,
    pvalue_of,
    type1_study,
)
from analysis.plan.study import Covered, Drawing, monte_carlo_error
from analysis.plots.marks import Curve, Dots
from analysis.stats.arguments import stream


def test_power_rises_with_the_shifted_benchmarks_and_is_no_more_than_alpha_without(population, rng):
    found = power_study(
        population(), shift=1.05, shifted=(0, 2, 6), simulations=25, resamples=99, rng=rng
    )
    for test in ("hpt", "t", "welch", "randomization"):
        rates = [found.rate(test, shifted=k) for k in (0, 2, 6)]
        assert rates[0] <= 0.05 + 4 * monte_carlo_error(1, 25)
        assert rates[0] < rates[2]
        assert rates[2] > 0.9
    # two of six: the tests on all runs see it, the one over benchmarks takes it for scatter
    assert found.rate("welch", shifted=2) > found.rate("t", shifted=2) + 0.3


def test_the_shift_counts_in_either_direction_and_the_alternative_in_one(population, rng):
    options = {"shift": 1 / 1.1, "shifted": (6,), "tests": ("welch",), "simulations": 20}
    assert power_study(population(), rng=rng, **options).rate("welch", shifted=6) == 1.0
    one = power_study(population(), rng=rng, alternative="candidate", **options)
    assert one.rate("welch", shifted=6) == 0.0


def test_type1_study_has_a_line_for_each_number_of_runs(population, rng):
    found = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=100, rng=rng)
    assert [(cell.runs, cell.shifted) for cell in found.cells] == [(3, 0), (5, 0)]
    assert found.rate("welch", runs=3) < 0.15
    assert "both sides are the same" in str(found)


def test_hpt_that_cannot_reject_is_told(population, rng):
    found = type1_study(population(5), runs=(5,), tests=("hpt",), simulations=2, rng=rng)
    assert any("HPT cannot reject at 0.05 with 5 benchmarks" in text for text in found.cautions)
    one = type1_study(
        population(5), runs=(5,), tests=("hpt",), simulations=2, alternative="candidate", rng=rng
    )
    assert not any("cannot reject" in text for text in one.cautions)


def test_one_benchmark_has_no_paired_t_and_that_is_said(population, rng):
    found = type1_study(population(1), runs=(5,), simulations=9, resamples=99, rng=rng)
    assert (found.rate("t"), found.rate("hpt")) == (0.0, 0.0)
    text = " ".join(map(str, found.cautions))
    assert "the paired t-test needs two benchmarks: here it never rejects" in text
    assert "HPT cannot reject at 0.05 with 1 benchmark:" in text


def test_a_power_study_has_lines_of_each_number_of_runs(population, rng):
    found = power_study(
        population(), runs=(3, 10), shifted=(0, 1), tests=("welch",), simulations=40, rng=rng
    )
    assert [(cell.runs, cell.shifted) for cell in found.cells] == [(3, 0), (3, 1), (10, 0), (10, 1)]
    assert found.rate("welch", shifted=1, runs=10) > found.rate("welch", shifted=1, runs=3)
    assert "3, 10 runs each" in str(found)
    # a number of runs more changes no other line
    alone = power_study(
        population(), runs=10, shifted=(1,), tests=("welch",), simulations=40, rng=stream(3, "test")
    )
    assert alone.rate("welch", shifted=1) == found.rate("welch", shifted=1, runs=10)


def test_an_added_amount_is_a_shift_of_its_own(population, rng):
    options = {"shifted": (6,), "tests": ("welch",), "simulations": 20, "rng": rng}
    found = power_study(population(), shift_by=0.1, **options)
    assert (found.shift, found.shift_by, found.rate("welch", shifted=6)) == (None, 0.1, 1.0)
    assert "power to tell 0.1 s more on some" in " ".join(str(found).split())
    nearly = power_study(population(), shift_by=1e-9, **options)  # the negative control
    assert nearly.rate("welch", shifted=6) < 0.3


def test_cautions(population, rng):
    small = population(values=10)
    found = type1_study(small, runs=(2,), tests=("t",), simulations=2, rng=rng)
    text = " ".join(map(str, found.cautions))
    assert "only 10 values" in text
    assert "drawn on their own" in text
    assert "drift and differences between sessions" in text


def test_seeds_repeat_and_progress_is_told(population):
    seen = []
    options = {"shifted": (1,), "tests": ("t", "randomization"), "simulations": 5, "resamples": 99}
    first = power_study(
        population(), rng=stream(1, "a"), progress=lambda d, t: seen.append((d, t)), **options
    )
    assert first.to_dict() == power_study(population(), rng=stream(1, "a"), **options).to_dict()
    assert seen == [(k, 5) for k in range(1, 6)]


def test_monte_carlo_errors():
    assert monte_carlo_error(50, 100) == pytest.approx(0.05, rel=0.02)
    assert 0 < monte_carlo_error(0, 100) < 0.011


@pytest.mark.parametrize(
    "wrong",
    [
        {"shifted": (7,)},
        {"shifted": ()},
        {"shifted": (-1,)},
        {"shift": 0.0},
        {"shift": math.nan},
        {"shift_by": 0.0},
        {"shift_by": -1.0},
        {"shift_by": math.inf},
        {"runs": ()},
        {"runs": (5, 1)},
        {"runs": 1},
        {"tests": ("wilcoxon",)},
        {"tests": ()},
        {"alternative": "less"},
        {"alpha": 0.0},
        {"alpha": 0.7},
        {"draws": "session"},
        {"simulations": 0},
    ],
)
def test_wrong_arguments(population, rng, wrong):
    with pytest.raises(UsageError):
        power_study(population(), rng=rng, **wrong)


# --- The tests that a study compares, against scipy's.


@pytest.mark.parametrize("alternative", ["two-sided", "candidate"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_t_is_the_paired_t_test_on_log_ratios(population, alternative, better, rng):
    ours, theirs = next(
        Drawing(1, "run").pairs(population(better=better), 1, 5, factors=1.01)
    ).sides()
    sign = 1 if better == "higher" else -1
    gains = [
        sign * (np.log(a).mean() - np.log(b).mean())
        for a, b in zip(ours.samples, theirs.samples, strict=True)
    ]
    side = "greater" if alternative == "candidate" else "two-sided"
    want = stats.ttest_1samp(gains, 0, alternative=side).pvalue
    assert pvalue_of((ours, theirs), "t", alternative, 9, rng) == pytest.approx(want)


def test_welch_on_one_benchmark_is_welchs_test(population, rng):
    ours, theirs = next(Drawing(1, "run").pairs(population(1), 1, 5, factors=1.01)).sides()
    logs = np.log(theirs.samples[0]), np.log(ours.samples[0])
    want = stats.ttest_ind(*logs, equal_var=False)
    assert pvalue_of((ours, theirs), "welch", "two-sided", 9, rng) == pytest.approx(want.pvalue)
    one = stats.ttest_ind(*logs, equal_var=False, alternative="greater").pvalue
    assert pvalue_of((ours, theirs), "welch", "candidate", 9, rng) == pytest.approx(one)


@pytest.mark.parametrize("test", ["t", "welch"])
def test_no_spread_at_all(test, rng):
    flat = PerformanceMatrix.from_samples("p", {"a": [1.0] * 3, "b": [1.0] * 3}, better="lower")
    fast = PerformanceMatrix.from_samples("q", {"a": [0.5] * 3, "b": [0.5] * 3}, better="lower")
    assert pvalue_of((flat, flat), test, "two-sided", 9, rng) == 1.0
    assert pvalue_of((fast, flat), test, "two-sided", 9, rng) == 0.0
    assert pvalue_of((fast, flat), test, "candidate", 9, rng) == 0.0
    assert pvalue_of((flat, fast), test, "candidate", 9, rng) == 1.0


# --- How often intervals hold the truth: what is counted, and what is told of it.


def test_coverage_of_few_runs(population, rng):
    found = coverage_study(population(), runs=(3,), simulations=30, resamples=99, rng=rng)
    cells = {cell.interval: cell for cell in found.every}
    assert list(cells) == [
        *("percentile", "corrected", "bca", "studentized", "t", "paired-t", "hpt")
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
    drawn = Drawing(40, "run").pairs(population(), root, 5, factors=2.0)
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
    assert "HPT speedup (5 do not exist)" in render(found.screen(), width=120)


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


# --- The pages of studies: every cell says the number that it stands for


def table_of(study):
    (table,) = (
        block
        for section in study.screen().sections
        for block in section.blocks
        if isinstance(block, Table)
    )
    return table


def rate(cell):
    return Value(f"{cell.rate:.3f} ± {cell.error:.3f}", cell.rate)


def study_of(cell):
    return CoverageStudy(
        population="p", benchmarks=2, values=(9, 9), ratio=2.0, confidence=0.95,
        mean="geometric", draws="run", replace=True, resamples=99, cells=(cell,), seed=None,
    )  # fmt: skip


def test_intervals_that_do_not_exist_are_said_and_give_no_rates():
    counts = {"below": 1, "above": 0, "simulations": 10}
    some = Covered(interval="bca", runs=3, held=3, refused=6, width=0.5, low=1.8, **counts)
    (row,) = table_of(study_of(some)).rows
    assert row[1:4] == ("bca (6 do not exist)", rate(some), Value("0.250", 0.25))
    none = replace(some, held=0, below=0, refused=10, width=None, low=None)
    (row,) = table_of(study_of(none)).rows
    assert row[2:] == (Value("-", None),) * 5
    assert study_of(none).to_dict()["cells"][0]["rate"] is None


# --- The pictures of studies: what is drawn are the study's numbers.


def drawn_spots(axes):
    return [mark.points for mark in axes.marks if isinstance(mark, Dots)]


def test_a_panel_for_each_number_of_runs_with_a_curve_for_each_test(population, rng):
    found = power_study(
        population(), shift=1.02, runs=(3, 4, 5, 6), shifted=(0, 2, 6), tests=("t", "welch"),
        simulations=9, rng=rng,
    )  # fmt: skip
    panels = found.picture().axes
    assert [axes.title for axes in panels] == ["3 runs", "4 runs", "5 runs", "6 runs"]
    for axes, runs in zip(panels, (3, 4, 5, 6), strict=True):
        for points, test in zip(drawn_spots(axes), ("t", "welch"), strict=True):
            want = [(k, found.rate(test, shifted=k, runs=runs)) for k in (0, 2, 6)]
            np.testing.assert_allclose(points, want)


def test_over_the_runs_where_one_number_is_shifted(population, rng):
    found = power_study(
        population(), runs=(3, 30), shifted=(1,), tests=("welch",), simulations=9, rng=rng
    )
    (axes,) = found.picture().axes
    assert axes.x.log
    want = [(m, found.rate("welch", shifted=1, runs=m)) for m in (3, 30)]
    np.testing.assert_allclose(drawn_spots(axes)[0], want)
    level = type1_study(population(), runs=(3, 5), tests=("welch",), simulations=9, rng=rng)
    (axes,) = level.picture().axes
    assert [x for x, _ in drawn_spots(axes)[0]] == [3, 5]


def test_one_point_is_drawn_and_texts_are_there(population, rng):
    found = type1_study(population(), runs=(3,), tests=("welch",), simulations=9, rng=rng)
    text = found.picture().svg("title", "words")
    assert "type-I error" in text
    assert "the level 0.05" in text


def test_the_intervals_of_each_draw_are_drawn(population, rng):
    found = draw_study(
        population(seed=2), population(seed=3), speedup=1.5, simulations=9, resamples=99, rng=rng
    )
    picture = found.picture()
    (axes,) = picture.axes
    curves = {mark.css: mark.points[:, 1] for mark in axes.marks if isinstance(mark, Curve)}
    np.testing.assert_allclose(curves["ink curve"], [draw.ratio for draw in found.each])
    np.testing.assert_allclose(curves["c1 d1 curve"], [draw.hpt for draw in found.each])
    np.testing.assert_allclose(curves["c0 line"], [draw.bootstrap[1] for draw in found.each])
    np.testing.assert_allclose(curves["c2 d2 curve"], [draw.paired_t[1] for draw in found.each])
    assert axes.y.low < found.ratio < 1.5 < axes.y.high
    assert "HPT 0.95-speedup" in picture.svg("t", "a")


def test_draws_of_few_benchmarks_lack_what_does_not_exist(population, rng):
    found = draw_study(population(1), population(1, seed=2), simulations=4, resamples=99, rng=rng)
    picture = found.picture()
    assert "HPT claims no speedup in 4 of 4 draws" in picture.svg("t", "a")
