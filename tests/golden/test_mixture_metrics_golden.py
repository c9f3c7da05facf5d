"""Metrics of the mixtures of figure 2, and the printed ammp mixture, against their references.

The expected figures come from R 4.2.2 and from scipy code written apart from this package.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)

GOLDEN = json.loads((Path(__file__).parent / "varcore_mixtures" / "expected.json").read_text())
SCIPY, R = GOLDEN["computed_scipy"], GOLDEN["computed_R"]
MIXTURES = {name: Mixture.from_parameters(**given) for name, given in GOLDEN["inputs"].items()}
NAMES = tuple(MIXTURES)

# Appendix, example 1, as printed (the column headed variance holds standard deviations)
AMMP = Mixture.from_parameters(
    weights=[0.09677359, 0.15280620, 0.45830339, 0.16059283, 0.13152400],
    means=[92.21333, 93.26964, 93.54552, 94.21802, 94.99607],
    sds=[0.163372026, 0.146702827, 0.227167773, 0.003986046, 0.392762363],
)
CLUSTERS = [
    [92.41, 92.01, 92.22],
    [93.22, 93.21, 93.21, 93.02, 93.21],
    [float(x) for x in ["93.61", "93.62", "94.01", "93.42", "93.82", "93.41", "93.61"]]
    + [float(x) for x in ["93.41", "93.42", "93.42", "93.61", "93.62", "93.42", "93.81"]],
    [94.22, 94.22, 94.22, 94.22, 94.21],
    [95.61, 95.02, 94.62, 94.81],
]


@pytest.mark.parametrize("name", NAMES)
def test_moments_modes_quantiles_and_probabilities(name: str) -> None:
    mixture = MIXTURES[name]
    assert mixture.mean() == pytest.approx(SCIPY["moments"][name]["mean"], rel=1e-12)
    assert mixture.modes() == pytest.approx(SCIPY["modes"][name], rel=1e-9)
    assert variability_level(mixture) == SCIPY["I4"][name]
    levels = [float(q) for q in SCIPY["quantiles"][name]]
    assert mixture.quantile(levels) == pytest.approx(
        list(SCIPY["quantiles"][name].values()), rel=1e-9
    )
    # R's root finder stops earlier, and the median of "plain" lies on a plateau
    assert mixture.quantile(R["quantile_levels"]) == pytest.approx(R["quantiles"][name], rel=2e-9)
    for a, expected in SCIPY["P_X_lt_a"][name].items():
        assert mixture.probability_below(float(a)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), list(combinations(NAMES, 2)))
def test_mean_difference(a: str, b: str) -> None:
    found = mean_difference(MIXTURES[a], MIXTURES[b])
    assert found == pytest.approx(SCIPY["I1"][f"E|{a}-{b}|"]["closed"], rel=1e-12)
    assert found == pytest.approx(R["I1"][f"{a}_{b}"], rel=1e-12)
    assert mean_difference(MIXTURES[b], MIXTURES[a]) == pytest.approx(found, rel=1e-14)


def test_probability_faster() -> None:
    for key, expected in SCIPY["I2"].items():
        a, b = key[2:-1].split("<")
        found = probability_faster(MIXTURES[a], MIXTURES[b])
        assert found == pytest.approx(expected["closed"], rel=1e-12)
        assert found == pytest.approx(R["I2"][f"{a}_lt_{b}"], rel=1e-12)


def test_probability_faster_with_a_shift() -> None:
    for key, expected in SCIPY["I2_delta"].items():
        a, b = key[2:-1].split("<")
        b, shift = b.split("+")
        found = probability_faster(MIXTURES[a], MIXTURES[b], shift=float(shift))
        assert found == pytest.approx(expected["closed"], rel=1e-12)


def test_probability_fastest() -> None:
    chances = []
    for name in NAMES:
        others = [MIXTURES[other] for other in NAMES if other != name]
        chances.append(probability_fastest(MIXTURES[name], *others))
        assert chances[-1] == pytest.approx(SCIPY["I3"][f"{name} smallest"]["numeric"], abs=1e-12)
        assert chances[-1] == pytest.approx(R["I3"][name], abs=1e-12)
    assert sum(chances) == pytest.approx(1, abs=1e-14)
    # one call over the infinite line is off: the reference records by how much
    assert abs(R["I3_one_call_over_infinite_range"]["plain"] - chances[0]) > 1e-6


def test_ammp_has_four_modes_and_the_printed_clusters() -> None:
    assert AMMP.modes() == pytest.approx([92.2133, 93.4159, 94.2180, 94.9961], abs=5.1e-5)
    assert variability_level(AMMP) == 4
    for cluster, values in enumerate(CLUSTERS):
        assert AMMP.classify(values).tolist() == [cluster] * len(values)


def test_what_the_second_example_prints_cannot_all_be_true() -> None:
    # 1 - P[C1 is fastest] is at most P[C2 < C1] + P[C3 < C1]; the print has 3.3e-5 against 1.4e-6
    printed = {"C1 fastest": 0.9999668, "C2 fastest": 2.891931e-07, "C1 < C3": 0.9999989}
    third = 1 - printed["C1 fastest"] - printed["C2 fastest"]
    assert third > 1 - printed["C1 < C3"]


def test_negative_control_the_printed_estimators_fail() -> None:
    # I2 with the printed sign is P[X > Y]
    x, y = MIXTURES["plain"], MIXTURES["dashed"]
    assert abs(probability_faster(y, x) - SCIPY["I2"]["P(plain<dashed)"]["closed"]) > 0.1
    assert np.isclose(1 - probability_faster(y, x), probability_faster(x, y), rtol=0, atol=1e-15)
