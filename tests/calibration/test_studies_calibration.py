"""The study commands against rates that others found: error rates, power and coverage.

Twelve benchmarks. "Published" are the rates of an independent program in this project's survey of
analysis tools, on fresh lognormal noise; here the population is 4,000 values of such noise.
"""

from __future__ import annotations

import csv
import lzma
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.plan.draw import draw_study
from analysis.plan.error_rates import coverage_study, power_study, type1_study
from analysis.stats.arguments import stream

pytestmark = pytest.mark.calibration

GO = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "go_bent" / "go_bent_even.csv.xz"
N = 12
SPREAD = np.geomspace(0.003, 0.10, N)[:, None]


def population(spread, label):
    logs = spread * stream(7, label).normal(size=(N, 4000))
    return PerformanceMatrix.from_samples(
        "p", {f"b{k}": np.exp(row) for k, row in enumerate(logs)}, better="lower"
    )


def error(rate, trials):
    return math.sqrt(rate * (1 - rate) / trials)


def test_coverage_at_three_runs_is_the_published_one():
    published = {
        "percentile": 0.861,
        "corrected": 0.922,
        "bca": 0.856,
        "studentized": 0.957,
        "t": 0.956,
    }
    trials = 400
    found = coverage_study(
        population(SPREAD, "het"),
        runs=(3,),
        intervals=(*published, "paired-t", "hpt"),
        simulations=trials,
        resamples=499,
        rng=stream(7, "c"),
    )
    for cell in found.every:
        # theory: the paired t interval has its level here, and HPT claims with 0.95 or more
        want = published.get(cell.interval, 0.95)
        if cell.interval == "hpt":
            assert cell.rate > want - 4 * error(want, trials)
            continue
        assert abs(cell.rate - want) < 4 * error(want, trials) + 0.006, cell
    rates = {cell.interval: cell.rate for cell in found.every}
    # the negative control: an interval that is too narrow is seen to be
    assert rates["percentile"] < 0.95 - 4 * error(0.95, trials)


def test_type_1_errors_are_the_published_ones():
    trials = 300
    found = type1_study(
        population(np.full((N, 1), 0.03), "homo"),
        runs=(5,),
        simulations=trials,
        resamples=499,
        rng=stream(7, "e"),
    )
    # HPT here is two-sided, hence no more than the published .000 of either side
    for test, want in (("randomization", 0.057), ("welch", 0.059), ("t", 0.050)):
        assert abs(found.rate(test) - want) < 4 * error(want, trials) + 0.004, test
    assert found.rate("hpt") < 4 * error(0.005, trials)


@pytest.mark.spot_check
def test_power_with_few_shifted_benchmarks_is_as_in_the_paper():
    # Figure 6: the randomization test finds one shifted benchmark of 13 where HPT and the t-test
    # do not; once most are shifted, all tests do.
    found = power_study(
        population(np.full((N, 1), 0.01), "calm"),
        shift=1.3,
        shifted=(0, 1, 12),
        simulations=60,
        resamples=199,
        rng=stream(7, "p"),
    )
    assert found.rate("randomization", shifted=1) > 0.9
    assert max(found.rate("hpt", shifted=1), found.rate("t", shifted=1)) < 0.2
    for test in ("hpt", "t", "randomization"):
        assert found.rate(test, shifted=12) == 1.0
        assert found.rate(test, shifted=0) < 0.2


@pytest.mark.spot_check
def test_the_power_study_as_published_is_figure_6():
    """Section 6.1: 13 benchmarks whose sds range from 0.012 to 0.91, 1.0 s more on L of them, 5 of 1,000
    runs without replacement, two-sided at 0.05.

    Printed of the figure: the false discovery rates of all are near 0.05 or below; the randomization
    test has more power at L from one to seven; t is positive from four on; all are perfect above seven.
    The 13 means are not printed: here 6 to 40 s.
    """
    sds = np.geomspace(0.012, 0.91, 13)
    means = np.array([6.0, 9, 14, 8, 20, 11, 30, 17, 25, 12, 40, 16, 22])
    noise = stream(7, "figure 6").gamma(2, 1, size=(13, 1000))
    rows = means[:, None] + sds[:, None] * (noise - 2) / math.sqrt(2)
    found = power_study(
        PerformanceMatrix.from_samples(
            "A", {f"b{k}": row for k, row in enumerate(rows)}, better="lower"
        ),
        shift_by=1.0,
        shifted=(0, 1, 4, 8),
        replace=False,
        tests=("hpt", "t", "randomization"),
        simulations=30,
        resamples=99,
        rng=stream(7, "f6"),
    )
    for test in ("hpt", "t", "randomization"):
        assert found.rate(test, shifted=0) < 0.05 + 4 * error(0.05, 30)
        assert found.rate(test, shifted=8) > 0.95
    for shifted in (1, 4):
        others = max(found.rate(test, shifted=shifted) for test in ("hpt", "t"))
        assert found.rate("randomization", shifted=shifted) > others + 0.1
    assert found.rate("t", shifted=1) < 0.1 < found.rate("t", shifted=4)
    assert found.rate("t", shifted=4) > found.rate("hpt", shifted=4)  # section 6.1, figure 6 b


def test_draws_of_two_real_systems_say_what_figure_8_and_table_5_do():
    """Section 6.3 on nights of the Go benchmarks, one run of Base and one of Tip: its PARSEC runs are not printed.

    Printed: the randomization test always tells two close systems, the paired t and HPT not (Table 5, C
    against A at 0.01: 100, 91 and 5 of 100); the t interval is much wider than the bootstrap's; HPT's
    speedup is below the measured ratio and near the t interval's lower end. Base against Base of another
    night is the negative control: hardly anything is told there.
    """
    if not GO.exists():
        pytest.skip("the nightly runs of the Go benchmarks are not beside this project")
    nights: dict = defaultdict(lambda: defaultdict(list))
    with lzma.open(GO, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            nights[row["toolchain"], row["stamp"]][row["benchmark"]].append(float(row["ns_per_op"]))
    stamps = list(dict.fromkeys(stamp for _, stamp in nights))
    some = list(nights["Base", stamps[0]])[:40]

    def night(toolchain, stamp):
        runs = nights[toolchain, stamp]
        rows = {b: runs[b] for b in some if len(runs[b]) > 20}
        return PerformanceMatrix.from_samples(toolchain, rows, better="lower", unit="ns")

    base, tip, again = night("Base", stamps[0]), night("Tip", stamps[-1]), night("Base", stamps[5])
    options = {"replace": False, "simulations": 30, "resamples": 499}
    found = draw_study(tip, base, rng=stream(7, "go"), **options)
    assert found.rejected("randomization", 0.01) == 30
    for test in ("hpt", "t", "interval"):
        assert found.rejected(test, 0.01) < 10 <= found.rejected(test, 0.05)
    cells = {cell.interval: cell for cell in found.intervals}
    assert cells["paired-t"].width > 3 * cells["percentile"].width
    assert cells["hpt"].rate == 1.0
    assert abs(cells["hpt"].low - cells["paired-t"].low) < 0.2 * cells["paired-t"].width
    assert cells["hpt"].low < cells["percentile"].low < found.ratio
    control = draw_study(again, base, rng=stream(7, "go again"), **options)
    assert control.rejected("hpt", 0.05) == 0
    assert control.rejected("randomization", 0.01) < 10
