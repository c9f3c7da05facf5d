"""Sides, and hosts, of unequal numbers of sessions: false words, coverage and gates of the whole procedure.

Authority of the first part: the chance of a false word is an integral over the two standard deviations,
computed here by quadrature and held against the values that independent code gave for the same cells;
the control of the quadrature is Student's t, whose chance is exactly the level. The rest is simulation
with fixed seeds. Under H0 Holm's correction says any word if the smallest of m p-values is at most
alpha / m, so families are judged by intervals at that level. Each cell has its negative control: Welch's
t, or one freedom for all hosts, fails in it.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import (
    ErrorParts,
    Estimates,
    of_differences,
    of_sides,
    satterthwaite,
    suite_of_means,
)
from analysis.methods.multilevel.hosts import groups_of, inner_of, outer_of, over_hosts
from analysis.methods.multilevel.law import ErrorLaw
from analysis.verdict.gate import gate

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

TRIALS = 20_000
RATIOS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the spread of a session, candidate over baseline
GOLDEN = Path(__file__).parents[1] / "golden" / "go_nights" / "means.json"
NODES, WEIGHTS = np.polynomial.legendre.leggauss(160)


def at_most(level, trials=TRIALS):
    """Give the largest share that a true rate of `level` shows in all but 1 of 2,000 simulations."""
    return stats.binom.ppf(0.9995, trials, level) / trials


def halves(found: Estimates, alpha=0.05):
    return ErrorLaw(alpha=alpha).half(found.error, found.freedom, found.parts)


def by_welch(found: Estimates) -> Estimates:
    """Give the same estimates with one freedom, as they were judged before: the negative control."""
    return found._replace(freedom=satterthwaite(*found.parts), parts=None)


# ---- exactly


def deviations(freedom):
    """Give chi / sqrt(freedom) and its density times the step, over its logarithm."""
    low, high = -30.0 / freedom, math.log(1.0 + 12.0 / math.sqrt(2.0 * freedom))
    x = low + (high - low) * (NODES + 1) / 2
    u = np.exp(x)
    log = (freedom * x - freedom * u**2 / 2) + freedom / 2 * math.log(freedom / 2)
    return u, np.exp(log - math.lgamma(freedom / 2)) * 2 * WEIGHTS * (high - low) / 2


def chance(sessions, ratio, alpha, judge):
    """Give the chance of a word without a difference, of errors as `judge` makes half-widths of them."""
    f1, f2 = (n - 1.0 for n in sessions)
    errors = ratio / math.sqrt(sessions[0]), 1 / math.sqrt(sessions[1])
    (u1, w1), (u2, w2) = deviations(f1), deviations(f2)
    e1, e2 = (grid.ravel() for grid in np.meshgrid(errors[0] * u1, errors[1] * u2, indexing="ij"))
    shape = e1.shape
    nothing = np.zeros(shape)
    sides = (
        Estimates(nothing, error, np.full(shape, f), nothing.astype(np.int64))
        for error, f in ((e1, f1), (e2, f2))
    )
    half = judge(of_sides(*sides), alpha)
    weight = np.outer(w1, w2).ravel()
    assert weight.sum() == pytest.approx(1, abs=1e-9)
    return float((weight * 2 * stats.norm.sf(half / math.hypot(*errors))).sum())


def family(sessions, benchmarks, judge):
    """Give the worst chance over the ratios of any false word in a family after Holm."""
    worst = max(chance(sessions, ratio, 0.05 / benchmarks, judge) for ratio in RATIOS)
    return 1 - (1 - worst) ** benchmarks


def welch(found, alpha):
    return halves(by_welch(found), alpha)


def student(found, alpha):
    """Pool both variances: right where they are equal, and then exactly."""
    (e1, e2), (f1, f2) = found.parts.errors.T, found.parts.freedoms[0]
    n1, n2 = f1 + 1, f2 + 1
    pooled = (f1 * n1 * e1**2 + f2 * n2 * e2**2) / (f1 + f2)
    return stats.t.isf(alpha / 2, f1 + f2) * np.sqrt(pooled * (1 / n1 + 1 / n2))


@spot_check
@pytest.mark.parametrize("sessions", [(2, 10), (3, 4), (10, 20)])
@pytest.mark.parametrize("alpha", [0.05, 0.05 / 40])
def test_the_quadrature_gives_students_level(sessions, alpha):
    assert chance(sessions, 1.0, alpha, student) == pytest.approx(alpha, rel=1e-5)


TABLE = [  # sessions; Banerjee's bound and Welch's t in families of 1, 8, 40; by independent code
    ((2, 3), (0.044, 0.026, 0.010), (0.083, 0.220, 0.368)),
    ((2, 5), (0.048, 0.043, 0.038), (0.105, 0.299, 0.704)),
    ((2, 10), (0.049, 0.047, 0.046), (0.112, 0.405, 0.835)),
    ((2, 20), (0.050, 0.048, 0.048), (0.121, 0.406, 0.865)),
    ((3, 4), (0.047, 0.038, 0.027), (0.061, 0.106, 0.218)),
    ((3, 10), (0.049, 0.047, 0.046), (0.069, 0.168, 0.389)),
    ((3, 20), (0.050, 0.048, 0.048), (0.075, 0.176, 0.396)),
    ((5, 6), (0.049, 0.045, 0.040), (0.054, 0.070, 0.096)),
    ((5, 20), (0.050, 0.048, 0.048), (0.056, 0.082, 0.131)),
    ((10, 12), (0.049, 0.047, 0.046), (0.051, 0.055, 0.064)),
    ((10, 20), (0.050, 0.048, 0.048), (0.051, 0.055, 0.064)),
]


@pytest.mark.parametrize(("sessions", "banerjee", "control"), TABLE)
def test_a_false_word_is_never_likelier_than_it_says(sessions, banerjee, control):
    for benchmarks, told, before in zip((1, 8, 40), banerjee, control, strict=True):
        found = family(sessions, benchmarks, halves)
        assert found == pytest.approx(told, abs=0.0015)
        assert found <= 0.05
        assert family(tuple(reversed(sessions)), benchmarks, halves) == pytest.approx(found)
        # the negative control is worse in the far tail, which is where families are judged
        assert family(sessions, benchmarks, welch) == pytest.approx(before, abs=0.0025)
        assert before > 0.05


@pytest.mark.parametrize(
    ("sessions", "told"), [((2, 2), (0.062, 0.066, 0.060)), ((6, 6), (0.052, 0.062, 0.078))]
)
def test_equal_numbers_keep_welch_and_its_known_excess(sessions, told):
    for benchmarks, rate in zip((1, 8, 40), told, strict=True):
        assert family(sessions, benchmarks, halves) == pytest.approx(rate, abs=0.0015)


# ---- the whole procedure


def session_values(sessions, ratio, shared, trials=TRIALS, benchmarks=8):
    """Draw both sides' session values, shape (trials, sessions, benchmarks), half of them shared."""
    rng = np.random.default_rng([24, *sessions, round(10 * ratio), shared])
    for n, sd in zip(sessions, (ratio, 1.0), strict=True):
        own = rng.standard_normal((trials, n, benchmarks))
        common = rng.standard_normal((trials, n, 1))
        yield sd * (math.sqrt(0.5) * (own + common) if shared else own)


SIDES = [
    *itertools.product([(2, 10), (2, 20), (3, 20), (5, 20)], (1.0, 3.0, 10.0), (False, True)),
    ((10, 2), 1.0, False),
    ((2, 3), 1.0, False),
    ((5, 6), 3.0, True),
]


@pytest.mark.parametrize(("sessions", "ratio", "shared"), SIDES)
def test_lines_suite_families_and_gates_hold_what_they_say(sessions, ratio, shared):
    ours, theirs = session_values(sessions, ratio, shared)
    each = of_sides(of_differences(ours), of_differences(theirs))
    suite = suite_of_means(ours, theirs, np.ones(8))
    old, old_suite = by_welch(each), by_welch(suite)
    family, blamed, ended = (
        tuple(share(*both) for both in ((each, suite), (old, old_suite)))
        for share in (any_word, any_blamed, exit_1)
    )
    assert np.mean(np.abs(each.estimate[:, 0]) <= halves(each)[:, 0]) >= 1 - at_most(0.05)
    assert np.mean(np.abs(suite.estimate) <= halves(suite)) >= 1 - at_most(0.05)
    assert family[0] <= at_most(0.05)
    assert blamed[0] <= at_most(0.025)
    assert ended[0] <= at_most(0.05)
    if min(sessions) < 4 and 4 * min(sessions) <= max(sessions):
        # what was said before fails where one side is much shorter
        assert family[1] > 0.07
        assert blamed[1] > 0.035
        assert ended[1] > 0.055


def any_word(each, _):
    return np.mean((np.abs(each.estimate) > halves(each, 0.05 / 8)).any(axis=1))


def blamed_in(each):
    """Tell where a gate at exactly the true effect blames a benchmark: one-sided, risk .025, Holm."""
    return (each.estimate < -halves(each, 0.05 / 8)).any(axis=1)


def any_blamed(each, _):
    return np.mean(blamed_in(each))


def exit_1(each, suite):
    return np.mean(blamed_in(each) | (suite.estimate < -halves(suite)))


# ---- what is public


def side(rng, name, sessions, *, first=0, runs=5, moved=0.0, step=0.0, benchmarks=8):
    """Draw a side whose runs and sessions have a sd of 1 %; with `step` on a coarse clock."""
    ids = np.repeat(np.arange(sessions), runs)
    rows = {}
    for k in range(benchmarks):
        times = np.exp(
            moved + 0.01 * rng.standard_normal(sessions)[ids] + 0.01 * rng.standard_normal(ids.size)
        )
        rows[f"b{k}"] = np.round(times / step) * step if step else times
    return PerformanceMatrix.from_samples(
        name, rows, better="lower", sessions=dict.fromkeys(rows, ids + first)
    )


def said_by_welch(result):
    """Tell whether Welch's p would have said any word after Holm: the negative control."""
    return min(line.pvalue_welch for line in result.benchmarks) <= 0.05 / len(result.benchmarks)


@pytest.mark.parametrize(
    ("sessions", "how"),
    [((2, 10), {}), ((2, 20), {"runs": 1}), ((2, 10), {"step": 0.005, "runs": 8})],
    ids=["5 runs", "1 run a session", "ties"],
)
def test_the_public_functions_say_no_more_false_words(sessions, how):
    trials = 200
    rng = np.random.default_rng([25, *sessions, len(how)])
    words = before = blamed = ended = 0
    for _ in range(trials):
        ours, theirs = (
            side(rng, name, n, first=100 * k, **how)
            for k, (name, n) in enumerate(zip(("new", "old"), sessions, strict=True))
        )
        result = multilevel(ours, theirs)
        words += any(line.outcome in ("faster", "slower") for line in result.benchmarks)
        before += said_by_welch(result)
        moved = side(rng, "new", sessions[0], moved=math.log(1.02), **how)
        found = gate(multilevel(moved, theirs), "slower>2%")
        blamed += bool(found.candidates[0].named("proven"))
        ended += found.exit_code == 1
    assert words / trials <= at_most(0.05, trials)
    assert blamed / trials <= at_most(0.025, trials)
    assert ended / trials <= at_most(0.05, trials)
    assert before / trials > 0.15


# ---- real nights of one program


def go_families(count, splits=1_000):
    """Give how often a family of 8 benchmarks of other nights has a false word: now, and by Welch."""
    means = np.array(json.loads(GOLDEN.read_text())["means"]).mean(axis=1)
    rng = np.random.default_rng([26, *count])
    nights = np.argsort(rng.random((splits, len(means))), axis=1)
    taken = np.argsort(rng.random((splits, means.shape[1])), axis=1)[:, None, :8]
    a, b = (
        np.take_along_axis(means[nights[:, part]], taken, axis=2)
        for part in (slice(count[0]), slice(count[0], sum(count)))
    )
    found = of_sides(of_differences(a), of_differences(b))
    return any_word(found, None), any_word(by_welch(found), None)


@spot_check
def test_unequal_numbers_of_go_nights():
    # these nights are about normal and share their shifts: 2 against 10 of them
    now, before = go_families((2, 10))
    assert now <= 0.05
    assert before > 0.15


# ---- hosts


def hosts_of(sessions, noise, benchmarks=1, trials=TRIALS):
    """Draw the estimates of hosts that have these sessions, shape (trials, hosts, benchmarks)."""
    rng = np.random.default_rng([27, *sessions, *(round(10 * sd) for sd in noise)])
    each = [
        of_differences(sd * rng.standard_normal((trials, n, benchmarks)))
        for n, sd in zip(sessions, noise, strict=True)
    ]
    stacked = (
        np.stack([getattr(one, name) for one in each], axis=1) for name in Estimates._fields[:4]
    )
    numbers = np.broadcast_to(np.array(sessions)[:, None, None], (len(sessions), benchmarks, 2))
    return Estimates(*stacked), numbers


def on_these(sessions, noise, benchmarks=1):
    each, numbers = hosts_of(sessions, noise, benchmarks)
    groups = groups_of(each.changed(lambda part: part[0]), numbers)
    return inner_of(each, groups), inner_of(each), of_differences(each.estimate)


HOSTS = [  # sessions, noise, whether the coverage of one freedom for all is below .94
    ((2, 5), (10, 1), True),
    ((2, 10), (1, 1), True),
    ((2, 20), (1, 1), True),
    ((2, 20), (3, 1), True),
    ((2, 20), (10, 1), True),
    ((3, 20), (1, 1), True),
    ((5, 20), (3, 1), False),
    ((2, 20, 20, 20), (1, 1, 1, 1), True),
    ((2, 20, 20, 20), (3, 1, 1, 1), True),
    ((2, 2, 20, 20), (3, 1, 1, 1), True),
    ((2, 3, 5, 20), (10, 3, 1, 0.3), True),
    ((2, *[20] * 7), (3, *[1] * 7), True),
]


@pytest.mark.parametrize(
    ("sessions", "noise", "fails"),
    [pytest.param(*cell, marks=spot_check if cell[0] == (2, 20) else ()) for cell in HOSTS],
)
def test_on_these_hosts_covers_with_unequal_numbers_of_sessions(sessions, noise, fails):
    found, old, outer = on_these(sessions, noise)
    assert np.mean(np.abs(found.estimate) <= halves(found)) >= 1 - at_most(0.05)
    like = outer_of(found, outer)
    assert np.mean(np.abs(like.estimate) <= halves(like)) >= 1 - at_most(0.05)
    before = np.mean(np.abs(old.estimate) <= ErrorLaw(alpha=0.05).half(old.error, old.freedom))
    assert (before < 0.94) == fails


@pytest.mark.parametrize(
    ("sessions", "noise", "before"),
    [((2, 20), (1, 1), 0.3), ((3, 20), (1, 1), 0.13), ((2, 20, 20, 20), (3, 1, 1, 1), 0.3)],
)
def test_a_family_of_benchmarks_on_hosts_of_unequal_numbers_holds_its_level(
    sessions, noise, before
):
    found, old, _ = on_these(sessions, noise, 8)
    assert any_word(found, None) <= at_most(0.05)
    assert any_word(old._replace(parts=None), None) > before


@pytest.mark.parametrize("ratio", [1.0, 3.0])
def test_hosts_whose_own_sides_have_unequal_numbers_cover(ratio):
    # one host with 2 sessions against 10, beside two of 6 and 6: it enters with both parts
    rng = np.random.default_rng([28, round(10 * ratio)])
    each = [
        of_sides(
            *(
                of_differences(sd * rng.standard_normal((TRIALS, n, 1)))
                for n, sd in zip(counts, (ratio, 1), strict=True)
            )
        )
        for counts in ((2, 10), (6, 6), (6, 6))
    ]
    stacked = (
        np.stack([getattr(one, name) for one in each], axis=1) for name in Estimates._fields[:4]
    )
    parts = (np.stack(part, axis=1) for part in zip(*(one.parts for one in each), strict=True))
    hosts = Estimates(*stacked, parts=ErrorParts(*parts))
    numbers = np.array([[[2, 10]], [[6, 6]], [[6, 6]]])
    found = inner_of(hosts, groups_of(hosts.changed(lambda part: part[0]), numbers))
    assert np.isnan(found.freedom).all()
    assert np.mean(np.abs(found.estimate) <= halves(found)) >= 1 - at_most(0.05)
    # the negative control: one freedom for everything
    single = hosts._replace(freedom=satterthwaite(*hosts.parts), parts=None)
    old = inner_of(single)
    assert (np.mean(np.abs(old.estimate) <= halves(old)) < 0.94) == (ratio > 1)


def test_the_public_function_covers_on_hosts_of_2_and_20_sessions():
    trials, held = 300, 0
    rng = np.random.default_rng(29)
    for _ in range(trials):
        hosts = {
            f"h{k}": multilevel(
                *(side(rng, name, n, runs=4, benchmarks=1) for name in ("new", "old"))
            )
            for k, n in enumerate((2, 20))
        }
        (line,) = over_hosts(hosts).hosts.benchmarks
        held += line.low <= 1 <= line.high
    assert held / trials >= 1 - at_most(0.05, trials)
