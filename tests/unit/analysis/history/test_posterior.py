"""The posterior of one step. Authority: weighted least squares by numpy, and numerical integration."""

import math

import numpy as np
import pytest
from scipy.integrate import dblquad

from analysis.history.posterior import posterior_of

RNG = np.random.default_rng(20261127)


def sessions(
    lower: int, upper: int, step: int, size: float, probes: list[int]
) -> list[dict[int, float]]:
    found = []
    for probe in probes:
        shift = RNG.normal(0, 0.05)
        places = {lower, upper, probe}
        found.append({k: shift + size * (k >= step) + RNG.normal(0, 0.01) for k in sorted(places)})
    return found


def rows(
    data: list[dict[int, float]], lower: int, upper: int
) -> list[tuple[float, float, int | None]]:
    """Give value, variance over v and place of each D (None) and m."""
    found: list[tuple[float, float, int | None]] = []
    for one in data:
        found.append((one[upper] - one[lower], 2.0, None))
        centre = (one[upper] + one[lower]) / 2
        found += [(y - centre, 1.5, k) for k, y in one.items() if lower < k < upper]
    return found


def design(place: int | None, k: int) -> float:
    return 1.0 if place is None else (0.5 if place >= k else -0.5)


def test_probabilities_are_those_of_weighted_least_squares() -> None:
    data = sessions(0, 9, 6, 0.02, [0, 0, 4, 7, 5, 6, 5])
    found = posterior_of(data, 0, 9, np.ones(9))
    weights = []
    for k in range(1, 10):
        y, var, place = (np.array(column) for column in zip(*rows(data, 0, 9), strict=True))
        x = np.array([design(one, k) for one in place])
        scale = 1 / np.sqrt(var.astype(float))
        _, residual, *_ = np.linalg.lstsq((x * scale)[:, None], y * scale, rcond=None)
        weights.append(float(residual[0]) ** (-(y.size - 1) / 2))
    expected = np.array(weights) / sum(weights)
    assert found.probability == pytest.approx(expected, rel=1e-9)
    assert found.probability.sum() == pytest.approx(1.0)
    assert found.of(found.likeliest) == found.probability.max()
    assert found.slow_already(9) == pytest.approx(1.0)
    assert found.slow_already(5) == pytest.approx(expected[:5].sum())


def test_formula_two_is_the_integral_over_size_and_variance() -> None:
    # authority: the likelihood with flat priors on d and log v, integrated numerically
    data = sessions(0, 3, 2, 0.02, [0, 1, 2, 1])
    found = posterior_of(data, 0, 3, np.ones(3))
    table = rows(data, 0, 3)

    def integral(k: int) -> float:
        def likelihood(log_v: float, d: float) -> float:
            v = math.exp(log_v)
            total = 0.0
            for y, var, place in table:
                total += -0.5 * math.log(v) - (y - d * design(place, k)) ** 2 / (2 * var * v)
            return math.exp(total - 20.0)

        return float(dblquad(likelihood, -0.3, 0.3, math.log(1e-6), math.log(1.0), epsrel=1e-5)[0])

    whole = [integral(k) for k in (1, 2, 3)]
    assert found.probability == pytest.approx(np.array(whole) / sum(whole), rel=2e-3)


def test_a_weight_counts_the_places_that_cannot_be_measured() -> None:
    data = sessions(0, 4, 2, 0.02, [0, 0, 0])
    found = posterior_of(data, 0, 4, np.array([1.0, 0.0, 2.0, 1.0]))
    assert found.probability == pytest.approx([0.25, 0.0, 0.5, 0.25])


def test_what_moves_a_whole_session_moves_nothing() -> None:
    data = sessions(0, 9, 6, 0.02, [3, 6, 5, 6])
    moved = [{k: y + shift for k, y in one.items()} for shift, one in enumerate(data)]
    a, b = (posterior_of(one, 0, 9, np.ones(9)).probability for one in (data, moved))
    assert a == pytest.approx(b, rel=1e-6)


def test_the_shortest_run_of_places() -> None:
    found = posterior_of([], 0, 4, np.array([1.0, 5.0, 3.0, 1.0]))
    assert found.shortest(0.8) == (2, 3, pytest.approx(0.8))
    assert found.shortest(0.95)[:2] == (1, 4)


def test_a_place_between_two_steps_is_told_from_one_beside_a_step() -> None:
    base = {0: 0.0, 10: 0.10}
    noise = [0.001, -0.001, 0.0005, -0.0005] * 3
    between = [{**base, 5: 0.05 + e, 10: 0.10 - e} for e in noise]
    beside = [{**base, 5: 0.10 + e, 10: 0.10 - e} for e in noise]
    for data, answer in ((between, True), (beside, False)):
        found = posterior_of(data, 0, 10, np.ones(10))
        assert found.between(5, 10, 0.01, 3.0) is answer
    assert not posterior_of(between[:2], 0, 10, np.ones(10)).between(5, 10, 0.01, 3.0)
