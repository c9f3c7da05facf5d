"""Tests of what session-level methods suppose: exact laws, and departures that are planted."""

import itertools

import numpy as np
import pytest
import scipy.stats

from analysis.plan.calibration import _law_of_runs, checks_of, lag_pvalue, runs_pvalue
from analysis.plan.rates import _jackknife, _over_benchmarks


def test_runs_about_the_median_by_counting_all_orders():
    for n, m in ((2, 3), (4, 4), (5, 3)):
        orders = set(itertools.permutations([1] * n + [0] * m))
        runs = [sum(a != b for a, b in itertools.pairwise(row)) + 1 for row in orders]
        law = _law_of_runs(n, m)
        assert sum(law.values()) == pytest.approx(1)
        for count, p in law.items():
            assert p == pytest.approx(runs.count(count) / len(orders))


def test_two_runs_of_ten_values():
    # Swed and Eisenhart 1943: P(2 runs; 5, 5) = 2 / 252, and the other tail is as heavy
    assert runs_pvalue(np.arange(10.0), 0.05) == pytest.approx(4 / 252)
    assert runs_pvalue(np.arange(6.0), 0.05) is None  # 2 * 2 / 20 cannot reach .05


def test_neighbours_by_listing_all_orders():
    values = np.array([0.3, -1.2, 0.7, 2.0, -0.4])
    centred = values - values.mean()
    null = [
        -sum((a - b) ** 2 for a, b in itertools.pairwise(row))
        for row in itertools.permutations(centred)
    ]
    seen = -sum((a - b) ** 2 for a, b in itertools.pairwise(centred))
    tail = min(sum(v >= seen - 1e-12 for v in null), sum(v <= seen + 1e-12 for v in null))
    assert lag_pvalue(values, np.random.default_rng(1)) == pytest.approx(min(1, 2 * tail / 120))


def test_a_steady_drift_is_the_most_extreme_order():
    # the ordered values and their mirror image alone have so small steps
    values = np.array([0.1, 0.5, 1.2, 1.4, 2.0, 3.1])
    assert lag_pvalue(values, np.random.default_rng(1)) == pytest.approx(2 * 2 / 720)


def test_no_p_is_zero():
    p = lag_pvalue(np.arange(20.0), np.random.default_rng(1))
    assert p == pytest.approx(2 / 10_000)


def test_planted_departures_are_found_and_clean_values_are_not():
    rng = np.random.default_rng(3)
    clean = {f"b{k}": rng.normal(size=10).tolist() for k in range(20)}
    assert not any(c.departs for c in checks_of(clean, risk=0.05, rng=np.random.default_rng(1)))
    planted = clean | {
        "drifts": (np.arange(10) + 0.1 * rng.normal(size=10)).tolist(),
        "outlier": [0.0, 0.1, -0.1, 0.05, -0.05, 0.02, 0.08, -0.03, 0.01, 9.0],
    }
    found = checks_of(planted, risk=0.05, rng=np.random.default_rng(1))
    assert {(c.benchmark, c.test) for c in found if c.departs} >= {
        ("drifts", "neighbours"),
        ("outlier", "normality"),
    }
    wanted = scipy.stats.false_discovery_control([c.pvalue for c in found])
    assert [c.pvalue_adjusted for c in found] == pytest.approx(wanted.tolist(), rel=1e-12)


def test_few_sessions_and_constant_values_are_not_tested():
    values = {"few": [1.0, 2.0, 3.0, 4.0], "same": [1.0] * 9}
    assert checks_of(values, risk=0.05, rng=np.random.default_rng(1)) == ()


def test_interval_over_benchmarks_is_clopper_and_pearson():
    # R: binom.test(1, 10)$conf.int, binom.test(0, 10)$conf.int
    assert _over_benchmarks(0.1, 10, 0.95) == pytest.approx((0.002528579, 0.445016117), rel=1e-6)
    assert _over_benchmarks(0.0, 10, 0.95) == pytest.approx((0.0, 0.308497096), rel=1e-6)
    assert _over_benchmarks(1.0, 10, 0.95) == pytest.approx((1 - 0.308497096, 1.0), rel=1e-6)


def test_jackknife_of_a_mean_is_its_standard_error():
    # Efron and Stein: leaving one out of a mean gives s / sqrt(n)
    values = np.array([1.0, 3.0, 4.0, 8.0])
    left = [(values.sum() - v) / 3 for v in values]
    error = values.std(ddof=1) / 2
    assert _jackknife(left, 0.95) == pytest.approx(scipy.stats.t.ppf(0.975, 3) * error)
    assert _jackknife([0.5], 0.95) is None


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_neighbours_are_the_same_in_any_unit(unit):
    values = np.array([0.1, 0.5, 1.2, 1.4, 2.0, 3.1])
    assert lag_pvalue(values * unit, np.random.default_rng(1)) == pytest.approx(2 * 2 / 720)
