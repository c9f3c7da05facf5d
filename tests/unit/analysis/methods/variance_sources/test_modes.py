"""One covariate against the modes: planted ones are found, others not, and a trap is none."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy import stats

from analysis.methods.variance_sources.covariates import Covariate
from analysis.methods.variance_sources.modes import (
    ModalRuns,
    Rule,
    best_rule,
    detrended,
    explained,
    largest_j,
    other_orders,
    places_of,
    separation,
    values_of,
    within,
)
from analysis.methods.variance_sources.result import Sources

SESSIONS = np.repeat(np.arange(3), 30)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def cell(labels: np.ndarray, sessions: np.ndarray = SESSIONS) -> ModalRuns:
    return cause_cell(labels, sessions=sessions)


def suspect(values: np.ndarray, *, randomized: bool = True, **changes: object) -> Covariate:
    kind = "randomized" if randomized else "observed"
    follows = changes.get("count") is not None
    return Covariate(name="it", kind=kind, values=values, may_follow=follows, **changes)


def look(labelled: ModalRuns, one: Covariate, *, permutations: int = 999, seed: int = 1):
    return separation(labelled, one, permutations=permutations, rng=rng(seed))


def test_orders_stay_within_their_sessions():
    labels = rng().integers(2, size=90).astype(np.int8)
    for kind in ("randomized", "observed"):
        found = other_orders(labels, within(SESSIONS), 200, rng(2), kind)
        for k in range(3):
            counts = found[:, k == SESSIONS].sum(axis=1)
            assert (counts == labels[k == SESSIONS].sum()).all()
        assert np.unique(found, axis=0).shape[0] > 150


def test_a_turned_session_keeps_its_neighbours():
    labels = np.arange(30, dtype=np.int8)
    found = other_orders(labels, within(np.zeros(30, np.int64)), 100, rng(), "observed")
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


def every_set(scale: str, different: np.ndarray) -> list[set[float]]:
    values, n = different.tolist(), different.size
    if scale == "levels":
        return [set(some) for k in range(n + 1) for some in itertools.combinations(values, k)]
    if scale == "numeric":
        return [set(values[:k]) for k in range(n + 1)] + [set(values[k:]) for k in range(n + 1)]
    turned = values + values
    return [set(turned[k : k + m]) for k in range(n) for m in range(n + 1)]


@pytest.mark.parametrize("scale", ["circular", "numeric", "levels"])
@pytest.mark.parametrize("seed", range(20))
def test_no_rule_is_better_than_the_best(scale, seed):
    x, inside, outside = drawn(seed)
    places = places_of(x, scale, 9.0)
    best = max(
        worth(np.isin(x, list(one)), x, inside, outside)
        for one in every_set(scale, places.different)
    )
    assert largest_j(places, inside[None], outside[None])[0] == pytest.approx(best)
    rule = best_rule(places, inside, outside)
    assert rule is not None
    assert worth(rule.names(x), x, inside, outside) == pytest.approx(best)


def test_of_thresholds_it_is_the_statistic_of_kolmogorov_and_smirnov():
    x, y = rng().normal(size=30), rng(2).normal(0.4, size=40)
    both = np.concatenate((x, y))
    inside = np.arange(70) < 30
    found = largest_j(places_of(both, "numeric"), inside[None], ~inside[None])[0]
    assert found == pytest.approx(stats.ks_2samp(x, y).statistic)


def test_of_arcs_it_is_kuipers_statistic():
    x, y = rng().random(30) * 64, rng(2).random(40) * 64
    both = np.concatenate((x, y))
    inside = np.arange(70) < 30
    found = largest_j(places_of(both, "circular", 64.0), inside[None], ~inside[None])[0]
    grid = np.sort(both)
    apart = [(x <= one).mean() - (y <= one).mean() for one in grid]
    assert found == pytest.approx(max(*apart, 0) - min(*apart, 0))


def test_an_arc_may_go_through_zero():
    x = np.arange(0.0, 64.0)
    inside = (x >= 60) | (x < 12)
    rule = best_rule(places_of(x, "circular", 64.0), inside, ~inside)
    assert rule == Rule(scale="circular", first=60.0, last=11.0, low=59.5, high=11.5, period=64.0)
    assert (rule.names(x) == inside).all()
    assert rule.names(np.array([59.6, 11.4, 30.0, np.nan])).tolist() == [True, True, False, False]


def test_an_arc_is_found_whatever_is_added_to_all_values():
    x = rng().integers(64, size=200).astype(float)
    inside = (x >= 13) & (x <= 28)
    for added in (0, 7, 40, 640):
        moved = places_of(np.mod(x + added, 64), "circular", 64.0)
        assert largest_j(moved, inside[None], ~inside[None])[0] == pytest.approx(1)


def test_the_raw_bytes_of_a_circle_tell_nothing():
    # the padding of a page: what a threshold sees of a place in a line of 64
    x = rng().integers(4096, size=2000).astype(float)
    inside = np.mod(x, 64) < 16
    assert largest_j(places_of(x, "numeric"), inside[None], ~inside[None])[0] < 0.1
    assert largest_j(places_of(x, "circular", 64.0), inside[None], ~inside[None])[0] == 1


@pytest.mark.parametrize("scale", ["circular", "numeric", "levels"])
@pytest.mark.parametrize(
    ("x", "inside"),
    [
        (np.full(20, 3.0), np.arange(20) < 10),
        (np.repeat(np.arange(10.0), 2), np.arange(20) % 2 == 0),
    ],
    ids=["one value", "the same values on both sides"],
)
def test_where_no_value_tells_the_sides_apart_there_is_no_rule(scale, x, inside):
    places = places_of(x, scale, 64.0)
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
    for scale in ("circular", "numeric", "levels"):
        places = places_of(x, scale, 9.0)
        together = largest_j(places, labels, ~labels)
        alone = [largest_j(places, one[None], ~one[None])[0] for one in labels]
        assert together.tolist() == pytest.approx(alone)


# --- Which covariate heads the sentence about a cell, what it may say, and when nothing is said


def covariate(name: str, values: np.ndarray, **changes: object) -> Covariate:
    return Covariate(**{"name": name, "kind": "observed", "values": values * 1.0} | changes)


def padding(values: np.ndarray, period: int = 64) -> Covariate:
    return covariate(
        f"padding_bytes mod {period}", np.mod(values, period),
        kind="randomized", scale="circular", period=float(period), unit="B", known_before=True,
    )  # fmt: skip


def cause_cell(
    labels: np.ndarray, *covariates: Covariate, benchmark: str = "one", **changes: object
):
    n = labels.size
    slow = labels == labels.max()
    return ModalRuns(
        **{
            "benchmark": benchmark,
            "variant": "v",
            "trial": "t",
            "rows": np.arange(n),
            "values": np.where(slow, 0.016, 0.007) + 0.0001 * rng(9).random(n),
            "sessions": np.resize(SESSIONS, n),
            "labels": labels.astype(np.int8),
            "by": "values",
            "covariates": {one.name: one for one in covariates},
        }
        | changes
    )


def cause_look(*cells: ModalRuns, permutations: int = 999, seed: int = 1):
    return explained(cells, risk=0.05, permutations=permutations, rng=rng(seed))


BYTES = rng(3).integers(4096, size=90)
SLOW = (BYTES % 64 >= 13) & (BYTES % 64 <= 28)


def test_a_drawn_factor_is_a_cause_and_the_sentence_says_so():
    (found,) = cause_look(cause_cell(SLOW, padding(BYTES), padding(BYTES, 4096)))
    assert found.factor == "padding_bytes mod 64"
    assert (found.kind, found.causal, found.may_follow) == ("randomized", True, False)
    assert found.mode == 2
    assert (found.inside, found.outside, found.chance) == (1, 0, 0.5)
    assert found.accuracy > 0.9
    share = 100 * SLOW.mean()
    low, high = (BYTES % 64)[SLOW].min(), (BYTES % 64)[SLOW].max()
    assert found.sentence == (
        f"mode 2, {share:.0f} % of runs: environment padding of {low} to {high} modulo 64 in 100 % of them, "
        "0 % of the others; the runner drew it for each run, so it is a cause"
    )
    assert [one.share for one in found.classes] == pytest.approx([1 - SLOW.mean(), SLOW.mean()])


def test_an_observed_factor_is_no_cause():
    seed = rng().integers(8, size=90)
    (found,) = cause_look(cause_cell(np.isin(seed, (3, 6)), covariate("seed", seed, unit="1")))
    assert found.factor == "seed (levels)"
    assert not found.causal
    assert "seed 3 or 6 in 100 % of them, 0 % of the others" in found.sentence
    assert "cause" in found.sentence.partition("need not be")[2]
    assert "it is a cause" not in found.sentence


def test_nothing_is_said_where_nothing_separates():
    others = [covariate(f"f{k}", rng(20 + k).random(90)) for k in range(12)]
    (found,) = cause_look(cause_cell(SLOW, *others))
    assert found.sentence is found.factor is found.accuracy is found.pvalue is found.mode is None
    assert len(found.classes) == 2


def test_nothing_is_said_of_a_mode_of_few_runs():
    few = SLOW & (np.cumsum(SLOW) <= 9)
    ten = SLOW & (np.cumsum(SLOW) <= 10)
    said = covariate("said", few), covariate("said", ten)
    assert cause_look(cause_cell(few, said[0]))[0].sentence is None
    assert cause_look(cause_cell(ten, said[1]))[0].sentence is not None


def following(slow: np.ndarray, ratio: float = 4.0) -> Covariate:
    rate = rng(5).poisson(np.where(slow, 30 * ratio, 30.0))
    return covariate(
        "involuntary_switches", rate, unit="/s",
        may_follow=True, count=rate * np.where(slow, 0.016, 0.007),
    )  # fmt: skip


def test_what_may_follow_never_heads_a_sentence_beside_what_was_fixed_before():
    # the switches tell every run rightly, the padding all but six
    noisy = SLOW.copy()
    noisy[np.flatnonzero(~SLOW)[:6]] = True
    (found,) = cause_look(cause_cell(noisy, following(noisy), padding(BYTES)))
    assert found.factor == "padding_bytes mod 64"
    assert not found.may_follow


def test_alone_it_is_told_as_what_may_follow():
    (found,) = cause_look(cause_cell(SLOW, following(SLOW), covariate("idle", rng(8).random(90))))
    assert found.factor == "involuntary_switches"
    assert found.may_follow
    assert not found.causal
    assert "nothing that was fixed before the run separates it" in found.sentence
    assert "may be its cause or follow from it" in found.sentence
    assert "involuntary switches per second differ," in found.sentence


def test_a_rate_that_is_a_little_higher_in_longer_runs_is_not_told():
    # a start that takes a millisecond of each: the share of the rest is larger in a longer run
    wall = np.where(SLOW, 16.0, 7.0)
    busy = wall - 1 + 0.05 * rng(5).random(90)
    user = covariate(
        "user_s", busy / wall, unit="/s",
        may_follow=True, count=busy,
    )  # fmt: skip
    assert cause_look(cause_cell(SLOW, user))[0].sentence is None


def test_what_a_program_makes_of_its_time_is_no_suspect():
    speed = covariate("ops", np.where(SLOW, 60.0, 140.0), unit="1/s", may_follow=True)
    assert cause_look(cause_cell(SLOW, speed))[0].sentence is None


def test_of_equals_what_was_drawn_comes_first_then_what_the_program_says():
    drawn, said, size = padding(BYTES), covariate("arm", SLOW), covariate("stdout_bytes", SLOW + 20)
    (first,) = cause_look(cause_cell(SLOW, size, said, drawn))
    assert first.factor == "padding_bytes mod 64"
    assert set(first.others) == {"arm", "stdout_bytes"}
    (second,) = cause_look(cause_cell(SLOW, size, said))
    assert second.factor.startswith("arm")
    assert second.others == ("stdout_bytes",)


def test_how_a_cause_works_does_not_take_its_place():
    # the misses tell every run rightly, the padding all but three
    noisy = SLOW.copy()
    noisy[np.flatnonzero(~SLOW)[:3]] = True
    misses = covariate("misses", np.where(noisy, 900, 20) + rng(4).integers(9, size=90))
    (found,) = cause_look(cause_cell(noisy, misses, padding(BYTES)))
    assert found.factor == "padding_bytes mod 64"
    assert found.others == ("misses",)


def test_a_factor_that_tells_far_fewer_does():
    noisy = SLOW ^ (rng(6).random(90) < 0.2)
    misses = covariate("misses", np.where(noisy, 900, 20) + rng(4).integers(9, size=90))
    (found,) = cause_look(cause_cell(noisy, misses, padding(BYTES)))
    assert found.factor == "misses"
    assert found.others == ("padding_bytes",)


def test_padding_heads_by_the_circle_that_tells_most():
    (found,) = cause_look(
        cause_cell(
            SLOW,
            covariate("padding_bytes", BYTES, kind="randomized"),
            padding(BYTES, 4096),
            padding(BYTES),
        )
    )
    assert found.factor == "padding_bytes mod 64"


def test_all_cells_are_one_family():
    alone = cause_look(cause_cell(SLOW, padding(BYTES)))[0].pvalue
    twelve = [cause_cell(SLOW, padding(BYTES), benchmark=f"b{k}") for k in range(12)]
    assert cause_look(*twelve)[0].pvalue > alone


def test_a_large_family_is_held_against_more_orders():
    # 150 covariates and 99 orders: without more, the smallest p-value would be 1.5
    others = [covariate(f"f{k}", rng(20 + k).random(90)) for k in range(150)]
    (found,) = cause_look(cause_cell(SLOW, padding(BYTES), *others), permutations=99)
    assert found.factor == "padding_bytes mod 64"


def test_another_cell_changes_no_other_ones_draws():
    idle = cause_cell(SLOW, padding(rng(18).integers(4096, size=90)), benchmark="two")
    one = cause_cell(SLOW, padding(BYTES))
    assert cause_look(one)[0].factor == cause_look(one, idle)[0].factor
    assert cause_look(one, idle) == cause_look(one, idle)


def test_rows_pick_the_runs_of_a_cell_from_the_trials_columns():
    longer = np.concatenate((np.full(10, np.nan), BYTES))
    (found,) = cause_look(cause_cell(SLOW, padding(longer), rows=np.arange(10, 100)))
    assert found.inside == 1


@pytest.mark.parametrize(
    ("changes", "rule", "said"),
    [
        ({"name": "padding_bytes mod 64", "scale": "circular", "period": 64.0},
         Rule(scale="circular", first=60.0, last=11.0, low=59.5, high=11.5, period=64.0),
         "environment padding of 60 to 11 modulo 64"),
        ({"name": "frequency_khz", "unit": "khz"}, Rule(scale="numeric", last=2.1e6, high=2.2e6),
         "frequency of 2,100,000 kHz or less"),
        ({"name": "position"}, Rule(scale="numeric", first=3.0, low=2.5),
         "position in its block of 3 or more"),
        ({"name": "cpu", "scale": "levels", "labels": ("0", "1", "2,3")},
         Rule(scale="levels", levels=(1.0, 2.0)), "CPU 1 or 2,3"),
        ({"name": "previous_benchmark", "scale": "levels", "labels": ("a", "b or c")},
         Rule(scale="levels", levels=(1.0,)), "benchmark of the run before 'b or c'"),
        ({"name": "seed (levels)", "scale": "levels", "labels": tuple(map(str, range(9)))},
         Rule(scale="levels", levels=tuple(map(float, range(7)))),
         "seed 0, 1, 2, 3, 4 and 2 more"),
    ],
)  # fmt: skip
def test_values_in_words(changes, rule, said):
    assert values_of(Covariate(kind="observed", values=np.zeros(3), **changes), rule) == said


def test_a_share_that_is_not_all_is_not_rounded_to_it():
    values = rng(4).random(900)
    labels = values > 0.5
    labels[np.argmin(values)] = True
    found = cause_look(
        cause_cell(labels, covariate("load", values), sessions=np.repeat(np.arange(3), 300))
    )[0]
    assert "in 100 % of them, 0.2 % of the others" in found.sentence


def test_the_page_says_the_sentence_and_lists_all_modes():
    modes = cause_look(
        cause_cell(SLOW, padding(BYTES)),
        cause_cell(SLOW, padding(rng(18).integers(4096, size=90)), benchmark="idle"),
    )
    found = Sources(of=("t",), response="wall", unit="s", modes=modes, seed=1)
    said = " ".join(str(found).split())
    assert f"one / v: {modes[0].sentence}" in said
    assert "nothing recorded" in said
    assert "7.05 ms (" in said
    told = found.to_dict()["modes"]
    assert json.loads(json.dumps(told)) == told
    assert told[0]["factor"] == "padding_bytes mod 64"
    assert told[1]["sentence"] is None
