from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats
from scipy.stats.mstats import hdquantiles

from analysis.errors import InsufficientDataError, UsageError
from analysis.stats.ranks import (
    _friedman,
    friedman,
    harrell_davis,
    mean_shift,
    midranks,
    nemenyi_difference,
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
    shift_of,
    signed_rank_normal,
    signed_rank_table,
    signed_rank_tied,
    smallest_rank_sum_pvalue,
)


def test_midranks_agree_with_scipy_on_plain_ties() -> None:
    rng = np.random.default_rng(8153246)
    for _ in range(50):
        x = rng.integers(0, 8, size=rng.integers(1, 20)).astype(float)
        assert midranks(x).tolist() == stats.rankdata(x).tolist()


def test_rounding_noise_does_not_break_a_tie() -> None:
    x = [0.1 - 0.3, 0.5 - 0.3, 0.5]
    assert abs(x[0]) != abs(x[1])  # the noise is there
    assert midranks(np.abs(x)).tolist() == [1.5, 1.5, 3.0]


def test_a_difference_above_the_tolerance_is_no_tie() -> None:
    assert midranks([1.0, 1.0 + 1e-9]).tolist() == [1.0, 2.0]
    assert midranks([0.0, 1e-300]).tolist() == [1.0, 2.0]  # relative: zero is not near anything


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 6), (2, 3), (3, 3), (4, 2), (5, 5), (6, 3)])
def test_rank_sum_table_against_enumeration(m: int, n: int) -> None:
    sums = [sum(c) for c in combinations(range(1, m + n + 1), m)]
    for w in range(min(sums) - 1, max(sums) + 2):
        share = sum(s >= w for s in sums) / len(sums)
        assert rank_sum_table(w, m, n) == share
        assert rank_sum_table(w - 0.5, m, n) == share  # half-integers count from above
    assert smallest_rank_sum_pvalue(m, n) == 1 / len(sums)


@pytest.mark.parametrize(("m", "n"), [(7, 9), (12, 5), (15, 15)])
def test_rank_sum_table_against_scipy(m: int, n: int) -> None:
    for u in range(0, m * n + 1, 5):
        # scipy's own exact law, reached through untied samples with that U
        x, y = _samples_with_u(u, m, n)
        p = stats.mannwhitneyu(x, y, alternative="greater", method="exact").pvalue
        assert rank_sum_table(u + m * (m + 1) / 2, m, n) == pytest.approx(p, rel=1e-12)


def _samples_with_u(u: int, m: int, n: int) -> tuple[list[float], list[float]]:
    y = list(range(1, n + 1))
    x = []
    for k in range(m):
        beaten = min(n, u)
        u -= beaten
        x.append(beaten + 0.5 + k * 1e-3)
    return x, y


def test_large_rank_sum_tables_stay_finite_and_symmetric() -> None:
    m = n = 120
    mean, total = m * (m + n + 1) / 2, math.comb(240, 120)
    assert rank_sum_table(m * n + m * (m + 1) / 2, m, n) == pytest.approx(1 / total, rel=1e-12)
    below, above = rank_sum_table(mean + 1, m, n), 1 - rank_sum_table(mean, m, n)
    assert below == pytest.approx(above, rel=1e-9)
    w = mean + 1100
    assert rank_sum_table(w, m, n) == pytest.approx(
        rank_sum_normal(w, m, n, continuity=0.5), rel=0.02
    )


def test_rank_sum_tied_against_enumeration() -> None:
    rng = np.random.default_rng(52091)
    for _ in range(20):
        ranks = midranks(rng.integers(0, 4, size=9).astype(float))
        m = int(rng.integers(1, 9))
        sums = np.array([ranks[list(c)].sum() for c in combinations(range(9), m)])
        for w in np.unique(sums):
            share = np.mean(sums >= w - 1e-9)
            assert rank_sum_tied(w, ranks, m) == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_signed_rank_table_against_enumeration(n: int) -> None:
    sums = [sum(k for k, s in zip(range(1, n + 1), c, strict=True) if s) for c in _signs(n)]
    for r in range(-1, n * (n + 1) // 2 + 2):
        share = sum(s <= r for s in sums) / len(sums)
        assert signed_rank_table(r, n) == share
        assert signed_rank_table(r + 0.5, n) == share  # half-integers count from below


def _signs(n: int) -> list[tuple[bool, ...]]:
    return list(product((False, True), repeat=n))


def test_signed_rank_table_against_scipy() -> None:
    rng = np.random.default_rng(990417)
    for n in (12, 24, 45):
        d = rng.normal(0.3, 1, size=n)
        r = stats.rankdata(np.abs(d))[d < 0].sum()
        p = stats.wilcoxon(d, alternative="greater", method="exact").pvalue
        assert signed_rank_table(float(r), n) == pytest.approx(p, rel=1e-12)


def test_large_signed_rank_tables_do_not_overflow() -> None:
    n = 500
    assert signed_rank_table(0, n) == 2.0**-500
    r = n * (n + 1) / 4 - 5000
    assert signed_rank_table(r, n) == pytest.approx(signed_rank_normal(r, n), rel=1e-3)
    assert signed_rank_table(n * (n + 1) / 2, n) == 1.0


def test_signed_rank_tied_against_enumeration() -> None:
    ranks = np.array([1.5, 1.5, 3, 5, 5, 5, 7])
    sums = np.array([ranks[list(c)].sum() for c in _signs(7)])
    for r in np.unique(sums):
        assert signed_rank_tied(r, ranks) == pytest.approx(np.mean(sums <= r), rel=1e-13)
    assert signed_rank_tied(0.0, np.array([])) == 1.0


def test_normal_forms_against_their_formulas() -> None:
    z = (300 - 12 * 25 / 2) / math.sqrt(12 * 12 * 25 / 12)
    assert rank_sum_normal(300, 12, 12) == pytest.approx(stats.norm.sf(z), rel=1e-12)
    z = (121 + 0.5 - 29 * 30 / 4) / math.sqrt(29 * 30 * 59 / 24)
    assert signed_rank_normal(121, 29) == pytest.approx(stats.norm.cdf(z), rel=1e-12)


def test_tied_normal_form_against_scipy() -> None:
    rng = np.random.default_rng(77120)
    x, y = rng.integers(0, 9, size=30).astype(float), rng.integers(1, 9, size=41).astype(float)
    ranks = midranks(np.concatenate([x, y]))
    p = stats.mannwhitneyu(x, y, alternative="greater", method="asymptotic").pvalue
    ours = rank_sum_normal(ranks[:30].sum(), 30, 41, tied_ranks=ranks, continuity=0.5)
    assert ours == pytest.approx(p, rel=1e-10)


def test_normal_form_without_spread() -> None:
    ranks = midranks(np.ones(8))
    assert rank_sum_normal(ranks[:4].sum(), 4, 4, tied_ranks=ranks, continuity=0.5) == 1.0


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0)])
def test_empty_samples_are_refused(m: int, n: int) -> None:
    with pytest.raises(UsageError, match="both sides"):
        rank_sum_table(1, m, n)


def test_signed_rank_table_says_its_range() -> None:
    with pytest.raises(UsageError, match="1 to 1000"):
        signed_rank_table(1, 1001)


# --- Friedman's test against the two published examples, which follow two conventions


# Hollander and Wolfe 1973, p. 140: times of rounding first base, 22 players, three methods; the
# example of R's friedman.test, which prints chi-squared = 11.143, df = 2, p-value = 0.003805
ROUNDING = [
    [5.40, 5.50, 5.55], [5.85, 5.70, 5.75], [5.20, 5.60, 5.50], [5.55, 5.50, 5.40],
    [5.90, 5.85, 5.70], [5.45, 5.55, 5.60], [5.40, 5.40, 5.35], [5.45, 5.50, 5.35],
    [5.25, 5.15, 5.00], [5.85, 5.80, 5.70], [5.25, 5.20, 5.10], [5.65, 5.55, 5.45],
    [5.60, 5.35, 5.45], [5.05, 5.00, 4.95], [5.50, 5.50, 5.40], [5.45, 5.55, 5.50],
    [5.55, 5.55, 5.35], [5.45, 5.50, 5.55], [5.50, 5.45, 5.25], [5.65, 5.60, 5.40],
    [5.70, 5.65, 5.55], [6.30, 6.30, 6.25],
]  # fmt: skip


def test_rounding_first_base_is_corrected_for_ties():
    found = friedman(ROUNDING)
    assert found.statistic_tied == pytest.approx(11.143, abs=5e-4)
    assert found.pvalue_tied == pytest.approx(0.003805, abs=5e-7)
    assert found.statistic < found.statistic_tied  # the plain one is another number


def test_demsar_is_not_corrected():
    # Demsar 2006, section 3.2.2: 9.28, F 3.69 with 3 and 39 degrees of freedom, from printed ranks
    found = _friedman(np.array([3.143, 2.000, 2.893, 1.964]), 14, None)
    assert found.statistic == pytest.approx(9.28, abs=0.01)
    assert found.f == pytest.approx(3.69, abs=0.01)
    assert found.statistic_tied is None


@pytest.mark.parametrize(("alpha", "printed"), [(0.05, 1.25), (0.10, 1.12)])
def test_the_critical_difference_of_demsar(alpha, printed):
    assert nemenyi_difference(4, 14, alpha=alpha) == pytest.approx(printed, abs=0.01)


def test_without_ties_both_are_scipys():
    values = np.random.default_rng(1).normal(size=(12, 4))
    found = friedman(values)
    expected = stats.friedmanchisquare(*values.T)
    assert found.statistic == pytest.approx(expected.statistic)
    assert found.statistic_tied == pytest.approx(expected.statistic)
    assert found.pvalue == pytest.approx(expected.pvalue)


def test_all_tied_says_nothing():
    found = friedman(np.ones((5, 3)))
    assert (found.statistic, found.pvalue) == (0, 1)
    assert found.statistic_tied is None


def test_full_agreement_has_no_f():
    found = friedman(np.tile([1.0, 2.0, 3.0], (6, 1)))
    assert found.statistic == pytest.approx(12)
    assert found.f is None


def test_what_is_refused():
    with pytest.raises(InsufficientDataError):
        friedman([[1.0, 2.0]])
    with pytest.raises(UsageError, match="alpha"):
        nemenyi_difference(3, 5, alpha=0)


# --- Harrell and Davis' quantiles, by scipy's


DECILES = tuple(k / 10 for k in range(1, 10))


@pytest.mark.parametrize("n", [2, 5, 30, 301])
def test_quantiles_are_scipys(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    assert harrell_davis(values, DECILES) == pytest.approx(np.asarray(hdquantiles(values, DECILES)))


def test_the_median_of_three_by_hand() -> None:
    # n = 3, p = 1/2: a beta(2, 2) law, whose steps are 7/27, 13/27, 7/27
    assert harrell_davis(np.array([3.0, 1.0, 2.0]) ** 2, (0.5,)) == pytest.approx(
        [(7 * 1 + 13 * 4 + 7 * 9) / 27]
    )


def test_equal_values_have_no_rounding() -> None:
    assert harrell_davis(np.full(7, 0.1), DECILES).tolist() == [0.1] * 9


def test_what_has_no_quantiles_is_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        harrell_davis(np.ones(3), (1.0,))
    with pytest.raises(InsufficientDataError) as caught:
        harrell_davis(np.empty(0), (0.5,))
    assert (caught.value.n, caught.value.needed) == (0, 1)
    assert harrell_davis(np.array([3.5]), (0.5,)).tolist() == [3.5]  # one is enough


# --- The shift function: scipy's quantiles and t, the coverage of equal laws, and what is left out.


def sessions(rng: np.random.Generator, count: int, runs: int, factor: float = 1.0):
    return [factor * np.exp(rng.normal(0, 0.05, runs)) for _ in range(count)]


def test_paired_sides_are_scipys_quantiles_and_t() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = sessions(rng, 4, 12, 0.5), sessions(rng, 4, 12)
    found = shift_of(ours, theirs, paired=True, confidence=0.9)
    logs = np.array(
        [
            np.log(hdquantiles(a, DECILES)) - np.log(hdquantiles(b, DECILES))
            for a, b in zip(ours, theirs, strict=True)
        ]
    )
    assert found is not None
    assert found.logs == pytest.approx(logs.mean(axis=0))
    interval = stats.ttest_1samp(logs, 0).confidence_interval(0.9)
    assert found.logs - found.half == pytest.approx(interval.low)
    assert found.logs + found.half == pytest.approx(interval.high)
    assert (found.sessions, found.left_out) == (4, 0)


def test_separate_sides_are_scipys_welch() -> None:
    rng = np.random.default_rng(2)
    ours, theirs = sessions(rng, 3, 9, 2.0), sessions(rng, 5, 9)
    found = shift_of(ours, theirs, paired=False, confidence=0.95)
    tables = [np.log([hdquantiles(runs, DECILES) for runs in side]) for side in (ours, theirs)]
    interval = stats.ttest_ind(*tables, equal_var=False).confidence_interval(0.95)
    assert found is not None
    assert found.logs - found.half == pytest.approx(np.asarray(interval.low))
    assert found.sessions == 8


def test_equal_laws_are_covered_as_often_as_said() -> None:
    """The negative control: an interval of 90 % holds no shift in 90 % of trials, not always."""
    rng = np.random.default_rng(20261122)
    held = []
    for _ in range(1500):
        shift = np.exp(rng.normal(0, 0.1, 5))  # what a session does to both sides
        ours = [f * runs for f, runs in zip(shift, sessions(rng, 5, 7), strict=True)]
        theirs = [f * runs for f, runs in zip(shift, sessions(rng, 5, 7), strict=True)]
        found = shift_of(ours, theirs, paired=True, confidence=0.9)
        assert found is not None
        held.append(np.abs(found.logs) <= found.half)
    rates = np.mean(held, axis=0)
    assert rates == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 1500))  # four standard errors


def test_a_shift_of_the_slow_runs_only_is_seen_there() -> None:
    rng = np.random.default_rng(3)
    theirs = sessions(rng, 6, 20)
    ours = [np.where(runs > np.median(runs), 1.5 * runs, runs) for runs in theirs]
    found = shift_of(ours, theirs, paired=True, confidence=0.95)
    assert found is not None
    assert abs(found.logs[0]) < 0.02
    assert found.logs[-1] - found.half[-1] > 0.3


@pytest.mark.parametrize(("runs", "shares"), [(5, 9), (4, 3), (3, 3)])
def test_few_runs_have_quartiles_only(runs: int, shares: int) -> None:
    rng = np.random.default_rng(4)
    found = shift_of(sessions(rng, 3, runs), sessions(rng, 3, 9), paired=True, confidence=0.95)
    assert found is not None
    assert len(found.shares) == shares


def test_what_is_too_little_is_left_out() -> None:
    rng = np.random.default_rng(5)
    two, nine = sessions(rng, 3, 2), sessions(rng, 3, 9)
    assert shift_of(two, nine, paired=True, confidence=0.95) is None
    found = shift_of([*two[:1], *nine[1:]], nine, paired=True, confidence=0.95)
    assert found is not None
    assert (found.sessions, found.left_out, len(found.shares)) == (2, 1, 9)
    assert shift_of([np.zeros(9)], nine[:1], paired=True, confidence=0.95) is None


def test_one_session_has_no_interval() -> None:
    rng = np.random.default_rng(6)
    one = sessions(rng, 1, 9)
    for paired in (True, False):
        found = shift_of(one, one, paired=paired, confidence=0.95)
        assert found is not None
        assert found.logs == pytest.approx(0)
        assert np.isnan(found.half).all()


def test_sessions_that_agree_have_an_interval_without_width() -> None:
    logs, half = mean_shift(np.full((4, 2), np.log(1.1)), 0.95)
    assert logs == pytest.approx(np.log(1.1))
    assert half.tolist() == [0.0, 0.0]
