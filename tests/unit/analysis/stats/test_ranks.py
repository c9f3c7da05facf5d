import math
from itertools import combinations, product

import numpy as np
import pytest
from scipy import stats

from analysis.errors import UsageError
from analysis.stats.ranks import (
    midranks,
    rank_sum_normal,
    rank_sum_table,
    rank_sum_tied,
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
