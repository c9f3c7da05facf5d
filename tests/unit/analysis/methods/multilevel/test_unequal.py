"""Sides of separate sessions in unequal numbers: Banerjee's bound, written anew with scipy.

S. K. Banerjee, Sankhya 22 (1960): |d| <= sqrt(t1^2 e1^2 + t2^2 e2^2) with the quantile of t of each side
has at least the level, whatever the variances. p is the risk at which that interval ends at d.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.verdict.gate import gate

L = math.log(1.01)


def half(alpha, parts):
    return math.sqrt(sum((stats.t.isf(alpha / 2, f) * e) ** 2 for e, f in parts))


def pvalue(distance, parts):
    """Give the two-sided p, by a search of another kind than the code's."""
    if distance == 0:
        return 1.0
    log = optimize.brentq(
        lambda x: math.log(half(math.exp(x), parts) / abs(distance)), -60, -1e-9, xtol=1e-13
    )
    return math.exp(log)


def one_sided(inside, parts):
    p = pvalue(inside, parts)
    return p / 2 if inside > 0 else 1 - p / 2


def side_of(rows, first=0, name="new"):
    """Give a side of one run a session, from the logs of its sessions; larger is faster."""
    ids = {bench: np.arange(len(row)) + first for bench, row in rows.items()}
    values = {bench: np.exp(-np.asarray(row)) for bench, row in rows.items()}
    return PerformanceMatrix.from_samples(name, values, better="lower", sessions=ids)


def drawn(counts, seed, effect=0.0, spread=1.0):
    rng = np.random.default_rng(seed)
    return {
        f"b{k}": effect * (k + 1) + 0.01 * spread * rng.standard_normal(count)
        for k, count in enumerate(counts)
    }


def compared(ours, theirs, **how):
    return multilevel(side_of(ours), side_of(theirs, 1000, "old"), **how)


def parts_of(*rows):
    return [(stats.sem(row), len(row) - 1) for row in rows]


@pytest.mark.parametrize("counts", [(2, 10), (10, 3), (5, 6)])
def test_a_line_is_banerjees_bound(counts):
    ours, theirs = drawn([counts[0]] * 4, 1, 0.004, 3.0), drawn([counts[1]] * 4, 2)
    result = compared(ours, theirs)
    assert result.design == "separate"
    for line in result.benchmarks:
        x, y = ours[line.name], theirs[line.name]
        parts, d = parts_of(x, y), x.mean() - y.mean()
        assert (line.law, line.freedom) == ("banerjee", None)
        assert line.errors == pytest.approx([e for e, _ in parts])
        assert line.freedoms == (counts[0] - 1, counts[1] - 1)
        assert line.error == pytest.approx(math.hypot(*line.errors))
        assert math.log(line.low) == pytest.approx(d - half(0.05, parts), abs=1e-12)
        assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
        assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
        theirs_ = max(one_sided(d + L, parts), one_sided(L - d, parts))
        assert line.pvalue_equivalent == pytest.approx(theirs_, rel=1e-9)
        welch = stats.ttest_ind(x, y, equal_var=False).pvalue
        assert line.pvalue_welch == pytest.approx(welch, rel=1e-9)
        assert line.pvalue > welch
    ps = [line.pvalue for line in result.benchmarks]
    steps = np.argsort(ps)
    worst = np.maximum.accumulate([(4 - k) * ps[i] for k, i in enumerate(steps)])
    held = [result.benchmarks[i].pvalue_adjusted for i in steps]
    assert held == pytest.approx(np.minimum(worst, 1), rel=1e-9)


def test_the_suite_has_the_error_of_each_side():
    ours, theirs = drawn([3] * 5, 3), drawn([7] * 5, 4, spread=0.3)
    result = compared(ours, theirs)
    x, y = (np.mean(list(side.values()), axis=0) for side in (ours, theirs))
    parts, d = parts_of(x, y), x.mean() - y.mean()
    line = result.these
    assert (line.law, line.freedom, line.freedoms) == ("banerjee", None, (2.0, 6.0))
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    each = [ours[b].mean() - theirs[b].mean() for b in ours]
    wide = math.hypot(half(0.05, parts), stats.t.isf(0.025, 4) * stats.sem(each))
    assert math.log(result.similar.high) == pytest.approx(d + wide, abs=1e-12)


def test_each_benchmark_is_judged_by_its_own_sessions():
    ours, theirs = drawn([6, 5, 6], 5), drawn([6, 6, 6], 6)
    result = compared(ours, theirs)
    assert [line.law for line in result.benchmarks] == ["welch", "banerjee", "welch"]
    for line in (result.benchmarks[0], result.benchmarks[2]):
        t = stats.ttest_ind(ours[line.name], theirs[line.name], equal_var=False)
        assert line.pvalue == line.pvalue_welch == pytest.approx(t.pvalue, rel=1e-9)
        assert line.freedom == pytest.approx(t.df)
    assert result.these.law == "banerjee"  # its sides have 4 and 5 degrees of freedom
    assert result.these.freedoms == (4.0, 5.0)
    (told,) = [c for c in result.cautions if c.code == "unequal-sessions"]
    assert told.about == ("b1",)
    assert "b1: 5 sessions against 6" in told


def test_runs_of_one_session_in_unequal_numbers_have_the_same_law():
    rng = np.random.default_rng(7)
    x, y = rng.normal(0.01, 0.02, 3), rng.normal(0, 0.01, 9)
    new, old = (
        PerformanceMatrix.from_samples(name, {"b": np.exp(-row)}, better="lower")
        for name, row in (("new", x), ("old", y))
    )
    result = multilevel(new, old)
    assert result.design == "one session, runs"
    (line,) = result.benchmarks
    parts, d = parts_of(x, y), x.mean() - y.mean()
    assert (line.law, line.freedoms) == ("banerjee", (2.0, 8.0))
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    (told,) = [c for c in result.cautions if c.code == "unequal-sessions"]
    assert "3 runs against 9" in told
    assert "6 more of new would make them equal" in told


def test_the_suite_of_one_session_puts_cells_of_equally_many_runs_together():
    rng = np.random.default_rng(8)
    counts = {"p": (3, 9), "q": (3, 9), "r": (9, 9)}
    x, y = ({b: rng.normal(0, 0.02, n[k]) for b, n in counts.items()} for k in (0, 1))
    new, old = (
        PerformanceMatrix.from_samples(
            name, {b: np.exp(-row) for b, row in rows.items()}, better="lower"
        )
        for name, rows in (("new", x), ("old", y))
    )
    line = multilevel(new, old).these
    groups = {2: [x["p"], x["q"]], 8: [x["r"], *y.values()]}
    parts = []
    for f, rows in groups.items():
        squares = [(stats.sem(row) / 3) ** 2 for row in rows]
        freedom = sum(squares) ** 2 / sum(s**2 / f for s in squares)
        parts.append((math.sqrt(sum(squares)), freedom))
    assert (line.law, line.freedom) == ("grouped", None)
    assert line.errors == pytest.approx([e for e, _ in parts])
    assert line.freedoms == pytest.approx([f for _, f in parts])
    d = math.log(line.speedup)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)


def test_confounded_sides_say_what_the_bound_would():
    rng = np.random.default_rng(9)
    x, y = rng.normal(0.05, 0.02, 2), rng.normal(0, 0.01, 9)
    new, old = (
        PerformanceMatrix.from_samples(
            name, {"b": np.exp(-row)}, better="lower", sessions={"b": [name] * len(row)}
        )
        for name, row in (("new", x), ("old", y))
    )
    result = multilevel(new, old)
    assert result.design == "confounded"
    d, h = x.mean() - y.mean(), half(0.05, parts_of(x, y))
    ends = f"[{math.exp(d - h):.2f}, {math.exp(d + h):.2f}]"
    assert result.occasions.endswith(ends)


def test_a_side_without_spread_leaves_the_other_sides_t():
    x, y = np.array([0.02, 0.02]), np.random.default_rng(10).normal(0, 0.01, 10)
    (line,) = compared({"b": x}, {"b": y}).benchmarks
    t = stats.ttest_1samp(y, 0.02)
    assert line.errors[0] == 0
    assert line.pvalue == pytest.approx(t.pvalue, rel=1e-9)
    interval = t.confidence_interval(0.95)
    assert 0.02 - math.log(line.high) == pytest.approx(interval.low, abs=1e-12)


def test_sides_without_any_spread_are_as_wide_as_the_clock_leaves_them():
    """Authority: the floor rho sqrt(sum 1/n / 12) / S of each side, Banerjee's bound, and the step of another one."""
    ticks = {"c": [math.log(1.02), 0.0]}, {"c": [0.0, math.log(1.02), 0.0, 0.0, 0.0]}
    sides = ({"b": [math.log(1.02)] * 2} | ticks[0], {"b": [0.0] * 5} | ticks[1])
    line = compared(*sides).benchmarks[0]
    assert line.resolution_source == "others"
    floors = [line.step_log / math.sqrt(12 * n) for n in (2, 5)]
    assert line.errors == pytest.approx(floors)
    each = [stats.t.isf(0.025, n - 1) * e for n, e in zip((2, 5), floors, strict=True)]
    assert math.log(line.high / line.speedup) == pytest.approx(math.hypot(*each) + line.step_log)
    assert line.outcome == "undecided"


def test_the_one_session_too_many_is_said_and_by_whom():
    for counts, told in (
        ((2, 10), "2 sessions against 10: the bound for unequal numbers is taken; 8 more of new"),
        ((6, 5), "6 sessions against 5: the bound for unequal numbers is taken; 1 more of old"),
    ):
        result = compared(drawn([counts[0]] * 3, 1), drawn([counts[1]] * 3, 2))
        (caution,) = [c for c in result.cautions if c.code == "unequal-sessions"]
        assert told in caution
        assert caution.about == ()
    equal = compared(drawn([4] * 3, 1), drawn([4] * 3, 2))
    assert not [c for c in equal.cautions if c.code == "unequal-sessions"]


@pytest.mark.parametrize("counts", [(2, 10), (5, 6), (10, 3)])
def test_bound_and_p_agree_at_the_limit_of_a_gate(counts):
    # its p must come from both parts: at its limit the interval ends, and half of the risk is left
    limit = math.log(1 / 1.02)
    x, y = drawn([counts[0]], 11)["b0"], drawn([counts[1]], 12)["b0"]
    h = half(0.05, parts_of(x, y))
    shift = limit - h - (x.mean() - y.mean())  # the interval's upper end stands at the limit
    for by, outcome in ((-1e-9, "proven"), (1e-9, "undecided")):
        found = gate(compared({"b": x + shift + by}, {"b": y}), "slower>2%")
        (line,) = found.candidates[0].benchmarks
        assert line.outcome == outcome
        assert line.pvalue_condition == pytest.approx(0.025, rel=1e-5)
    above = compared({"b": x + shift + 2 * h + 1e-9}, {"b": y})
    assert gate(above, "slower>2%").outcome == "passed"
    (line,) = gate(above, "slower>2%").candidates[0].benchmarks
    assert line.pvalue_condition == pytest.approx(0.975, rel=1e-5)


def test_a_gates_p_is_one_sided_of_the_distance_to_the_limit():
    ours, theirs = drawn([2] * 4, 13, -0.01), drawn([10] * 4, 14)
    found = gate(compared(ours, theirs), "slower>2%").candidates[0]
    for line in (*found.benchmarks, found.suite):
        if line.name == "suite":
            x, y = (np.mean(list(side.values()), axis=0) for side in (ours, theirs))
        else:
            x, y = ours[line.name], theirs[line.name]
        inside = math.log(1 / 1.02) - (x.mean() - y.mean())
        assert line.pvalue_condition == pytest.approx(one_sided(inside, parts_of(x, y)), rel=1e-9)
