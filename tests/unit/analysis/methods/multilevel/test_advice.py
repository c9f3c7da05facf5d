"""How many more sessions: chances against the noncentral t, the search against plain simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.methods.multilevel.advice import Scatter, advise, chances, rounded
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.law import ErrorLaw, Looks

LAW = ErrorLaw(alpha=0.05)
ONE = np.ones(1)
L = math.log(1.01)


def chance(e, s, n, margin=L):
    df = np.array([n - 1.0])
    m = LAW.multiplier(df)
    outside, inside = chances(np.array([e]), np.array([s / math.sqrt(n)]), df, (m, m), margin)
    return float(outside[0]), float(inside[0])


@pytest.mark.parametrize(("n", "delta"), [(10, 1.0), (5, 1.0), (3, 2.0), (2, 4.0), (20, 0.5)])
def test_outside_is_the_power_of_the_t_test(n, delta):
    # scipy's noncentral t in its upper tail, where it holds
    exact = sum(
        stats.nct.sf(stats.t.ppf(0.975, n - 1), n - 1, sign * delta * math.sqrt(n))
        for sign in (1, -1)
    )
    assert chance(delta, 1.0, n)[0] == pytest.approx(exact, abs=2e-6)


@pytest.mark.parametrize(("n", "e", "s"), [(6, 0.0, 0.006), (4, 0.003, 0.004), (30, 0.004, 0.01)])
def test_inside_by_simulation(n, e, s):
    rng = np.random.default_rng(n)
    d = rng.normal(e, s, (40_000, n))
    half = stats.t.ppf(0.975, n - 1) * d.std(axis=1, ddof=1) / math.sqrt(n)
    rate = np.mean((d.mean(axis=1) - half > -L) & (d.mean(axis=1) + half < L))
    assert chance(e, s, n)[1] == pytest.approx(rate, abs=4 * math.sqrt(0.25 / 40_000))


def of(e, s, n, within=math.nan, law=LAW):
    scatter = Scatter(
        variance=np.array([[s**2]]),
        sessions=np.array([[float(n)]]),
        within=np.array([[within]]),
        step=np.zeros(1),
    )
    return advise(np.array([e]), scatter, law, L, (ONE, ONE))[0]


def drawn(e, s, n, more, *, scale=None, step=1, inner=None, margin=L, seed=5, draws=8_000):
    """Share of predictive draws that decide, by plain simulation: truth from the data, then new sessions."""
    rng = np.random.default_rng(seed)
    sigma = s * (np.sqrt((n - 1) / rng.chisquare(n - 1, draws)) if scale is None else scale)
    truth = e + sigma * rng.standard_normal(draws) / math.sqrt(n)
    sigma = np.broadcast_to(sigma, draws)
    new = truth[:, None] + sigma[:, None] * rng.standard_normal((draws, more))
    total = n * e + new.sum(axis=1)
    mean = total / (n + more)
    squares = (n - 1) * s**2 + n * e**2 + (new**2).sum(axis=1) - (n + more) * mean**2
    error = np.sqrt(squares / (n + more - 1) / (n + more))
    outer, inner = (stats.t.ppf(1 - 0.025 / k, n + more - 1) * error for k in (step, inner or step))
    return np.mean((np.abs(mean) > outer) | (np.abs(mean) + inner < margin))


@pytest.mark.parametrize(
    ("e", "s", "n"),
    [(0.02, 0.02, 3), (0.008, 0.01, 5), (0.0, 0.02, 5), (0.01, 0.006, 2), (0.01, 0.03, 4)],
)
def test_the_least_number_is_the_one_whose_predictive_chance_is_90(e, s, n):
    more = of(e, s, n)  # in two digits, rounded up
    assert more.chance >= 0.9
    assert drawn(e, s, n, more.sessions) >= 0.88
    assert drawn(e, s, n, max(int(0.9 * more.sessions) - 4, 1)) < 0.92
    assert more.low <= more.sessions
    for q, end in ((0.75, more.low), (0.25, more.high)):
        scale = math.sqrt((n - 1) / stats.chi2.ppf(q, n - 1))
        assert drawn(e, s, n, end, scale=scale) > 0.87
        assert end == 1 or drawn(e, s, n, max(int(0.9 * end) - 1, 1), scale=scale) < 0.93


def test_equal_data_get_equal_advice_whatever_stands_beside_them():
    alone = of(0.008, 0.01, 5)
    scatter = Scatter(
        variance=np.array([[1e-4], [4e-4]]),
        sessions=np.array([[5.0], [3.0]]),
        within=np.full((2, 1), math.nan),
        step=np.zeros(2),
    )
    pair = np.ones(2)
    assert advise(np.array([0.008, 0.02]), scatter, LAW, L, (pair, pair))[0] == alone


def test_the_next_look_decides_at_its_own_level(noisy, matrix_of):
    both = matrix_of("new", noisy(1, shift=-0.01)), matrix_of("old", noisy(2))
    once = multilevel(*both, looks=Looks.growing([4])).these.more_sessions
    plain = multilevel(*both).these.more_sessions
    strict = multilevel(*both, confidence=1 - 0.05 / 6).these.more_sessions
    assert once.sessions == strict.sessions
    assert plain.sessions < once.sessions


def test_the_target_is_what_is_likelier():
    assert of(0.03, 0.03, 4).target == "faster"
    assert of(-0.03, 0.03, 4).target == "slower"
    assert of(0.001, 0.01, 4).target == "equivalent"


def test_there_is_no_cap_at_a_hundred_and_no_number_is_told_above_a_thousand():
    more = of(0.005, 0.1, 4)
    assert (more.sessions > 100, more.sessions % 10, more.worthwhile) == (True, 0, more.sessions)
    assert replace(more, sessions=1100).worthwhile is None
    assert [rounded(n) for n in (7, 99, 100, 137, 1001)] == [7, 99, 100, 140, 1100]


def test_runs_suffice_only_where_they_are_the_scatter():
    assert of(0.03, 0.03, 5, within=0.03**2).runs_suffice is True
    assert of(0.03, 0.03, 5, within=0.01 * 0.03**2).runs_suffice is False
    assert of(0.03, 0.03, 5).runs_suffice is None


def test_lines_carry_it_where_undecided(noisy, matrix_of):
    a, b = noisy(1, shift=-0.01), noisy(2)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    for line in (*result.benchmarks, result.these):
        assert (line.more_sessions is not None) == (line.outcome == "undecided")
    undecided = [line for line in result.benchmarks if line.more_sessions]
    assert undecided
    keys = {"sessions", "low", "high", "chance", "chance_asked", "basis", "for", "runs_suffice"}
    found = result.to_dict()["benchmarks"]
    assert {frozenset(x["more_sessions"]) for x in found if x["more_sessions"]} == {frozenset(keys)}
    assert undecided[0].more_sessions.runs_suffice in (True, False)
    assert result.similar.more_sessions is None


def test_a_corrected_word_is_advised_at_its_own_step(noisy, matrix_of):
    # what the interval alone would decide already is not decided by one session more
    a, b = noisy(31, benchmarks=6, shift=-0.05), noisy(32, benchmarks=6)
    plain = multilevel(matrix_of("new", a), matrix_of("old", b), correction="none")
    held = multilevel(matrix_of("new", a), matrix_of("old", b))
    pairs = [
        (x, y)
        for x, y in zip(plain.benchmarks, held.benchmarks, strict=True)
        if x.outcome != y.outcome
    ]
    assert pairs
    for x, y in pairs:
        assert x.more_sessions is None
        assert y.outcome_uncorrected == x.outcome
        # the step of its rank among six
        step = 6 - sorted(line.pvalue for line in held.benchmarks).index(y.pvalue)
        s = y.error * math.sqrt(4)
        told = y.more_sessions
        again = drawn(math.log(y.speedup), s, 4, told.sessions, step=step)
        assert told.chance == pytest.approx(again, abs=0.03)


def test_equivalence_is_advised_at_the_step_of_its_own_family(noisy, matrix_of):
    a, b = noisy(31, benchmarks=4), noisy(32, benchmarks=4)
    lines = multilevel(matrix_of("new", a), matrix_of("old", b), margin=0.05).benchmarks
    by_p, by_equivalent = (
        [4 - sorted(family).index(p) for p in family]
        for family in ([x.pvalue for x in lines], [x.pvalue_equivalent for x in lines])
    )
    assert by_p == [2, 3, 1, 4]
    assert by_equivalent == [4, 2, 3, 1]
    for line, step, inner in zip(lines, by_p, by_equivalent, strict=True):
        told, s = line.more_sessions, line.error * math.sqrt(4)
        again = drawn(
            math.log(line.speedup),
            s,
            4,
            told.sessions,
            step=step,
            inner=inner,
            margin=math.log(1.05),
        )
        assert told.chance == pytest.approx(again, abs=0.03)


def test_separate_sides_get_as_many_sessions_each(noisy, matrix_of):
    a = matrix_of("new", noisy(3, benchmarks=1, sessions=(1, 2, 3), shift=-0.02))
    b = matrix_of("old", noisy(4, benchmarks=1, sessions=(4, 5, 6)))
    (line,) = multilevel(a, b).benchmarks
    assert line.outcome == "undecided"
    more = line.more_sessions
    assert more is not None
    assert more.sessions is None or more.low <= more.sessions


@pytest.mark.parametrize(("scatter", "answer"), [(0.16, True), (0.001, False)])
@pytest.mark.parametrize("blocks", [True, False])
def test_whether_runs_suffice_is_seen_in_the_runs(matrix_of, scatter, answer, blocks):
    # sessions differ as much as runs of that scatter make them differ, or far more; the scatter is
    # that of the differences of blocks where they are known, else that of both sides
    def side(gains, sign):
        return [
            ("b", s, f"{s}.{k}" if blocks else s, math.exp(-gain + sign * scatter * (-1) ** k))
            for s, gain in enumerate(gains)
            for k in range(10)
        ]

    new, old = side([0.04, 0.16, 0.03, 0.15], 1), side([0.0] * 4, -1)
    (line,) = multilevel(matrix_of("new", new), matrix_of("old", old)).benchmarks
    assert line.differences == pytest.approx((0.04, 0.16, 0.03, 0.15))
    assert line.outcome == "undecided"
    assert line.more_sessions.runs_suffice is answer


def test_what_both_sides_of_a_block_share_is_no_scatter(matrix_of):
    # runs vary a lot, and the sides of each block alike: more runs would not help
    def side(gains):
        return [
            (
                "b",
                s,
                f"{s}.{k}",
                math.exp(-gain + 0.16 * (-1) ** k + 0.001 * (-1) ** (k // 2 + (gain > 0))),
            )
            for s, gain in enumerate(gains)
            for k in range(10)
        ]

    new, old = side([0.04, 0.16, 0.03, 0.15]), side([0.0] * 4)
    (line,) = multilevel(matrix_of("new", new), matrix_of("old", old)).benchmarks
    assert line.outcome == "undecided"
    assert line.more_sessions.runs_suffice is False


@pytest.mark.parametrize(
    ("sessions", "effect", "target"), [((2, 10), 0.02, "faster"), ((3, 12), 0.0, "equivalent")]
)
def test_sides_of_unequal_numbers_are_advised_by_their_own_law(sessions, effect, target):
    # the chance by simulation: what the data leave possible of both sides, these data kept
    sds = (0.008, 0.004)
    scatter = Scatter(
        variance=np.array([[sd**2 for sd in sds]]),
        sessions=np.array([sessions], dtype=float),
        within=np.full((1, 2), math.nan),
        step=np.zeros(1),
    )
    (more,) = advise(np.array([effect]), scatter, LAW, L, (ONE, ONE))
    assert more.target == target
    rng = np.random.default_rng(sessions)
    draws, means, halves = 8_000, [], []
    for n, sd in zip(sessions, sds, strict=True):
        sigma = sd * np.sqrt((n - 1) / rng.chisquare(n - 1, draws))
        truth = sigma * rng.standard_normal(draws) / math.sqrt(n)
        new = truth[:, None] + sigma[:, None] * rng.standard_normal((draws, more.sessions))
        count = n + more.sessions
        mean = new.sum(axis=1) / count
        squares = (n - 1) * sd**2 + (new**2).sum(axis=1) - count * mean**2
        means.append(mean)
        halves.append(stats.t.isf(0.025, count - 1) * np.sqrt(squares / (count - 1) / count))
    d, half = effect + means[0] - means[1], np.hypot(*halves)
    told = (np.abs(d) > half) | (np.abs(d) + half < L)
    assert more.chance == pytest.approx(told.mean(), abs=0.03)
    assert more.chance >= 0.8
