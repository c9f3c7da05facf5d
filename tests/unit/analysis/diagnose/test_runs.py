"""Tests of runs: means and variances over all orders by enumeration, p-values against scipy.

Authority: exact enumeration of the orders of small series (exchangeability), scipy's Kruskal-Wallis and
Friedman, and the definition of each statistic.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.diagnose.cell_tests import (
    described,
    lag_moments,
    midranks_along,
    of_matrix,
    series_of,
    session_shift,
    within_sessions,
)
from analysis.diagnose.examine import diagnose_runs
from analysis.diagnose.host_tests import host_speeds, host_tests

FIRST = [3.1, 1.0, 4.2, 1.5, 5.9, 2.6]
TIED = [2.0, 1.0, 2.0, 3.0, 3.0, 2.0]


def table_of(*sessions):
    values = [value for session in sessions for value in session]
    labels = [k for k, session in enumerate(sessions) for _ in session]
    known = {"better": "lower", "sessions": {"b": labels}}
    return of_matrix(PerformanceMatrix.from_samples("v", {"b": values}, **known))


def pvalues(table):
    series = series_of(table)
    tests = (*within_sessions(series), session_shift(series))
    return {test.code: test.pvalues for test in tests}


def test_ranks_are_scipys_and_absent_runs_rank_last():
    rows = np.array([[3.0, 1.0, 2.0, 2.0, np.inf, np.inf], [5.0, 5.0, 5.0, 1.0, 7.0, np.inf]])
    for row, ranked in zip(rows, midranks_along(rows), strict=True):
        known = np.isfinite(row)
        assert ranked[known].tolist() == stats.rankdata(row[known]).tolist()


@pytest.mark.parametrize("values", [FIRST, TIED])
@pytest.mark.parametrize("lag", [1, 2, 3])
def test_serial_products_have_the_moments_of_all_orders(values, lag):
    series = series_of(table_of(values))
    _, mean, variance = lag_moments(series, lag)
    ranks = stats.rankdata(values) - 3.5
    orders = itertools.permutations(ranks)
    sums = [sum(a * b for a, b in zip(one[lag:], one, strict=False)) for one in orders]
    assert mean.item() == pytest.approx(np.mean(sums), abs=1e-12)
    assert variance.item() == pytest.approx(np.var(sums), rel=1e-12)


def test_order_is_spearmans_correlation_with_its_exact_variance():
    values = np.random.default_rng(1).permutation(30) + 1.0
    rho = stats.spearmanr(values, np.arange(30)).statistic
    p = pvalues(table_of(values))["order"].item()
    assert p == pytest.approx(2 * stats.norm.sf(abs(rho) * np.sqrt(29)), rel=1e-9)


def test_runs_test_is_that_of_the_definition():
    # + + + + + - - - - - + + + + + - - - - -: 4 runs of 10 and 10 values
    values = np.r_[np.arange(5) + 100, np.arange(5), np.arange(5) + 200, np.arange(5) + 10.0] + 1.0
    mean, variance = 1 + 200 / 20, 200 * (200 - 20) / (20**2 * 19)
    z = (abs(4 - mean) - 0.5) / np.sqrt(variance)
    found = pvalues(table_of(values))["runs-test"].item()
    assert found == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


def test_session_shift_is_kruskal_and_wallis():
    rng = np.random.default_rng(2)
    parts = [np.round(rng.normal(10, 1, n), 1) for n in (8, 5, 12)]  # with ties
    found = pvalues(table_of(*parts))["session-shift"].item()
    assert found == pytest.approx(stats.kruskal(*parts).pvalue, rel=1e-9)


def mean_agreement(rows):
    """Give the mean rank correlation between two cells, over all pairs; a column is a cell."""
    correlations = stats.spearmanr(np.array(rows)).statistic
    return correlations[np.triu_indices_from(correlations, 1)].mean()


def test_blocks_and_sessions_are_friedmans(simulated):
    table = simulated(np.random.default_rng(3), benchmarks=5, variants=1, sessions=1, runs=12)
    by_block = [
        [table.values[(table.benchmark == b) & (table.block == r)].item() for b in range(5)]
        for r in range(12)
    ]
    found = {test.code: test for test in host_tests(series_of(table))}
    assert found["host-blocks"].pvalue == pytest.approx(stats.friedmanchisquare(*by_block).pvalue)
    assert found["host-blocks"].size == pytest.approx(mean_agreement(by_block))
    alike = replace(table, values=1.0 + table.block // 4)  # whose middle ranks are 0
    by_block = [[k // 4] * 5 for k in range(12)]
    found = {test.code: test for test in host_tests(series_of(alike))}
    assert found["host-blocks"].pvalue == pytest.approx(stats.friedmanchisquare(*by_block).pvalue)
    table = simulated(np.random.default_rng(4), benchmarks=6, variants=1, sessions=4, runs=7)
    medians = [
        [np.median(table.values[(table.benchmark == b) & (table.session == s)]) for b in range(6)]
        for s in range(4)
    ]
    found = {test.code: test for test in host_tests(series_of(table))}
    assert found["host-sessions"].pvalue == pytest.approx(stats.friedmanchisquare(*medians).pvalue)
    assert found["host-sessions"].size == pytest.approx(mean_agreement(medians))


def test_a_warm_up_is_the_mean_standardised_rank_of_first_runs(simulated):
    table = simulated(np.random.default_rng(21), benchmarks=3, variants=1, sessions=2, runs=9)
    first = []
    for cell in itertools.product(range(3), range(2)):
        mine = table.values[(table.benchmark == cell[0]) & (table.session == cell[1])]
        first.append(stats.zscore(stats.rankdata(mine))[0])
    (test,) = (t for t in host_tests(series_of(table)) if t.code == "host-warm-up")
    assert test.size == pytest.approx(np.mean(first))
    z = np.sum(first) / np.sqrt(6)
    assert test.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)))


def test_a_session_of_few_runs_hides_no_change_in_a_later_one(simulated):
    whole = simulated(np.random.default_rng(22), benchmarks=2, variants=1, sessions=3, runs=20)
    kept = (whole.session > 0) | (whole.block < 2)
    rows = ("values", "benchmark", "variant", "session", "block", "start_s")
    table = replace(whole, **{name: getattr(whole, name)[kept] for name in rows})
    changes = [t for t in host_tests(series_of(table)) if t.code == "host-change"]
    assert [test.session for test in changes] == [1, 2]


@pytest.mark.parametrize("shape", [{"sessions": 2, "runs": 16}, {"sessions": 16, "runs": 3}])
def test_neighbours_have_the_variance_of_all_orders(simulated, shape):
    """Authority: 40,000 random orders of the runs within each series, of which the sum is taken."""
    table = simulated(np.random.default_rng(5), benchmarks=2, variants=1, **shape)
    series = series_of(table)
    (test,) = (t for t in host_tests(series) if t.code == "host-neighbours")
    scaled = series.scaled()
    rng = np.random.default_rng(6)
    sums = []
    group = table.benchmark + 2 * table.session
    pair = (group[1:] != group[:-1]) & (table.session[1:] == table.session[:-1])
    for _ in range(40_000):
        scores = np.empty(table.values.size)
        scores[series.row] = rng.permuted(scaled, axis=2)
        sums.append((scores[1:] * scores[:-1])[pair].sum())
    scores[series.row] = scaled
    observed = (scores[1:] * scores[:-1])[pair].sum()
    assert abs(np.mean(sums)) < 0.1
    z = stats.norm.isf(test.pvalue / 2)
    assert abs(observed) / z == pytest.approx(np.std(sums), rel=0.02)
    assert test.size == pytest.approx(observed / pair.sum())


def test_within_session_tests_do_not_see_shifts_between_sessions_or_the_scale():
    rng = np.random.default_rng(7)
    parts = [rng.lognormal(0, 0.2, 12) for _ in range(4)]
    moved = [part * factor for part, factor in zip(parts, (1, 3, 0.2, 9), strict=True)]
    scaled = [np.sqrt(part) for part in parts]
    first = pvalues(table_of(*parts))
    for other in (moved, scaled):
        again = pvalues(table_of(*other))
        assert all(again[code] == first[code] for code in first if code != "session-shift")
    assert pvalues(table_of(*moved))["session-shift"] < 1e-6


def test_each_plant_is_found_where_it_was_put():
    rng = np.random.default_rng(8)
    noise = [rng.normal(0, 0.02, 30) for _ in range(4)]

    def found(*logs):
        return {code: p.item() for code, p in pvalues(table_of(*map(np.exp, logs))).items()}

    clean = found(*noise)
    assert min(clean.values()) > 0.001  # the negative control
    assert found(*(part + np.linspace(0, 0.06, 30) for part in noise))["order"] < 1e-9
    steps = [part + 0.12 * (k == 2) * (np.arange(30) >= 20) for k, part in enumerate(noise)]
    series = series_of(table_of(*map(np.exp, steps)))
    (change,) = (t for t in within_sessions(series) if t.code == "change-point")
    assert change.pvalues.item() < 0.01  # the least that 30 runs in one of 4 sessions can give
    assert (change.session.item(), change.place.item()) == (2, 20)
    chained = []
    for part in noise:
        row = part.copy()
        for k in range(1, 30):
            row[k] += 0.7 * row[k - 1]
        chained.append(row)
    dependent = found(*chained)
    assert max(dependent[code] for code in ("lag-1", "ljung-box", "runs-test")) < 1e-3
    first = [part + 0.2 * (np.arange(30) == 0) for part in noise * 3]
    assert found(*first)["warm-up"] < 1e-7


def test_under_ten_runs_nothing_is_tested_and_short_sessions_are_pooled():
    few = pvalues(table_of([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0]))
    assert all(np.isnan(p).all() for p in few.values())
    pooled = pvalues(table_of(*([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],) * 6))
    assert pooled["order"].item() < 1e-9
    assert np.isnan(pooled["change-point"].item())  # no session has 10 runs


@pytest.mark.parametrize(
    "values", [[1.0] * 12, [1e-300, 1e300] * 6, [5e-324, 1.7e308] * 6, [1.0] * 11 + [2.0]]
)
def test_values_without_spread_and_at_the_ends_give_pvalues_or_nothing(values):
    for p in pvalues(table_of(values, values)).values():
        assert ((p > 0) & (p <= 1) | np.isnan(p)).all()


def test_effective_runs_of_an_autoregression_and_of_sessions():
    """Authority: n (1 - a) / (1 + a) for AR(1), S where only sessions vary."""
    rng = np.random.default_rng(9)
    rows = rng.normal(0, 1, (1, 4000))
    for k in range(1, 4000):
        rows[:, k] += 0.5 * rows[:, k - 1]
    figures = described(series_of(table_of(*np.exp(0.01 * rows))))
    assert figures.effective.item() == pytest.approx(4000 / 3, rel=0.15)
    level = rng.normal(0, 1, (10, 1)) + 1e-3 * rng.normal(0, 1, (10, 20))
    told = described(series_of(table_of(*np.exp(level))))
    assert told.effective.item() == pytest.approx(10, rel=0.01)
    clean = described(series_of(table_of(*np.exp(rng.normal(0, 0.1, (10, 20))))))
    assert clean.effective.item() > 100  # the negative control


def test_ties_steps_and_far_runs():
    ticks = np.round(np.random.default_rng(10).normal(10, 1, 40), 1) / 10
    figures = described(series_of(table_of(ticks)))
    assert figures.resolution.item() == pytest.approx(0.01)
    assert figures.ties.item() > 0.5
    clean = np.random.default_rng(11).normal(10, 1, 40)
    figures = described(series_of(table_of(clean)))
    assert (figures.ties.item(), figures.far.sum()) == (0.0, 0)
    assert np.isnan(figures.resolution.item())
    clean[7] = 40
    far = described(series_of(table_of(clean))).far
    assert np.argwhere(far).tolist() == [[0, 0, 7]]


@pytest.mark.parametrize("found", [True, False])
def test_modes_are_those_within_sessions(found):
    """Runs that flip have two modes; sessions that are whole at one speed or the other have none (public-cases, F7)."""
    rng = np.random.default_rng(12)
    slow = rng.permutation(72).reshape(6, 12) % 2 if found else np.tile([0, 1], 3)[:, None]
    values = (20 + 170 * slow) * np.exp(0.02 * rng.standard_normal((6, 12)))
    told = diagnose_runs(values.ravel(), sessions=np.repeat(np.arange(6), 12).tolist())
    modes = [one for one in told.findings if one.code == "modes"]
    assert bool(modes) == found
    if found:
        assert modes[0].text.startswith("runs have 2 modes, 36 near ")
        assert "modes" in {one.code for one in told.cautions}


def test_a_host_with_two_speeds_is_told_from_one_that_wanders_and_from_bimodal_programs(simulated):
    rng = np.random.default_rng(12)
    size = 4 * 2 * 4 * 20
    state = np.cumsum(rng.random(size) < 0.02) % 2

    def speeds(effect):
        table = simulated(np.random.default_rng(13), sessions=4, runs=20, effect=lambda _: effect)
        tests, speeds = host_tests(series_of(table)), host_speeds(series_of(table))
        return min(t.pvalue for t in tests if t.code in ("host-blocks", "host-neighbours")), speeds

    least, two = speeds(0.1 * state)
    assert least < 1e-6
    assert two.two
    assert two.ratio == pytest.approx(np.exp(0.1), rel=0.03)
    assert two.share == pytest.approx(state.mean(), abs=0.1)
    # the levels lie around 1, the median of each cell, as far apart as the ratio says
    assert two.lower <= 1 <= two.lower * two.ratio
    least, wandering = speeds(0.2 * np.sin(np.arange(size) / 40))
    assert least < 1e-6
    assert not wandering.two
    least, own = speeds(0.1 * (rng.random(size) < 0.4))
    assert least > 0.001
    assert not own.two


def test_ticks_of_one_speed_are_no_two_speeds(simulated):
    """Authority: research/rules-2.md, section 8; stored draws of one spread a tick, 11 of 12 of which had two."""
    for k in range(4):
        table = simulated(np.random.default_rng([5, k]), sessions=4, runs=20)
        mean = np.exp(0.7 * table.benchmark + 0.3 * table.variant)
        ticks = replace(table, values=np.rint(table.values / mean / 0.05) * 0.05 * mean)
        assert not host_speeds(series_of(ticks)).two


def test_two_speeds_that_change_between_sessions_only(simulated):
    rng = np.random.default_rng(14)
    table = simulated(rng, sessions=6, runs=8, effect=lambda t: 0.1 * (t.session >= 4))
    found = host_speeds(series_of(table))
    assert found.two
    assert [one.session for one in found.sessions if one.share > 0.5] == [5, 6]
    assert found.switches == 0


def test_one_cell_has_no_host():
    assert host_tests(series_of(table_of(np.arange(1.0, 30)))) == ()


def test_where_the_order_is_unknown_nothing_depends_on_it():
    """Authority: what is computed of values in any order must not change when they are shuffled."""
    rng = np.random.default_rng(3)
    sessions = [np.sort(rng.normal(10, 1, 12)).tolist() for _ in range(3)]
    mixed = [rng.permutation(one).tolist() for one in sessions]

    def figures(rows, in_order):
        table = replace(table_of(*rows), in_order=in_order)
        found = described(series_of(table))
        return [found.lag_1, found.effective, found.spread, found.session_sd]

    for one, other in zip(figures(sessions, False), figures(mixed, False), strict=True):
        assert np.allclose(one, other, equal_nan=True)
    assert np.isnan(figures(sessions, False)[0]).all()
    # the control: with a known order, sorted runs are not those in a random order
    assert figures(sessions, True)[1][0] < 0.7 * figures(mixed, True)[1][0]
