"""Tests of what session-level methods suppose: exact laws, and departures that are planted."""

import itertools

import numpy as np
import pytest
import scipy.stats

from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.calibration import (
    _law_of_runs,
    checks_of,
    identical_pair,
    identical_variants,
    lag_pvalue,
    runs_pvalue,
)
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


# --- Two variants are identical only where the trial shows it.


def test_one_program_under_two_names(planted):
    trial = read_trial(planted())
    assert identical_variants(trial) == (("one", "two"),)
    assert identical_pair(trial, None) == ("one", "two")


def test_the_baseline_stands_first(planted):
    trial = read_trial(planted(variants=("a", "b", "c"), baseline="b"))
    assert identical_variants(trial) == (("b", "a"), ("b", "c"), ("a", "c"))


def test_other_arguments_are_another_variant(planted):
    trial = read_trial(planted(argv=lambda variant: ["work", variant]))
    assert identical_variants(trial) == ()
    with pytest.raises(
        InsufficientDataError, match="no two variants of the trial are identical"
    ) as e:
        identical_pair(trial, None)
    assert "variants: {one: {}, two: {}}" in str(e.value)
    assert "--pair A,B" in str(e.value)


def test_another_program_is_another_variant_even_in_one_session(planted):
    def program(variant, session):
        return "0" * 64 if (variant, session) == ("two", 3) else "f" * 64

    assert identical_variants(read_trial(planted(program=program))) == ()


def test_what_each_session_builds_is_identical_where_it_is_in_every_session(planted):
    # authority: hashes are compared within a session only (docs/layouts.md)
    shared = planted("shared", program=lambda _variant, session: f"{session}" * 64)
    assert identical_variants(read_trial(shared)) == (("one", "two"),)
    own = planted("own", program=lambda variant, session: f"{variant}{session}")
    assert identical_variants(read_trial(own)) == ()


def test_an_unknown_program_is_no_proof(planted):
    assert identical_variants(read_trial(planted(program=lambda *_: None))) == ()


def test_a_trial_of_the_first_version_shows_nothing(planted, synthetic, tmp_path):
    values = [1.0, 1.1, 1.2, 1.3]
    path = synthetic({"a": {"x": values}, "b": {"x": values}}, sessions=2).write(tmp_path / "old")
    assert identical_variants(read_trial(path)) == ()
    assert identical_pair(read_trial(path), ("b", "a")) == ("b", "a")


@pytest.mark.parametrize(
    ("pair", "said"), [(("one", "three"), "no variant 'three'"), (("one", "one"), "on both sides")]
)
def test_a_wrong_pair_is_refused(planted, pair, said):
    with pytest.raises(UsageError, match=said):
        identical_pair(read_trial(planted()), pair)
