"""Rules for one covariate: the best of all, against every rule tried one by one (enumeration)."""

import itertools

import numpy as np
import pytest
from scipy import stats

from analysis.methods.variance_sources.modes import Rule, best_rule, largest_j, places_of


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


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
