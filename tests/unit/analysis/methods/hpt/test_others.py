"""The paired t and the interval technique as functions of a speedup: scipy is the oracle."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.hpt.compare import hpt
from analysis.methods.hpt.page import hpt_report
from analysis.methods.hpt.speedup import paired_t_confidence, paired_t_speedup


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_speedup_is_where_the_test_just_accepts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 30)), float(rng.choice([0.6, 0.9, 0.95, 0.99]))
    v = rng.lognormal(0, rng.choice([0.05, 0.5, 2.0]), n)
    u = v ** rng.choice([0, 0.5, 1]) * rng.lognormal(0.2, rng.choice([0.05, 0.5, 1.5]), n)

    def accepted(*speedups: float) -> np.ndarray:
        done = stats.ttest_rel(u[:, None], np.outer(v, speedups), alternative="greater")
        return done.pvalue <= 1 - r

    found = paired_t_speedup(u, v, r)
    grid = np.geomspace(1e-4, 1e4, 4001)
    if found is None:
        assert not accepted(*grid).any()
        return
    assert accepted(found * (1 - 1e-7)).all()
    beyond = found * (1 + 1e-7)
    assert not accepted(beyond, *grid[grid > beyond]).any()
    # the lower end of the two-sided interval of the differences is 0 there
    done = stats.ttest_rel(u, found * v).confidence_interval(2 * r - 1)
    assert done.low == pytest.approx(0, abs=1e-6 * float(np.mean(u)))


def test_what_has_no_answer() -> None:
    one, two = np.array([2.0]), np.array([1.0])
    assert paired_t_confidence(one, two) is None
    assert paired_t_speedup(one, two) is None
    equal = np.full(4, 2.0), np.full(4, 1.0)
    assert paired_t_speedup(*equal) is None  # no spread at any speedup
    assert paired_t_confidence(*equal) is None
    v = np.array([1.0, 1.1, 0.9, 1.05])
    assert paired_t_speedup(2 * v, v) == pytest.approx(2, rel=1e-6)  # proportional: up to the ratio


@pytest.mark.parametrize("scores", ["raw", "ratio", "log-ratio"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_rules_agree_with_their_own_tests_at_the_speedup(better: str, scores: str) -> None:
    rng = np.random.default_rng(5)
    shift = 0.3 if better == "higher" else -0.3
    ours = {f"b{k}": rng.lognormal(shift, 0.1, 5) for k in range(8)}
    theirs = {f"b{k}": rng.lognormal(0, 0.1, 5) for k in range(8)}
    sides = tuple(
        PerformanceMatrix.from_samples(name, rows, better=better)
        for name, rows in (("A", ours), ("B", theirs))
    )
    _, t, interval = hpt_report(*sides, scores=scores, others=True).others
    for rule, level in ((t, 0.95), (interval, 0.975)):
        assert rule.speedup is not None
        there = hpt_report(*sides, scores=scores, speedup=rule.speedup, others=True)
        assert there.context.paired_t[0].confidence == pytest.approx(level, abs=1e-9)
    assert interval.speedup < t.speedup
    for g in (1.2, 3.0):  # the interval's confidence is 0 where the mean is below 0
        tested = hpt_report(*sides, scores=scores, speedup=g, others=True)
        p = tested.context.paired_t[0].pvalue_two_sided or 0
        found = tested.others[2].confidence
        assert found == pytest.approx(1 - p if g < 2 else 0, abs=1e-12)
    tested = hpt_report(*sides, scores=scores, speedup=1.2, others=True)
    assert tested.others[1].confidence == pytest.approx(tested.context.paired_t[0].confidence)


def test_wrong_alternative() -> None:
    side = PerformanceMatrix.from_samples("A", {"a": [1.0, 2.0]}, better="lower")
    with pytest.raises(UsageError, match="alternative must be 'candidate', 'baseline'"):
        hpt(side, side, alternative="greater")


def test_two_sided_levels() -> None:
    # Under equal programs each direction alone is claimed too often together, both at once are not.
    rng = np.random.default_rng(11)
    n, r, said = 9, 0.9, {None: 0, "two-sided": 0}
    names = [f"b{k}" for k in range(n)]
    for _ in range(300):
        logs = rng.normal(0, 1, n)
        a = PerformanceMatrix.from_samples(
            "A", {k: [math.exp(x)] for k, x in zip(names, logs, strict=True)}, better="higher"
        )
        b = PerformanceMatrix.from_samples("B", {key: [1.0] for key in names}, better="higher")
        for name in said:
            found = hpt(a, b, confidence=r, scores="log-ratio", alternative=name)
            said[name] += found.outcome != "undecided"
    assert said["two-sided"] <= 300 * 0.1 + 3 * math.sqrt(300 * 0.09)
    assert said[None] > 300 * 0.14  # the negative control: each direction by its own p


def test_level_of_both_rules() -> None:
    # Equal means: a speedup above 1 is claimed in 1 - r of suites by t, (1 - r) / 2 by the interval.
    rng = np.random.default_rng(7)
    draws = 500
    t = interval = wrong = 0
    for _ in range(draws):
        v, u = rng.normal(10, 1, (2, 12))
        t += (paired_t_speedup(u, v, 0.9) or 0) > 1
        interval += (paired_t_speedup(u, v, 0.95) or 0) > 1
        wrong += (paired_t_speedup(u * 1.05, v, 0.9) or 0) > 1
    error = 4 * math.sqrt(draws * 0.1 * 0.9)
    assert abs(t - 0.1 * draws) < error
    assert abs(interval - 0.05 * draws) < error
    assert wrong > 0.1 * draws + error  # the negative control: a difference is found
