"""What must hold of the sound verdict whatever the runs are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.estimates import ErrorParts
from analysis.methods.multilevel.law import ErrorLaw
from analysis.methods.multilevel.result import Multilevel
from analysis.verdict.gate import gate
from tests.examples import examples

OPPOSITE = {"faster": "slower", "slower": "faster"}
Columns = dict[str, tuple[list[float], list[int], list[int]]]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Columns, Columns]:
    """Draw two sides of any design: sessions of their own or in common, ragged, blocks missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    benchmarks = draw(st.integers(1, 4))
    sessions = [
        draw(st.lists(st.integers(1, 6), min_size=1, max_size=5, unique=True)) for _ in range(2)
    ]
    most = draw(st.integers(1, 4))
    keep = draw(st.sampled_from([1.0, 0.7]))
    sides: list[Columns] = []
    for own in sessions:
        side: Columns = {}
        for b in range(benchmarks):
            cells = [(s, k) for s in own for k in range(most)]
            kept = [cell for cell in cells if rng.random() < keep] or cells[:1]
            values = np.exp(rng.normal(0, draw(st.sampled_from([0.001, 0.05, 1.0])), len(kept)))
            side[f"b{b}"] = values.tolist(), [s for s, _ in kept], [9 * s + k for s, k in kept]
        sides.append(side)
    return sides[0], sides[1]


def matrix(name: str, side: Columns, scale: float = 1.0, **more: Any) -> PerformanceMatrix:
    return PerformanceMatrix.from_samples(
        name,
        {b: [scale * v for v in column[0]] for b, column in side.items()},
        better=more.get("better", "lower"),
        sessions={b: column[1] for b, column in side.items()},
        blocks={b: column[2] for b, column in side.items()},
    )


def lines(result: Multilevel) -> list[Any]:
    return [*result.benchmarks, *(x for x in (result.these, result.similar) if x is not None)]


def close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)


def same(first: Multilevel, second: Multilevel) -> None:
    assert first.design == second.design
    for a, b in zip(lines(first), lines(second), strict=True):
        assert a.name == b.name
        for field in ("speedup", "low", "high", "error", "freedom", "pvalue"):
            assert close(getattr(a, field), getattr(b, field)), field
        assert a.outcome == b.outcome


@given(pairs())
@settings(max_examples=examples(30), deadline=None)
def test_swapping_the_sides_inverts(pair: tuple[Columns, Columns]) -> None:
    a, b = matrix("a", pair[0]), matrix("b", pair[1])
    there, back = multilevel(a, b), multilevel(b, a)
    assert there.design == back.design
    for x, y in zip(lines(there), lines(back), strict=True):
        if x.speedup is not None:
            assert x.speedup * y.speedup == pytest.approx(1.0)
        if x.low is not None:
            assert x.low * y.high == pytest.approx(1.0)
        assert close(x.pvalue, y.pvalue)
        assert y.outcome == OPPOSITE.get(x.outcome, x.outcome)


@given(pairs(), st.sampled_from([1e-9, 1e-3, 1e3, 60.0]))
@settings(max_examples=examples(30), deadline=None)
def test_units_change_nothing(pair: tuple[Columns, Columns], scale: float) -> None:
    plain = multilevel(matrix("a", pair[0]), matrix("b", pair[1]))
    same(plain, multilevel(matrix("a", pair[0], scale), matrix("b", pair[1], scale)))


@given(pairs(), st.integers(0, 1000))
@settings(max_examples=examples(30), deadline=None)
def test_the_order_of_runs_and_the_names_of_sessions_change_nothing(
    pair: tuple[Columns, Columns], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    names = {s: int(k) for s, k in zip(range(1, 7), rng.permutation(100)[:6], strict=True)}
    mixed = []
    for side in pair:
        columns: Columns = {}
        for b, (values, sessions, blocks) in side.items():
            order = rng.permutation(len(values)).tolist()
            columns[b] = (
                [values[k] for k in order],
                [names[sessions[k]] for k in order],
                [1000 - blocks[k] for k in order],
            )
        mixed.append(columns)
    plain = multilevel(matrix("a", pair[0]), matrix("b", pair[1]))
    same(plain, multilevel(matrix("a", mixed[0]), matrix("b", mixed[1])))


@given(pairs())
@settings(max_examples=examples(30), deadline=None)
def test_rates_are_times_upside_down(pair: tuple[Columns, Columns]) -> None:
    rates = [
        {b: ([1 / v for v in column[0]], *column[1:]) for b, column in side.items()}
        for side in pair
    ]
    plain = multilevel(matrix("a", pair[0]), matrix("b", pair[1]))
    upside = [matrix(name, side, better="higher") for name, side in zip("ab", rates, strict=True)]
    same(plain, multilevel(*upside))


@given(pairs(), st.sampled_from(["holm", "bh", "none"]))
@settings(max_examples=examples(30), deadline=None)
def test_what_every_answer_keeps(pair: tuple[Columns, Columns], correction: Any) -> None:
    result = multilevel(matrix("a", pair[0]), matrix("b", pair[1]), correction=correction)
    for line in lines(result):
        if line.low is not None:
            assert line.low <= line.speedup * (1 + 1e-12)
            assert line.speedup <= line.high * (1 + 1e-12)
        else:
            assert line.outcome == "undecided"
        for p in (line.pvalue, line.pvalue_equivalent):
            assert p is None or 0 < p <= 1
        if line.more_sessions is not None:
            assert line.outcome == "undecided"
    for line in result.benchmarks:
        if line.pvalue is not None and line.pvalue_adjusted is not None:
            assert line.pvalue_adjusted >= line.pvalue
        if line.speedup is not None:
            ratio = line.mean_baseline / line.mean_candidate
            assert ratio == pytest.approx(line.speedup)
    if result.these is not None and result.similar is not None and result.similar.low is not None:
        assert result.similar.low <= result.these.low * (1 + 1e-12)
        assert result.similar.high >= result.these.high * (1 - 1e-12)
    text = str(result)
    if result.design.startswith("one session"):
        assert "within one session" in text
    if result.design == "confounded":
        assert "session and variant cannot be separated" in text
        assert {line.outcome for line in lines(result)} == {"undecided"}
    assert result.to_dict()["word"] == result.word


# --- What must hold of errors whose parts have a quantile of t each, whatever the parts are


ERRORS = st.floats(1e-6, 1e3)
PARTS = st.lists(st.tuples(ERRORS, st.integers(1, 60)), min_size=2, max_size=5)
ALPHAS = st.sampled_from([0.2, 0.05, 0.05 / 8, 0.001])
RATIOS = st.floats(-50, 50)  # of the distance over the error


def law_of(
    parts: list[tuple[float, int]], alpha: float = 0.05
) -> tuple[ErrorLaw, Any, Any, ErrorParts]:
    errors, freedoms = (np.array([column], dtype=float) for column in zip(*parts, strict=True))
    error = np.hypot.reduce(errors, axis=1)
    return ErrorLaw(alpha=alpha), error, np.array([math.nan]), ErrorParts(errors, freedoms)


def half(parts: list[tuple[float, int]], alpha: float = 0.05) -> float:
    law, *known = law_of(parts, alpha)
    return float(law.half(*known)[0])


def pvalue(parts: list[tuple[float, int]], distance: float) -> float:
    law, *known = law_of(parts)
    return float(law.pvalue(np.array([distance]), *known)[0])


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, RATIOS)
def test_p_and_interval_agree(parts, alpha, ratio):
    distance = ratio * math.hypot(*(e for e, _ in parts))
    h, p = half(parts, alpha), pvalue(parts, distance)
    assert 0 < p <= 1
    if not math.isclose(abs(distance), h, rel_tol=1e-9):
        assert (p <= alpha) == (abs(distance) > h)
    assert p == pvalue(parts, -distance)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(parts, alpha, random):
    turned = random.sample(parts, len(parts))
    assert half(turned, alpha) == pytest.approx(half(parts, alpha), rel=1e-12)
    assert pvalue(turned, 1.0) == pytest.approx(pvalue(parts, 1.0), rel=1e-9)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS, st.floats(1.01, 100), st.data())
def test_a_larger_error_or_fewer_freedoms_widen(parts, alpha, factor, data):
    k = data.draw(st.integers(0, len(parts) - 1))
    error, freedom = parts[k]
    more = [*parts[:k], (error * factor, freedom), *parts[k + 1 :]]
    fewer = [*parts[:k], (error, max(1, freedom // 2)), *parts[k + 1 :]]
    for wider in (more, fewer):
        assert half(wider, alpha) >= half(parts, alpha) * (1 - 1e-12)
        assert pvalue(wider, 1.0) >= pvalue(parts, 1.0) * (1 - 1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(PARTS, ALPHAS, st.sampled_from([1e-9, 1e-3, 1e6]), RATIOS)
def test_the_scale_does_not_matter(parts, alpha, scale, ratio):
    scaled = [(scale * e, f) for e, f in parts]
    assert half(scaled, alpha) == pytest.approx(scale * half(parts, alpha), rel=1e-9)
    distance = ratio * math.hypot(*(e for e, _ in parts))
    assert pvalue(scaled, scale * distance) == pytest.approx(pvalue(parts, distance), rel=1e-7)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, ALPHAS)
def test_it_lies_between_the_least_and_the_most_freedoms(parts, alpha):
    error = math.hypot(*(e for e, _ in parts))
    ends = [stats.t.isf(alpha / 2, pick(f for _, f in parts)) * error for pick in (max, min)]
    assert ends[0] * (1 - 1e-9) <= half(parts, alpha) <= ends[1] * (1 + 1e-9)


@settings(max_examples=examples(100), deadline=None)
@given(ERRORS, st.integers(1, 60), st.integers(1, 60), ALPHAS, RATIOS)
def test_a_part_without_error_leaves_t_of_the_other(error, freedom, other, alpha, ratio):
    parts = [(error, freedom), (0.0, other)]
    assert half(parts, alpha) == pytest.approx(stats.t.isf(alpha / 2, freedom) * error, rel=1e-9)
    told = max(2 * stats.t.sf(abs(ratio), freedom), 1e-300)
    assert pvalue(parts, ratio * error) == pytest.approx(told, rel=1e-6)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 7), st.integers(2, 7), st.integers(0, 2**32), st.sampled_from([0.1, 1, 10]))
def test_exchanged_sides_give_the_inverse(first, second, seed, ratio):
    rng = np.random.default_rng(seed)
    new, old = (
        PerformanceMatrix.from_samples(
            name,
            {f"b{k}": np.exp(sd * rng.standard_normal(n) / 50) for k in range(3)},
            better="lower",
            sessions={f"b{k}": np.arange(n) + start for k in range(3)},
        )
        for name, n, start, sd in (("new", first, 0, ratio), ("old", second, 50, 1.0))
    )
    a, b = multilevel(new, old), multilevel(old, new)
    for x, y in zip((*a.benchmarks, a.these), (*b.benchmarks, b.these), strict=True):
        assert x.law == y.law == ("welch" if first == second else "banerjee")
        assert (x.low, x.high) == pytest.approx((1 / y.high, 1 / y.low), rel=1e-9)
        for name in ("pvalue", "pvalue_equivalent", "pvalue_welch"):
            assert getattr(x, name) == pytest.approx(getattr(y, name), rel=1e-7)
        assert x.errors == pytest.approx(y.errors[::-1])
    for line in gate(a, "slower>1%").candidates[0].benchmarks:
        # proven only where the interval lies below the limit, passed only where it lies above
        if line.outcome == "proven":
            assert line.line.high < 1 / 1.01
        assert (line.outcome == "passed") == (line.line.low > 1 / 1.01)
        assert (line.pvalue_condition <= 0.025) == (line.line.high < 1 / 1.01)
