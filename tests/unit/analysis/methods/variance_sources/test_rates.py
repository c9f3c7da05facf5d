"""Counts and their rates: what grows with a run, what stays, and what costs time.

Authority: what was planted; for the orders to first order, the same with counts made again from shifted runs.
"""

import numpy as np
import pytest

from analysis.methods.variance_sources.covariates import pooled
from analysis.methods.variance_sources.factor_orders import Shifts, cell_of, detrended, pvalue
from analysis.methods.variance_sources.factors import _drawn, beside_its_count, witnesses
from analysis.methods.variance_sources.fit import sources


def pvalue_of(planted, count, seed=1, runs=60):
    rng = np.random.default_rng(seed)
    trial = planted.frame(rng, runs=runs)
    logs = 0.1 * planted.series(rng, trial)
    wall = np.exp(logs)
    trial = planted.filled(trial, logs, involuntary_switches=count(rng, wall))
    found = sources(trial, permutations=999, rng=rng)
    one = next(one for one in found.factors if one.factor == "involuntary_switches")
    return one.pvalue


def test_what_accumulates_and_what_stays_is_no_factor(planted):
    grows = [pvalue_of(planted, lambda rng, w: rng.poisson(400 * w) * 1.0, k) for k in range(8)]
    stays = [pvalue_of(planted, lambda rng, w: rng.poisson(400, w.size) * 1.0, k) for k in range(8)]
    both = [
        pvalue_of(planted, lambda rng, w: rng.poisson(100 + 300 * w) * 1.0, k) for k in range(8)
    ]
    for found in (grows, stays, both):
        assert min(found) > 0.01
        assert np.median(found) > 0.2


def test_a_rate_that_falls_while_its_count_rises_tells_nothing(planted):
    rng = np.random.default_rng(7)
    trial = planted.frame(rng, sessions=1, runs=30)
    logs = 0.1 * planted.series(rng, trial)
    trial = planted.filled(trial, logs, voluntary_switches=500 * np.exp(0.5 * logs))
    runs = pooled([trial], "wall")
    ((benchmark, variant, rows),) = list(runs.cells())
    cell = cell_of(runs, benchmark, variant, rows)
    shifts = Shifts(cell, 30, rng)
    both = witnesses(runs.covariates["voluntary_switches"], cell, shifts)
    fits = shifts.fits([both.rate, both.count])
    told = beside_its_count(both, *fits)
    assert (told.found, pvalue(told)) == (0.0, 1.0)
    grows = _drawn(both.rate, fits[0], 1.0)
    assert np.array_equal(told.drawn, grows)  # neither says more: a count that grows is meant


def test_what_grows_more_than_the_run_is_one(planted):
    """Longer runs were interrupted more often than their length says."""
    assert pvalue_of(planted, lambda rng, w: rng.poisson(400 * w**3) * 1.0) <= 0.002


@pytest.mark.parametrize("kind", ["grows", "stays"])
def test_orders_are_those_of_counts_made_anew(planted, kind):
    rng = np.random.default_rng(3)
    trial = planted.frame(rng, sessions=1, runs=40)
    logs = 0.01 * planted.series(rng, trial)
    fresh = 1 + 0.02 * planted.series(rng, trial)
    count = 500 * fresh * (np.exp(logs) if kind == "grows" else 1)
    runs = pooled([planted.filled(trial, logs, voluntary_switches=count)], "wall")
    ((benchmark, variant, rows),) = list(runs.cells())
    cell = cell_of(runs, benchmark, variant, rows)
    shifts = Shifts(cell, 40, rng)
    both = witnesses(runs.covariates["voluntary_switches"], cell, shifts)
    fits = shifts.fits([both.rate, both.count])
    found = beside_its_count(both, *fits)
    assert not cell.autocorrelation  # or both would be freed of it first

    def correlation(a, b):
        a, b = (detrended(one[:, None])[:, 0] for one in (a, b))
        return float(a @ b / np.sqrt(a @ a * (b @ b)))

    expected = []
    for turn in range(40):
        y = np.roll(cell.rest, turn)
        kept = count / np.exp(logs) if kind == "grows" else count
        follows = kept * np.exp(y) if kind == "grows" else kept / np.exp(y)
        a, b = correlation(kept, y), correlation(follows, y)
        expected.append(min(abs(a), abs(b)) ** 2 if a * b > 0 else 0.0)
    a, b = correlation(count, cell.rest), correlation(count / np.exp(logs), cell.rest)
    assert found.found == pytest.approx(min(abs(a), abs(b)) ** 2 if a * b > 0 else 0.0, abs=2e-3)
    drawn = (
        _drawn(both.rate, fits[0], 1.0) if kind == "grows" else _drawn(both.count, fits[1], -1.0)
    )
    assert np.allclose(np.sort(drawn), np.sort(expected), atol=5e-3)
    assert np.ptp(expected) > 0.05
    assert found.drawn.mean() >= 0.9 * drawn.mean()
