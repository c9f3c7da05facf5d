"""The appendices of the Speedup-Test against the report, against R, and against exact laws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.estimators import PUBLISHED_SIZES, normal_spread
from analysis.diagnose.normality import SIZES, central_limit_study

HERE = Path(__file__).parent

# R 4.2.2: sqrt of integrate(function(x) x^2 * d(x)) less the squared mean, d the density of the order
# statistic; for even n two nested integrals over the middle pair, the inner one up to x + 90 / n;
# rel.tol 1e-11 and 1e-12
R_MINIMUM = {
    2: 0.825645271177,
    5: 0.668979871910,
    20: 0.525068200921,
    50: 0.464448500873,
    100: 0.429423815811,
    1000: 0.351362230602,
    10_000: 0.304156211827,
}
R_MEDIAN = {
    3: 0.669829160740,
    4: 0.546076568290,
    5: 0.535568540530,
    10: 0.371922620764,
    20: 0.270992670943,
    21: 0.270665393034,
    50: 0.174793692299,
}

# R 4.2.2 on the samples that `power_residues` makes: N <- min(500, 1000 %/% n);
# x <- matrix(v[1:(N * n)], n); shapiro.test(colMeans(x)); shapiro.test(apply(x, 2, median))
R_SHAPIRO = {
    ("lognormal", 5): (200, 1.12829255346574e-10, 1.14783268327453e-07),
    ("lognormal", 30): (33, 0.164981809663567, 0.0652264187838238),
    ("lognormal", 100): (10, 0.256951678957667, 0.892286903971632),
    ("exponential", 5): (200, 2.67514654410873e-08, 8.37486579903487e-12),
    ("exponential", 30): (33, 0.420564887447708, 0.585193154469172),
    ("exponential", 100): (10, 0.706542704296505, 0.903978954751467),
    ("normal", 5): (200, 0.465265951353155, 0.370711313438058),
    ("normal", 30): (33, 0.592266707793837, 0.438180996457424),
    ("normal", 100): (10, 0.935288995177146, 0.911865691332637),
}
# the same at every size: on how many of the three p <= 0.05; what is not here is 0
R_MEANS = {5: 2, 10: 2}
R_MEDIANS = {5: 2, 10: 2, 15: 1, 55: 1}


def power_residues() -> PerformanceMatrix:
    """Give 1,000 runs each of three laws, at the powers of 11 modulo 1009: anyone can make them."""
    u, k = [], 1
    for _ in range(1000):
        k = k * 11 % 1009
        u.append(k / 1009)
    z = stats.norm.ppf(u)
    rows = {"lognormal": np.exp(0.8 * z), "exponential": 1 - np.log(u), "normal": 10 + z}
    return PerformanceMatrix.from_samples("residues", rows, better="lower")


def test_table_1_of_the_report() -> None:
    golden = json.loads((HERE / "speedup_test" / "expected.json").read_text())
    table = golden["published"]["appendix_A"]
    assert tuple(table["n"]) == PUBLISHED_SIZES
    for n, mean, minimum in zip(table["n"], table["sd_mean"], table["sd_min"], strict=True):
        # two printed digits, from 10,000 samples: half a digit, and three standard errors
        ours = normal_spread(n)
        assert abs(ours.mean - mean) < 0.005 + 3 * ours.mean / np.sqrt(20_000)
        assert abs(ours.minimum - minimum) < 0.005 + 3 * ours.minimum / np.sqrt(20_000)


def test_minimum_of_normal_values_against_r() -> None:
    for n, sd in R_MINIMUM.items():
        assert normal_spread(n).minimum == pytest.approx(sd, rel=1e-11)


def test_median_of_normal_values_against_r() -> None:
    for n, sd in R_MEDIAN.items():
        assert normal_spread(n).median == pytest.approx(sd, rel=1e-11)


def test_exact_cases_of_normal_values() -> None:
    one, two = normal_spread(1), normal_spread(2)
    assert (one.minimum, one.median, one.mean) == pytest.approx((1, 1, 1), abs=1e-12)
    assert two.minimum == pytest.approx(np.sqrt(1 - 1 / np.pi), rel=1e-12)
    assert two.median == pytest.approx(np.sqrt(0.5), rel=1e-12)
    three = normal_spread(3)
    exact = 1 + (2 * np.sqrt(3) - 9) / (4 * np.pi)
    assert three.minimum**2 == pytest.approx(exact, rel=1e-12)
    assert three.median**2 == pytest.approx(1 - np.sqrt(3) / np.pi, rel=1e-12)
    # for large n the median's variance is pi / (2 n)
    assert normal_spread(10**6).median * 1e3 == pytest.approx(np.sqrt(np.pi / 2), rel=1e-6)


@pytest.mark.parametrize(("name", "n"), R_SHAPIRO)
def test_central_limit_tests_against_r(name: str, n: int) -> None:
    samples, mean, median = R_SHAPIRO[name, n]
    study = central_limit_study(power_residues(), rng=np.random.default_rng(0))
    (row,) = (row for row in study.benchmarks if row.name == name)
    (cell,) = (cell for cell in row.cells if cell.size == n)
    assert (cell.samples, cell.draws) == (samples, "disjoint")
    assert cell.mean.pvalue == pytest.approx(mean, rel=1e-5)
    assert cell.median.pvalue == pytest.approx(median, rel=1e-5)


def test_central_limit_counts_against_r() -> None:
    study = central_limit_study(power_residues(), rng=np.random.default_rng(0))
    assert [count.size for count in study.counts] == list(SIZES)
    for count in study.counts:
        assert count.means_not_normal == R_MEANS.get(count.size, 0)
        assert count.medians_not_normal == R_MEDIANS.get(count.size, 0)
        assert count.benchmarks == count.means_tested == count.medians_tested == 3
    assert study.enough("disjoint", "means") == study.enough("disjoint", "medians") == 15
