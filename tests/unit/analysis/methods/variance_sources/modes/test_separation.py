"""One covariate against the modes: planted ones are found, others not, and a trap is none."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis.methods.variance_sources.covariates import Covariate
from analysis.methods.variance_sources.modes import (
    Labelled,
    Rule,
    best_rule,
    detrended,
    largest_j,
    permuted,
    places_of,
    separation,
    turned,
    within,
)

SESSIONS = np.repeat(np.arange(3), 30)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def cell(labels: np.ndarray, sessions: np.ndarray = SESSIONS) -> Labelled:
    return Labelled(sessions=sessions, labels=labels.astype(np.int8))


def suspect(values: np.ndarray, *, randomized: bool = True, **changes: object) -> Covariate:
    kind = "randomized" if randomized else "observed"
    follows = changes.get("count") is not None
    return Covariate(name="it", kind=kind, values=values, may_follow=follows, **changes)


def look(labelled: Labelled, one: Covariate, *, permutations: int = 999, seed: int = 1):
    return separation(labelled, one, permutations=permutations, rng=rng(seed))


def test_orders_stay_within_their_sessions():
    labels = rng().integers(2, size=90).astype(np.int8)
    for draw in (permuted, turned):
        found = draw(labels, within(SESSIONS), 200, rng(2))
        for k in range(3):
            counts = found[:, k == SESSIONS].sum(axis=1)
            assert (counts == labels[k == SESSIONS].sum()).all()
        assert np.unique(found, axis=0).shape[0] > 150


def test_a_turned_session_keeps_its_neighbours():
    labels = np.arange(30, dtype=np.int8)
    found = turned(labels, within(np.zeros(30, dtype=np.int64)), 100, rng())
    assert (np.mod(np.diff(found, axis=1), 30) == 1).all()


def test_what_only_grows_with_time_is_nothing_without_its_trend():
    clock = np.arange(90.0) * 0.017 + 40_000
    steady = detrended(clock, within(SESSIONS))
    assert all(np.ptp(steady[k == SESSIONS]) == 0 for k in range(3))
    assert look(cell(np.arange(90) % 30 > 20), suspect(clock, randomized=False)) is None


def test_a_planted_arc_is_found_with_its_borders():
    padding = rng().integers(4096, size=90) % 64.0
    labels = (padding >= 13) & (padding <= 28)
    found = look(cell(labels), suspect(padding, scale="circular", period=64.0))
    assert found.pvalue == 1 / 1000
    assert (found.inside, found.outside, found.j) == (1, 0, 1)
    assert 13 <= found.rule.first <= found.rule.last <= 28
    assert found.accuracy > 0.94
    assert found.mode == 1


def test_what_is_hopeless_after_499_orders_gets_no_more():
    found = look(cell(rng(1).random(90) < 0.3), suspect(rng(1001).random(90)))
    assert found.pvalue > 0.05
    assert found.pvalue * 500 == pytest.approx(round(found.pvalue * 500), abs=1e-9)


def test_a_planted_level_is_found():
    seed = rng().integers(8, size=90).astype(float)
    found = look(cell(np.isin(seed, (3, 6))), suspect(seed, scale="levels", randomized=False))
    assert found.rule.levels == (3, 6)
    assert found.pvalue == 1 / 1000
    assert found.accuracy == 1


def test_the_rarer_of_two_modes_is_told_from_the_other():
    values = rng().random(90)
    found = look(cell(values > 0.3), suspect(values))
    assert found.mode == 0
    assert found.rule.last < 0.3
    assert found.rule.first is None


def test_of_three_modes_the_one_that_is_told_best():
    values = rng().random(90)
    labels = np.where(values > 0.7, 1, np.where(rng(2).random(90) < 0.5, 0, 2))
    assert look(cell(labels), suspect(values)).mode == 1


def test_nothing_is_found_in_what_has_nothing_to_do_with_it():
    pvalues = [
        look(cell(rng(k).random(90) < 0.3), suspect(rng(1000 + k).random(90)), seed=k).pvalue
        for k in range(60)
    ]
    assert sum(p <= 0.05 for p in pvalues) <= 9  # binomial, 1 in 1,000
    assert min(pvalues) > 0.001
    assert 0.35 < np.mean(pvalues) < 0.65


def test_the_accuracy_of_a_useless_rule_is_that_of_guessing():
    found = [
        look(cell(rng(k).random(90) < 0.3), suspect(rng(1000 + k).random(90)), seed=k).accuracy
        for k in range(60)
    ]
    assert np.mean(found) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("switches", [0.3, 3.0, 30.0])
def test_a_count_that_only_grows_with_the_run_separates_nothing(switches):
    # the rates of few counts tell the length of their runs: 1 in 7 ms is another rate than 1 in 16
    draw = rng(7)
    slow = draw.random(90) < 0.3
    wall = np.where(slow, 16.0, 7.0)
    low = 0
    for k in range(40):
        count = rng(k).poisson(switches * wall / 7)
        found = look(cell(slow), suspect(count / wall, randomized=False, count=1.0 * count), seed=k)
        low += found is not None and found.pvalue <= 0.05
    assert low <= 7  # binomial, 1 in 1,000


def test_the_counts_themselves_would_have_looked_like_a_cause():
    # negative control: nothing about the switches differs but the time in which they happen
    slow = rng(7).random(90) < 0.3
    wall = np.where(slow, 16.0, 7.0)
    fooled = 0
    for k in range(40):
        count = rng(k).poisson(3.0 * wall / 7).astype(float)
        fooled += look(cell(slow), suspect(count, randomized=False), seed=k).pvalue <= 0.05
    assert fooled > 28


def test_a_count_that_is_always_the_same_separates_nothing():
    # a program that waits once in each run: once in 7 ms is another rate than once in 16
    slow = rng().random(90) < 0.3
    wall = np.where(slow, 16.0, 7.0) + rng(2).random(90)
    found = look(cell(slow), suspect(1 / wall, randomized=False, count=np.ones(90)))
    assert found.pvalue == 1
    nearly = 100.0 + rng(3).integers(3, size=90)
    found = look(cell(slow), suspect(nearly / wall, randomized=False, count=nearly))
    assert found.pvalue > 0.05


def test_neither_does_a_start_that_is_always_the_same_and_then_grows():
    slow = rng().random(90) < 0.3
    wall = np.where(slow, 16.0, 7.0) + rng(2).random(90)
    count = rng(3).poisson(20 + 3 * wall).astype(float)
    assert look(cell(slow), suspect(count / wall, randomized=False, count=count)).pvalue == 1


def test_a_count_that_is_larger_even_for_its_time_is_found():
    slow = rng().random(90) < 0.3
    wall = np.where(slow, 16.0, 7.0)
    count = rng(2).poisson(np.where(slow, 9.0, 1.0) * wall).astype(float)
    found = look(cell(slow), suspect(count / wall, randomized=False, count=count))
    assert found.pvalue == 1 / 1000
    assert found.means[0] > 6 * found.means[1]


def test_neighbours_that_are_alike_are_no_evidence():
    # half an hour of one speed, and a covariate that changed once: one coincidence, not ninety
    labels = np.tile(np.arange(30) >= 12, 3)
    once = np.tile((np.arange(30) >= 15).astype(float), 3)
    free = look(cell(labels), suspect(once, scale="levels"))
    kept = look(
        cell(labels[:30], SESSIONS[:30]), suspect(once[:30], scale="levels", randomized=False)
    )
    assert free.pvalue == 1 / 1000
    assert kept.pvalue > 0.05


def test_a_difference_between_sessions_is_none_within():
    by_session = SESSIONS.astype(float)
    labels = SESSIONS == 2
    assert look(cell(labels), suspect(by_session, scale="levels")) is None
    noisy = by_session + 0.01 * rng().random(90)
    assert look(cell(labels), suspect(noisy)).pvalue > 0.05


def test_too_few_known_runs_of_a_mode_say_nothing():
    values = rng().random(90)
    labels = values > 0.75
    values[np.flatnonzero(labels)[9:]] = np.nan
    assert look(cell(labels), suspect(values)) is None


def test_runs_of_no_mode_and_of_unknown_value_are_left_out():
    values = rng().random(90)
    labels = np.where(values > 0.6, 1, 0)
    labels[:8] = -1
    values[80:] = np.nan
    found = look(cell(labels), suspect(values))
    assert (found.inside, found.outside) == (1, 0)


def test_a_single_session_is_told_by_its_fifths():
    values = rng().random(60)
    found = look(
        cell(values > 0.6, np.zeros(60, dtype=np.int64)), suspect(values), permutations=199
    )
    assert found.accuracy > 0.9
    assert found.pvalue == 1 / 200


def test_the_same_seed_gives_the_same_answer():
    one = suspect(rng(2).random(90))
    labels = cell(rng(3).random(90) < 0.4)
    assert look(labels, one, seed=5) == look(labels, one, seed=5)


# --- Rules for one covariate: the best of all, against every rule tried one by one (enumeration).


def drawn(seed: int, n: int = 24, values: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give values, and which runs are inside and outside; a few are neither, a few are unknown."""
    found = rng(seed)
    x = found.integers(values, size=n).astype(float)
    x[found.random(n) < 0.1] = np.nan
    label = found.integers(3, size=n)
    return x, label == 0, label == 1


def worth(named: np.ndarray, x: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> float:
    known = np.isfinite(x)
    return float(named[inside & known].mean() - named[outside & known].mean())


def every_set(shape: str, different: np.ndarray) -> list[set[float]]:
    values, n = different.tolist(), different.size
    if shape == "levels":
        return [set(some) for k in range(n + 1) for some in itertools.combinations(values, k)]
    if shape == "threshold":
        return [set(values[:k]) for k in range(n + 1)] + [set(values[k:]) for k in range(n + 1)]
    turned = values + values
    return [set(turned[k : k + m]) for k in range(n) for m in range(n + 1)]


@pytest.mark.parametrize("shape", ["arc", "threshold", "levels"])
@pytest.mark.parametrize("seed", range(20))
def test_no_rule_is_better_than_the_best(shape, seed):
    x, inside, outside = drawn(seed)
    places = places_of(x, shape, 9.0)
    best = max(
        worth(np.isin(x, list(one)), x, inside, outside)
        for one in every_set(shape, places.different)
    )
    assert largest_j(places, inside[None], outside[None])[0] == pytest.approx(best)
    rule = best_rule(places, inside, outside)
    assert rule is not None
    assert worth(rule.names(x), x, inside, outside) == pytest.approx(best)


def test_of_thresholds_it_is_the_statistic_of_kolmogorov_and_smirnov():
    x, y = rng().normal(size=30), rng(2).normal(0.4, size=40)
    both = np.concatenate((x, y))
    inside = np.arange(70) < 30
    found = largest_j(places_of(both, "threshold"), inside[None], ~inside[None])[0]
    assert found == pytest.approx(stats.ks_2samp(x, y).statistic)


def test_of_arcs_it_is_kuipers_statistic():
    x, y = rng().random(30) * 64, rng(2).random(40) * 64
    both = np.concatenate((x, y))
    inside = np.arange(70) < 30
    found = largest_j(places_of(both, "arc", 64.0), inside[None], ~inside[None])[0]
    grid = np.sort(both)
    apart = [(x <= one).mean() - (y <= one).mean() for one in grid]
    assert found == pytest.approx(max(*apart, 0) - min(*apart, 0))


def test_an_arc_may_go_through_zero():
    x = np.arange(0.0, 64.0)
    inside = (x >= 60) | (x < 12)
    rule = best_rule(places_of(x, "arc", 64.0), inside, ~inside)
    assert rule == Rule(shape="arc", first=60.0, last=11.0, low=59.5, high=11.5, period=64.0)
    assert (rule.names(x) == inside).all()
    assert rule.names(np.array([59.6, 11.4, 30.0, np.nan])).tolist() == [True, True, False, False]


def test_an_arc_is_found_whatever_is_added_to_all_values():
    x = rng().integers(64, size=200).astype(float)
    inside = (x >= 13) & (x <= 28)
    for added in (0, 7, 40, 640):
        moved = places_of(np.mod(x + added, 64), "arc", 64.0)
        assert largest_j(moved, inside[None], ~inside[None])[0] == pytest.approx(1)


def test_the_raw_bytes_of_a_circle_tell_nothing():
    # the padding of a page: what a threshold sees of a place in a line of 64
    x = rng().integers(4096, size=2000).astype(float)
    inside = np.mod(x, 64) < 16
    assert largest_j(places_of(x, "threshold"), inside[None], ~inside[None])[0] < 0.1
    assert largest_j(places_of(x, "arc", 64.0), inside[None], ~inside[None])[0] == 1


@pytest.mark.parametrize("shape", ["arc", "threshold", "levels"])
def test_one_value_makes_no_rule(shape):
    x, inside = np.full(20, 3.0), np.arange(20) < 10
    places = places_of(x, shape, 64.0)
    assert largest_j(places, inside[None], ~inside[None])[0] == 0
    assert best_rule(places, inside, ~inside) is None


@pytest.mark.parametrize("shape", ["arc", "threshold", "levels"])
def test_where_both_sides_have_the_same_values_there_is_no_rule(shape):
    x, inside = np.repeat(np.arange(10.0), 2), np.arange(20) % 2 == 0
    places = places_of(x, shape, 64.0)
    assert largest_j(places, inside[None], ~inside[None])[0] == 0
    assert best_rule(places, inside, ~inside) is None


def test_a_level_that_was_never_seen_is_not_named():
    x, inside = np.array([1.0] * 10 + [2.0] * 10), np.arange(20) < 10
    rule = best_rule(places_of(x, "levels"), inside, ~inside)
    assert rule.levels == (1.0,)
    assert rule.names(np.array([1.0, 2.0, 3.0, np.nan])).tolist() == [True, False, False, False]


def test_many_labellings_are_each_as_one_alone():
    x, _, _ = drawn(3, n=60)
    labels = rng(4).integers(2, size=(50, 60)).astype(bool)
    for shape in ("arc", "threshold", "levels"):
        places = places_of(x, shape, 9.0)
        together = largest_j(places, labels, ~labels)
        alone = [largest_j(places, one[None], ~one[None])[0] for one in labels]
        assert together.tolist() == pytest.approx(alone)
