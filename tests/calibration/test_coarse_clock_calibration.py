"""How often a clock's step makes a false word, and what intervals cover with it.

Authority: A/A trials whose runs are read by a clock of a known step and a random phase, the 5 % that is
printed for a family of four benchmarks after Holm, and exact binomial bounds. The negative control is the
rule of 0.2.0, in which session values that do not vary counted as the p that they tend to, which is 0.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.methods.multilevel.compare import multilevel
from analysis.verdict.gate import gate
from tests.calibration.made_pairs import lower, side, upper

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

BENCHMARKS = 4
SD = 0.01  # of a run, on the log scale


def trial(rng, sessions, runs, step, *, apart=0.0, shared=True):
    """Give both sides: lognormal runs of about 1 s, read in steps of so many sd; `apart` is the truth."""
    sides = []
    phase = rng.random((BENCHMARKS, 1, 1))
    for k, (name, shift) in enumerate((("new", apart), ("old", 0.0))):
        true = np.exp(shift + SD * rng.standard_normal((BENCHMARKS, sessions, runs)))
        width = step * SD
        values = width * (np.floor(true / width + phase) + 0.5 - phase)
        sides.append(side(name, values, shift=0 if shared else 100 * k))
    return sides


def old_words(sides, sessions, runs) -> bool:
    """Tell whether any word is false by t with 0 as the p of equal values, after Holm; plainly."""
    ps = []
    for b in range(BENCHMARKS):
        new, old = (
            np.log(side.values(f"b{b}")).reshape(sessions, runs).mean(axis=1) for side in sides
        )
        d = new - old
        if np.ptp(d) < 1e-12:
            ps.append(0.0 if abs(d[0]) > 1e-12 else 1.0)
        else:
            ps.append(float(stats.ttest_1samp(d, 0.0).pvalue))
    return min(ps) <= 0.05 / BENCHMARKS


CELLS = [
    pytest.param(2, 1, 1.0, 100, 0.02, marks=spot_check),
    # a step is looked for within each side: .060 of 2,500 families
    (2, 1, 0.5, 400, 0.06),
    (2, 1, 1.0, 400, 0.02),
    (2, 1, 3.0, 400, 0.02),
    (2, 3, 0.5, 400, 0.02),
    (2, 3, 2.0, 400, 0.02),
    (3, 1, 0.5, 600, 0.05),
    (3, 1, 2.0, 400, 0.02),
    (5, 3, 1.0, 600, 0.065),
    (5, 3, 3.0, 400, 0.05),
]


def rates(sessions, runs, step, trials):
    """Count false words by the rule, by the old one, and wrong stops of a gate."""
    rng = np.random.default_rng([24, 4, sessions, runs, int(10 * step)])
    false = old = stopped = 0
    for _ in range(trials):
        sides = trial(rng, sessions, runs, step)
        found = multilevel(*sides)
        false += any(line.outcome in ("faster", "slower") for line in found.benchmarks)
        old += old_words(sides, sessions, runs)
        stopped += gate(found, "slower>2%").exit_code == 1
    return false, old, stopped


@pytest.mark.parametrize(("sessions", "runs", "step", "trials", "most"), CELLS)
def test_a_coarse_clock_makes_no_more_false_words(sessions, runs, step, trials, most):
    false, old, stopped = rates(sessions, runs, step, trials)
    assert lower(false, trials) <= most
    assert lower(stopped, trials) <= 0.05
    if (sessions, runs, step) in ((2, 1, 1.0), (2, 3, 2.0)):  # the negative control
        assert lower(old, trials) > 0.15


@pytest.mark.parametrize(
    ("sessions", "runs", "step", "shared"),
    [
        (2, 1, 3.0, True),
        (3, 1, 6.0, True),
        (5, 3, 6.0, True),
        (5, 3, 6.0, False),
        (3, 3, 3.0, False),
    ],
)
def test_intervals_hold_the_truth_on_a_coarse_clock(sessions, runs, step, shared):
    """At random true differences of up to two steps; without the step .33 to .87 of them did."""
    rng = np.random.default_rng([24, 4, 7, sessions, runs, int(step), shared])
    held = total = 0
    for _ in range(150):
        apart = float(rng.uniform(-2, 2)) * step * SD
        sides = trial(rng, sessions, runs, step, apart=apart, shared=shared)
        for line in multilevel(*sides).benchmarks:
            if line.low is not None:
                held += line.low <= math.exp(-apart) <= line.high
                total += 1
    assert total > 300
    assert upper(held, total) >= 0.95


def test_suites_hold_the_truth_on_a_coarse_clock():
    rng = np.random.default_rng([24, 4, 8])
    held = total = 0
    for _ in range(300):
        found = multilevel(*trial(rng, 3, 1, 4.0)).these
        if found.low is not None:
            held += found.low <= 1.0 <= found.high
            total += 1
    assert total > 200
    assert upper(held, total) >= 0.95
