"""Factors within a trial: effects, intervals, p-values, and what cannot be told.

Authorities: what was planted; least squares by numpy for effects; direct shuffles and rolls, written
out, for the orders; enumeration for few shifts.
"""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.columns import column_of
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.methods.variance_sources.covariates import (
    _OF_SERVICES,
    Covariate,
    covariates_of,
    pooled,
    spoken,
)
from analysis.methods.variance_sources.factor_orders import (
    Shifts,
    Shuffles,
    cell_of,
    columns_of,
    detrended,
    pvalue,
    stepped_down,
    surprise,
)
from analysis.methods.variance_sources.fit import (
    _drawn,
    beside_its_count,
    within_trials as sources,
    witnesses,
)
from analysis.record.run_numbers import metrics_of


def rng(seed=1):
    return np.random.default_rng(seed)


def answer(trials, *, metric=None, permutations=399, seed=1):
    return sources(trials, metric=metric, permutations=permutations, rng=rng(seed))


def factors(trials, **how):
    found = answer(trials, **how)
    return {(one.benchmark, one.variant, one.factor): one for one in found.factors}


def the(trials, name, **how):
    (one,) = (value for key, value in factors(trials, **how).items() if key[2] == name)
    return one


def with_metrics(planted, trial, logs, **metrics):
    return planted.filled(trial, logs, metrics=metrics)


def a_cell(planted, trial):
    runs = pooled([trial], "wall")
    ((benchmark, variant, rows),) = list(runs.cells())
    return runs, cell_of(runs, benchmark, variant, rows)


# ---- effects


def test_two_levels_have_the_ratio_of_their_geometric_means(planted):
    trial = planted.frame(rng(), sessions=1, runs=40)
    two = (np.arange(40) * 7 % 40 < 20).astype(float)
    logs = 0.05 * planted.series(rng(2), trial) + 0.3 * two
    one = the(with_metrics(planted, trial, logs, two=two), "two")
    design = np.column_stack([np.ones(40), np.arange(40), two])
    cell = a_cell(planted, planted.filled(trial, logs))[1]
    assert cell.autocorrelation == 0  # or both would be freed of it first
    expected = np.linalg.lstsq(design, logs, rcond=None)[0][2]
    assert one.effect == pytest.approx(np.exp(expected), rel=1e-9)
    assert (one.highest, one.lowest, one.effect_of) == ("1", "0", "levels")
    assert one.low < np.exp(0.3) < one.high
    assert one.pvalue == pytest.approx(1 / 40, abs=0.005)  # so many shifts there are
    assert one.kind == "observed"
    assert not one.causal


def test_a_number_has_the_effect_of_one_deviation(planted):
    trial = planted.frame(rng(), sessions=3, runs=60)
    x = planted.series(rng(3), trial) * 7 + 100
    logs = 0.01 * planted.series(rng(4), trial) + 0.05 * (x - 100) / 7
    one = the(with_metrics(planted, trial, logs, x=x), "x")
    assert one.effect_of == "sd"
    assert one.effect == pytest.approx(np.exp(0.05), rel=0.01)
    assert one.low < one.effect < one.high
    assert one.highest is one.lowest is None


def test_a_window_of_padding_is_a_place_on_the_circle_and_a_cause(planted):
    trial = planted.frame(rng(), sessions=3, runs=60)
    slow = np.mod(trial.numbers["padding_bytes"] - 13, 64) < 16
    logs = 0.02 * planted.series(rng(5), trial) + 0.5 * slow
    found = answer(planted.filled(trial, logs))
    one = next(one for one in found.factors if one.factor == "padding_bytes mod 64")
    assert one.causal
    assert one.kind == "randomized"
    assert one.pvalue_adjusted <= 0.05
    assert (one.highest, one.lowest) == ("12 to 27", "elsewhere")
    assert one.effect > 1.4
    assert one.low > 1
    text = str(found)
    assert "environment padding modulo 64" in text
    said = "it was randomized: this would be its effect, unless this is the 1 in 20 trials"
    assert said in " ".join(text.split())


def test_a_window_over_the_end_of_the_circle_is_one(planted):
    trial = planted.frame(rng(), sessions=3, runs=60)
    fast = np.mod(trial.numbers["padding_bytes"] - 48, 64) < 32
    logs = 0.02 * planted.series(rng(5), trial) - 0.5 * fast
    one = the(planted.filled(trial, logs), "padding_bytes mod 64")
    assert {one.highest, one.lowest} in ({"48 to 15", "elsewhere"}, {"16 to 47", "elsewhere"})
    assert one.effect == pytest.approx(np.exp(0.5), rel=0.03)
    assert one.low < np.exp(0.5) < one.high


def test_whole_numbers_are_taken_by_their_values_too(planted):
    trial = planted.frame(rng(), sessions=3, runs=60)
    seed = rng(6).integers(0, 8, len(trial)).astype(float)
    logs = 0.02 * planted.series(rng(7), trial) + 0.3 * np.isin(seed, [2, 5])
    found = factors(with_metrics(planted, trial, logs, seed=seed))
    one = found["b0", "v0", "seed (levels)"]
    assert one.pvalue_adjusted <= 0.05
    assert one.highest in {"2", "5"}
    assert one.lowest not in {"2", "5"}
    assert one.effect == pytest.approx(np.exp(0.3), rel=0.05)
    assert ("b0", "v0", "seed") in found  # as a number beside


def test_the_run_before_is_a_cause(planted):
    trial = planted.frame(rng(), sessions=3, runs=40, benchmarks=4)
    before = np.r_[-1, trial.benchmark[:-1]]
    logs = 0.02 * planted.series(rng(8), trial) + 0.1 * ((before == 2) & (trial.benchmark == 0))
    found = factors(planted.filled(trial, logs))
    one = found["b0", "v0", "previous_benchmark"]
    assert (one.highest, one.causal) == ("b2", True)
    assert one.pvalue_adjusted <= 0.05
    others = [value for key, value in found.items() if key[0] != "b0" and value.pvalue is not None]
    assert min(value.pvalue_adjusted for value in others) > 0.05


# ---- orders


def test_a_shuffle_keeps_every_run_in_its_session(planted):
    trial = planted.unrelated(rng(), sessions=3, runs=10)
    _, cell = a_cell(planted, trial)
    shuffles = Shuffles(cell, 50, rng(9))
    for mine in cell.sessions:
        drawn = np.sort(shuffles._orders[:, mine], axis=1)
        assert np.array_equal(drawn, np.broadcast_to(np.sort(cell.rest[mine]), drawn.shape))
    moved = (shuffles._orders != cell.rest).any(axis=1)
    assert moved.all()


def test_shifts_are_those_written_out(planted):
    trial = planted.unrelated(rng(11), sessions=2, runs=9, correlation=0.7)
    runs, cell = a_cell(planted, trial)
    carry = cell.autocorrelation
    x = runs.covariates["m0"].values[cell.rows]
    columns = columns_of(runs.covariates["m0"].of(cell.rows))
    shifts = Shifts(cell, 64, rng(12))
    (fits,) = shifts.fits([shifts.prepared(columns.table, columns.known)])

    def freed(row):
        row = row - row.mean()
        if carry:
            row = row[1:] - carry * row[:-1]
        return detrended(row[:, None])[:, 0]

    ys = [freed(cell.rest[mine]) for mine in cell.sessions]
    xs = [freed(x[mine]) for mine in cell.sessions]
    size = ys[0].size

    def share(turns):
        rolled = [
            detrended(np.roll(y, turn)[:, None])[:, 0] for y, turn in zip(ys, turns, strict=True)
        ]
        product = sum(float(a @ b) for a, b in zip(rolled, xs, strict=True))
        return product**2 / (sum(a @ a for a in rolled) * sum(b @ b for b in xs))

    assert fits.found == pytest.approx(share((0, 0)), rel=1e-9)
    every = [share(turns) for turns in itertools.product(range(size), repeat=2)]
    assert len(every) == size**2
    drawn = np.round(fits.drawn, 9)
    assert set(drawn.tolist()) <= set(np.round(every, 9).tolist())


def test_few_shifts_are_all_taken(planted):
    trial = planted.unrelated(rng(13), sessions=1, runs=20)
    runs, cell = a_cell(planted, trial)
    columns = columns_of(runs.covariates["m0"].of(cell.rows))
    shifts = Shifts(cell, 400, rng(14))
    (fits,) = shifts.fits([shifts.prepared(columns.table, columns.known)])
    values, counts = np.unique(np.round(fits.drawn, 10), return_counts=True)
    size = shifts._rows[0].size
    assert values.size == size
    assert counts.max() - counts.min() <= 1
    exact = np.mean(values >= fits.found - 1e-9)
    assert pvalue(fits) == pytest.approx(exact, abs=0.01)
    assert pvalue(fits) >= 1 / size - 0.01  # so few shifts show nothing rarer


def test_unknown_values_take_no_part(planted):
    trial = planted.frame(rng(), sessions=3, runs=40)
    two = (rng(15).random(len(trial)) < 0.5).astype(float)
    logs = 0.05 * planted.series(rng(16), trial) + 0.2 * two
    gone = rng(17).random(len(trial)) < 0.3
    two[gone] = np.nan
    one = the(with_metrics(planted, trial, logs, two=two), "two")
    assert one.runs == int((~gone).sum())
    assert one.effect == pytest.approx(np.exp(0.2), rel=0.06)
    assert one.pvalue_adjusted <= 0.05


# ---- the family


def test_adjusted_steps_down_by_the_largest_surprise():
    drawn = rng(18).exponential(size=(4, 999))
    found = [9.0, 1.0, 0.1, 2.0]
    adjusted = stepped_down([*zip(found, drawn, strict=True)])
    order = np.argsort(found)[::-1]
    before = 0.0
    for k, place in enumerate(order):
        largest = drawn[order[k:]].max(axis=0)
        expected = max(before, (1 + (largest >= found[place] - 1e-4).sum()) / 1000)
        assert adjusted[place] == pytest.approx(expected)
        before = expected


def test_surprise_keeps_the_order_of_shares_and_levels_what_has_more_directions(planted):
    trial = planted.unrelated(rng(19), sessions=3, runs=40, benchmarks=1)
    runs, cell = a_cell(planted, trial)
    shuffles = Shuffles(cell, 2000, rng(20))
    names = ("padding_bytes", "padding_bytes mod 64")
    fits = shuffles.fits(
        [
            shuffles.prepared(one.table, one.known, either=one.either)
            for one in (columns_of(runs.covariates[name].of(cell.rows)) for name in names)
        ]
    )
    tails = []
    for one in fits:
        found, drawn = surprise(one)
        assert (np.argsort(drawn, kind="stable") == np.argsort(one.drawn, kind="stable")).all()
        assert (found >= drawn).sum() == (one.found >= one.drawn).sum()
        tails.append(np.quantile(drawn, 0.99))
    assert np.quantile(fits[1].drawn, 0.99) > 1.3 * np.quantile(fits[0].drawn, 0.99)
    assert tails[0] == pytest.approx(tails[1], rel=0.2)  # minus log of .01
    assert tails[0] == pytest.approx(-np.log(0.01), rel=0.2)


def test_adjusted_is_no_smaller_and_adding_a_benchmark_moves_no_other_pvalue(planted):
    trial = planted.unrelated(rng(21), benchmarks=3, runs=12)
    found = factors(trial)
    assert all(
        one.pvalue_adjusted >= one.pvalue for one in found.values() if one.pvalue is not None
    )
    kept = trial.benchmark != 2
    fewer = replace(trial, outcome=np.where(kept, 0, 1))
    for key, one in factors(fewer).items():
        assert one.pvalue == found[key].pvalue


def test_the_same_seed_gives_the_same_answer(planted):
    trial = planted.unrelated(rng(22))
    assert answer(trial).to_dict() == answer(trial).to_dict()
    assert answer(trial).to_dict() != answer(trial, seed=2).to_dict()


# ---- sessions


@pytest.mark.parametrize("sessions", [1, 2, 3, 4])
def test_of_few_sessions_a_factor_of_theirs_cannot_be_told(planted, sessions):
    trial = planted.frame(rng(), sessions=sessions, runs=30)
    heat = np.array([40.0, 60.0, 50.0, 45.0])[trial.session - 1]
    trial = planted.filled(
        trial, 0.3 * (heat - 40) + 0.01 * planted.series(rng(23), trial), temperature_c=heat
    )
    found = answer(trial)
    names = {one.factor: one for one in found.factors}
    if sessions == 1:
        assert "temperature_c" not in names
        return
    assert names["temperature_c"].pvalue is None
    assert names["temperature_c"].pvalue_adjusted is None
    assert names["session"].pvalue is None
    (caution,) = (one for one in found.cautions if one.code == "session-level-factor")
    assert "cannot tell" in caution.text
    assert "temperature_c" in caution.about


def test_of_many_sessions_it_can(planted):
    trial = planted.frame(rng(), sessions=12, runs=8)
    heat = rng(24).normal(50, 5, 12)[trial.session - 1]
    other = rng(25).normal(50, 5, 12)[trial.session - 1]
    logs = 0.02 * (heat - 50) + 0.02 * planted.series(rng(26), trial)
    found = factors(planted.filled(trial, logs, temperature_c=heat, metrics={"m": other}))
    one = found["b0", "v0", "temperature_c"]
    assert one.pvalue_adjusted <= 0.05
    assert one.effect == pytest.approx(np.exp(0.02 * heat[::8].std(ddof=1)), rel=0.1)
    assert not one.causal
    assert found["b0", "v0", "m"].pvalue_adjusted > 0.05
    assert found["b0", "v0", "session"].pvalue is None


def test_sessions_of_different_trials_are_not_exchanged(planted):
    """A host that is slower and hotter: two trials tell nothing of heat."""
    trials = []
    for k in range(2):
        trial = planted.frame(rng(k), sessions=2, runs=20, name=f"t{k}", host=f"h{k}")
        logs = 0.5 * k + 0.01 * planted.series(rng(k + 50), trial)
        trials.append(planted.filled(trial, logs, temperature_c=np.full(len(trial), 40.0 + 20 * k)))
    names = {one.factor: one for one in answer(trials).factors}
    assert "temperature_c" not in names
    assert names["session"].pvalue is None


# ---- what cannot be looked at


def test_too_few_runs_say_how_many_are_needed(planted):
    trial = planted.unrelated(rng(), sessions=1, runs=7)
    with pytest.raises(InsufficientDataError, match="8 runs that differ") as caught:
        answer(trial)
    assert (caught.value.n, caught.value.needed) == (7, 8)
    assert "protocol" in caught.value.fix


def test_a_single_run_is_too_few_rather_than_all_alike(planted):
    trial = planted.unrelated(rng(), sessions=1, runs=1)
    with pytest.raises(InsufficientDataError, match="8 runs that differ"):
        answer(trial)


def test_single_cells_with_too_few_runs_are_named(planted):
    trial = planted.unrelated(rng(), benchmarks=2, runs=10, sessions=2)
    few = (trial.benchmark == 1) & (trial.block > 3)
    found = answer(replace(trial, outcome=np.where(few, 1, 0)))
    (caution,) = (one for one in found.cautions if one.code == "cells-too-short")
    assert caution.about == ("b1 / v0",)
    assert {one.benchmark for one in found.factors} == {"b0"}


def test_runs_that_are_all_alike(planted):
    trial = planted.frame(rng())
    with pytest.raises(AnalysisError, match="nothing varies"):
        answer(planted.filled(trial, np.zeros(len(trial))))


def test_constant_covariates_are_named_and_no_factors(planted):
    """The rate of a count that never changes would be nothing but the run's time."""
    trial = planted.unrelated(rng())
    constant = {"steal_s": np.zeros(len(trial)), "minor_faults": np.full(len(trial), 146.0)}
    found = answer(planted.filled(trial, np.log(trial.values("wall")), metrics={}, **constant))
    (caution,) = (one for one in found.cautions if one.code == "factor-constant")
    assert constant.keys() <= {*caution.about}
    assert not constant.keys() & {one.factor for one in found.factors}


def test_short_sessions_leave_what_was_only_seen_untested(planted):
    trial = planted.unrelated(rng(), sessions=6, runs=4)
    found = answer(trial)
    assert {one.kind for one in found.factors if one.pvalue is not None} == {"randomized"}
    (caution,) = (one for one in found.cautions if one.code == "factor-untested")
    assert {"m0", "temperature_c"} <= set(caution.about)


def test_values_of_zero_leave_their_cell_out(planted):
    trial = planted.unrelated(rng(), benchmarks=2)
    user = np.where(trial.benchmark == 1, 0.0, 1 + trial.block / 100)
    trial = planted.filled(trial, np.log(trial.values("wall")), user_s=user, metrics={})
    found = answer(trial, metric="user")
    (caution,) = (one for one in found.cautions if one.code == "not-positive")
    assert caution.about == ("b1 / v0",)
    assert {one.benchmark for one in found.components} == {"b0"}


def test_trials_that_do_not_go_together(planted):
    trial = planted.unrelated(rng())
    with pytest.raises(UsageError, match="twice"):
        answer([trial, trial])
    with pytest.raises(UsageError, match="no trial"):
        answer([])
    with pytest.raises(UsageError, match="no metric 'nonsense'"):
        answer(trial, metric="nonsense")
    units = []
    for k, unit in enumerate(("s", "ms")):
        one = planted.unrelated(rng(k), name=f"t{k}")
        metrics = {**one.manifest.metrics, "m0": {"unit": unit, "better": "lower"}}
        units.append(replace(one, manifest=replace(one.manifest, metrics=metrics)))
    with pytest.raises(AnalysisError, match="different units"):
        answer(units, metric="m0")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"permutations": 98}, "between 99"),
        ({"confidence": 1.0}, "between 0.5"),
        ({"confidence": 0.3}, "0.5"),
    ],
)
def test_numbers_out_of_range(planted, wrong, words):
    with pytest.raises(UsageError, match=words):
        sources(planted.unrelated(rng()), rng=rng(), **wrong)


def test_a_level_for_every_few_runs_is_too_many():
    values = np.repeat(np.arange(10.0), 1)
    one = Covariate(
        name="x", kind="observed", values=values, scale="levels", labels=tuple("0123456789")
    )
    assert columns_of(one) is None  # all are rare, and together one level


def test_an_effect_of_the_day_is_told_of_hours_that_were_seen():
    day = {"scale": "circular", "period": 86_400.0, "of_session": True}
    one = Covariate(name="x", kind="observed", values=43_200 + np.arange(80.0), **day)
    at = np.array(columns_of(one).labels, float)
    assert (at.size, at.min(), at.max()) == (64, 43_200, 43_279)  # midnight: 1e304 times


def test_layout_is_not_told_where_the_kernel_chooses_it(planted):
    codes = {one.code for one in answer(planted.unrelated(rng())).cautions}
    assert "layout-not-recorded" in codes


# --- Counts and their rates: what grows with a run, what stays, and what costs time.
#
# Authority: what was planted; for the orders to first order, the same with counts made again from shifted runs.


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
    both = witnesses(runs.covariates["voluntary_switches"].of(cell.rows), shifts)
    fits = shifts.fits(both)
    told = beside_its_count(both, fits)
    assert (told.found, pvalue(told)) == (0.0, 1.0)
    grows = _drawn(both[0], fits[0], 1.0)
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
    both = witnesses(runs.covariates["voluntary_switches"].of(cell.rows), shifts)
    fits = shifts.fits(both)
    found = beside_its_count(both, fits)
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
    drawn = _drawn(both[0], fits[0], 1.0) if kind == "grows" else _drawn(both[1], fits[1], -1.0)
    assert np.allclose(np.sort(drawn), np.sort(expected), atol=5e-3)
    assert np.ptp(expected) > 0.05
    assert found.drawn.mean() >= 0.9 * drawn.mean()


# --- What the host did during each run, as factors: load, pressure, what each CPU lost, work on services' CPUs.
#
# Authority: what was planted. Negative controls: the same numbers where they have nothing to do with the runs,
# or only grow with them.


COUNTS = (
    "pressure_cpu_s",
    "pressure_memory_s",
    "pressure_io_s",
    "service_cpus_busy_s",
    column_of(1),
)
TICK = 0.01


def adjusted(trial, seed=1, permutations=999):
    """Give the smallest adjusted p-value of each factor."""
    found = sources(trial, permutations=permutations, rng=np.random.default_rng(seed))
    told = [one for one in found.factors if one.pvalue_adjusted is not None]
    return {one.factor: one.pvalue_adjusted for one in told}


def slowed(planted, rng, name):
    """Give runs that last longer by what was lost: half a second in some of them, beside a second of their own."""
    trial = planted.frame(rng, runs=40)
    lost = np.where(rng.random(len(trial)) < 0.3, 0.5, 0.0)
    wall = np.exp(0.05 * planted.series(rng, trial)) + lost
    return planted.filled(trial, np.log(wall), **{name: lost + TICK * rng.random(len(trial))})


@pytest.mark.parametrize("name", COUNTS)
def test_what_makes_runs_long_is_found(planted, name):
    trial = slowed(planted, np.random.default_rng(5), name)
    one = covariates_of(trial)[name]
    assert one.may_follow
    assert not one.known_before
    assert one.count is not None
    assert adjusted(trial)[name] <= 0.01


@pytest.mark.parametrize("name", COUNTS[-2:])
@pytest.mark.parametrize("kind", ["grows", "apart"])
def test_what_only_grows_with_a_run_or_goes_its_own_way_is_not(planted, name, kind):
    """A CPU that is always as busy adds more to a long run; others' work may have nothing to do with it."""
    told = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        trial = planted.frame(rng, runs=40)
        logs = 0.1 * planted.series(rng, trial)
        per_s = 30 * (np.exp(logs) if kind == "grows" else 1.0)
        count = TICK * rng.poisson(per_s, len(trial))
        told += adjusted(planted.filled(trial, logs, **{name: count}), seed, 199)[name] <= 0.05
    assert told <= 1


def test_the_load_was_there_before_the_run(planted):
    rng = np.random.default_rng(2)
    trial = planted.frame(rng, runs=40)
    load = np.round(4 + planted.series(rng, trial, 0.6), 2)
    logs = 0.1 * (load - load.mean()) + 0.05 * planted.series(rng, trial)
    busy = planted.filled(trial, logs, load_1min=load)
    one = covariates_of(busy)["load_1min"]
    assert (one.known_before, one.may_follow, one.unit) == (True, False, "")
    assert adjusted(busy)["load_1min"] <= 0.01
    apart = planted.filled(trial, 0.05 * planted.series(rng, trial), load_1min=load)
    assert adjusted(apart)["load_1min"] > 0.05


def test_the_measured_cpu_is_no_second_factor(planted):
    trial = planted.frame(np.random.default_rng(1))
    own = TICK * np.arange(len(trial), dtype=np.float64)
    other = own[::-1].copy()
    filled = planted.filled(
        trial, np.zeros(len(trial)), steal_s=own, **{column_of(0): own, column_of(7): other}
    )
    assert {"steal_s", "cpu_steal_s.7"} <= covariates_of(filled).keys()
    assert "cpu_steal_s.0" not in covariates_of(filled)


def test_what_a_service_used_grows_with_the_run(planted):
    """Bytes and switches are sums over the run; its peak of memory is none."""
    names = ("service.db.disk_read", "service.db.voluntary_switches", "service.db.peak_memory")
    trial = planted.frame(np.random.default_rng(1))
    counts = dict.fromkeys(names, np.arange(len(trial), dtype=np.float64))
    filled = planted.filled(trial, np.zeros(len(trial)), metrics=counts)
    about = {name: {"unit": "", "better": "lower", "source": "services"} for name in names}
    found = covariates_of(replace(filled, manifest=replace(filled.manifest, metrics=about)))
    assert [found[name].may_follow for name in names] == [True, True, False]
    assert [found[name].count is not None for name in names] == [True, True, False]


def test_the_numbers_of_a_build_were_there_before_its_runs(planted):
    """A session has one value, at its first run: per second of that run it would follow from it."""
    trial = planted.frame(np.random.default_rng(1), sessions=5, runs=10)
    seconds = np.where(trial.block == 1, 3.0 + trial.session, np.nan)
    filled = planted.filled(trial, np.zeros(len(trial)), metrics={"build_seconds": seconds})
    about = {"build_seconds": {"unit": "s", "better": "lower", "source": "builds"}}
    one = covariates_of(replace(filled, manifest=replace(filled.manifest, metrics=about)))
    found = one["build_seconds"]
    assert np.array_equal(found.values, seconds, equal_nan=True)
    assert (found.count, found.known_before, found.may_follow) == (None, True, False)
    assert found.of_session


def test_a_quantile_of_a_run_is_no_sum_over_it(planted):
    """Runs whose slowest answers were slower lasted longer; a quantile per second would not tell."""
    rng = np.random.default_rng(4)
    trial = planted.frame(rng, runs=40)
    p99 = 8 + planted.series(rng, trial)
    logs = 0.1 * (p99 - 8) + 0.05 * planted.series(rng, trial)
    about = {"t.p99": {"unit": "ms", "source": "quantiles", "of": "t", "quantile": "0.99"}}
    about["t.p99"]["better"] = "lower"
    filled = planted.filled(trial, logs, metrics={"t.p99": p99})
    filled = replace(filled, manifest=replace(filled.manifest, metrics=about))
    one = covariates_of(filled)["t.p99"]
    assert (one.count, one.may_follow, one.unit) == (None, True, "ms")
    assert adjusted(filled)["t.p99"] <= 0.01
    apart = planted.filled(trial, 0.05 * planted.series(rng, trial), metrics={"t.p99": p99})
    apart = replace(apart, manifest=replace(apart.manifest, metrics=about))
    assert adjusted(apart)["t.p99"] > 0.05


def test_they_are_spoken():
    assert spoken("cpu_steal_s.12") == "steal of CPU 12 per second"
    assert spoken("pressure_io_s") == "waiting for input and output on the host per second"
    assert spoken("load_1min") == "load of the host before the run"
    assert spoken("service.db.7.wait") == "waiting of service db.7 for a CPU per second"
    assert spoken("service.db.peak_memory") == "service.db.peak_memory"
    assert {f"service.db.{what}" for what in _OF_SERVICES} == {name for name, _ in metrics_of("db")}
