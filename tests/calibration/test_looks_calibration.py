"""How often a trial that grows is wrong at some look: the rule's bound, and the old rule beyond it.

Authority: the bound that is printed, by Bonferroni's inequality over the looks (a trial that began with
one session risks alpha in all, another 1.5 alpha), and exact binomial bounds on what is simulated.
The negative control is the rule of 0.2.0, alpha / k at the k-th look, whose sum has no bound.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.methods.multilevel.law import ErrorLaw, Looks

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

ALPHA = 0.05
EACH = 4_000  # trials at once: all their looks are a table


def looked_at(seed: int, begun: int, looks: int, trials: int):
    """Give t of the mean of standard normal values at each look, and its degrees of freedom."""
    rng = np.random.default_rng([24, 6, seed, begun])
    most = begun + looks - 1
    for _ in range(-(-trials // EACH)):
        d = rng.standard_normal((EACH, most))
        n = np.arange(1, most + 1)
        mean = np.cumsum(d, axis=1) / n
        squares = np.maximum(np.cumsum(d**2, axis=1) - n * mean**2, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(mean) / np.sqrt(squares / (n - 1) / n)
        yield t[:, begun - 1 :], n[begun - 1 :] - 1.0


def ever_wrong(begun: int, looks: int, trials: int, alphas) -> tuple[int, int]:
    """Count trials with a false word at some look, of so many."""
    limit = np.full(looks, np.inf)
    wrong = total = 0
    for t, freedom in looked_at(1, begun, looks, trials):
        some = freedom >= 1
        for k in np.flatnonzero(some):
            limit[k] = ErrorLaw(alpha=alphas[k]).multiplier(np.array(freedom[k]))
        wrong += int((t[:, some] > limit[some]).any(axis=1).sum())
        total += t.shape[0]
    return wrong, total


def by_rule(begun: int, looks: int) -> list[float]:
    sessions = range(begun, begun + looks)
    return [Looks.growing(sessions[: k + 1]).alpha(1 - ALPHA) for k in range(looks)]


def surely_at_most(count: int, total: int) -> float:
    """Give the upper end of the exact one-sided 99.9 % interval of a rate."""
    return float(stats.beta.ppf(0.999, count + 1, total - count))


def surely_at_least(count: int, total: int) -> float:
    return float(stats.beta.ppf(0.001, count, total - count + 1))


@pytest.mark.parametrize(
    ("begun", "looks", "trials"),
    [
        pytest.param(1, 10, 4_000, marks=spot_check),
        (1, 100, 20_000),
        (2, 100, 20_000),
        (3, 100, 20_000),
        (5, 100, 20_000),
        (10, 30, 20_000),
    ],
)
def test_all_looks_together_keep_what_is_printed(begun, looks, trials):
    total = Looks.growing(range(begun, begun + looks)).total * ALPHA
    assert total == pytest.approx(0.05 if begun == 1 else 0.075)
    assert surely_at_most(*ever_wrong(begun, looks, trials, by_rule(begun, looks))) <= total


@pytest.mark.parametrize(("begun", "least"), [(1, 0.06), (2, 0.085), (5, 0.065)])
def test_the_old_sharing_breaks_what_it_said(begun, least):
    """The negative control: alpha, alpha / 2, alpha / 3 ... "share the level" of 5 %."""
    old = [ALPHA / (k + 1) for k in range(100)]
    found = surely_at_least(*ever_wrong(begun, 100, 20_000, old))
    assert found > ALPHA
    assert found > least
