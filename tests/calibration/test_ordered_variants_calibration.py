"""How often a series of variants without a step has one stated, and how often a step's place and interval hold.

Authority: Student's t and Bonferroni's bound hold for normal contrasts of any correlation, so for what a session's
variants have in common, and for variants that scatter differently. Negative controls: a host that
drifts inside sessions whose order of runs was not shuffled, and no correction for the number of places.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from analysis.history.ordered import contrasts_of, steps_of
from analysis.stats.arguments import stream
from tests.calibration.made_pairs import at_most

pytestmark = pytest.mark.calibration

RUNS = 4
Law = Callable[[np.random.Generator, int, int], np.ndarray]


def drifting(rng: np.random.Generator, sessions: int, n: int, *, shuffled: bool) -> np.ndarray:
    """Give means of runs of a host that becomes slower by six of their standard deviations in each session."""
    found = np.zeros((sessions, n))
    for block in range(RUNS):
        place = np.tile(np.arange(n), (sessions, 1))
        if shuffled:
            place = np.argsort(rng.random((sessions, n)), axis=1)
        found += 6 * (block * n + place) / (RUNS * n) + rng.normal(size=(sessions, n))
    return found / RUNS


LAWS: dict[str, Law] = {
    "independent": lambda rng, s, n: rng.normal(size=(s, n)),
    "equicorrelated": lambda rng, s, n: rng.normal(size=(s, n)) + 3 * rng.normal(size=(s, 1)),
    "t3": lambda rng, s, n: rng.standard_t(3, size=(s, n)),
    "unequal variants": lambda rng, s, n: (
        rng.normal(size=(s, n)) * np.exp(0.7 * rng.normal(size=n))
    ),
    "unequal sessions": lambda rng, s, n: (
        rng.normal(size=(s, n)) * np.exp(0.7 * rng.normal(size=(s, 1)))
    ),
    "drift, shuffled": lambda rng, s, n: drifting(rng, s, n, shuffled=True),
}
SHAPES = ((3, 8), (6, 10), (6, 40), (12, 10), (24, 40))


def stated(law: Law, sessions: int, n: int, series: int, label: str, level: float = 0.05) -> int:
    """Count the series without a step that have one."""
    return sum(
        bool(
            steps_of(
                law(stream(30, "ordered", label, str(k)), sessions, n), range(1, n), level, 0.05
            )
        )
        for k in range(series)
    )


@pytest.mark.parametrize(("sessions", "n"), SHAPES)
@pytest.mark.parametrize("law", LAWS)
def test_a_series_without_a_step_has_none_stated(law: str, sessions: int, n: int) -> None:
    assert at_most(stated(LAWS[law], sessions, n, 2000, f"{law}/{sessions}/{n}"), 2000, 0.05)


@pytest.mark.spot_check
def test_spot_check_of_series_without_a_step_with_its_negative_controls() -> None:
    assert at_most(stated(LAWS["equicorrelated"], 6, 10, 200, "spot"), 200, 0.05)
    assert stated(LAWS["independent"], 6, 10, 100, "all places at 5 %", level=0.05 * 9) > 12
    fixed: Law = lambda rng, s, n: drifting(rng, s, n, shuffled=False)  # noqa: E731
    assert stated(fixed, 6, 10, 20, "fixed") > 5


@pytest.mark.parametrize(("sessions", "n"), SHAPES[1:])
@pytest.mark.parametrize("law", ["independent", "equicorrelated", "t3", "unequal variants"])
def test_a_step_lies_where_it_is_said_and_its_interval_covers_it(
    law: str, sessions: int, n: int
) -> None:
    found = held = alone = covered = more = 0
    for k in range(1500):
        rng = stream(30, "ordered step", law, f"{sessions}/{n}/{k}")
        at, size = int(rng.integers(1, n)), float(rng.choice([1.5, 3.0, 6.0]))
        table = LAWS[law](rng, sessions, n)
        table[:, at:] += size
        steps = steps_of(table, range(1, n), 0.05, 0.05)
        if not steps:
            continue
        found += 1
        hits = [one for one in steps if one.first <= at <= one.last]
        held += bool(hits)
        more += any(not one.first <= at <= one.last for one in steps)
        if len(steps) == 1 and hits:
            alone += 1
            covered += abs(hits[0].difference - size) <= hits[0].half
    assert found > 1000
    assert held >= binom.ppf(0.01, found, 0.95)
    assert covered >= binom.ppf(0.005, alone, 0.93)
    assert at_most(more, found, 0.07)  # a further step that is none


def test_one_place_is_exact() -> None:
    hits = sum(
        float(contrasts_of(stream(30, "exact", str(k)).normal(size=(6, 9)), [4]).pvalue[0]) <= 0.05
        for k in range(4000)
    )
    assert binom.ppf(0.001, 4000, 0.05) <= hits <= binom.ppf(0.999, 4000, 0.05)
