"""Harrell and Davis' quantiles, by scipy's."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats.mstats import hdquantiles

from analysis.errors import InsufficientDataError, UsageError
from analysis.stats.ranks import harrell_davis, mean_shift, shift_of

DECILES = tuple(k / 10 for k in range(1, 10))


@pytest.mark.parametrize("n", [2, 5, 30, 301])
def test_quantiles_are_scipys(n: int) -> None:
    values = np.random.default_rng(n).lognormal(size=n)
    assert harrell_davis(values, DECILES) == pytest.approx(np.asarray(hdquantiles(values, DECILES)))


def test_the_median_of_three_by_hand() -> None:
    # n = 3, p = 1/2: a beta(2, 2) law, whose steps are 7/27, 13/27, 7/27
    assert harrell_davis(np.array([3.0, 1.0, 2.0]) ** 2, (0.5,)) == pytest.approx(
        [(7 * 1 + 13 * 4 + 7 * 9) / 27]
    )


def test_equal_values_have_no_rounding() -> None:
    assert harrell_davis(np.full(7, 0.1), DECILES).tolist() == [0.1] * 9


def test_what_has_no_quantiles_is_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        harrell_davis(np.ones(3), (1.0,))
    with pytest.raises(InsufficientDataError) as caught:
        harrell_davis(np.empty(0), (0.5,))
    assert (caught.value.n, caught.value.needed) == (0, 1)
    assert harrell_davis(np.array([3.5]), (0.5,)).tolist() == [3.5]  # one is enough


# --- The shift function: scipy's quantiles and t, the coverage of equal laws, and what is left out.


def sessions(rng: np.random.Generator, count: int, runs: int, factor: float = 1.0):
    return [factor * np.exp(rng.normal(0, 0.05, runs)) for _ in range(count)]


def test_paired_sides_are_scipys_quantiles_and_t() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = sessions(rng, 4, 12, 0.5), sessions(rng, 4, 12)
    found = shift_of(ours, theirs, paired=True, confidence=0.9)
    logs = np.array(
        [
            np.log(hdquantiles(a, DECILES)) - np.log(hdquantiles(b, DECILES))
            for a, b in zip(ours, theirs, strict=True)
        ]
    )
    assert found is not None
    assert found.logs == pytest.approx(logs.mean(axis=0))
    interval = stats.ttest_1samp(logs, 0).confidence_interval(0.9)
    assert found.logs - found.half == pytest.approx(interval.low)
    assert found.logs + found.half == pytest.approx(interval.high)
    assert (found.sessions, found.left_out) == (4, 0)


def test_separate_sides_are_scipys_welch() -> None:
    rng = np.random.default_rng(2)
    ours, theirs = sessions(rng, 3, 9, 2.0), sessions(rng, 5, 9)
    found = shift_of(ours, theirs, paired=False, confidence=0.95)
    tables = [np.log([hdquantiles(runs, DECILES) for runs in side]) for side in (ours, theirs)]
    interval = stats.ttest_ind(*tables, equal_var=False).confidence_interval(0.95)
    assert found is not None
    assert found.logs - found.half == pytest.approx(np.asarray(interval.low))
    assert found.sessions == 8


def test_equal_laws_are_covered_as_often_as_said() -> None:
    """The negative control: an interval of 90 % holds no shift in 90 % of trials, not always."""
    rng = np.random.default_rng(20261122)
    held = []
    for _ in range(1500):
        shift = np.exp(rng.normal(0, 0.1, 5))  # what a session does to both sides
        ours = [f * runs for f, runs in zip(shift, sessions(rng, 5, 7), strict=True)]
        theirs = [f * runs for f, runs in zip(shift, sessions(rng, 5, 7), strict=True)]
        found = shift_of(ours, theirs, paired=True, confidence=0.9)
        assert found is not None
        held.append(np.abs(found.logs) <= found.half)
    rates = np.mean(held, axis=0)
    assert rates == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 1500))  # four standard errors


def test_a_shift_of_the_slow_runs_only_is_seen_there() -> None:
    rng = np.random.default_rng(3)
    theirs = sessions(rng, 6, 20)
    ours = [np.where(runs > np.median(runs), 1.5 * runs, runs) for runs in theirs]
    found = shift_of(ours, theirs, paired=True, confidence=0.95)
    assert found is not None
    assert abs(found.logs[0]) < 0.02
    assert found.logs[-1] - found.half[-1] > 0.3


@pytest.mark.parametrize(("runs", "shares"), [(5, 9), (4, 3), (3, 3)])
def test_few_runs_have_quartiles_only(runs: int, shares: int) -> None:
    rng = np.random.default_rng(4)
    found = shift_of(sessions(rng, 3, runs), sessions(rng, 3, 9), paired=True, confidence=0.95)
    assert found is not None
    assert len(found.shares) == shares


def test_what_is_too_little_is_left_out() -> None:
    rng = np.random.default_rng(5)
    two, nine = sessions(rng, 3, 2), sessions(rng, 3, 9)
    assert shift_of(two, nine, paired=True, confidence=0.95) is None
    found = shift_of([*two[:1], *nine[1:]], nine, paired=True, confidence=0.95)
    assert found is not None
    assert (found.sessions, found.left_out, len(found.shares)) == (2, 1, 9)
    assert shift_of([np.zeros(9)], nine[:1], paired=True, confidence=0.95) is None


def test_one_session_has_no_interval() -> None:
    rng = np.random.default_rng(6)
    one = sessions(rng, 1, 9)
    for paired in (True, False):
        found = shift_of(one, one, paired=paired, confidence=0.95)
        assert found is not None
        assert found.logs == pytest.approx(0)
        assert np.isnan(found.half).all()


def test_sessions_that_agree_have_an_interval_without_width() -> None:
    logs, half = mean_shift(np.full((4, 2), np.log(1.1)), 0.95)
    assert logs == pytest.approx(np.log(1.1))
    assert half.tolist() == [0.0, 0.0]
