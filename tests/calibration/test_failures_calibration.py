"""How often a candidate is blamed for failing that fails as often as the baseline, and how often rightly.

Authority: the permutation of exchangeable cells holds its level whatever the law of failures within a cell
is, and Holm's correction that of the family: any benchmark is blamed in at most 2.5 % of trials. Powers are
those that the method's specification measured. Negative control: Fisher's test of single runs at .05 for
each benchmark, which counts every run as a repetition. Binomial bounds of four standard errors.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.failures import Fails, cell_pvalue, fisher
from analysis.stats.arguments import stream
from analysis.stats.multiplicity import adjusted
from analysis.verdict.gate import gate
from tests.calibration.made_pairs import most

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

RISK = 0.025
RUNS = 8


# ---- how often the runs of a cell fail: (sessions, 2 sides)


def each_run(rng, sessions):
    return np.full((sessions, 2), 0.1)


def own_rate(rng, sessions):
    return rng.beta(0.1, 0.9, (sessions, 2))


def whole_cells(rng, sessions):
    return (rng.random((sessions, 2)) < 0.5).astype(float)


def bad_nights(rng, sessions):
    night = rng.random((sessions, 1)) < 0.1
    return np.where(night, rng.beta(1.0, 1.0, (sessions, 1)), rng.beta(0.05, 0.95, (sessions, 2)))


LAWS = {law.__name__: law for law in (each_run, own_rate, whole_cells, bad_nights)}


def drawn(rng, law, sessions, runs):
    """Draw one benchmark: failed runs and runs of each cell, (sessions, 2)."""
    rate = law(rng, sessions)
    counts = runs(rng, rate.shape)
    return rng.binomial(counts, rate), counts


def by_cells(failed, counts, unequal):
    """Give the p of whole cells; with `unequal` the candidate has only the first sessions."""
    ours = slice(None, unequal)
    sides = (failed[ours, 0], failed[:, 1], counts[ours, 0], counts[:, 1])
    names = ("candidate", "baseline", "candidate_runs", "baseline_runs")
    cells = (tuple(side.tolist()) for side in sides)
    return cell_pvalue([Fails(**dict(zip(names, cells, strict=True)))])


def by_runs(failed, counts, unequal):
    """Tell whether single runs say so: the rule that is no more."""
    a, n = int(failed[:unequal, 0].sum()), int(counts[:unequal, 0].sum())
    b, m = int(failed[:, 1].sum()), int(counts[:, 1].sum())
    return a * m > b * n and fisher(a, n, b, m) < 0.05


def equal(rng, shape):
    return np.full(shape, RUNS)


def ragged(rng, shape):
    return rng.integers(3, 13, shape)


def one(rng, shape):
    return np.ones(shape, dtype=np.int64)


def blamed(label, law, *, sessions, benchmarks, trials, runs=equal, unequal=None):
    """Give the shares of trials in which cells, and single runs, blame any benchmark."""
    cells = single = 0
    for k in range(trials):
        rng = stream(31, label, str(k))
        made = [drawn(rng, law, sessions, runs) for _ in range(benchmarks)]
        family = adjusted([by_cells(*one_, unequal) for one_ in made], "holm")
        cells += bool((family <= RISK).any())
        single += any(by_runs(*one_, unequal) for one_ in made)
    return cells / trials, single / trials


@spot_check
def test_in_short():
    trials = 60
    cells, single = blamed("short", own_rate, sessions=6, benchmarks=8, trials=trials)
    assert cells <= most(RISK, trials)
    assert single >= 0.4


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("sessions", "benchmarks", "trials"), [(4, 1, 2000), (6, 1, 1500), (6, 8, 400), (8, 40, 100)]
)
def test_who_fails_as_often_is_not_blamed(name, sessions, benchmarks, trials):
    label = f"{name} {sessions} {benchmarks}"
    cells, _ = blamed(label, LAWS[name], sessions=sessions, benchmarks=benchmarks, trials=trials)
    assert cells <= most(RISK, trials)


@pytest.mark.parametrize(
    ("name", "benchmarks", "least"),
    [("each_run", 40, 0.15), ("own_rate", 8, 0.5), ("whole_cells", 8, 0.7)],
)
def test_single_runs_would_blame(name, benchmarks, least):
    cells, single = blamed(
        f"control {name}", LAWS[name], sessions=6, benchmarks=benchmarks, trials=100
    )
    assert cells <= most(RISK, 100)
    assert single >= least


@pytest.mark.parametrize("name", ["each_run", "own_rate", "whole_cells"])
@pytest.mark.parametrize(
    "how",
    [
        {"runs": ragged, "sessions": 6},
        {"runs": one, "sessions": 12},
        {"runs": equal, "sessions": 9, "unequal": 3},
        {"runs": ragged, "sessions": 9, "unequal": 4},
    ],
    ids=["unequal runs", "1 run a session", "3 against 9", "4 against 9, unequal runs"],
)
def test_of_any_shape(name, how):
    trials = 300
    cells, _ = blamed(
        f"shape {name} {sorted(map(str, how))}", LAWS[name], benchmarks=4, trials=trials, **how
    )
    assert cells <= most(RISK, trials)


def test_the_exact_test_uses_its_level_where_there_are_no_ties():
    # shares without ties: 1 / 70 of trials of 4 sessions, neither more nor less
    trials, hits = 20_000, 0
    rng = stream(31, "no ties")
    for _ in range(trials):
        order = rng.permutation(8)
        hits += order[:4].sum() == 22  # the four largest of 0 to 7
    most, least = (4, 5, 6, 7), (0, 1, 2, 3)
    runs = {"candidate_runs": (8,) * 4, "baseline_runs": (8,) * 4}
    found = cell_pvalue([Fails(candidate=most, baseline=least, **runs)])
    assert found == pytest.approx(1 / 70)
    assert abs(hits / trials - found) < 4 * math.sqrt(found * (1 - found) / trials)


@pytest.mark.parametrize(
    ("rates", "sessions", "benchmarks", "expected"),
    [
        ((0.3, 0.0), 4, 1, 0.79),
        ((0.3, 0.0), 6, 1, 0.96),
        ((0.3, 0.0), 6, 8, 0.69),
        ((0.3, 0.02), 6, 8, 0.46),
        ((0.1, 0.0), 6, 1, 0.20),
        ((0.1, 0.0), 8, 1, 0.52),
    ],
)
def test_power_is_that_of_the_specification(rates, sessions, benchmarks, expected):
    trials, found = 1000, 0
    for k in range(trials):
        rng = stream(31, f"power {rates} {sessions} {benchmarks}", str(k))
        failed = rng.binomial(RUNS, np.broadcast_to(rates, (sessions, 2)))
        p = by_cells(failed, np.full(failed.shape, RUNS), None)
        found += p * benchmarks <= RISK  # the other benchmarks do not fail
    assert abs(found / trials - expected) <= 4 * math.sqrt(0.25 / trials)


# ---- the whole way


def side(rng, name, law, benchmarks, sessions=6):
    rows, ids, lost = {}, {}, {}
    for k in range(benchmarks):
        bench = f"b{k}"
        failed, _ = drawn(rng, law, sessions, equal)
        good = np.repeat(np.arange(sessions), RUNS - failed[:, 0])
        lost[bench] = dict(enumerate(failed[:, 0].tolist()))
        if good.size:
            ids[bench], rows[bench] = good, np.exp(0.01 * rng.normal(size=good.size))
    return PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids, failed=lost)


@pytest.mark.parametrize(("name", "benchmarks"), [("each_run", 40), ("own_rate", 8)])
def test_a_gate_of_one_program_under_two_names_is_not_stopped(name, benchmarks):
    # by Fisher's test of single runs these gates ended with 1 in .30 and .70
    trials, stopped = 100, 0
    for k in range(trials):
        rng = stream(32, name, str(k))
        sides = [side(rng, one_, LAWS[name], benchmarks) for one_ in ("new", "old")]
        found = gate(multilevel(*sides), "slower>20%").candidates[0]
        stopped += any(line.reason == "fails-more" for line in found.benchmarks)
    assert stopped / trials <= most(RISK, trials)


def test_the_assumption_can_be_broken():
    # in every session exactly one of both sides dies, by the toss of a coin: cells are not exchangeable
    trials, hits = 2000, 0
    for k in range(trials):
        heads = stream(33, "coin", str(k)).random(6) < 0.5
        failed = np.stack([heads, ~heads], axis=1) * RUNS
        hits += by_cells(failed, np.full(failed.shape, RUNS), None) * 8 <= RISK
    assert abs(hits / trials - 2.0**-6) < 4 * math.sqrt(2.0**-6 / trials)  # 8 of them: .118
